import { readInChunks } from '../../db/chunks.ts';
import { bigintOf, exactTime, type Fragment, type Sql, type Tx } from '../../db/driver.ts';
import type { StoredRow } from '../records/record.ts';
import { batchOf, type PointInTime, storedRow } from './history.ts';
import type { Resource } from './schema.ts';

/** A change as it is stored: `before` and `after` are rows with column names as keys. */
export interface ChangeRow {
  id: number;
  time: string;
  by: string;
  /** The tenant of the user or API key that made the change; null: the service itself, or the operator. */
  byTenantId: string | null;
  requestId: string | null;
  resource: Resource;
  resourceId: string;
  tenantId: string;
  action: string;
  before: StoredRow | null;
  after: StoredRow | null;
}

export const changeColumns = (tx: Tx) => tx`
  c.change_id as id, ${exactTime(tx, tx`c.time`)} as time, c.actor_name as by, c.actor_tenant_id as "byTenantId",
  c.request_id as "requestId", c.resource, c.resource_id::text as "resourceId", c.tenant_id as "tenantId", c.action,
  ${storedRow(tx, 'before')} as before, ${storedRow(tx, 'after')} as after`;

/**
 * Seals committed changes: appends them to the hash chain of the ledger, and so assigns their positions. Returns the last
 * position.
 */
export const sealChanges = async (tx: Tx, tenantId: string, maxRows: number): Promise<number> => {
  const [row] = await tx<[{ seq: number | null }]>`select seal_changes(${tenantId}, ${maxRows}) as seq`;
  return row.seq ?? 0;
};

interface LedgerEnd {
  /** The last position. */
  last: number;
  /** Whether some committed changes have no position yet. */
  hasUnsealed: boolean;
}

export const readLedgerEnd = async (tx: Tx, tenantId: string): Promise<LedgerEnd> => {
  const [row] = await tx<[LedgerEnd]>`
    select coalesce((select h.seq from seal_heads h where h.tenant_id = ${tenantId}), 0) as last,
      exists (select from unsealed_changes u where u.tenant_id = ${tenantId}) as "hasUnsealed"`;
  return row;
};

/** Part of a statement: a change by its id, archived or not. */
export const changeOrArchived = (tx: Tx, tenantId: string | Fragment, changeId: Fragment) => tx`
  select * from (
    (select * from changes c
    where c.tenant_id = ${tenantId} and c.change_id >= ${changeId} and c.change_id <= ${changeId}
    order by c.change_id limit 1)
    union all
    (select * from changes_archive c
    where c.tenant_id = ${tenantId} and c.change_id >= ${changeId} and c.change_id <= ${changeId}
    order by c.change_id limit 1)
  ) c limit 1`;

/**
 * Reads the changes after one position and up to another. Logins and changes of webhooks and API keys appear in the audit log
 * only; record_change.sql leaves them out of the feed of a subtree.
 */
export const readFeed = (
  tx: Tx,
  tenantId: string,
  { after, upTo, limit }: { after: number; upTo: number; limit: number },
) => tx<(ChangeRow & { seq: number })[]>`
  select s.seq, ${changeColumns(tx)} from seals s
  cross join lateral (${changeOrArchived(tx, tenantId, tx`s.change_id`)}) c
  where s.tenant_id = ${tenantId} and s.seq > ${after} and s.seq <= ${upTo} and c.resource not in ('login', 'webhook', 'key')
  order by s.seq limit ${limit}`;

export const readByIds = (tx: Tx, tenantId: string, changeIds: number[]) => tx<ChangeRow[]>`
  select ${changeColumns(tx)} from unnest(${changeIds.map(String)}::bigint[]) wanted (id)
  cross join lateral (${changeOrArchived(tx, tenantId, tx`wanted.id`)}) c`;

/** Returns the tenants whose ledger has changes beyond the given position. */
export const tenantsWithNewChanges = async (sql: Sql, positions: ReadonlyMap<string, number>): Promise<string[]> => {
  const rows = await sql<{ tenantId: string }[]>`
    select tenant_id as "tenantId" from tenants_with_new_changes(
      ${[...positions.keys()]}::text[], ${[...positions.values()].map(String)}::bigint[]) tenant_id`;
  return rows.map(({ tenantId }) => tenantId);
};

/** Returns tenants that have changes to seal, in the order of the tenants' codes, beginning after the given code. */
export const tenantsWithUnsealedChanges = async (sql: Sql, after: string, maxRows: number): Promise<string[]> => {
  const rows = await sql<{ tenantId: string }[]>`
    select tenant_id as "tenantId" from tenants_with_unsealed_changes(${after}, ${maxRows}) tenant_id`;
  return rows.map(({ tenantId }) => tenantId);
};

