import { long, type Tx } from '../../db/sql.ts';
import type { HIDDEN_QUOTAS, QUOTAS, RULES } from './schema.ts';

/** A tenant's own fields, as they are written. */
export interface TenantFields {
  tenantName: string | null;
  startTime: string | null;
  endTime: string | null;
  contactUserName: string | null;
  contactPhone: string | null;
  companyName: string | null;
  status: '0' | '1';
  accountCount: number;
  menuIds: string[];
  quotas: Record<(typeof QUOTAS | typeof HIDDEN_QUOTAS)[number], number>;
  rules: Record<(typeof RULES)[number], string | null>;
}

export interface TenantRow extends TenantFields {
  id: string;
  tenantId: string;
  tenantParent: string | null;
}

const columns = (tx: Tx) => tx`
  t.id::text, t.tenant_id as "tenantId", t.tenant_name as "tenantName", t.parent_id as "tenantParent",
  to_char(t.start_date, 'YYYY-MM-DD') as "startTime", to_char(t.end_date, 'YYYY-MM-DD') as "endTime",
  t.contact_user_name as "contactUserName", t.contact_phone as "contactPhone", t.company_name as "companyName",
  t.status, t.account_count as "accountCount", t.menu_ids as "menuIds", t.quotas, t.rules`;

/** Every statement here says under whom it looks: `path` holds the tenants above a tenant, and itself. */
const under = (tx: Tx, callerTenant: string) => tx`t.path @> array[${callerTenant}::text] and t.del_flag = '0'`;

export const readById = async (tx: Tx, callerTenant: string, id: string) => {
  const [row] = await tx<TenantRow[]>`
    select ${columns(tx)} from tenants t where ${under(tx, callerTenant)} and t.id = ${long(id)}`;
  return row;
};

export const readByCode = async (tx: Tx, callerTenant: string, tenantId: string) => {
  const [row] = await tx<TenantRow[]>`
    select ${columns(tx)} from tenants t where ${under(tx, callerTenant)} and t.tenant_id = ${tenantId}`;
  return row;
};

/** Of a deleted one too. */
export const readCode = async (tx: Tx, callerTenant: string, id: string): Promise<string | undefined> => {
  const [row] = await tx<{ tenantId: string }[]>`
    select t.tenant_id as "tenantId" from tenants t
    where t.path @> array[${callerTenant}::text] and t.id = ${long(id)}`;
  return row?.tenantId;
};

/** Also when it is deleted. */
export const readAny = async (tx: Tx, callerTenant: string, id: string) => {
  const [row] = await tx<{ tenantId: string; tenantParent: string | null; delFlag: string }[]>`
    select t.tenant_id as "tenantId", t.parent_id as "tenantParent", t.del_flag as "delFlag" from tenants t
    where t.path @> array[${callerTenant}::text] and t.id = ${long(id)}`;
  return row;
};

/** Deleted ones too: what was done in them was done. */
export const readCodes = async (tx: Tx, callerTenant: string, limit: number): Promise<string[]> => {
  const rows = await tx<{ tenantId: string }[]>`
    select t.tenant_id as "tenantId" from tenants t where t.path @> array[${callerTenant}::text]
    order by cardinality(t.path), t.id limit ${limit}`;
  return rows.map(({ tenantId }) => tenantId);
};

export interface TenantSearch {
  tenantName: string | null;
  tenantId: string | null;
  status: string | null;
  tenantParent: string | null;
  keyword: string | null;
  endsBefore: string | null;
}

