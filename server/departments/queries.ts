import { readInChunks, readInIdOrder } from '../../db/chunks.ts';
import { bigintOf, type Fragment, idsForGenericPlan, raw, type Sql, type Tx } from '../../db/driver.ts';
import type { RequestOrigin } from '../../db/tenant-scope.ts';
import { type ExternalIdPath, externalIdFinder } from '../records/external-id.ts';
import { type DepartmentReplacement, type DepartmentRow, type DepartmentValues, department } from './record.ts';
import type { Dept } from './schema.ts';

/** Selects the path from the top down to `id`, in the format of `ancestors`. */
const pathTo = (tx: Tx, tenantId: Fragment, id: Fragment) => tx`
  (with recursive up (id, depth) as (
    select ${id}, 1 where ${id} is not null
    union all
    select p.parent_id, up.depth + 1
    from up cross join lateral (
      -- limit 1 forces the primary key, whatever the statistics say.
      select parent_id from departments p where p.tenant_id = ${tenantId} and p.dept_id = up.id limit 1
    ) p
    where p.parent_id is not null
  )
  select '0' || coalesce(string_agg(',' || id, '' order by depth desc), '') from up)`;

/** The columns of a read, for a row `d`. `ancestors` is derived from the parents, never stored, so it cannot be stale. */
export const columns = (tx: Tx, ancestors = pathTo(tx, tx`d.tenant_id`, tx`d.parent_id`)) => tx`
  d.dept_id as "deptId", coalesce(d.parent_id, 0) as "parentId", ${ancestors} as ancestors,
  ${raw(tx, shownColumns)},
  d.del_flag as "delFlag", d.tenant_id as "tenantId",
  d.create_by as "createBy", to_char(d.create_time, 'YYYY-MM-DD HH24:MI:SS') as "createTime",
  d.update_by as "updateBy", to_char(d.update_time, 'YYYY-MM-DD HH24:MI:SS') as "updateTime"`;
const ownColumns = department.columns('d');

/** Reads an expression of the user `u` who leads the department `d`; null: nobody, or the user was deleted. */
const ofLeader = (value: string) => `(
  select ${value} from users u
  where u.tenant_id = d.tenant_id and u.user_id = d.leader_id and u.del_flag = '0' limit 1)`;
const userLabel = "coalesce(nullif(u.nick_name, ''), u.user_name)";

/** The leader of a department `d` as reads show it: the text, or else the name of the user. */
export const shownLeader = `case when d.leader is null and d.leader_id is not null then ${ofLeader(userLabel)} else d.leader end`;
const shownColumns = department.columns('d', {
  leader: shownLeader,
  leaderId: `case when d.leader_id is not null then ${ofLeader('u.user_id')} end`,
});

/** Selects the ids of the users whose name contains a text. */
export const usersNamed = (tx: Tx, tenantId: string, part: string) => tx`
  select u.user_id from users u
  where u.tenant_id = ${tenantId} and u.del_flag = '0' and strpos(lower(${raw(tx, userLabel)}), lower(${part})) > 0`;

/** Keeps users from being deleted until the transaction ends, and reads their names. */
export const lockLeadersForShare = (tx: Tx, tenantId: string, userIds: string[]) => tx<
  { userId: number; name: string }[]
>`
  select u.user_id as "userId", ${raw(tx, userLabel)} as name from users u
  where u.tenant_id = ${tenantId} and u.user_id = any(${userIds.map(bigintOf)}::bigint[]) and u.del_flag = '0'
  order by u.user_id for share`;

/**
 * The assignments of an update. If a caller sends back the leader's name that they read, it is not stored: otherwise reads would
 * still show it after the user was renamed, or after another user was made the leader.
 */
const assignments = (tx: Tx, values: DepartmentReplacement) => {
  const { leader, leaderId } = values;
  if (leader === null || leaderId === null) return department.assignments(tx, values);
  const nameOf = (userId: Fragment) => tx`(
    select ${raw(tx, userLabel)} from users u
    where u.tenant_id = departments.tenant_id and u.user_id = ${userId} and u.del_flag = '0' limit 1)`;
  const currentName = nameOf(tx`departments.leader_id`);
  if (leaderId === undefined)
    return department.assignments(tx, values, { leader: tx`nullif(${leader}::text, ${currentName})` });
  const shownName = tx`case when departments.leader is null then ${currentName} end`;
  return department.assignments(tx, values, {
    leader: tx`nullif(nullif(${leader}::text, ${nameOf(tx`${leaderId}::bigint`)}), ${shownName})`,
  });
};

