import { bigintOf, type Tx } from '../../db/driver.ts';

/** Tenants within the scope of a caller: `path` contains the ancestors of a tenant and the tenant itself. */
export const withinScope = (tx: Tx, callerTenant: string) => tx`t.path @> array[${callerTenant}::text]`;

export const isTenantInScope = async (tx: Tx, callerTenant: string, tenantId: string): Promise<boolean> => {
  const rows = await tx`
    select from tenants t where ${withinScope(tx, callerTenant)} and t.del_flag = '0' and t.tenant_id = ${tenantId}`;
  return rows.length > 0;
};

/** Reads the code of a tenant by its internal id, even if the tenant is deleted. */
export const readTenantCode = async (tx: Tx, callerTenant: string, id: string): Promise<string | undefined> => {
  const [row] = await tx<{ tenantId: string }[]>`
    select t.tenant_id as "tenantId" from tenants t
    where ${withinScope(tx, callerTenant)} and t.id = ${bigintOf(id)}`;
  return row?.tenantId;
};

/** Reads the paths of those of the given tenants that are in the scope of a caller, even if they are deleted. */
export const readTenantPaths = (tx: Tx, callerTenant: string, codes: string[]) => tx<
  { tenantId: string; path: string[] }[]
>`
  select t.tenant_id as "tenantId", t.path from tenants t
  where ${withinScope(tx, callerTenant)} and t.tenant_id = any (${codes}::text[])`;

/**
 * Reads the codes of a tenant and its descendants, the nearest first. Includes deleted tenants: their changes are still in the
 * audit log.
 */
export const readSubtreeCodes = async (tx: Tx, callerTenant: string, limit: number): Promise<string[]> => {
  const rows = await tx<{ tenantId: string }[]>`
    select t.tenant_id as "tenantId" from tenants t where ${withinScope(tx, callerTenant)}
    order by cardinality(t.path), t.id limit ${limit}`;
  return rows.map(({ tenantId }) => tenantId);
};

/**
 * Serializes operations that must not run concurrently within a tenant, such as moves of departments and changes of the
 * number of accounts.
 */
export const lockTenantRow = async (tx: Tx, callerTenant: string, tenantId: string) => {
  // Call execute() to send this first: statements that are pipelined after it then run under the lock.
  const [row] = await tx<{ accountLimit: number; tenantName: string | null; companyName: string | null }[]>`
    select account_count as "accountLimit", tenant_name as "tenantName", company_name as "companyName" from tenants t
    where ${withinScope(tx, callerTenant)} and t.del_flag = '0' and t.tenant_id = ${tenantId}
    for no key update`.execute();
  return row;
};

/**
 * Every change of a tenant's record takes this lock, and takes it first. From then on a request waits only briefly for each
 * further lock: an import may hold the row of one tenant for minutes, and changes of all other tenants wait for this lock.
 */
export const lockTenantTree = (tx: Tx) => tx`
  select set_config('lock_timeout', nullif(current_setting('banyan.tree_lock_ms', true), ''), true)
  -- The subquery takes the lock before the function is called.
  from (select from tenant_tree_lock for update) locked`;
