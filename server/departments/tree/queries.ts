import { bigintOf, type Fragment, raw, type Tx } from '../../../db/driver.ts';
import { columns, shownLeader } from '../queries.ts';
import type { Child, Subtree } from './schema.ts';

/** The position of a department among its siblings. */
export interface Position {
  orderNum: number;
  deptId: string;
}

/**
 * Runs an empty statement every few seconds: while a slow client reads, the transaction is idle, and PostgreSQL or the pool
 * would close its connection. Returns a function that stops it.
 */
export function keepAlive(tx: Tx): () => void {
  const ping = async () => void (await tx`select`);
  const timer = setInterval(() => void ping().catch(() => {}), 5_000);
  return () => clearInterval(timer);
}

/** Selects children. The range of one id (`>=` and `<=`), here and below, stands for `=`: see `forceIndexScans`. */
const childrenOf = (tx: Tx, parentId: string | null) =>
  parentId === null
    ? tx`d.parent_id is null and d.del_flag = '0'`
    : tx`d.parent_id >= ${bigintOf(parentId)} and d.parent_id <= ${bigintOf(parentId)} and d.del_flag = '0'`;
const displayOrder = (tx: Tx) => tx`order by d.parent_id, d.order_num, d.dept_id`;

/** Joins a row `d` with one of its children, if it has any. */
const joinChild = (tx: Tx) => tx`
  left join lateral (
    select true as found from departments c
    where c.tenant_id = d.tenant_id and c.parent_id >= d.dept_id and c.parent_id <= d.dept_id and c.del_flag = '0'
    order by c.parent_id, c.order_num, c.dept_id limit 1
  ) c on true`;

/** Reads a page of children; `ancestors` is left empty, because it is the same for all of them. */
export const listChildren = (
  tx: Tx,
  tenantId: string,
  parentId: string | null,
  { after, limit }: { after: Position | undefined; limit: number },
) => tx<Child[]>`
  select ${columns(tx, tx`''`)},
    c.found is not null as "hasChildren"
  from departments d ${joinChild(tx)}
  where d.tenant_id = ${tenantId} and ${childrenOf(tx, parentId)} ${after ? tx`and ${isAfter(tx, parentId, after)}` : tx``}
  ${displayOrder(tx)} limit ${limit}`;

/** Below a department, the comparison includes the parent, so that the index scan starts at the position and skips nothing. */
const isAfter = (tx: Tx, parentId: string | null, { orderNum, deptId }: Position) =>
  parentId === null
    ? tx`(d.order_num, d.dept_id) > (${orderNum}::int, ${deptId}::bigint)`
    : tx`(d.parent_id, d.order_num, d.dept_id) > (${bigintOf(parentId)}::bigint, ${orderNum}::int, ${deptId}::bigint)`;

const skeletonColumns = (tx: Tx) => tx`d.dept_id as "deptId", coalesce(d.parent_id, 0) as "parentId"`;
/**
 * The JSON of a node up to `status`. It is sent as it is: PostgreSQL serializes it, and Node.js reads only the two ids.
 */
const jsonPrefix = (tx: Tx) => tx`
  concat('{"deptId":', d.dept_id, ',"parentId":', coalesce(d.parent_id, 0), ',"deptName":', to_json(d.dept_name),
    ',"orderNum":', d.order_num, ',"leader":', coalesce(to_json(${raw(tx, shownLeader)})::text, 'null'), ',"status":"', d.status, '",')`;

export interface NodeRow {
  deptId: number;
  parentId: number;
  /** The JSON of a TreeNode up to `userCount` and `hasChildren`: `{"deptId":…,"parentId":…,…,"status":"0",` */
  jsonPrefix: Buffer;
  /** Only read where the depth is limited; elsewhere the children themselves are read. */
  hasChildren?: boolean;
}

/** Reads rows of two columns: the JSON prefix, and optionally whether the node has children. */
async function readNodeRows(rows: { raw(): PromiseLike<unknown> }): Promise<NodeRow[]> {
  return ((await rows.raw()) as [Buffer, Buffer?][]).map(([jsonPrefix, hasChildren]) => {
    const [deptId, end] = numberAt(jsonPrefix, '{"deptId":'.length);
    const [parentId] = numberAt(jsonPrefix, end + ',"parentId":'.length);
    return { deptId, parentId, jsonPrefix, hasChildren: hasChildren?.[0] === TRUE };
  });
}
const TRUE = 't'.charCodeAt(0);

/** Parses the digits from an offset on; returns the number and the offset of its end. */
function numberAt(bytes: Buffer, start: number): [value: number, end: number] {
  let [value, at] = [0, start];
  for (let digit = digitAt(bytes, at); digit >= 0 && digit <= 9; digit = digitAt(bytes, ++at))
    value = value * 10 + digit;
  return [value, at];
}
const digitAt = (bytes: Buffer, at: number) => (bytes[at] ?? 0) - 48;

/**
 * Traverses a subtree breadth-first. The children of each department are consecutive and in display order, because each
 * level is visited in the order in which it was read.
 */
