import { bigintOf, raw, type Tx } from '../../db/driver.ts';
import { withinScope } from '../access/tenant-scope.ts';
import { type ListedRow, type TenantFields, type TenantRow, tenant } from './record.ts';

const columnsWithoutRules = (tx: Tx) => tx`
  t.id::text, t.tenant_id as "tenantId", t.parent_id as "tenantParent", ${raw(tx, ownColumns)},
  t.menu_ids as "menuIds", t.quotas`;
const columns = (tx: Tx) => tx`${columnsWithoutRules(tx)}, t.rules`;
const ownColumns = tenant.columns('t');

/** Restricts a statement to the caller's tenant and those of its descendants that are not deleted. */
const inScope = (tx: Tx, callerTenant: string) => tx`${withinScope(tx, callerTenant)} and t.del_flag = '0'`;

export const readById = async (tx: Tx, callerTenant: string, id: string) => {
  const [row] = await tx<TenantRow[]>`
    select ${columns(tx)} from tenants t where ${inScope(tx, callerTenant)} and t.id = ${bigintOf(id)}`;
  return row;
};

export const readByCode = async (tx: Tx, callerTenant: string, tenantId: string) => {
  const [row] = await tx<TenantRow[]>`
    select ${columns(tx)} from tenants t where ${inScope(tx, callerTenant)} and t.tenant_id = ${tenantId}`;
  return row;
};

/** Reads a tenant, deleted or not. */
export const readAnyById = async (tx: Tx, callerTenant: string, id: string) => {
  const [row] = await tx<{ tenantId: string; tenantParent: string | null; delFlag: string }[]>`
    select t.tenant_id as "tenantId", t.parent_id as "tenantParent", t.del_flag as "delFlag" from tenants t
    where ${withinScope(tx, callerTenant)} and t.id = ${bigintOf(id)}`;
  return row;
};

export interface TenantSearch {
  /** The only tenant that the caller may see; null: the whole subtree of their own. */
  onlyTenant: string | null;
  tenantName: string | null;
  tenantId: string | null;
  status: string | null;
  tenantParent: string | null;
  keyword: string | null;
  endsBefore: string | null;
  /** Each of these matches if the field contains it. */
  companyName?: string | undefined;
  contactUserName?: string | undefined;
  contactPhone?: string | undefined;
}

const matching = (tx: Tx, callerTenant: string, search: TenantSearch) => {
  const { onlyTenant, tenantName, tenantId, status, tenantParent, keyword, endsBefore } = search;
  const { companyName, contactUserName, contactPhone } = search;
  return tx`
    ${inScope(tx, callerTenant)}
    ${companyName === undefined ? tx`` : tx`and strpos(lower(coalesce(t.company_name, t.tenant_name)), lower(${companyName})) > 0`}
    ${contactUserName === undefined ? tx`` : tx`and strpos(lower(t.contact_user_name), lower(${contactUserName})) > 0`}
    ${contactPhone === undefined ? tx`` : tx`and strpos(t.contact_phone, ${contactPhone}) > 0`}
    ${onlyTenant === null ? tx`` : tx`and t.tenant_id = ${onlyTenant}`}
    ${tenantName === null ? tx`` : tx`and strpos(lower(t.tenant_name), lower(${tenantName})) > 0`}
    ${tenantId === null ? tx`` : tx`and t.tenant_id = ${tenantId}`}
    ${status === null ? tx`` : tx`and t.status = ${status}`}
    ${tenantParent === null ? tx`` : tx`and t.parent_id = ${tenantParent}`}
    ${endsBefore === null ? tx`` : tx`and t.end_date < ${endsBefore}::date`}
    ${
      keyword === null
        ? tx``
        : tx`and (strpos(lower(t.tenant_name), lower(${keyword})) > 0
            or strpos(lower(t.company_name), lower(${keyword})) > 0 or starts_with(t.tenant_id, ${keyword}))`
    }`;
};

/** With `endTime`, tenants without an end date come last. */
type TenantOrder = 'id' | 'endTime';

/** The last row of the previous page. */
export interface PageCursor {
  /** The end date when sorted by it; '' for none. */
  key: string;
  id: string;
}

export const readPage = (
  tx: Tx,
  callerTenant: string,
  search: TenantSearch,
  order: TenantOrder,
  { after, limit, offset = 0, withRules }: { after?: PageCursor; limit: number; offset?: number; withRules: boolean },
) => tx<ListedRow[]>`
  select ${withRules ? columns(tx) : columnsWithoutRules(tx)} from tenants t
  where ${matching(tx, callerTenant, search)} ${after ? tx`and ${isAfter(tx, order, after)}` : tx``}
  order by ${order === 'id' ? tx`t.id` : tx`t.end_date, t.id`} limit ${limit} offset ${offset}`;

