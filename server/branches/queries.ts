import { type Fragment, long, type Tx } from '../../db/sql.ts';
import type { Child } from './schema.ts';

/** Where a row is among its siblings, and where the next page begins. */
export interface Place {
  orderNum: number;
  deptId: string;
}

/**
 * From here on the transaction finds departments by the two keys they are looked for by, and in no other way. The planner
 * is left no choice, because it chooses by statistics and keeps its plans: both may be of a time when there were a few
 * departments, and then it reads all of a million, for each step of a walk. So below: children are asked for as a range,
 * and in the order that only the index of children has; ids without `del_flag = '0'`, for which other indexes would do.
 */
export const keepToKeys = (tx: Tx) => tx`
  select set_config(name, value, true) from (values ('plan_cache_mode', 'force_custom_plan'), ('jit', 'off'),
    ('enable_seqscan', 'off'), ('enable_bitmapscan', 'off'), ('enable_sort', 'off')) as setting (name, value)`;

/**
 * A slow reader may take his time between two statements. So that neither PostgreSQL nor the pool takes the connection for
 * dead, it is spoken to meanwhile, until what is returned is called.
 */
export function keepTalking(tx: Tx): () => void {
  const speak = async () => void (await tx`select`);
  const clock = setInterval(() => void speak().catch(() => {}), 5_000);
  return () => clearInterval(clock);
}

const childrenOf = (tx: Tx, parentId: string | null) =>
  parentId === null
    ? tx`d.parent_id is null and d.del_flag = '0'`
    : tx`d.parent_id >= ${long(parentId)} and d.parent_id <= ${long(parentId)} and d.del_flag = '0'`;
const inOrder = (tx: Tx) => tx`order by d.parent_id, d.order_num, d.dept_id`;

/** Whether a row `d` has live children. */
const hasChildren = (tx: Tx) => tx`
  left join lateral (
    select true as found from departments c
    where c.tenant_id = d.tenant_id and c.parent_id >= d.dept_id and c.parent_id <= d.dept_id and c.del_flag = '0'
    order by c.parent_id, c.order_num, c.dept_id limit 1
  ) c on true`;

/** `ancestors` is the same for all children of one parent, so whoever asks has walked it once. */
export const listChildren = (
  tx: Tx,
  tenantId: string,
  parentId: string | null,
  { after, limit }: { after: Place | undefined; limit: number },
) => tx<Child[]>`
  select d.dept_id as "deptId", coalesce(d.parent_id, 0) as "parentId", '' as ancestors,
    d.dept_name as "deptName", d.order_num as "orderNum", d.leader, d.phone, d.email, d.status,
    d.del_flag as "delFlag", d.tenant_id as "tenantId",
    d.create_by as "createBy", to_char(d.create_time, 'YYYY-MM-DD HH24:MI:SS') as "createTime",
    d.update_by as "updateBy", to_char(d.update_time, 'YYYY-MM-DD HH24:MI:SS') as "updateTime",
    c.found is not null as "hasChildren"
  from departments d ${hasChildren(tx)}
  where d.tenant_id = ${tenantId} and ${childrenOf(tx, parentId)} ${after ? tx`and ${behind(tx, parentId, after)}` : tx``}
  ${inOrder(tx)} limit ${limit}`;

/** With the parent in it, the index begins at the place itself, however many come before. */
const behind = (tx: Tx, parentId: string | null, { orderNum, deptId }: Place) =>
  parentId === null
    ? tx`(d.order_num, d.dept_id) > (${orderNum}::int, ${deptId}::bigint)`
    : tx`(d.parent_id, d.order_num, d.dept_id) > (${long(parentId)}::bigint, ${orderNum}::int, ${deptId}::bigint)`;

/** Which part of a tenant: below one department, or all of it (null), and how many levels of it (null: all). */
export interface Part {
  rootId: string | null;
  depth: number | null;
}

const skeletonColumns = (tx: Tx) => tx`d.dept_id as "deptId", coalesce(d.parent_id, 0) as "parentId"`;
/** What a node shows of itself, as it is sent: PostgreSQL writes it beside us, and here nobody reads it. */
const nodeText = (tx: Tx) => tx`
  concat('{"deptId":', d.dept_id, ',"parentId":', coalesce(d.parent_id, 0), ',"deptName":', to_json(d.dept_name),
    ',"orderNum":', d.order_num, ',"leader":', coalesce(to_json(d.leader)::text, 'null'), ',"status":"', d.status, '",')`;

