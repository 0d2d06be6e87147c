import type { Sql, Tx } from '../../db/driver.ts';
import { type ChangeRow, changeColumns, changeOrArchived } from './queries.ts';

/**
 * Statements on the order of the changes of all tenants, from which the changes of a subtree are read.
 */

/** Lets the transaction read the ledgers of the descendants of the tenant that it has assumed. */
export const allowDescendantLedgers = (tx: Tx) => tx`select set_config('banyan.below', 'on', true)`;

/** Assigns positions to committed changes of all tenants; returns how many it assigned. */
export const orderChanges = async (tx: Tx, maxRows: number): Promise<number> => {
  const [row] = await tx<[{ ordered: number }]>`select order_changes(${maxRows}) as ordered`;
  return row.ordered;
};

interface OrderEnd {
  /** The last position. */
  last: number;
  /** Whether some committed changes, of whatever tenant, have no position yet. */
  hasUnordered: boolean;
}

export const readOrderEnd = async (sql: Sql | Tx): Promise<OrderEnd> => {
  const [row] = await sql<[OrderEnd]>`
    select position as last, has_unordered_changes() as "hasUnordered" from change_order`;
  return row;
};

/** The position of a change in the order of the changes of all tenants, and the ledger that has the change. */
export interface ChangePosition {
  position: number;
  ledger: string;
  id: number;
}

/** The tenants of a subtree, whose codes are known to be at or below `root`. */
export interface Subtree {
  root: string;
  tenantIds: string[];
}

/**
 * Finds the first changes of a subtree after one position and up to another: one lookup for each tenant in the subtree, so
 * changes of other tenants cost nothing. A copy (a descendant's change in the ledger of an ancestor) is returned only if that
 * ancestor is the root.
 */
export const findChangePositions = (
  tx: Tx,
  { root, tenantIds }: Subtree,
  { after, upTo, limit }: { after: number; upTo: number; limit: number },
) => tx<ChangePosition[]>`
  select p.position, p.tenant_id as ledger, p.change_id as id from unnest(${tenantIds}::text[]) ledger
  cross join lateral (
    select * from change_positions p
    where p.tenant_id = ledger and p.position > ${after} and p.position <= ${upTo}
      and (not p.is_copy or p.tenant_id = ${root})
    order by p.position limit ${limit}
  ) p
  order by p.position limit ${limit}`;

/** Reads changes of a subtree, archived or not, in the given order. Leaves out those that are no longer stored. */
export const readChangesAt = (tx: Tx, root: string, changes: readonly ChangePosition[]) => tx<
  (ChangeRow & { seq: number })[]
>`
  select wanted.position as seq, ${changeColumns(tx)}
  from rows from (json_to_recordset(${JSON.stringify(changes)}::text::json)
    as (position bigint, ledger text, id bigint)) with ordinality wanted (position, ledger, id, n)
  cross join lateral (
    select t.tenant_id from tenants t
    where t.tenant_id = wanted.ledger and t.path @> array[${root}::text] limit 1
  ) t
  cross join lateral (${changeOrArchived(tx, tx`t.tenant_id`, tx`wanted.id`)}) c
  order by wanted.n`;

/**
 * Returns the subtrees that have changes beyond the given position, and the last position that was considered: a later call
 * may begin there.
 */
export const subtreesWithNewChanges = async (sql: Sql, positions: ReadonlyMap<string, number>) => {
  const [row] = await sql<[{ last: number; changed: string[] }]>`
    select last, changed from subtrees_with_new_changes(
      ${[...positions.keys()]}::text[], ${[...positions.values()].map(String)}::bigint[])`;
  return row;
};