/** Returns the age of the oldest unsealed change of a ledger in seconds; undefined if everything is sealed. */
export const readSecondsUnsealed = async (tx: Tx, tenantId: string): Promise<number | undefined> => {
  const [oldest] = await tx<{ seconds: number }[]>`
    select extract(epoch from clock_timestamp() - c.time)::float8 as seconds
    from unsealed_changes u join changes c on c.tenant_id = u.tenant_id and c.change_id = u.change_id
    where u.tenant_id = ${tenantId} order by u.change_id limit 1`;
  return oldest?.seconds;
};

interface AuditRow extends ChangeRow {
  byUserId: number | null;
  byKeyId: number | null;
  address: string | null;
  batch: number;
}

export interface AuditSearch {
  resource: string | null;
  resourceId: string | null;
  action: string | null;
  by: string | null;
  /** Part of the user name. */
  byPart: string | null;
  requestId: string | null;
  from: string | null;
  to: string | null;
  /** Only changes before this one. */
  before: string | null;
  /** Only the last change of each record. */
  latest: boolean;
  /** Of the changes of one request that match, only the last one. Notices that it caused count only if nothing else matches. */
  grouped: boolean;
  /** Only changes whose actor this tenant, which the transaction has assumed, may know (visibility.ts). null: all changes. */
  knownTo: string | null;
}

/** Part of a statement: what a change has to match, besides its ledger and its position. */
const matches = (
  tx: Tx,
  alias: string,
  { resource, resourceId, action, by, byPart, requestId, from, to, latest, knownTo }: AuditSearch,
  includeCopies: boolean,
) => {
  const column = (name: string) => tx(`${alias}.${name}`);
  // A constant lets the planner use the index of deletions.
  const ofAction = action === 'deleted' ? tx`'deleted'` : tx`${action}`;
  return tx`
    ${resource === null ? tx`` : tx`and ${column('resource')} = ${resource}`}
    ${resourceId === null ? tx`` : tx`and ${column('resource_id')} = ${resourceId}`}
    ${action === null ? tx`` : tx`and ${column('action')} = ${ofAction}`}
    ${by === null ? tx`` : tx`and ${column('actor_name')} = ${by}`}
    ${byPart === null ? tx`` : tx`and strpos(lower(${column('actor_name')}), lower(${byPart})) > 0`}
    ${requestId === null ? tx`` : tx`and ${column('request_id')} = ${requestId}`}
    ${from === null ? tx`` : tx`and ${column('time')} >= ${from}::text::timestamptz`}
    ${to === null ? tx`` : tx`and ${column('time')} < ${to}::text::timestamptz`}
    ${
      knownTo === null
        ? tx``
        : tx`and (${column('actor_tenant_id')} is null
            or exists (select from tenants t
              where t.tenant_id = ${column('tenant_id')} and ${column('actor_tenant_id')} = any (t.path))
            or exists (select from tenants t
              where t.tenant_id = ${column('actor_tenant_id')} and t.path @> array[${knownTo}::text]))`
    }
    ${includeCopies ? tx`` : tx`and not ${column('is_copy')}`}
    ${
      latest
        ? tx`and not exists (
            select from changes n where n.tenant_id = ${column('tenant_id')} and n.resource = ${column('resource')}
              and n.resource_id = ${column('resource_id')} and n.change_id > ${column('change_id')})`
        : tx``
    }`;
};

/** Reads changes of several ledgers, latest first. `includeCopies` includes copies of changes of descendant tenants. */
export const listAudit = (
  tx: Tx,
  tenantIds: string[],
  search: AuditSearch,
  includeCopies: boolean,
  limit: number,
) => tx<AuditRow[]>`
  select ${changeColumns(tx)}, c.actor_user_id as "byUserId", c.actor_key_id as "byKeyId", c.address, c.batch
  from unnest(${tenantIds}::text[]) ledger
  cross join lateral (
    select * from changes c
    where c.tenant_id = ledger
      ${matches(tx, 'c', search, includeCopies)}
      ${search.before === null ? tx`` : tx`and c.change_id < ${search.before}`}
      ${
        search.grouped
          ? tx`and not exists (
                select from changes d where d.tenant_id = ledger and d.time = c.time and d.change_id > c.change_id
                  and d.batch = c.batch and (d.resource <> 'notice' or c.resource = 'notice')
                  ${matches(tx, 'd', search, includeCopies)})
              and not (c.resource = 'notice' and exists (
                select from changes d where d.tenant_id = ledger and d.time = c.time and d.batch = c.batch
                  and d.resource <> 'notice' ${matches(tx, 'd', search, includeCopies)}))`
          : tx``
      }
    order by c.change_id desc limit ${limit}
  ) c
  order by c.change_id desc limit ${limit}`;

export interface ChangeCount {
  resource: Resource;
  action: string;
  count: number;
}