export interface NodeRow {
  deptId: number;
  parentId: number;
  /** The JSON of a TreeNode up to where its children matter: `{"deptId":…,"parentId":…,…,"status":"0",` */
  beginning: Buffer;
  /** Told where some may be cut off; elsewhere the children themselves tell it. */
  hasChildren?: boolean;
}

/** A row of a node's text, and of whether it has children where that is asked for. */
async function readRaw(rows: { raw(): PromiseLike<unknown> }): Promise<NodeRow[]> {
  return ((await rows.raw()) as [Buffer, Buffer?][]).map(([beginning, hasChildren]) => {
    const [deptId, end] = numberAt(beginning, '{"deptId":'.length);
    const [parentId] = numberAt(beginning, end + ',"parentId":'.length);
    return { deptId, parentId, beginning, hasChildren: hasChildren?.[0] === TRUE };
  });
}
const TRUE = 't'.charCodeAt(0);

/** The digits from a place on, as a number, and where they end. */
function numberAt(bytes: Buffer, from: number): [value: number, end: number] {
  let [value, at] = [0, from];
  for (let digit = digitAt(bytes, at); digit >= 0 && digit <= 9; digit = digitAt(bytes, ++at))
    value = value * 10 + digit;
  return [value, at];
}
const digitAt = (bytes: Buffer, at: number) => (bytes[at] ?? 0) - 48;

/**
 * Level by level, the children of each department together and in display order: the walk goes through the departments
 * of a level as they came, and from each to its children.
 */
const walkDown = (tx: Tx, tenantId: string, { rootId, depth }: Part, columns: Fragment) => tx`
  with recursive branch as (
    (select ${columns}, 1 as level from departments d
    where d.tenant_id = ${tenantId}
      and ${rootId === null ? childrenOf(tx, null) : tx`d.dept_id = ${long(rootId)} and d.del_flag <> '2'`}
    ${inOrder(tx)})
    union all
    select c.*, branch.level + 1 from branch cross join lateral (
      select ${columns} from departments d
      where d.tenant_id = ${tenantId} and d.parent_id >= branch."deptId" and d.parent_id <= branch."deptId"
        and d.del_flag = '0'
      ${inOrder(tx)} offset 0
    ) c
    where branch.level < ${depth ?? 2147483647}
  )`;

/** The nodes of a part, children of one parent together and in display order; at most `limit`. */
export const readNodes = (tx: Tx, tenantId: string, part: Part, limit: number): Promise<NodeRow[]> => {
  if (part.rootId === null && part.depth === null) {
    return readRaw(tx`
      select ${nodeText(tx)} from departments d
      where d.tenant_id = ${tenantId} and d.del_flag = '0'
      ${inOrder(tx)} limit ${limit}`);
  }
  // What is cut off is seen at the last level alone.
  return readRaw(tx`
    ${walkDown(tx, tenantId, part, tx`${skeletonColumns(tx)}, ${nodeText(tx)} as beginning`)}
    select b.beginning, c.found is not null
    from branch b left join lateral (
      select true as found from departments c
      where c.tenant_id = ${tenantId} and c.parent_id >= b."deptId" and c.parent_id <= b."deptId" and c.del_flag = '0'
        and b.level = ${part.depth}::int
      order by c.parent_id, c.order_num, c.dept_id limit 1
    ) c on true
    limit ${limit}`);
};

/** The same of any size, ids alone, to be fetched in pieces: none of the statements needs long. */
export const openSkeleton = (tx: Tx, tenantId: string, part: Part) =>
  part.rootId === null && part.depth === null
    ? tx`
      declare skeleton no scroll cursor for
      select ${skeletonColumns(tx)} from departments d
      where d.tenant_id = ${tenantId} and d.del_flag = '0' ${inOrder(tx)}`
    : tx`
      declare skeleton no scroll cursor for
      ${walkDown(tx, tenantId, part, skeletonColumns(tx))}
      select "deptId", "parentId" from branch`;

export const fetchSkeleton = async (tx: Tx): Promise<[deptId: number, parentId: number][]> =>
  (await tx`fetch forward 5000 from skeleton`.values()) as never;

export const closeSkeleton = (tx: Tx) => tx`close skeleton`;

/** The contents of some nodes, in no order; `cut`: some may have children that are not shown. */
export const readContents = (tx: Tx, tenantId: string, deptIds: number[], cut: boolean): Promise<NodeRow[]> =>
  readRaw(tx`
    select ${nodeText(tx)} ${cut ? tx`, c.found is not null` : tx``}
    from departments d ${cut ? hasChildren(tx) : tx``}
    where d.tenant_id = ${tenantId} and d.dept_id = any(${deptIds.map(String)}::bigint[])`);