const matching = (tx: Tx, callerTenant: string, search: TenantSearch) => {
  const { tenantName, tenantId, status, tenantParent, keyword, endsBefore } = search;
  return tx`
    ${under(tx, callerTenant)}
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

/** By their ids, or by the day on which they end, those without one last. */
export type TenantOrder = 'id' | 'endTime';

/** Where a page begins: behind the tenant of this id, which ends on this day ('' for none). */
export interface Behind {
  key: string;
  id: string;
}

export const readPage = (
  tx: Tx,
  callerTenant: string,
  search: TenantSearch,
  order: TenantOrder,
  { after, limit, offset = 0 }: { after?: Behind; limit: number; offset?: number },
) => tx<TenantRow[]>`
  select ${columns(tx)} from tenants t
  where ${matching(tx, callerTenant, search)} ${after ? tx`and ${behind(tx, order, after)}` : tx``}
  order by ${order === 'id' ? tx`t.id` : tx`t.end_date, t.id`} limit ${limit} offset ${offset}`;

const behind = (tx: Tx, order: TenantOrder, { key, id }: Behind) => {
  if (order === 'id') return tx`t.id > ${long(id)}`;
  if (key === '') return tx`t.end_date is null and t.id > ${long(id)}`;
  return tx`((t.end_date, t.id) > (${key}::date, ${long(id)}::bigint) or t.end_date is null)`;
};

export const countTenants = async (tx: Tx, callerTenant: string, search: TenantSearch): Promise<number> => {
  const [{ total }] = await tx<[{ total: number }]>`
    select count(*) as total from tenants t where ${matching(tx, callerTenant, search)}`;
  return total;
};

export const countUnder = async (tx: Tx, callerTenant: string): Promise<number> => {
  const [{ total }] = await tx<[{ total: number }]>`
    select count(*) as total from tenants t where ${under(tx, callerTenant)}`;
  return total;
};

const names = (tx: Tx) => tx`t.id::text, t.tenant_id as "tenantId", t.tenant_name as "tenantName"`;

export interface EndingRow {
  id: string;
  tenantId: string;
  tenantName: string | null;
  endTime: string;
  daysLeft: number;
  status: '0' | '1';
}

export const readEnding = (
  tx: Tx,
  callerTenant: string,
  { past, coming, limit }: { past: number; coming: number; limit: number },
) => tx<EndingRow[]>`
  select ${names(tx)}, to_char(t.end_date, 'YYYY-MM-DD') as "endTime", t.end_date - current_date as "daysLeft", t.status
  from tenants t
  where ${under(tx, callerTenant)}
    and t.end_date >= current_date - ${past}::int and t.end_date <= current_date + ${coming}::int
  order by t.end_date, t.id limit ${limit}`;

export interface LimitedRow {
  id: string;
  tenantId: string;
  tenantName: string | null;
  accountCount: number;
}

export const readLimited = (tx: Tx, callerTenant: string, limit: number) => tx<LimitedRow[]>`
  select ${names(tx)}, t.account_count as "accountCount" from tenants t
  where ${under(tx, callerTenant)} and t.tenant_id <> ${callerTenant} and t.account_count > 0
  order by t.account_count, t.id limit ${limit}`;

export interface NodeRow {
  id: string;
  tenantId: string;
  tenantParent: string | null;
  tenantName: string | null;
  status: '0' | '1';
  endTime: string | null;
  hasChildren: boolean;
}

/** A tenant and those below it, level by level and no more than `limit`, each level in the order of ids. */
export const readBranch = (tx: Tx, tenantId: string, depth: number, limit: number) => tx<NodeRow[]>`
  with recursive branch (code, level) as (
    select t.tenant_id, 0 from tenants t where ${under(tx, tenantId)} and t.tenant_id = ${tenantId}
    union all
    select c.tenant_id, b.level + 1 from branch b cross join lateral (
      select tenant_id from tenants c where c.parent_id = b.code and c.del_flag = '0' order by c.id offset 0
    ) c
    where b.level < ${depth}
  )
  select t.id::text, t.tenant_id as "tenantId", t.parent_id as "tenantParent", t.tenant_name as "tenantName", t.status,
    to_char(t.end_date, 'YYYY-MM-DD') as "endTime",
    exists (select from tenants c where c.parent_id = t.tenant_id and c.del_flag = '0') as "hasChildren"
  from (select * from branch limit ${limit}) b cross join lateral (
    select * from tenants t where ${under(tx, tenantId)} and t.tenant_id = b.code limit 1
  ) t
  order by b.level, t.id`;

/** Taken by every change of the shape of the tree of tenants. */
export const lockTenantTree = (tx: Tx) => tx`select from tenant_tree for update`;

/** Taken by whatever must not happen twice at once within a tenant: moves of departments, the count of accounts. */
export const lockTenantRow = async (tx: Tx, callerTenant: string, tenantId: string) => {
  // execute(): it goes before all that is sent together with it, which is then looked for under the lock.
  const [row] = await tx<{ accountCount: number }[]>`
    select account_count as "accountCount" from tenants t
    where ${under(tx, callerTenant)} and t.tenant_id = ${tenantId} for no key update`.execute();
  return row;
};

/** Whether a code is a tenant's at all, also one that the caller may not see. */
export const tenantExists = async (tx: Tx, tenantId: string): Promise<boolean> => {
  const [row] = await tx<[{ exists: boolean }]>`
    select tenant_standing(${tenantId}) not in ('unknown', 'deleted') as exists`;
  return row.exists;
};

/** Undefined when the code is taken already, by a deleted tenant for one. */
export const insertTenant = async (
  tx: Tx,
  { tenantId, parentId, by, fields }: { tenantId: string; parentId: string; by: string; fields: TenantFields },
) => {
  const [row] = await tx<{ id: string }[]>`
    insert into tenants (tenant_id, id, parent_id, path, tenant_name, start_date, end_date, contact_user_name,
      contact_phone, company_name, status, account_count, menu_ids, quotas, rules, create_by)
    select ${tenantId}, next_tenant_id(), t.tenant_id, t.path || ${tenantId}::text, ${fields.tenantName},
      ${fields.startTime}::date, ${fields.endTime}::date, ${fields.contactUserName}, ${fields.contactPhone},
      ${fields.companyName}, ${fields.status}, ${fields.accountCount}::int, ${fields.menuIds}::text[],
      ${tx.json(fields.quotas)}, ${tx.json(fields.rules)}, ${by}
    from tenants t where t.tenant_id = ${parentId} and t.del_flag = '0'
    on conflict (tenant_id) do nothing
    returning id::text`;
  return row?.id;
};

export const updateTenantFields = (tx: Tx, callerTenant: string, id: string, by: string, fields: TenantFields) => tx`
  update tenants t set
    tenant_name = ${fields.tenantName}, start_date = ${fields.startTime}::date, end_date = ${fields.endTime}::date,
    contact_user_name = ${fields.contactUserName}, contact_phone = ${fields.contactPhone},
    company_name = ${fields.companyName}, status = ${fields.status}, account_count = ${fields.accountCount},
    menu_ids = ${fields.menuIds}::text[], quotas = ${tx.json(fields.quotas)}, rules = ${tx.json(fields.rules)},
    update_by = ${by}, update_time = now()
  where ${under(tx, callerTenant)} and t.id = ${long(id)}`;

/** The codes from 000000 down to a tenant, itself included. */
export const readPath = async (tx: Tx, callerTenant: string, tenantId: string): Promise<string[]> => {
  const [row] = await tx<{ path: string[] }[]>`
    select t.path from tenants t where ${under(tx, callerTenant)} and t.tenant_id = ${tenantId}`;
  return row?.path ?? [];
};

/** Moves a tenant with all below it, deleted ones included: their codes and paths stay true. */
export const moveTenant = async (tx: Tx, tenantId: string, parentPath: string[], by: string) => {
  // For the ledger: those that move along are not written by anybody.
  tx`select set_config('banyan.mover', ${by}, true)`.execute();
  await tx`
    update tenants t set
      update_by = case when t.tenant_id = ${tenantId} then ${by} else t.update_by end,
      update_time = case when t.tenant_id = ${tenantId} then now() else t.update_time end,
      path = ${parentPath}::text[] || t.path[array_position(t.path, ${tenantId}::text):],
      parent_id = case when t.tenant_id = ${tenantId} then ${parentPath.at(-1) ?? null} else t.parent_id end
    where t.path @> array[${tenantId}::text]`;
};

export const hasChildren = async (tx: Tx, tenantId: string): Promise<boolean> => {
  const [row] = await tx<[{ found: boolean }]>`
    select exists (select from tenants t where t.parent_id = ${tenantId} and t.del_flag = '0') as found`;
  return row.found;
};

export const markDeleted = (tx: Tx, callerTenant: string, id: string, by: string) => tx`
  update tenants t set del_flag = '2', update_by = ${by}, update_time = now()
  where ${under(tx, callerTenant)} and t.id = ${long(id)}`;

export const markRestored = (tx: Tx, callerTenant: string, id: string, by: string) => tx`
  update tenants t set del_flag = '0', update_by = ${by}, update_time = now()
  where t.path @> array[${callerTenant}::text] and t.id = ${long(id)}`;

/** Tenant 000000, which has no parent. True for the one start that made it. */
export const insertRootTenant = async (tx: Tx, name: string, quotas: object, rules: object): Promise<boolean> => {
  const rows = await tx`
    insert into tenants (tenant_id, id, path, tenant_name, quotas, rules, create_by)
    values ('000000', next_tenant_id(), array['000000'], ${name}, ${tx.json(quotas as never)}, ${tx.json(rules as never)}, 'system')
    on conflict (tenant_id) do nothing returning 1`;
  return rows.length > 0;
};