/** A row of the database function read_departments: the fields of the record come between the ids and `delFlag`. */
type FoundRow = [deptId: number, parentId: number, grandparentId: number, ...rest: (string | number | null)[]];

const AFTER_FIELDS = 3 + department.names.length;

export const isDeleted = (row: FoundRow): boolean => row[AFTER_FIELDS] !== '0';

/** The ids of the users and API keys that requested departments. */
interface CallerIds {
  userIds: (string | null)[];
  sessionIds: (string | null)[];
  keyIds: (string | null)[];
  secretIds: (string | null)[];
}

/** Reads departments, including deleted ones, and the callers who requested them. */
export const readWithCallers = async <CallerRow>(
  sql: Sql,
  tenantId: string,
  { userIds, sessionIds, keyIds, secretIds }: CallerIds,
  deptIds: string[],
) => {
  const [row] = await sql<[{ callers: CallerRow[]; treeVersion: string; departments: FoundRow[] | null }]>`
    select callers, tree_version as "treeVersion", departments from read_departments(${tenantId},
      ${userIds}::bigint[], ${sessionIds}::uuid[], ${keyIds}::bigint[], ${secretIds}::bigint[], ${deptIds.map(bigintOf)}::bigint[])`;
  return { ...row, departments: row.departments ?? [] };
};

/** Maps a row to a department. The keys have the order of `columns`: the ETag is computed from the JSON text. */
export function showFound(tenantId: string, ancestors: string, row: FoundRow): Dept {
  const dept: Record<string, unknown> = { deptId: row[0], parentId: row[1], ancestors };
  for (const [n, name] of department.names.entries()) dept[name] = row[3 + n];
  dept.delFlag = row[AFTER_FIELDS];
  dept.tenantId = tenantId;
  dept.createBy = row[AFTER_FIELDS + 1];
  dept.createTime = row[AFTER_FIELDS + 2];
  dept.updateBy = row[AFTER_FIELDS + 3];
  dept.updateTime = row[AFTER_FIELDS + 4];
  return dept as unknown as Dept;
}

/** Reads departments, including deleted ones, with the tree version; `ancestors` is left to the path cache. */
export const readWithTreeVersion = (tx: Tx, tenantId: string, deptIds: string[]) => tx<
  (Dept & { treeVersion: string })[]
>`
  select ${columns(tx, tx`''`)}, t.tree_version as "treeVersion"
  from departments d join tenants t on t.tenant_id = d.tenant_id
  where d.tenant_id = ${tenantId} and d.dept_id = any(${idsForGenericPlan(tx, deptIds.map(bigintOf))}::bigint[])`;

/** Reads departments and all of their ancestors, each once and with its parent; 0: top level. */
export const readAncestors = (tx: Tx, tenantId: string, deptIds: (string | number)[]) => {
  const lookUp = (id: Fragment) => tx`
    cross join lateral (
      -- limit 1 forces the primary key, whatever the statistics say.
      select dept_id, coalesce(parent_id, 0) as parent_id
      from departments d where d.tenant_id = ${tenantId} and d.dept_id = ${id} limit 1
    ) d`;
  return tx<{ deptId: number; parentId: number }[]>`
    with recursive up (id, parent_id) as (
      select d.dept_id, d.parent_id from unnest(${idsForGenericPlan(tx, deptIds)}) m (id) ${lookUp(tx`m.id`)}
      union
      select d.dept_id, d.parent_id from up ${lookUp(tx`up.parent_id`)}
    )
    select id as "deptId", parent_id as "parentId" from up`;
};

/** Invalidates cached paths: departments have moved. */
export const bumpTreeVersion = (tx: Tx, tenantId: string) => tx`
  update tenants set tree_version = gen_random_uuid() where tenant_id = ${tenantId}`;

export const readDept = async (tx: Tx, tenantId: string, deptId: string, includeDeleted: boolean) => {
  const [row] = await tx<Dept[]>`
    select ${columns(tx)} from departments d
    where d.tenant_id = ${tenantId} and d.dept_id = ${bigintOf(deptId)} and (${includeDeleted} or d.del_flag = '0')`;
  return row;
};