/** Of the live children of a department, at most `limit`. */
export const childIds = async (tx: Tx, tenantId: string, parentId: string | null, limit: number): Promise<string[]> => {
  const rows = await tx<{ deptId: number }[]>`
    select d.dept_id as "deptId" from departments d
    where d.tenant_id = ${tenantId} and ${childrenOf(tx, parentId)} ${inOrder(tx)} limit ${limit}`;
  return rows.map(({ deptId }) => String(deptId));
};

/** Locked for ourselves, in the order of ids, as everywhere; told as they are once we have them. */
export const lockForOrder = (tx: Tx, tenantId: string, deptIds: string[]) => tx<
  { deptId: number; parentId: number | null; orderNum: number }[]
>`
  select dept_id as "deptId", parent_id as "parentId", order_num as "orderNum" from departments
  where tenant_id = ${tenantId} and dept_id = any(${deptIds.map(long)}::bigint[]) and del_flag <> '2'
  order by dept_id for no key update`;

/**
 * In pieces: each department leaves its row in the ledger too, and no statement is to need long. `any` beside the join:
 * it is what finds the rows by their key, however many the planner expects.
 */
export const renumber = async (tx: Tx, tenantId: string, by: string, numbers: [string, number][]): Promise<void> => {
  for (let at = 0; at < numbers.length; at += PIECE) {
    const piece = numbers.slice(at, at + PIECE);
    const ids = piece.map(([id]) => id);
    await tx`
      update departments d set order_num = n.order_num, update_by = ${by}, update_time = now()
      from unnest(${ids}::bigint[], ${piece.map(([, number]) => String(number))}::int[]) as n (dept_id, order_num)
      where d.tenant_id = ${tenantId} and d.dept_id = any(${ids}::bigint[]) and d.dept_id = n.dept_id`;
  }
};

/** A department and all live ones below it, at most `limit`. */
export const branchIds = async (tx: Tx, tenantId: string, deptId: string, limit: number): Promise<string[]> => {
  const rows = await tx<{ deptId: number }[]>`
    ${walkDown(tx, tenantId, { rootId: deptId, depth: null }, skeletonColumns(tx))}
    select "deptId" from branch limit ${limit}`;
  return rows.map((row) => String(row.deptId));
};

/** Nobody creates below these, nor joins them, until the transaction ends. */
export const lockBranch = (tx: Tx, tenantId: string, deptIds: string[]) => tx<{ deptId: number }[]>`
  select dept_id as "deptId" from departments
  where tenant_id = ${tenantId} and dept_id = any(${deptIds.map(long)}::bigint[]) and del_flag <> '2'
  order by dept_id for update`;

/** In pieces as well. */
export const markBranchDeleted = async (tx: Tx, tenantId: string, deptIds: string[], by: string): Promise<void> => {
  for (let at = 0; at < deptIds.length; at += PIECE) {
    await tx`
      update departments set del_flag = '2', update_by = ${by}, update_time = now()
      where tenant_id = ${tenantId} and dept_id = any(${deptIds.slice(at, at + PIECE).map(long)}::bigint[])
        and del_flag <> '2'`;
  }
};
const PIECE = 20_000;

/** New ids, ascending: departments of the same `orderNum` are shown in the order in which they were sent. */
export const takeIds = async (tx: Tx, count: number): Promise<number[]> => {
  const rows = await tx<{ id: number }[]>`select nextval('dept_serial') as id from generate_series(1, ${count})`;
  return rows.map(({ id }) => id).sort((a, b) => a - b);
};

/** `parentId` null: top level. */
export interface NewRow {
  deptId: number;
  parentId: number | string | null;
  deptName: string;
  orderNum: number;
  leader: string | null;
  phone: string | null;
  email: string | null;
  status: '0' | '1';
}

/** All in one statement: foreign keys are looked at when it ends, so a child may stand before its parent. */
export const insertDepts = (tx: Tx, tenantId: string, by: string, rows: NewRow[]) => tx`
  insert into departments (tenant_id, dept_id, parent_id, dept_name, order_num, leader, phone, email, status, create_by)
  select ${tenantId}, "deptId", "parentId", "deptName", "orderNum", leader, phone, email, status, ${by}
  from json_to_recordset(${JSON.stringify(rows)}::text::json) as row (
    "deptId" bigint, "parentId" bigint, "deptName" text, "orderNum" int, leader text, phone text, email text, status text
  )`;
