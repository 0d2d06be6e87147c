import type { Tx } from '../../db/driver.ts';
import { setTenant } from '../../db/tenant-scope.ts';
import type { Caller } from '../auth/caller.ts';
import { apiError } from '../http/errors.ts';
import { isTenantInScope, lockTenantRow, readTenantCode, readTenantPaths } from './queries.ts';

export { lockTenantRow, lockTenantTree, readSubtreeCodes, withinScope } from './queries.ts';

/**
 * Makes the transaction see the tenant in which a caller wants to act: their own or a descendant. A tenant that
 * does not exist is not distinguished from one outside their scope.
 */
export async function assumeTenant(tx: Tx, caller: Caller, tenantId: string | null | undefined): Promise<string> {
  if (tenantId == null || tenantId === caller.tenantId) return caller.tenantId;
  if (!caller.canActInDescendants || !(await isTenantInScope(tx, caller.tenantId, tenantId)))
    throw apiError('OTHER_TENANT');
  await setTenant(tx, tenantId);
  return tenantId;
}

/**
 * The same for writing: locks the tenant while the transaction still sees it from the caller's tenant, and assumes it
 * afterwards. In the other order a write could follow a move that took the tenant out of the caller's scope.
 */
export async function assumeTenantForWrite(tx: Tx, caller: Caller, requested: string | null | undefined) {
  const tenantId = requested ?? caller.tenantId;
  if (tenantId !== caller.tenantId && !caller.canActInDescendants) throw apiError('OTHER_TENANT');
  const tenant = await lockTenant(tx, caller.tenantId, tenantId);
  if (tenantId !== caller.tenantId) await setTenant(tx, tenantId);
  return { tenantId, ...tenant };
}

/**
 * Locks a tenant until the transaction ends; returns its account limit and names. Lock order: the tenant first, then its
 * records by ascending id.
 */
export async function lockTenant(tx: Tx, callerTenant: string, tenantId = callerTenant) {
  const tenant = await lockTenantRow(tx, callerTenant, tenantId);
  // Outside the scope, or deleted a moment ago. Not 401: the caller's own token may still be valid.
  if (!tenant) throw apiError('OTHER_TENANT');
  return tenant;
}

/** The code of the caller's own tenant or of a descendant, by its internal id, even if that tenant is deleted. */
export const codeWithinScope = async (tx: Tx, caller: Caller, id: string): Promise<string | undefined> => {
  const code = await readTenantCode(tx, caller.tenantId, id);
  return code !== undefined && canSeeTenant(caller, code) ? code : undefined;
};

/** Whether a tenant in the subtree of the caller's own is in their scope: an API key may be limited to its own tenant. */
export const canSeeTenant = ({ ownTenantId, canActInDescendants }: Caller, tenantId: string): boolean =>
  canActInDescendants || tenantId === ownTenantId;

/**
 * Returns the paths of those of the given tenants that are in the scope of `callerTenant`, even if the transaction has
 * assumed another tenant, which it sees again afterwards.
 */
export async function pathsWithinScope(
  tx: Tx,
  callerTenant: string,
  assumed: string,
  codes: Iterable<string>,
): Promise<Map<string, string[]>> {
  if (assumed !== callerTenant) await setTenant(tx, callerTenant);
  const rows = await readTenantPaths(tx, callerTenant, [...codes]);
  if (assumed !== callerTenant) await setTenant(tx, assumed);
  return new Map(rows.map(({ tenantId, path }) => [tenantId, path]));
}
