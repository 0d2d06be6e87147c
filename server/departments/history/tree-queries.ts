import { bigintOf, type Fragment, type Tx } from '../../../db/driver.ts';
import { latestChange } from '../../ledger/history.ts';
import type { PointInTime } from '../../ledger/point-in-time.ts';
import type { StoredRow } from '../../records/record.ts';
import { childrenAt, hadChildren, stored } from './queries.ts';

/** All departments that a tenant ever had, at most `maxRows`, each with its latest change `c` until a time. */
export const allDepartments = (tx: Tx, tenantId: string, time: PointInTime, maxRows: number | null = null) => tx`
  (select d.dept_id as id from departments d where d.tenant_id = ${tenantId} order by d.dept_id limit ${maxRows}) ever
  left join lateral (${latestChange(tx, tenantId, 'department', tx`ever.id`, time)}) c on true`;

/** All departments of a tenant, in the order of ids; undefined when it ever had more than `maxRows`. */
export const readAllAt = async (
  tx: Tx,
  tenantId: string,
  time: PointInTime,
  maxRows: number,
): Promise<StoredRow[] | undefined> => {
  const rows: (StoredRow | null)[][] =
    await tx`select c.after from ${allDepartments(tx, tenantId, time, maxRows + 1)}`.values();
  if (rows.length > maxRows) return undefined;
  return rows.flatMap(([row]) => (row ? [row] : []));
};

/** A part of a tree: below one department or all of it (null), and how many levels (null: all). */
export interface Part {
  rootId: string | null;
  depth: number | null;
}

/**
 * Walks down level by level; the children of each department come together and in display order, because the walk visits the
 * departments of a level in the order in which they came. `more`: additional columns of a change `c`.
 */
export const walkDown = (tx: Tx, tenantId: string, { rootId, depth }: Part, time: PointInTime, more: Fragment) => {
  const columns = tx`c.change_id, ${stored.parentId(tx)} as parent_id ${more}`;
  const children = (parent: Fragment) => tx`
    select c.id, ${columns} from (${childrenAt(tx, tenantId, parent, time)}) c order by c.order_num, c.id`;
  const root = (id: Fragment) => tx`
    select ${id} as id, ${columns}
    from (${latestChange(tx, tenantId, 'department', id, time)}) c where c.after is not null`;
  return tx`
    with recursive branch as (
      select first.*, 1 as level
      from (${rootId === null ? children(tx`0::bigint`) : root(tx`${bigintOf(rootId)}::bigint`)}) first
      union all
      select c.*, branch.level + 1 from branch cross join lateral (${children(tx`branch.id`)} offset 0) c
      where branch.level < ${depth ?? 2147483647}
    )`;
};

/** A part with at most `limit` departments. Only the last level may have children that are cut off. */
export const readPartAt = (tx: Tx, tenantId: string, part: Part, time: PointInTime, limit: number) => tx<
  { row: StoredRow; hasChildren: boolean }[]
>`
  ${walkDown(tx, tenantId, part, time, tx`, c.after`)}
  select b.after as row,
    b.level = ${part.depth}::int is true and ${hadChildren(tx, tenantId, tx`b.id`, time)} as "hasChildren"
  from branch b limit ${limit}`;

/** Opens a cursor over the shape of a whole tenant, in no order. It is fetched in pieces, so no statement takes long. */
export const openShapeOfAll = (tx: Tx, tenantId: string, time: PointInTime) => tx`
  declare past no scroll cursor for
  select ever.id, ${stored.parentId(tx)}, c.change_id, ${stored.orderNum(tx)}
  from ${allDepartments(tx, tenantId, time)} where c.after is not null`;

/** The same of a part; the children of one parent come together and in display order. */
export const openShapeOfPart = (tx: Tx, tenantId: string, part: Part, time: PointInTime) => tx`
  declare past no scroll cursor for
  ${walkDown(tx, tenantId, part, time, tx``)}
  select b.id, b.parent_id, b.change_id, 0 from branch b`;

type Shape = [deptId: number, parentId: number, changeId: number, orderNum: number];

export const fetchShape = async (tx: Tx): Promise<Shape[]> =>
  (await tx`fetch forward 5000 from past`.values()) as never;

export const closeShape = (tx: Tx) => tx`close past`;

/** Reads departments as changes left them, in no order. `depthLimited`: some may have children that are not shown. */
export const readRowsAfter = (
  tx: Tx,
  tenantId: string,
  changeIds: number[],
  time: PointInTime,
  { depthLimited }: { depthLimited: boolean },
) => tx<{ row: StoredRow; hasChildren: boolean }[]>`
  select node.after as row,
    ${depthLimited ? hadChildren(tx, tenantId, tx`node.resource_id`, time) : tx`false`} as "hasChildren"
  from unnest(${changeIds.map(String)}::bigint[]) wanted (id) cross join lateral (
    select c.resource_id, c.after from changes c
    where c.tenant_id = ${tenantId} and c.change_id >= wanted.id and c.change_id <= wanted.id
    order by c.change_id limit 1
  ) node`;