/** Reads the names of the given tenants, except those outside the caller's scope. */
export const readNames = async (tx: Tx, callerTenant: string, tenantIds: readonly string[]) => {
  const rows = await tx<{ tenantId: string; tenantName: string | null }[]>`
    select t.tenant_id as "tenantId", t.tenant_name as "tenantName" from tenants t
    where ${inScope(tx, callerTenant)} and t.tenant_id = any (${tenantIds}::text[])`;
  return new Map(rows.map(({ tenantId, tenantName }) => [tenantId, tenantName]));
};

const isAfter = (tx: Tx, order: TenantOrder, { key, id }: PageCursor) => {
  if (order === 'id') return tx`t.id > ${bigintOf(id)}`;
  if (key === '') return tx`t.end_date is null and t.id > ${bigintOf(id)}`;
  return tx`((t.end_date, t.id) > (${key}::date, ${bigintOf(id)}::bigint) or t.end_date is null)`;
};

export const countTenants = async (tx: Tx, callerTenant: string, search: TenantSearch): Promise<number> => {
  const [{ total }] = await tx<[{ total: number }]>`
    select count(*) as total from tenants t where ${matching(tx, callerTenant, search)}`;
  return total;
};

export const countInScope = async (tx: Tx, callerTenant: string): Promise<number> => {
  const [{ total }] = await tx<[{ total: number }]>`
    select count(*) as total from tenants t where ${inScope(tx, callerTenant)}`;
  return total;
};

const nameColumns = (tx: Tx) => tx`t.id::text, t.tenant_id as "tenantId", t.tenant_name as "tenantName"`;

export interface ExpiringRow {
  id: string;
  tenantId: string;
  tenantName: string | null;
  startTime: string | null;
  endTime: string;
  daysLeft: number;
  status: '0' | '1';
}

/** Reads the tenants that ended within the last `pastDays` or end within the next `comingDays`, the earliest first. */
export const readExpiring = (
  tx: Tx,
  callerTenant: string,
  { pastDays, comingDays, limit }: { pastDays: number; comingDays: number; limit: number },
) => tx<ExpiringRow[]>`
  select ${nameColumns(tx)}, to_char(t.start_date, 'YYYY-MM-DD') as "startTime",
    to_char(t.end_date, 'YYYY-MM-DD') as "endTime", t.end_date - current_date as "daysLeft", t.status
  from tenants t
  where ${inScope(tx, callerTenant)}
    and t.end_date >= current_date - ${pastDays}::int and t.end_date <= current_date + ${comingDays}::int
  order by t.end_date, t.id limit ${limit}`;

export interface LimitedRow {
  id: string;
  tenantId: string;
  tenantName: string | null;
  accountCount: number;
}

export const readLimited = (tx: Tx, callerTenant: string, limit: number) => tx<LimitedRow[]>`
  select ${nameColumns(tx)}, t.account_count as "accountCount" from tenants t
  where ${inScope(tx, callerTenant)} and t.tenant_id <> ${callerTenant} and t.account_count > 0
  order by t.account_count, t.id limit ${limit}`;

export interface NodeRow {
  id: string;
  tenantId: string;
  tenantParent: string | null;
  tenantName: string | null;
  status: '0' | '1';
  startTime: string | null;
  endTime: string | null;
  hasChildren: boolean;
}

/** Reads a tenant and its descendants breadth-first, at most `limit` rows; each level is sorted by id. */
export const readSubtree = (tx: Tx, tenantId: string, depth: number, limit: number) => tx<NodeRow[]>`
  with recursive subtree (code, level) as (
    select t.tenant_id, 0 from tenants t where ${inScope(tx, tenantId)} and t.tenant_id = ${tenantId}
    union all
    select c.tenant_id, b.level + 1 from subtree b cross join lateral (
      select tenant_id from tenants c where c.parent_id = b.code and c.del_flag = '0' order by c.id offset 0
    ) c
    where b.level < ${depth}
  )
  select t.id::text, t.tenant_id as "tenantId", t.parent_id as "tenantParent", t.tenant_name as "tenantName", t.status,
    to_char(t.start_date, 'YYYY-MM-DD') as "startTime", to_char(t.end_date, 'YYYY-MM-DD') as "endTime",
    exists (select from tenants c where c.parent_id = t.tenant_id and c.del_flag = '0') as "hasChildren"
  from (select * from subtree limit ${limit}) b cross join lateral (
    select * from tenants t where ${inScope(tx, tenantId)} and t.tenant_id = b.code limit 1
  ) t
  order by b.level, t.id`;

/** Whether a tenant with this code exists, in or outside the caller's scope. */
export const tenantExists = async (tx: Tx, tenantId: string): Promise<boolean> => {
  const [row] = await tx<[{ exists: boolean }]>`
    select tenant_state(${tenantId}) not in ('unknown', 'deleted') as exists`;
  return row.exists;
};

