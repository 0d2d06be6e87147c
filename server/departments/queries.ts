import { anyNumberOf, type Fragment, long, type Sql, type Tx } from '../../db/sql.ts';
import type { Origin } from '../../db/tenancy.ts';
import type { Dept } from './schema.ts';

/** A department's own fields, as they are written. `parentId` null: top level. */
export interface DeptFields {
  parentId: string | null;
  deptName: string;
  orderNum: number;
  leader: string | null;
  phone: string | null;
  email: string | null;
  status: '0' | '1';
}

/** From `id` up to the top: as text, from the top down, separated by commas. */
const walk = (tx: Tx, tenantId: Fragment, id: Fragment) => tx`
  (with recursive up (id, depth) as (
    select ${id}, 1 where ${id} is not null
    union all
    select p.parent_id, up.depth + 1
    from up cross join lateral (
      -- limit 1 leaves the planner no choice but the primary key, statistics or not.
      select parent_id from departments p where p.tenant_id = ${tenantId} and p.dept_id = up.id limit 1
    ) p
    where p.parent_id is not null
  )
  select '0' || coalesce(string_agg(',' || id, '' order by depth desc), '') from up)`;

/** The columns of a read, for a row `d`. `ancestors` is walked from the parents, never stored, so it cannot be stale. */
export const columns = (tx: Tx, ancestors = walk(tx, tx`d.tenant_id`, tx`d.parent_id`)) => tx`
  d.dept_id as "deptId", coalesce(d.parent_id, 0) as "parentId", ${ancestors} as ancestors,
  d.dept_name as "deptName", d.order_num as "orderNum", d.leader, d.phone, d.email, d.status,
  d.del_flag as "delFlag", d.tenant_id as "tenantId",
  d.create_by as "createBy", to_char(d.create_time, 'YYYY-MM-DD HH24:MI:SS') as "createTime",
  d.update_by as "updateBy", to_char(d.update_time, 'YYYY-MM-DD HH24:MI:SS') as "updateTime"`;

/** As 0013_plans.sql writes it. `above`: the parent of its parent. */
export type FoundRow = [
  deptId: number,
  parentId: number,
  above: number,
  deptName: string,
  orderNum: number,
  leader: string | null,
  phone: string | null,
  email: string | null,
  status: string,
  delFlag: string,
  createBy: string,
  createTime: string,
  updateBy: string,
  updateTime: string | null,
];

/** Departments, deleted ones too, and those who ask for them. */
export const readWithCallers = async <CallerRow>(
  sql: Sql,
  tenantId: string,
  callers: { userId: string; sessionId: string }[],
  deptIds: string[],
) => {
  const [row] = await sql<[{ callers: CallerRow[]; stamp: string; departments: FoundRow[] | null }]>`
    select callers, stamp, departments from read_departments(${tenantId},
      ${callers.map(({ userId }) => long(userId))}::bigint[], ${callers.map(({ sessionId }) => sessionId)}::uuid[],
      ${deptIds.map(long)}::bigint[])`;
  return { ...row, departments: row.departments ?? [] };
};

/** In the order of `columns`, which counts: the tag of a department is made of its text. */
export const showFound = (tenantId: string, ancestors: string, row: FoundRow): Dept => ({
  deptId: row[0],
  parentId: row[1],
  ancestors,
  deptName: row[3],
  orderNum: row[4],
  leader: row[5],
  phone: row[6],
  email: row[7],
  status: row[8] as Dept['status'],
  delFlag: row[9] as Dept['delFlag'],
  tenantId,
  createBy: row[10],
  createTime: row[11],
  updateBy: row[12],
  updateTime: row[13],
});

/** Many at once, deleted ones too, with the stamp of the tree; `ancestors` is left to paths.ts. */
export const readDepts = (tx: Tx, tenantId: string, deptIds: string[]) => tx<(Dept & { treeStamp: string })[]>`
  select ${columns(tx, tx`''`)}, t.tree_stamp as "treeStamp"
  from departments d join tenants t on t.tenant_id = d.tenant_id
  where d.tenant_id = ${tenantId} and d.dept_id = any(${anyNumberOf(tx, deptIds.map(long))}::bigint[])`;

/** These and all above them, each with its parent, 0 at the top: each once, however many it is above. */
export const walkUp = (tx: Tx, tenantId: string, deptIds: (string | number)[]) => {
  const found = (id: Fragment) => tx`
    cross join lateral (
      -- limit 1 leaves the planner no choice but the primary key, statistics or not.
      select dept_id, coalesce(parent_id, 0) as parent_id
      from departments d where d.tenant_id = ${tenantId} and d.dept_id = ${id} limit 1
    ) d`;
  return tx<{ deptId: number; parentId: number }[]>`
    with recursive up (id, parent_id) as (
      select d.dept_id, d.parent_id from unnest(${anyNumberOf(tx, deptIds)}) m (id) ${found(tx`m.id`)}
      union
      select d.dept_id, d.parent_id from up ${found(tx`up.parent_id`)}
    )
    select id as "deptId", parent_id as "parentId" from up`;
};

/** A move: the paths that were known are known no more. */
export const stampTree = (tx: Tx, tenantId: string) => tx`
  update tenants set tree_stamp = gen_random_uuid() where tenant_id = ${tenantId}`;

export const readDept = async (tx: Tx, tenantId: string, deptId: string, includeDeleted: boolean) => {
  const [row] = await tx<Dept[]>`
    select ${columns(tx)} from departments d
    where d.tenant_id = ${tenantId} and d.dept_id = ${long(deptId)} and (${includeDeleted} or d.del_flag = '0')`;
  return row;
};