const traverseDown = (tx: Tx, tenantId: string, { rootId, depth }: Subtree, selected: Fragment) => tx`
  with recursive subtree as (
    (select ${selected}, 1 as level from departments d
    where d.tenant_id = ${tenantId}
      and ${rootId === null ? childrenOf(tx, null) : tx`d.dept_id = ${bigintOf(rootId)} and d.del_flag <> '2'`}
    ${displayOrder(tx)})
    union all
    select c.*, subtree.level + 1 from subtree cross join lateral (
      select ${selected} from departments d
      where d.tenant_id = ${tenantId} and d.parent_id >= subtree."deptId" and d.parent_id <= subtree."deptId"
        and d.del_flag = '0'
      ${displayOrder(tx)} offset 0
    ) c
    where subtree.level < ${depth ?? 2147483647}
  )`;

/** Reads the nodes of a subtree, at most `limit`; the children of each parent are consecutive and in display order. */
export const readNodes = (tx: Tx, tenantId: string, subtree: Subtree, limit: number): Promise<NodeRow[]> => {
  if (subtree.rootId === null && subtree.depth === null) {
    return readNodeRows(tx`
      select ${jsonPrefix(tx)} from departments d
      where d.tenant_id = ${tenantId} and d.del_flag = '0'
      ${displayOrder(tx)} limit ${limit}`);
  }
  // Only nodes of the last level can have children that are not read.
  return readNodeRows(tx`
    ${traverseDown(tx, tenantId, subtree, tx`${skeletonColumns(tx)}, ${jsonPrefix(tx)} as json_prefix`)}
    select b.json_prefix, c.found is not null
    from subtree b left join lateral (
      select true as found from departments c
      where c.tenant_id = ${tenantId} and c.parent_id >= b."deptId" and c.parent_id <= b."deptId" and c.del_flag = '0'
        and b.level = ${subtree.depth}::int
      order by c.parent_id, c.order_num, c.dept_id limit 1
    ) c on true
    limit ${limit}`);
};

/** Opens a cursor over the ids of a subtree of any size. Fetching it in pieces keeps every statement short. */
export const openSkeleton = (tx: Tx, tenantId: string, subtree: Subtree) =>
  subtree.rootId === null && subtree.depth === null
    ? tx`
      declare skeleton no scroll cursor for
      select ${skeletonColumns(tx)} from departments d
      where d.tenant_id = ${tenantId} and d.del_flag = '0' ${displayOrder(tx)}`
    : tx`
      declare skeleton no scroll cursor for
      ${traverseDown(tx, tenantId, subtree, skeletonColumns(tx))}
      select "deptId", "parentId" from subtree`;

export const fetchSkeleton = async (tx: Tx): Promise<[deptId: number, parentId: number][]> =>
  (await tx`fetch forward 5000 from skeleton`.values()) as never;

export const closeSkeleton = (tx: Tx) => tx`close skeleton`;

/** Reads the contents of nodes, in no particular order. `depthLimited`: some may have children that are not shown. */
export const readContents = (
  tx: Tx,
  tenantId: string,
  deptIds: number[],
  { depthLimited }: { depthLimited: boolean },
): Promise<NodeRow[]> =>
  readNodeRows(tx`
    select ${jsonPrefix(tx)} ${depthLimited ? tx`, c.found is not null` : tx``}
    from departments d ${depthLimited ? joinChild(tx) : tx``}
    where d.tenant_id = ${tenantId} and d.dept_id = any(${deptIds.map(String)}::bigint[])`);

export const readChildIds = async (
  tx: Tx,
  tenantId: string,
  parentId: string | null,
  limit: number,
): Promise<string[]> => {
  const rows = await tx<{ deptId: number }[]>`
    select d.dept_id as "deptId" from departments d
    where d.tenant_id = ${tenantId} and ${childrenOf(tx, parentId)} ${displayOrder(tx)} limit ${limit}`;
  return rows.map(({ deptId }) => String(deptId));
};

/** Locks departments in the order of ids, like every transaction, and returns them as they are once locked. */
export const lockForReorder = (tx: Tx, tenantId: string, deptIds: string[]) => tx<
  { deptId: number; parentId: number | null; orderNum: number }[]
>`
  select dept_id as "deptId", parent_id as "parentId", order_num as "orderNum" from departments
  where tenant_id = ${tenantId} and dept_id = any(${deptIds.map(bigintOf)}::bigint[]) and del_flag <> '2'
  order by dept_id for no key update`;

/** Reads the ids of a department and its descendants, at most `limit`. */
export const readSubtreeIds = async (tx: Tx, tenantId: string, deptId: string, limit: number): Promise<string[]> => {
  const rows = await tx<{ deptId: number }[]>`
    ${traverseDown(tx, tenantId, { rootId: deptId, depth: null }, skeletonColumns(tx))}
    select "deptId" from subtree limit ${limit}`;
  return rows.map((row) => String(row.deptId));
};

/** Keeps other transactions from creating children of these departments and from adding members until this one ends. */
export const lockSubtree = (tx: Tx, tenantId: string, deptIds: string[]) => tx<{ deptId: number }[]>`
  select dept_id as "deptId" from departments
  where tenant_id = ${tenantId} and dept_id = any(${deptIds.map(bigintOf)}::bigint[]) and del_flag <> '2'
  order by dept_id for update`;
