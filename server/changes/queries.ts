import type { Fragment, Sql, Tx } from '../../db/sql.ts';
import type { Resource } from './schema.ts';

/** A change as it is told. Records come as the text they were noted as. */
export interface ChangeRow {
  /** The place in the tenant's ledger. */
  seq: number;
  id: number;
  time: string;
  by: string;
  requestId: string | null;
  resource: Resource;
  resourceId: string;
  action: string;
  before: object | null;
  after: object | null;
}

const columns = (tx: Tx) => tx`
  c.change_id as id, to_char(c.time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as time, c.by_name as by,
  c.request_id as "requestId", c.resource, c.resource_id::text as "resourceId", c.action, c.before, c.after`;

/** Gives what is committed its place in the ledger; tells the last place there is. */
export const sealChanges = async (tx: Tx, tenantId: string, atMost: number): Promise<number> => {
  const [row] = await tx<[{ seq: number | null }]>`select seal_changes(${tenantId}, ${atMost}) as seq`;
  return row.seq ?? 0;
};

/**
 * From here on the transaction goes by the order of the ledger's keys, whatever a connection believed of it when it was
 * small: a plan that it kept from then would go through all of it, for each row. So changes are asked for as a range below.
 */
export const keepToKeys = (tx: Tx) =>
  tx`
    select set_config(name, value, true) from (values ('plan_cache_mode', 'force_custom_plan'), ('jit', 'off'),
      ('enable_seqscan', 'off'), ('enable_bitmapscan', 'off'), ('enable_sort', 'off')) as setting (name, value)`.execute();

/** Of a ledger, whether they were archived or not. An archive that was emptied is not missed: its rows are just not told. */
const everKept = (tx: Tx, tenantId: string, changeId: Fragment) => tx`
  select * from (
    (select * from changes c
    where c.tenant_id = ${tenantId} and c.change_id >= ${changeId} and c.change_id <= ${changeId}
    order by c.change_id limit 1)
    union all
    (select * from changes_archive c
    where c.tenant_id = ${tenantId} and c.change_id >= ${changeId} and c.change_id <= ${changeId}
    order by c.change_id limit 1)
  ) c limit 1`;

/** In their order, after one place and up to another. Logins and webhooks are for the audit alone. */
export const readFeed = (
  tx: Tx,
  tenantId: string,
  { after, upTo, limit }: { after: number; upTo: number; limit: number },
) => tx<ChangeRow[]>`
  select s.seq, ${columns(tx)} from seals s
  cross join lateral (${everKept(tx, tenantId, tx`s.change_id`)}) c
  where s.tenant_id = ${tenantId} and s.seq > ${after} and s.seq <= ${upTo} and c.resource not in ('login', 'webhook')
  order by s.seq limit ${limit}`;

export const readByIds = (tx: Tx, tenantId: string, changeIds: number[]) => tx<Omit<ChangeRow, 'seq'>[]>`
  select ${columns(tx)} from unnest(${changeIds.map(String)}::bigint[]) asked (id)
  cross join lateral (${everKept(tx, tenantId, tx`asked.id`)}) c`;

/** Of these tenants, each with a place: those in whose ledger there is more. */
export const readNews = async (sql: Sql, followed: ReadonlyMap<string, number>): Promise<string[]> => {
  const rows = await sql<{ tenantId: string }[]>`
    select tenant_id as "tenantId" from tenants_with_news(${[...followed.keys()]}::text[], ${[...followed.values()].map(String)}::bigint[]) tenant_id`;
  return rows.map(({ tenantId }) => tenantId);
};

export const readUnsealed = async (sql: Sql, atMost: number): Promise<string[]> => {
  const rows = await sql<
    { tenantId: string }[]
  >`select tenant_id as "tenantId" from tenants_to_seal(${atMost}) tenant_id`;
  return rows.map(({ tenantId }) => tenantId);
};

export interface AuditRow extends Omit<ChangeRow, 'seq'> {
  tenantId: string;
  byUserId: number | null;
  byTenantId: string | null;
  address: string | null;
  batch: number;
}

export interface AuditSearch {
  resource: string | null;
  resourceId: string | null;
  action: string | null;
  by: string | null;
  requestId: string | null;
  from: string | null;
  to: string | null;
  /** Only what came before this change. */
  earlierThan: string | null;
}

/** The transaction sees the ledgers of these tenants too; each of them was seen by it as below its own. */
export const openLedgers = (tx: Tx, tenantIds: string[]) => tx`
  select set_config('banyan.below', ${tenantIds.join(',')}, true)`;

/** Latest first, of several ledgers. `copies`: of records of tenants below whose own ledgers are not among these. */
export const listAudit = (tx: Tx, tenantIds: string[], search: AuditSearch, copies: boolean, limit: number) => {
  const { resource, resourceId, action, by, requestId, from, to, earlierThan } = search;
  return tx<AuditRow[]>`
    select ${columns(tx)}, c.tenant_id as "tenantId", c.by_user as "byUserId", c.by_tenant as "byTenantId", c.address,
      c.batch
    from unnest(${tenantIds}::text[]) ledger
    cross join lateral (
      select * from changes c
      where c.tenant_id = ledger
        ${resource === null ? tx`` : tx`and c.resource = ${resource}`}
        ${resourceId === null ? tx`` : tx`and c.resource_id = ${resourceId}`}
        ${action === null ? tx`` : tx`and c.action = ${action}`}
        ${by === null ? tx`` : tx`and c.by_name = ${by}`}
        ${requestId === null ? tx`` : tx`and c.request_id = ${requestId}`}
        ${from === null ? tx`` : tx`and c.time >= ${from}::text::timestamptz`}
        ${to === null ? tx`` : tx`and c.time < ${to}::text::timestamptz`}
        ${earlierThan === null ? tx`` : tx`and c.change_id < ${earlierThan}`}
        ${copies ? tx`` : tx`and not c.copy`}
      order by c.change_id desc limit ${limit}
    ) c
    order by c.change_id desc limit ${limit}`;
};
