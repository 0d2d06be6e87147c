import { bigintOf, type Fragment, type Tx } from '../../db/driver.ts';
import type { StoredRow } from '../records/record.ts';
import type { Resource } from './schema.ts';

/** Statements, and parts of statements, with which other domains read the ledger. */

/** A time in UTC, exact to the microsecond, as text: a Date would drop the microseconds. */
export type PointInTime = string;

/** An expression for the row before or after the change `c`. Changes of tenants refer to a version that is stored once. */
export const storedRow = (tx: Tx, side: 'before' | 'after') => {
  const [row, hash] = [tx(`c.${side}`), tx(`c.${side}_hash`)];
  return tx`coalesce(${row}, tenant_version(c.tenant_id, c.change_id, ${hash}))`;
};

/**
 * Part of a statement: all changes of the batch to which the row `one` belongs. They all have the same time. It is
 * looked up as a range, `time >= x and time <= x`, for transactions that force index scans (db/planner.ts).
 */
export const batchOf = (tx: Tx, tenantId: string) => tx`
  select * from changes c
  where c.tenant_id = ${tenantId} and c.time >= one.time and c.time <= one.time and c.batch = one.batch
  order by c.time, c.change_id offset 0`;

/** Part of a statement: the changes of the record with the id `s.id`, latest first. */
export const changesOfRecord = (tx: Tx, tenantId: string, resource: Resource) => tx`
  select * from changes c
  where c.tenant_id = ${tenantId} and c.resource = ${resource} and c.resource_id >= s.id and c.resource_id <= s.id
  order by c.resource_id desc, c.change_id desc`;

/** Returns the row that a record had when it was last deleted. */
export const readLastDeleted = async (tx: Tx, tenantId: string, resource: Resource, id: string) => {
  const [row] = await tx<{ before: StoredRow }[]>`
    select c.before from changes c
    where c.tenant_id = ${tenantId} and c.resource = ${resource} and c.resource_id = ${bigintOf(id)}
      and c.action = 'deleted'
    order by c.change_id desc limit 1`;
  return row?.before;
};

/**
 * The latest change of a record at or before a time. Changes of one record are in the order of their ids, even if the clock
 * was set back between them. A new password does not change the record.
 */
export const latestChange = (
  tx: Tx,
  tenantId: string,
  resource: Resource,
  id: Fragment,
  time: PointInTime | Fragment,
) => tx`
  select c.change_id, c.time, ${resource === 'tenant' ? storedRow(tx, 'after') : tx`c.after`} as after from changes c
  where c.tenant_id = ${tenantId} and c.resource = ${resource} and c.resource_id >= ${id} and c.resource_id <= ${id}
    and c.time <= (select ${time}::text::timestamptz)
    ${resource === 'user' ? tx`and c.action <> 'password changed'` : tx``}
  order by c.resource_id desc, c.change_id desc limit 1`;

/** Returns the row of a record at a point in time, or undefined if the record did not exist then. */
export const readStoredAt = async (tx: Tx, tenantId: string, resource: Resource, id: string, time: PointInTime) => {
  const [row] = await tx<{ after: StoredRow | null }[]>`
    ${latestChange(tx, tenantId, resource, tx`${bigintOf(id)}::bigint`, time)}`;
  return row?.after ?? undefined;
};

/** Returns the id of the last change of a record. The id of any change of a batch is enough to revert the whole batch. */
export const readLatestChangeId = async (tx: Tx, tenantId: string, resource: Resource, id: string): Promise<number> => {
  const [row] = await tx<[{ changeId: number }]>`
    select change_id as "changeId" from changes
    where tenant_id = ${tenantId} and resource = ${resource} and resource_id = ${bigintOf(id)}
    order by change_id desc limit 1`;
  return row.changeId;
};