export const readDeptByExternalId = async (tx: Tx, tenantId: string, { source, externalId }: ExternalIdPath) => {
  const [row] = await tx<Dept[]>`
    select ${columns(tx)} from departments d
    where d.tenant_id = ${tenantId} and d.source = ${source} and d.external_id = ${externalId} and d.del_flag = '0'`;
  return row;
};

export const findByExternalIds = externalIdFinder('departments', 'dept_id');

/** Reads the departments that come from another system, including deleted ones. */
export const readOfSource = (tx: Tx, tenantId: string, source: string) => tx<
  { id: string; externalId: string; parentId: string | null; isDeleted: boolean }[]
>`
  select dept_id::text as id, external_id as "externalId", parent_id::text as "parentId", del_flag <> '0' as "isDeleted"
  from departments where tenant_id = ${tenantId} and source = ${source} order by dept_id`;

/**
 * Finds departments that have one of these names and one of these parents, in any combination. Needs `forceCustomPlans`: then the
 * children are filtered by a hash of the names, so a parent may have very many.
 */
export const findByNames = (tx: Tx, tenantId: string, parentIds: string[] | 'top', names: string[]) =>
  readInChunks(
    names,
    (chunk) => tx<{ deptId: string; parentId: string | null; deptName: string }[]>`
      select dept_id::text as "deptId", parent_id::text as "parentId", dept_name as "deptName" from departments
      where tenant_id = ${tenantId} and del_flag = '0' and dept_name = any(${chunk}::text[])
        and ${parentIds === 'top' ? tx`parent_id is null` : tx`parent_id = any(${parentIds}::bigint[])`}`,
  );

/** Reads the fields of departments, without a lock. */
export const readStored = (tx: Tx, tenantId: string, deptIds: string[]) =>
  readInChunks(
    deptIds,
    (chunk) => tx<StoredDepartment[]>`
      select d.dept_id::text as "deptId", d.parent_id::text as "parentId", ${raw(tx, ownColumns)},
        ${raw(tx, shownLeader)} as "shownLeader"
      from departments d
      where d.tenant_id = ${tenantId} and d.dept_id = any(${chunk}::bigint[]) and d.del_flag = '0'`,
  );

export type StoredDepartment = DepartmentRow & { deptId: string; shownLeader: string | null };

/** Returns the ids of those departments that exist. */
export const readIds = (tx: Tx, tenantId: string, deptIds: string[]) => tx<{ deptId: number }[]>`
  select dept_id as "deptId" from departments
  where tenant_id = ${tenantId} and dept_id = any(${idsForGenericPlan(tx, deptIds.map(bigintOf))}::bigint[]) and del_flag = '0'`;

/** Keeps departments from being deleted or disabled until the transaction ends. Several transactions may hold this lock. */
export const lockForShare = (tx: Tx, tenantId: string, deptIds: string[]) => tx<{ deptId: number }[]>`
  select dept_id as "deptId" from departments
  where tenant_id = ${tenantId} and dept_id = any(${idsForGenericPlan(tx, deptIds.map(bigintOf))}::bigint[]) and del_flag = '0'
  order by dept_id for share`;

/** Locks departments in the order of ids, like every transaction. */
export const lockForUpdate = (tx: Tx, tenantId: string, deptIds: string[]) => tx<
  { deptId: number; parentId: number | null; status: string }[]
>`
  select dept_id as "deptId", parent_id as "parentId", status from departments
  where tenant_id = ${tenantId} and dept_id = any(${idsForGenericPlan(tx, deptIds.map(bigintOf))}::bigint[]) and del_flag = '0'
  order by dept_id for update`;

/** The same, including deleted departments, with all of their fields. */
export const lockAnyForUpdate = (tx: Tx, tenantId: string, deptIds: string[]) =>
  readInIdOrder(
    deptIds,
    (chunk) => tx<(DepartmentRow & { deptId: string; delFlag: string })[]>`
      select d.dept_id::text as "deptId", d.parent_id::text as "parentId", d.del_flag as "delFlag", ${raw(tx, ownColumns)}
      from departments d
      where d.tenant_id = ${tenantId} and d.dept_id = any(${chunk.map(bigintOf)}::bigint[])
      order by d.dept_id for update`,
  );

