import { bigintOf, type Fragment, type Tx } from '../../../db/driver.ts';
import { latestChange } from '../../ledger/history.ts';
import type { PointInTime } from '../../ledger/point-in-time.ts';
import type { Subtree } from '../tree/schema.ts';
import { childrenAt, hadChildren, stored } from './queries.ts';

/** A department in a tree as it was at a point in time. A name, order or status is null if its row did not have the field then. */
export interface PastNode {
  deptId: number;
  parentId: number;
  deptName: string | null;
  orderNum: number | null;
  leader: string | null;
  leaderId: number | null;
  status: string | null;
  hasChildren: boolean;
}

/** Selects only the fields that a tree shows, after a change `c`: parsing whole rows takes most of the time of a large tree. */
const nodeColumns = (tx: Tx) => tx`
  (c.after ->> 'dept_id')::bigint as "deptId", ${stored.parentId(tx)} as "parentId", ${stored.deptName(tx)} as "deptName",
  ${stored.orderNum(tx)} as "orderNum", ${stored.leader(tx)} as leader, ${stored.leaderId(tx)} as "leaderId",
  ${stored.status(tx)} as status`;

/** Selects all departments that a tenant ever had, at most `maxRows`, each with its latest change `c` up to a time. */
export const allDepartments = (tx: Tx, tenantId: string, time: PointInTime, maxRows: number | null = null) => tx`
  (select d.dept_id as id from departments d where d.tenant_id = ${tenantId} order by d.dept_id limit ${maxRows}) candidate
  left join lateral (${latestChange(tx, tenantId, 'department', tx`candidate.id`, time)}) c on true`;

/** Reads all departments of a tenant at a point in time, sorted by id; undefined when it ever had more than `maxRows`. */
export const readAllAt = async (
  tx: Tx,
  tenantId: string,
  time: PointInTime,
  maxRows: number,
): Promise<PastNode[] | undefined> => {
  const rows = await tx<(Omit<PastNode, 'deptId'> & { deptId: number | null })[]>`
    select ${nodeColumns(tx)}, false as "hasChildren" from ${allDepartments(tx, tenantId, time, maxRows + 1)}`;
  if (rows.length > maxRows) return undefined;
  return rows.filter((row): row is PastNode => row.deptId !== null);
};

/**
 * Traverses a subtree breadth-first, as it was at a point in time. The children of each department are consecutive and in display
 * order, because each level is visited in the order in which it was read. `extraColumns`: more columns of a change `c`.
 */
export const traverseDown = (
  tx: Tx,
  tenantId: string,
  { rootId, depth }: Subtree,
  time: PointInTime,
  extraColumns: Fragment,
) => {
  const columns = tx`c.change_id, ${stored.parentId(tx)} as parent_id ${extraColumns}`;
  const children = (parent: Fragment) => tx`
    select c.id, ${columns} from (${childrenAt(tx, tenantId, parent, time)}) c order by c.order_num, c.id`;
  const root = (id: Fragment) => tx`
    select ${id} as id, ${columns}
    from (${latestChange(tx, tenantId, 'department', id, time)}) c where c.after is not null`;
  return tx`
    with recursive subtree as (
      select first.*, 1 as level
      from (${rootId === null ? children(tx`0::bigint`) : root(tx`${bigintOf(rootId)}::bigint`)}) first
      union all
      select c.*, subtree.level + 1 from subtree cross join lateral (${children(tx`subtree.id`)} offset 0) c
      where subtree.level < ${depth ?? 2147483647}
    )`;
};

/** Reads a subtree, at most `limit` departments. Only those of the last level may have children that are not read. */
export const readSubtreeAt = (tx: Tx, tenantId: string, subtree: Subtree, time: PointInTime, limit: number) => tx<
  PastNode[]
>`
  ${traverseDown(tx, tenantId, subtree, time, tx`, c.after`)}
  select ${nodeColumns(tx)}, c."hasChildren" from (
    select b.after,
      b.level = ${subtree.depth}::int is true and ${hadChildren(tx, tenantId, tx`b.id`, time)} as "hasChildren"
    from subtree b limit ${limit}
  ) c`;

/** Opens a cursor over the shape of a whole tree, in no particular order. Fetching it in pieces keeps every statement short. */
export const openWholeShape = (tx: Tx, tenantId: string, time: PointInTime) => tx`
  declare shape no scroll cursor for
  select candidate.id, ${stored.parentId(tx)}, c.change_id, ${stored.orderNum(tx)}
  from ${allDepartments(tx, tenantId, time)} where c.after is not null`;

/** The same for a subtree; the children of each parent are consecutive and in display order. */
export const openSubtreeShape = (tx: Tx, tenantId: string, subtree: Subtree, time: PointInTime) => tx`
  declare shape no scroll cursor for
  ${traverseDown(tx, tenantId, subtree, time, tx``)}
  select b.id, b.parent_id, b.change_id, 0 from subtree b`;

type ShapeRow = [deptId: number, parentId: number, changeId: number, orderNum: number];

export const fetchShape = async (tx: Tx): Promise<ShapeRow[]> =>
  (await tx`fetch forward 5000 from shape`.values()) as never;

export const closeShape = (tx: Tx) => tx`close shape`;

/**
 * Reads departments as they were after changes, in no particular order. `depthLimited`: some may have children that are not
 * shown. The range of one id stands for `=`: see `forceIndexScans`.
 */
export const readRowsAfter = (
  tx: Tx,
  tenantId: string,
  changeIds: number[],
  time: PointInTime,
  { depthLimited }: { depthLimited: boolean },
) => tx<PastNode[]>`
  select ${nodeColumns(tx)}, c."hasChildren" from (
    select node.after,
      ${depthLimited ? hadChildren(tx, tenantId, tx`node.resource_id`, time) : tx`false`} as "hasChildren"
    from unnest(${changeIds.map(String)}::bigint[]) wanted (id) cross join lateral (
      select c.resource_id, c.after from changes c
      where c.tenant_id = ${tenantId} and c.change_id >= wanted.id and c.change_id <= wanted.id
      order by c.change_id limit 1
    ) node
  ) c`;