/** Counts the changes of the requests that made the given changes, by resource and action. */
export const countBatches = (tx: Tx, changes: readonly Pick<AuditRow, 'tenantId' | 'time' | 'batch'>[]) => tx<
  (ChangeCount & { position: number })[]
>`
  select b.position::int, c.resource, c.action, count(*)::int
  from unnest(${changes.map(({ tenantId }) => tenantId)}::text[], ${changes.map(({ time }) => time)}::text[],
    ${changes.map(({ batch }) => String(batch))}::bigint[]) with ordinality b (tenant_id, time, batch, position)
  join changes c on c.tenant_id = b.tenant_id and c.time = b.time::timestamptz and c.batch = b.batch
  group by b.position, c.resource, c.action order by b.position, min(c.change_id)`;

/** A change of the batch to be reverted. */
export interface BatchRow extends ChangeRow {
  batch: number;
  /** The ledger is complete only from a later time: other changes of the batch may have been archived. */
  incomplete: boolean;
}

/** Reads all changes of one request, oldest first, given the id of one of them. */
export const readBatch = (tx: Tx, tenantId: string, changeId: string) => tx<BatchRow[]>`
  select ${changeColumns(tx)}, c.batch, exists (select from ledger_retention where complete_from > c.time) as incomplete
  from (select * from changes where tenant_id = ${tenantId} and change_id = ${bigintOf(changeId)} limit 1) one
  cross join lateral (${batchOf(tx, tenantId)}) c
  order by c.change_id`;

/**
 * Reads the changes of each record after the one in `lastChangeIds`, whose keys are the ids of the records. Oldest first, at
 * most the latest `maxRows` of each record. Changes of the batch itself are excluded by its number, because copies in another
 * ledger have other ids.
 */
export const readLaterChanges = (
  tx: Tx,
  tenantId: string,
  { resource, batch, lastChangeIds }: { resource: Resource; batch: number; lastChangeIds: ReadonlyMap<string, number> },
  maxRows: number,
) =>
  readInChunks(
    [...lastChangeIds.keys()],
    (chunk) => tx<ChangeRow[]>`
      select ${changeColumns(tx)}
      from unnest(${chunk}::bigint[], ${chunk.map((id) => String(lastChangeIds.get(id)))}::bigint[]) s (id, last)
      cross join lateral (
        select * from changes c
        where c.tenant_id = ${tenantId} and c.resource = ${resource} and c.resource_id >= s.id and c.resource_id <= s.id
          and c.change_id > s.last and c.batch <> ${batch} and c.action <> 'password changed'
        order by c.resource_id desc, c.change_id desc limit ${maxRows}
      ) c order by c.change_id`,
  );

interface PointInTimeRow {
  time: PointInTime;
  isFuture: boolean;
  /** Whether everything that was written up to then is visible. */
  isSettled: boolean;
  /** Set if the ledger is complete only from a later time. */
  completeFrom: PointInTime | null;
}

/**
 * Parses a time. A change has the time of its write and becomes visible with its commit. So the time is settled when every
 * transaction that began before it and has written something, and therefore has a transaction id, has ended.
 */
export const readPointInTime = async (sql: Sql, text: string): Promise<PointInTimeRow> => {
  const [row] = await sql<[PointInTimeRow]>`
    select ${exactTime(sql, sql`m.at`)} as time,
      m.at > clock_timestamp() as "isFuture",
      (select ${exactTime(sql, sql`complete_from`)} from ledger_retention where m.at < complete_from) as "completeFrom",
      not exists (
        select from pg_stat_activity a
        where a.datname = current_database() and a.backend_xid is not null and a.xact_start <= m.at
      ) as "isSettled"
    from (select coalesce(nullif(${text}, 'now')::timestamptz, clock_timestamp()) as at offset 0) m`;
  return row;
};

/** Reads a page of the changes of one record, in either order. `beyond` is the last change of the previous page. */
export const readRecordChanges = (
  tx: Tx,
  tenantId: string,
  { resource, id }: { resource: Resource; id: string },
  { oldestFirst, beyond, limit }: { oldestFirst: boolean; beyond: string | undefined; limit: number },
) => {
  const [comparison, direction] = oldestFirst ? [tx`>`, tx`asc`] : [tx`<`, tx`desc`];
  return tx<ChangeRow[]>`
    select ${changeColumns(tx)} from changes c
    where c.tenant_id = ${tenantId} and c.resource = ${resource}
      and c.resource_id >= ${bigintOf(id)} and c.resource_id <= ${bigintOf(id)}
      ${beyond === undefined ? tx`` : tx`and c.change_id ${comparison} ${beyond}`}
    order by c.resource_id ${direction}, c.change_id ${direction} limit ${limit}`;
};