/** Returns undefined if the code is taken, possibly by a deleted tenant. */
export const insertTenant = async (
  tx: Tx,
  { tenantId, parentId, by, fields }: { tenantId: string; parentId: string; by: string; fields: TenantFields },
) => {
  const [row] = await tx<{ id: string }[]>`
    insert into tenants (tenant_id, id, parent_id, path, ${raw(tx, tenant.columnNames)}, menu_ids, quotas, rules, create_by)
    select ${tenantId}, next_tenant_id(), t.tenant_id, t.path || ${tenantId}::text, ${tenant.values(tx, fields)},
      ${fields.menuIds}::text[], ${tx.json(fields.quotas)}, ${tx.json(fields.rules)}, ${by}
    from tenants t where t.tenant_id = ${parentId} and t.del_flag = '0'
    on conflict (tenant_id) do nothing
    returning id::text`;
  return row?.id;
};

export const updateTenantFields = (tx: Tx, callerTenant: string, id: string, by: string, fields: TenantFields) => tx`
  update tenants t set
    ${tenant.assignments(tx, fields)}, menu_ids = ${fields.menuIds}::text[], quotas = ${tx.json(fields.quotas)},
    rules = ${tx.json(fields.rules)},
    update_by = ${by}, update_time = now()
  where ${inScope(tx, callerTenant)} and t.id = ${bigintOf(id)}`;

/** Sets the total of one quota of the tenant that the transaction is set to. */
export const updateQuotaTotal = async (tx: Tx, tenantId: string, quota: string, total: number, by: string) => {
  await tx`
    update tenants t set quotas = t.quotas || jsonb_build_object(${quota}::text, ${total}::int), update_by = ${by},
      update_time = now()
    where t.tenant_id = ${tenantId} and t.quotas -> ${quota} is distinct from to_jsonb(${total}::int)`;
};

/** Reads the path of a tenant: the codes from 000000 down to the tenant itself. */
export const readPath = async (tx: Tx, callerTenant: string, tenantId: string): Promise<string[]> => {
  const [row] = await tx<{ path: string[] }[]>`
    select t.path from tenants t where ${inScope(tx, callerTenant)} and t.tenant_id = ${tenantId}`;
  return row?.path ?? [];
};

/** Reads the level of the tenant that the transaction is set to (000000 has level 1), and that of its deepest descendant. */
export const readLevels = async (tx: Tx, tenantId: string): Promise<{ level: number; bottom: number }> => {
  const [row] = await tx<[{ level: number; bottom: number }]>`
    select min(cardinality(t.path)) as level, max(cardinality(t.path)) as bottom from tenants t
    where ${inScope(tx, tenantId)}`;
  return row;
};

/** Moves a tenant with its descendants, including deleted ones, so that their paths stay valid. */
export const moveTenant = async (tx: Tx, tenantId: string, parentPath: string[], by: string) => {
  const [levels] = await Promise.all([
    tx<{ tenantIds: string[] }[]>`
      select array_agg(t.tenant_id) as "tenantIds" from tenants t where ${withinScope(tx, tenantId)}
      group by cardinality(t.path) order by cardinality(t.path)`,
    // Passes the actor of the move to the ledger's trigger, because descendants keep their `update_by`.
    tx`select set_config('banyan.mover', ${by}, true)`,
  ]);
  // One level after the other: the ledger records the rows in the order of their updates, and a parent must come first.
  for (const { tenantIds } of levels) {
    await tx`
      update tenants t set
        update_by = case when t.tenant_id = ${tenantId} then ${by} else t.update_by end,
        update_time = case when t.tenant_id = ${tenantId} then now() else t.update_time end,
        path = ${parentPath}::text[] || t.path[array_position(t.path, ${tenantId}::text):],
        parent_id = case when t.tenant_id = ${tenantId} then ${parentPath.at(-1) ?? null} else t.parent_id end
      where t.tenant_id = any (${tenantIds}::text[])`;
  }
};

export const hasChildren = async (tx: Tx, tenantId: string): Promise<boolean> => {
  const [row] = await tx<[{ found: boolean }]>`
    select exists (select from tenants t where t.parent_id = ${tenantId} and t.del_flag = '0') as found`;
  return row.found;
};

export const markDeleted = (tx: Tx, callerTenant: string, id: string, by: string) => tx`
  update tenants t set del_flag = '2', update_by = ${by}, update_time = now()
  where ${inScope(tx, callerTenant)} and t.id = ${bigintOf(id)}`;

export const markRestored = (tx: Tx, callerTenant: string, id: string, by: string) => tx`
  update tenants t set del_flag = '0', update_by = ${by}, update_time = now()
  where ${withinScope(tx, callerTenant)} and t.id = ${bigintOf(id)}`;

/** Inserts tenant 000000, which has no parent. Returns false if it exists already. */
export const insertRootTenant = async (tx: Tx, name: string, quotas: object, rules: object): Promise<boolean> => {
  const rows = await tx`
    insert into tenants (tenant_id, id, path, tenant_name, quotas, rules, create_by)
    values ('000000', next_tenant_id(), array['000000'], ${name}, ${tx.json(quotas as never)}, ${tx.json(rules as never)}, 'system')
    on conflict (tenant_id) do nothing returning 1`;
  return rows.length > 0;
};
