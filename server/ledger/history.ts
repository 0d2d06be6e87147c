import { bigintOf, type Fragment, type Tx } from '../../db/driver.ts';
import type { StoredRow } from '../records/record.ts';
import type { Resource } from './schema.ts';

/** A time in UTC, exact to the microsecond, as text: a Date would drop the microseconds. */
export type PointInTime = string;

/** Statements, and parts of statements, with which other domains read the ledger. */

/** The changes of the batch of a row `one`. They all have the same time. */
export const batchOf = (tx: Tx, tenantId: string) => tx`
  select * from changes c
  where c.tenant_id = ${tenantId} and c.time >= one.time and c.time <= one.time and c.batch = one.batch
  order by c.time, c.change_id offset 0`;

/** The changes of the record with the id `s.id`, latest first. */
export const changesOfRecord = (tx: Tx, tenantId: string, resource: Resource) => tx`
  select * from changes c
  where c.tenant_id = ${tenantId} and c.resource = ${resource} and c.resource_id >= s.id and c.resource_id <= s.id
  order by c.resource_id desc, c.change_id desc`;

/** The row of a record when it was last deleted. */
export const readLastDeleted = async (tx: Tx, tenantId: string, resource: Resource, id: string) => {
  const [row] = await tx<{ before: StoredRow }[]>`
    select c.before from changes c
    where c.tenant_id = ${tenantId} and c.resource = ${resource} and c.resource_id = ${bigintOf(id)}
      and c.action = 'deleted'
    order by c.change_id desc limit 1`;
  return row?.before;
};

/**
 * The latest change of a record until a time. Changes of one record are in the order of their ids, even when the clock was
 * set back between them. A changed password does not change the record.
 */
export const latestChange = (tx: Tx, tenantId: string, resource: Resource, id: Fragment, time: PointInTime) => tx`
  select c.change_id, c.time, c.after from changes c
  where c.tenant_id = ${tenantId} and c.resource = ${resource} and c.resource_id >= ${id} and c.resource_id <= ${id}
    and c.time <= (select ${time}::text::timestamptz)
    ${resource === 'user' ? tx`and c.action <> 'password changed'` : tx``}
  order by c.resource_id desc, c.change_id desc limit 1`;

/** The row of a record at a time; undefined: it did not exist. */
export const readStoredAt = async (tx: Tx, tenantId: string, resource: Resource, id: string, time: PointInTime) => {
  const [row] = await tx<{ after: StoredRow | null }[]>`
    ${latestChange(tx, tenantId, resource, tx`${bigintOf(id)}::bigint`, time)}`;
  return row?.after ?? undefined;
};