export type NewDepartment = DepartmentRow & {
  /** Set if another new department refers to it; otherwise the statement assigns one. */
  deptId?: number;
  by: string;
  /** Set if several callers share the statement. */
  origin?: RequestOrigin | undefined;
};

/**
 * Inserts departments and returns their ids in the order of the rows. Foreign keys are checked at the end of the statement,
 * so a child may come before its parent.
 */
export const insertDepts = async (tx: Tx, tenantId: string, rows: NewDepartment[]): Promise<number[]> => {
  const sent = rows.map(({ deptId, parentId, by, origin: _, ...values }) => ({
    dept_id: deptId,
    parent_id: parentId,
    create_by: by,
    ...department.byColumn(values),
  }));
  const origins = rows.map(({ origin }) => origin);
  const origin = origins[0] ? tx`set_config('banyan.origin', ${JSON.stringify(origins)}, true)` : tx`''`;
  const inserted = await tx<{ deptId: number }[]>`
    with sent as materialized (
      select coalesce(s.dept_id, nextval('dept_serial')) as new_id, s.* from rows from (
        json_to_recordset(${JSON.stringify(sent)}::text::json) as (
          dept_id bigint, parent_id bigint, create_by text, ${raw(tx, department.columnDefinitions)})
      ) with ordinality s (dept_id, parent_id, create_by, ${raw(tx, department.columnNames)}, n)
    ), inserted as (
      insert into departments (tenant_id, dept_id, parent_id, create_by, ${raw(tx, department.columnNames)})
      select ${tenantId}, new_id, parent_id, create_by, ${raw(tx, department.columnNames)} from sent
      -- Concurrent bulk creations write external ids in the same order: in opposite orders, they would deadlock on the unique
      -- index.
      order by source collate "C", external_id collate "C"
    ), origin as materialized (select ${origin})
    select new_id as "deptId" from sent, origin order by n`;
  return inserted.map(({ deptId }) => deptId);
};

/** Reserves ids, in ascending order: departments with the same `orderNum` are then shown in the order of the request. */
export const reserveIds = async (tx: Tx, count: number): Promise<number[]> => {
  const rows = await tx<{ id: number }[]>`select nextval('dept_serial') as id from generate_series(1, ${count})`;
  return rows.map(({ id }) => id).sort((a, b) => a - b);
};

/**
 * Updates a department if its parent is `parentId` (undefined: any); this locks no other row. Returns whether it was
 * updated, and its parent in the snapshot of the statement. If that parent is `parentId` but nothing was updated, a
 * concurrent move or deletion was committed while the statement waited for the row lock.
 */
export const updateInPlace = async (
  tx: Tx,
  tenantId: string,
  deptId: string,
  by: string,
  { parentId, ...values }: DepartmentReplacement & { parentId: string | null | undefined },
): Promise<{ updated: boolean; parentBefore: string | null | undefined }> => {
  const existing = tx`tenant_id = ${tenantId} and dept_id = ${bigintOf(deptId)} and del_flag = '0'`;
  const [row] = await tx<[{ updated: boolean; found: boolean; parentId: string | null }]>`
    with before as materialized (
      select parent_id from departments where ${existing}
    ), updated as (
      update departments set ${assignments(tx, values)}, update_by = ${by}, update_time = now()
      where ${existing} ${parentId === undefined ? tx`` : tx`and parent_id is not distinct from ${parentId}::bigint`}
      returning 1
    )
    select exists (select from updated) as updated, exists (select from before) as found,
      (select parent_id::text from before) as "parentId"`;
  return { updated: row.updated, parentBefore: row.found ? row.parentId : undefined };
};

/** Moves a department. The caller must have locked the department and the tenant. */
export const moveDept = (
  tx: Tx,
  tenantId: string,
  deptId: string,
  by: string,
  { parentId, ...values }: DepartmentReplacement & { parentId: string | null },
) => tx`
  update departments set parent_id = ${parentId}, ${assignments(tx, values)}, update_by = ${by},
    update_time = now()
  where tenant_id = ${tenantId} and dept_id = ${bigintOf(deptId)} and del_flag = '0'`;

