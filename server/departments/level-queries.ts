import { bigintOf, type Fragment, idsForGenericPlan, LOCKS, type Tx } from '../../db/driver.ts';

/**
 * The lock of a tenant's levels. Creations take it in shared mode, except for a single department at the top level. The following
 * take it in exclusive mode: restores; moves that take a subtree deeper; reverts that restore departments, take them deeper or
 * write external ids; and imports that move departments. It is taken after all departments are locked, and before the row of
 * `department_trees` is locked and external ids are written: a creation that holds it may wait for an external id that another
 * transaction has written. A change that writes only one external id needs no lock.
 */
const levelsKey = (tx: Tx, tenantId: string) => tx`${LOCKS.departmentLevels}::int, hashtext(${tenantId})`;

/**
 * Keeps departments from being deleted, disabled or moved deeper until the transaction ends. The subquery locks the rows
 * before the function is called. Without `wait`, rows that another transaction has locked are skipped.
 */
export const lockParentRows = (tx: Tx, tenantId: string, deptIds: string[], { wait }: { wait: boolean }) => tx<
  { deptId: number; status: string }[]
>`
  select p.dept_id as "deptId", p.status, pg_advisory_xact_lock_shared(${levelsKey(tx, tenantId)})::text as locked from (
    select dept_id, status from departments
    where tenant_id = ${tenantId} and dept_id = any(${idsForGenericPlan(tx, deptIds.map(bigintOf))}::bigint[]) and del_flag = '0'
    order by dept_id for share ${wait ? tx`` : tx`skip locked`}
  ) p`;

export const lockLevels = (tx: Tx, tenantId: string) => tx`
  select pg_advisory_xact_lock(${levelsKey(tx, tenantId)})`;

/** Takes the lock in shared mode, as creations do, which keeps subtrees from being moved deeper. */
export const lockLevelsForShare = (tx: Tx, tenantId: string) => tx`
  select pg_advisory_xact_lock_shared(${levelsKey(tx, tenantId)})`;

/** Selects a department and all of its ancestors; `first`: where to begin, null for none. */
const upFrom = (tx: Tx, tenantId: string, first: Fragment) => tx`
  with recursive up (id) as (
    select ${first} where ${first} is not null
    union all
    select p.parent_id from up cross join lateral (
      -- limit 1 forces the primary key, whatever the statistics say.
      select parent_id from departments p where p.tenant_id = ${tenantId} and p.dept_id = up.id limit 1
    ) p
    where p.parent_id is not null
  )`;

const levelOf = (tx: Tx, tenantId: string, id: Fragment) => tx`
  (${upFrom(tx, tenantId, id)} select count(*)::int from up)`;

/**
 * Reads how deep each department is, 1 for the top level, in the order of the ids, and the upper bound of the tree; null: not
 * measured yet.
 */
export const readLevels = (tx: Tx, tenantId: string, deptIds: string[]) => tx<
  { level: number; bound: number | null }[]
>`
  select ${levelOf(tx, tenantId, tx`m.id`)} as level,
    (select levels from department_trees where tenant_id = ${tenantId}) as bound
  from unnest(${idsForGenericPlan(tx, deptIds.map(bigintOf))}::bigint[]) with ordinality m (id, n) order by m.n`;

/** Reads how deep a department and its new parent are, and whether the parent is that department or below it. */
export const readMove = async (tx: Tx, tenantId: string, deptId: string, parentId: string | null) => {
  const id = tx`${bigintOf(deptId)}::bigint`;
  const parent = tx`${parentId && bigintOf(parentId)}::bigint`;
  const [row] = await tx<[{ level: number; parentLevel: number; cycle: boolean }]>`
    select ${levelOf(tx, tenantId, id)} as level, up.level as "parentLevel", up.cycle from (
      ${upFrom(tx, tenantId, parent)} select count(*)::int as level, coalesce(bool_or(up.id = ${id}), false) as cycle from up
    ) up`;
  return row;
};

/** Reads the level of the deepest department in these subtrees. */
export const readDeepestLevel = async (tx: Tx, tenantId: string, rootIds: string[]): Promise<number> => {
  const [row] = await tx<[{ bottom: number | null }]>`
    select max(${levelOf(tx, tenantId, tx`m.id`)} + department_height(${tenantId}, m.id) - 1) as bottom
    from unnest(${rootIds.map(bigintOf)}::bigint[]) m (id)`;
  return row.bottom ?? 0;
};

/** Counts the levels of a subtree; null: of the whole tree. */
export const readHeight = async (tx: Tx, tenantId: string, rootId: string | null): Promise<number> => {
  const [row] = await tx<[{ height: number }]>`
    select department_height(${tenantId}, ${rootId && bigintOf(rootId)}::bigint) as height`;
  return row.height;
};

/** Counts the levels of several subtrees, in the order of the ids. */
export const readHeights = async (tx: Tx, tenantId: string, rootIds: string[]): Promise<number[]> => {
  const rows = await tx<{ height: number }[]>`
    select department_height(${tenantId}, m.id) as height
    from unnest(${rootIds.map(bigintOf)}::bigint[]) with ordinality m (id, n) order by m.n`;
  return rows.map(({ height }) => height);
};

/** Reads the upper bound of the levels of a tenant's tree; undefined if it has not been measured yet. */
export const readLevelBound = async (tx: Tx, tenantId: string): Promise<number | undefined> => {
  const [row] = await tx<{ levels: number }[]>`select levels from department_trees where tenant_id = ${tenantId}`;
  return row?.levels;
};

/** Raises the upper bound. Does nothing for a tree that has not been measured yet. */
export const raiseLevelBound = (tx: Tx, tenantId: string, levels: number) => tx`
  update department_trees set levels = ${levels} where tenant_id = ${tenantId} and levels < ${levels}`;

export const setLevelBound = (tx: Tx, tenantId: string, levels: number) => tx`
  insert into department_trees (tenant_id, levels) values (${tenantId}, ${levels})
  on conflict (tenant_id) do update set levels = excluded.levels`;
