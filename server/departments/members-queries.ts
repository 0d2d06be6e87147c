import { readInIdOrder } from '../../db/chunks.ts';
import { bigintOf, type Fragment, type Tx } from '../../db/driver.ts';

// The statements of the table user_departments, which contains the members of each department.

/** A user and their departments: `deptId` is the main one, and `deptIds` are all. */
interface Membership {
  userId: string;
  deptId: string | null;
  deptIds: string[];
}

export const insertMemberships = (tx: Tx, tenantId: string, memberships: readonly Membership[]) => {
  const rows = memberships.flatMap(({ userId, deptId, deptIds }) =>
    deptIds.map((id) => ({ userId, deptId: id, main: id === deptId })),
  );
  // The driver cannot send arrays of boolean.
  return tx`
    insert into user_departments (tenant_id, user_id, dept_id, main)
    select ${tenantId}, m.user_id, m.dept_id, m.main::boolean
    from unnest(${rows.map(({ userId }) => userId)}::bigint[], ${rows.map(({ deptId }) => deptId)}::bigint[],
      ${rows.map(({ main }) => String(main))}::text[]) as m (user_id, dept_id, main)`;
};

export const deleteMembershipsOfUsers = (tx: Tx, tenantId: string, userIds: string[]) => tx`
  delete from user_departments where tenant_id = ${tenantId} and user_id = any(${userIds.map(bigintOf)}::bigint[])`;

/** Returns those departments that have members, whether as their main department or not. */
export const idsWithMembers = async (tx: Tx, tenantId: string, deptIds: string[]): Promise<string[]> => {
  const rows = await readInIdOrder(
    deptIds,
    (chunk) => tx<{ deptId: number }[]>`
      select distinct dept_id as "deptId" from user_departments
      where tenant_id = ${tenantId} and dept_id = any(${chunk.map(bigintOf)}::bigint[]) order by 1`,
  );
  return rows.map(({ deptId }) => String(deptId));
};

/**
 * Counts the members of each department; departments without members are left out. The range conditions and the order match
 * only the index by department, so transactions that force index scans use it.
 */
export const countMembers = async (tx: Tx, tenantId: string, deptIds: number[]): Promise<Map<number, number>> => {
  const rows = await tx<{ deptId: number; users: number }[]>`
    select d.id as "deptId", c.users from unnest(${deptIds.map(String)}::bigint[]) as d (id) cross join lateral (
      select count(*)::int as users from (
        select from user_departments m
        where m.tenant_id = ${tenantId} and m.dept_id >= d.id and m.dept_id <= d.id order by m.dept_id offset 0
      ) m
    ) c where c.users > 0`;
  return new Map(rows.map(({ deptId, users }) => [deptId, users]));
};

/**
 * Counts the users of each department and of those below it, each user once. Returns undefined if there are more than
 * `maxDepartments` in all of these subtrees: the cost grows with them. The walk stops there, because the recursion
 * produces rows only as they are read.
 */
export const countSubtreeMembers = async (
  tx: Tx,
  tenantId: string,
  deptIds: number[],
  maxDepartments: number,
): Promise<Map<number, number> | undefined> => {
  const rows = await tx<{ deptId: number | null; users: number; complete: boolean }[]>`
    with recursive subtree (root, id) as (
      select r.id, r.id from unnest(${deptIds.map(String)}::bigint[]) as r (id)
      union all
      select b.root, c.dept_id from subtree b cross join lateral (
        select c.dept_id from departments c
        where c.tenant_id = ${tenantId} and c.parent_id >= b.id and c.parent_id <= b.id and c.del_flag = '0'
        order by c.parent_id, c.order_num, c.dept_id offset 0
      ) c
    ), found as materialized (select root, id from subtree limit ${maxDepartments + 1})
    select n.complete, u."deptId", u.users
    from (select count(*) <= ${maxDepartments} as complete from found) n left join lateral (
      select f.root as "deptId", count(distinct m.user_id)::int as users from found f cross join lateral (
        select m.user_id from user_departments m
        where m.tenant_id = ${tenantId} and m.dept_id >= f.id and m.dept_id <= f.id order by m.dept_id offset 0
      ) m
      where n.complete group by f.root
    ) u on true`;
  if (!rows[0]?.complete) return undefined;
  return new Map(rows.flatMap(({ deptId, users }) => (deptId === null ? [] : [[deptId, users]])));
};

/** Selects the distinct ids of the members of a department or of its subtree, as a fragment: there may be many. */
export const memberIds = (
  tx: Tx,
  tenantId: string,
  deptId: string,
  { withSubtree }: { withSubtree: boolean },
): Fragment => {
  const subtree = () => tx`any(array(
    select ${bigintOf(deptId)}::bigint
    union all (select id from department_descendants(${tenantId}, ${bigintOf(deptId)}, null) as b (id))))`;
  // A single department is compared with `=`, not with an array: then the index returns the user ids in order, and a page reads
  // only its own rows.
  return tx`
    select distinct m.user_id from user_departments m
    where m.tenant_id = ${tenantId} and m.dept_id = ${withSubtree ? subtree() : tx`${bigintOf(deptId)}`}`;
};

/** Reads the members of departments, at most `limit`, and whether one of these departments is their main one. */
export const readMemberships = (tx: Tx, tenantId: string, deptIds: string[], limit: number) => tx<
  { userId: number; main: boolean }[]
>`
  select user_id as "userId", bool_or(main) as main from user_departments
  where tenant_id = ${tenantId} and dept_id = any(${deptIds.map(bigintOf)}::bigint[])
  group by user_id order by user_id limit ${limit}`;

export const deleteMembershipsOfDepartments = (tx: Tx, tenantId: string, deptIds: string[]) => tx`
  delete from user_departments where tenant_id = ${tenantId} and dept_id = any(${deptIds.map(bigintOf)}::bigint[])`;

/** Adds members to a department. Existing members stay. If `main` is set, it becomes their main department. */
export const addMembers = (
  tx: Tx,
  tenantId: string,
  deptId: string,
  members: readonly { userId: number; main: boolean }[],
) => tx`
  insert into user_departments (tenant_id, user_id, dept_id, main)
  select ${tenantId}, m.user_id, ${bigintOf(deptId)}, m.main::boolean
  from unnest(${members.map(({ userId }) => String(userId))}::bigint[], ${members.map(({ main }) => String(main))}::text[])
    as m (user_id, main)
  on conflict (tenant_id, user_id, dept_id) do update set main = user_departments.main or excluded.main`;
