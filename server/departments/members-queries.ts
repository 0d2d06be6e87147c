import { bigintOf, type Fragment, type Tx } from '../../db/driver.ts';

// The statements of the table user_departments, which contains the members of each department.

export const insertMemberships = (
  tx: Tx,
  { tenantId, userId }: { tenantId: string; userId: string },
  { deptId, deptIds }: { deptId: string | null; deptIds: string[] },
) => tx`
  insert into user_departments (tenant_id, user_id, dept_id, main)
  select ${tenantId}, ${userId}, id, id is not distinct from ${deptId}::bigint
  from unnest(${deptIds}::bigint[]) as id`;

export const deleteMemberships = (tx: Tx, tenantId: string, userIds: string[]) => tx`
  delete from user_departments where tenant_id = ${tenantId} and user_id = any(${userIds.map(bigintOf)}::bigint[])`;

/** Returns those departments that have members, whether as their main department or not. */
export const idsWithMembers = async (tx: Tx, tenantId: string, deptIds: string[]): Promise<string[]> => {
  const rows = await tx<{ deptId: number }[]>`
    select distinct dept_id as "deptId" from user_departments
    where tenant_id = ${tenantId} and dept_id = any(${deptIds.map(bigintOf)}::bigint[]) order by 1`;
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

/** Selects the distinct ids of the members of a department or of its branch, as a fragment: there may be many. */
export const memberIds = (
  tx: Tx,
  tenantId: string,
  deptId: string,
  { withBranch }: { withBranch: boolean },
): Fragment => tx`
  select distinct m.user_id from user_departments m
  where m.tenant_id = ${tenantId} and m.dept_id = any(array(
    select ${bigintOf(deptId)}::bigint
    ${withBranch ? tx`union all (select id from department_descendants(${tenantId}, ${bigintOf(deptId)}, null) as b (id))` : tx``}))`;