/** Locked against deletion and disabling until the transaction ends; others may hold them too. */
export const holdDepts = (tx: Tx, tenantId: string, deptIds: string[], { wait = true } = {}) => tx<
  { deptId: number; status: string }[]
>`
  select dept_id as "deptId", status from departments
  where tenant_id = ${tenantId} and dept_id = any(${anyNumberOf(tx, deptIds.map(long))}::bigint[]) and del_flag = '0'
  order by dept_id for share ${wait ? tx`` : tx`skip locked`}`;

/** Locked for ourselves, in the order of ids, as everywhere. */
export const lockDepts = (tx: Tx, tenantId: string, deptIds: string[]) => tx<
  { deptId: number; parentId: number | null; status: string }[]
>`
  select dept_id as "deptId", parent_id as "parentId", status from departments
  where tenant_id = ${tenantId} and dept_id = any(${anyNumberOf(tx, deptIds.map(long))}::bigint[]) and del_flag = '0'
  order by dept_id for update`;

/** The new ids, in the order of the rows. With origins of their own these are what the ledger notes. */
export const insertDepts = async (
  tx: Tx,
  tenantId: string,
  rows: (DeptFields & { by: string; origin?: Origin | undefined })[],
): Promise<number[]> => {
  const of = <K extends keyof (typeof rows)[number]>(name: K) => rows.map((row) => row[name]);
  const origins = of('origin');
  const said = origins[0] ? tx`set_config('banyan.origin', ${JSON.stringify(origins)}, true)` : tx`''`;
  const made = await tx<{ deptId: number }[]>`
    with sent as materialized (
      select nextval('dept_serial') as dept_id, s.* from unnest(
        ${of('parentId')}::bigint[], ${of('deptName')}::text[], ${of('orderNum')}::int[], ${of('leader')}::text[],
        ${of('phone')}::text[], ${of('email')}::text[], ${of('status')}::text[], ${of('by')}::text[]
      ) with ordinality s (parent_id, dept_name, order_num, leader, phone, email, status, create_by, n)
    ), made as (
      insert into departments
        (tenant_id, dept_id, parent_id, dept_name, order_num, leader, phone, email, status, create_by)
      select ${tenantId}, dept_id, parent_id, dept_name, order_num, leader, phone, email, status, create_by from sent
    ), said as materialized (select ${said})
    select dept_id as "deptId" from sent, said order by n`;
  return made.map(({ deptId }) => deptId);
};

const setFields = (tx: Tx, by: string, fields: Omit<DeptFields, 'parentId'>) => tx`
  dept_name = ${fields.deptName}, order_num = ${fields.orderNum}, leader = ${fields.leader}, phone = ${fields.phone},
  email = ${fields.email}, status = ${fields.status}, update_by = ${by}, update_time = now()`;

/**
 * Replaces the fields of a department where it is at `parentId` (undefined: wherever it is), which needs no lock but its
 * own. Tells whether it did, and where it was: of one snapshot, so that what was elsewhere was not waited for.
 */
export const updateInPlace = async (
  tx: Tx,
  tenantId: string,
  deptId: string,
  by: string,
  { parentId, ...fields }: Omit<DeptFields, 'parentId'> & { parentId: string | null | undefined },
): Promise<{ stayed: boolean; was: string | null | undefined }> => {
  const existing = tx`tenant_id = ${tenantId} and dept_id = ${long(deptId)} and del_flag = '0'`;
  const [row] = await tx<[{ stayed: boolean; found: boolean; parentId: string | null }]>`
    with place as materialized (
      select parent_id from departments where ${existing}
    ), stayed as (
      update departments set ${setFields(tx, by, fields)}
      where ${existing} ${parentId === undefined ? tx`` : tx`and parent_id is not distinct from ${parentId}::bigint`}
      returning 1
    )
    select exists (select from stayed) as stayed, exists (select from place) as found,
      (select parent_id::text from place) as "parentId"`;
  return { stayed: row.stayed, was: row.found ? row.parentId : undefined };
};

/** Of a department that is locked, and the tree with it. */
export const moveDept = (tx: Tx, tenantId: string, deptId: string, by: string, fields: DeptFields) => tx`
  update departments set parent_id = ${fields.parentId}, ${setFields(tx, by, fields)}
  where tenant_id = ${tenantId} and dept_id = ${long(deptId)} and del_flag = '0'`;

/** Whether `deptId` is `fromId` itself or above it. */
export const isAtOrAbove = async (tx: Tx, tenantId: string, deptId: string, fromId: string): Promise<boolean> => {
  const [row] = await tx<[{ found: boolean }]>`
    with recursive up (id) as (
      select ${long(fromId)}::bigint
      union all
      select p.parent_id from up cross join lateral (
        select parent_id from departments p where p.tenant_id = ${tenantId} and p.dept_id = up.id limit 1
      ) p
      where p.parent_id is not null
    )
    select exists (select from up where id = ${long(deptId)}::bigint) as found`;
  return row.found;
};

export const parentsAmong = async (tx: Tx, tenantId: string, deptIds: string[]): Promise<string[]> => {
  const rows = await tx<{ parentId: number }[]>`
    select distinct parent_id as "parentId" from departments
    where tenant_id = ${tenantId} and parent_id = any(${deptIds.map(long)}::bigint[]) and del_flag = '0' order by 1`;
  return rows.map(({ parentId }) => String(parentId));
};

export const markDeleted = (tx: Tx, tenantId: string, deptIds: string[], by: string) => tx`
  update departments set del_flag = '2', update_by = ${by}, update_time = now()
  where tenant_id = ${tenantId} and dept_id = any(${deptIds.map(long)}::bigint[])`;