/** Updates many departments, whose parents stay the same. */
export const updateMany = (tx: Tx, tenantId: string, by: string, rows: (DepartmentValues & { deptId: string })[]) => {
  const sent = rows.map(({ deptId, ...values }) => ({ dept_id: deptId, ...department.byColumn(values) }));
  return tx`
    update departments d set ${raw(tx, department.assignmentsFrom('n'))}, update_by = ${by}, update_time = now()
    from json_to_recordset(${JSON.stringify(sent)}::text::json) as n (
      dept_id bigint, ${raw(tx, department.columnDefinitions)})
    where d.tenant_id = ${tenantId} and d.dept_id = any(${rows.map(({ deptId }) => deptId)}::bigint[])
      and d.dept_id = n.dept_id and d.del_flag = '0'`;
};

/** Moves many departments. The caller must have locked them and the tenant. */
export const moveMany = (tx: Tx, tenantId: string, by: string, rows: (DepartmentRow & { deptId: string })[]) => {
  const sent = rows.map(({ deptId, parentId, ...values }) => ({
    dept_id: deptId,
    parent_id: parentId,
    ...department.byColumn(values),
  }));
  return tx`
    update departments d set parent_id = n.parent_id, ${raw(tx, department.assignmentsFrom('n'))}, update_by = ${by},
      update_time = now()
    from json_to_recordset(${JSON.stringify(sent)}::text::json) as n (
      dept_id bigint, parent_id bigint, ${raw(tx, department.columnDefinitions)})
    where d.tenant_id = ${tenantId} and d.dept_id = any(${rows.map(({ deptId }) => deptId)}::bigint[])
      and d.dept_id = n.dept_id and d.del_flag = '0'`;
};

export const idsWithChildren = async (tx: Tx, tenantId: string, deptIds: string[]): Promise<string[]> => {
  const rows = await readInIdOrder(
    deptIds,
    (chunk) => tx<{ parentId: number }[]>`
      select distinct parent_id as "parentId" from departments
      where tenant_id = ${tenantId} and parent_id = any(${chunk.map(bigintOf)}::bigint[]) and del_flag = '0' order by 1`,
  );
  return rows.map(({ parentId }) => String(parentId));
};

/** The maximum number of rows per statement: each also adds a row to the ledger, and every statement has to be short. */
const CHUNK_SIZE = 5_000;

const inChunks = async <T>(items: readonly T[], write: (chunk: T[]) => Promise<unknown>): Promise<void> => {
  for (let at = 0; at < items.length; at += CHUNK_SIZE) await write(items.slice(at, at + CHUNK_SIZE));
};

export const markDeleted = (tx: Tx, tenantId: string, deptIds: string[], by: string): Promise<void> =>
  inChunks(
    deptIds,
    (chunk) => tx`
      update departments set del_flag = '2', update_by = ${by}, update_time = now()
      where tenant_id = ${tenantId} and dept_id = any(${chunk.map(bigintOf)}::bigint[]) and del_flag <> '2'`,
  );

/** Restores departments, each below the given parent; null: top level. */
export const markRestored = (
  tx: Tx,
  tenantId: string,
  parents: ReadonlyMap<string, string | null>,
  by: string,
): Promise<void> =>
  inChunks([...parents], (chunk) => {
    const ids = chunk.map(([id]) => id);
    return tx`
      update departments d set del_flag = '0', parent_id = n.parent_id, update_by = ${by}, update_time = now()
      from unnest(${ids}::bigint[], ${chunk.map(([, parentId]) => parentId)}::bigint[]) as n (dept_id, parent_id)
      where d.tenant_id = ${tenantId} and d.dept_id = any(${ids}::bigint[]) and d.dept_id = n.dept_id
        and d.del_flag = '2'`;
  });

/** Sets order numbers. The redundant `any` makes the planner use the primary key, however many rows it expects. */
export const renumber = (tx: Tx, tenantId: string, by: string, numbers: [string, number][]): Promise<void> =>
  inChunks(numbers, (chunk) => {
    const ids = chunk.map(([id]) => id);
    return tx`
      update departments d set order_num = n.order_num, update_by = ${by}, update_time = now()
      from unnest(${ids}::bigint[], ${chunk.map(([, number]) => String(number))}::int[]) as n (dept_id, order_num)
      where d.tenant_id = ${tenantId} and d.dept_id = any(${ids}::bigint[]) and d.dept_id = n.dept_id`;
  });
