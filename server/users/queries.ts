import { readInIdOrder } from '../../db/chunks.ts';
import { bigintOf, type Fragment, raw, type Tx } from '../../db/driver.ts';
import type { ExternalIdPath } from '../records/external-id.ts';
import { type UserReplacement, type UserValues, user } from './record.ts';
import type { Leader, User } from './schema.ts';

/** The fields of a user that a write sets. */
export type UserFields = UserValues & { administrator: boolean };

export const columns = (tx: Tx) => tx`
  u.user_id as "userId", u.tenant_id as "tenantId", u.user_name as "userName", ${raw(tx, ownColumns)},
  (select m.dept_id from user_departments m
    where m.tenant_id = u.tenant_id and m.user_id = u.user_id and m.main) as "deptId",
  array(select m.dept_id from user_departments m
    where m.tenant_id = u.tenant_id and m.user_id = u.user_id and not m.main order by m.dept_id)::text[] as "deptIds",
  u.must_change_password as "mustChangePassword", array[case when u.administrator then 'admin' else 'member' end] as roles,
  u.create_by as "createBy", to_char(u.create_time, 'YYYY-MM-DD HH24:MI:SS') as "createTime",
  u.update_by as "updateBy", to_char(u.update_time, 'YYYY-MM-DD HH24:MI:SS') as "updateTime"`;

const ownColumns = user.columns('u');

export const readUser = async (tx: Tx, tenantId: string, userId: string) => {
  const [row] = await tx<User[]>`
    select ${columns(tx)} from users u
    where u.tenant_id = ${tenantId} and u.user_id = ${bigintOf(userId)} and u.del_flag = '0'`;
  return row && withNumbers(row);
};

export const readUserByExternalId = async (tx: Tx, tenantId: string, { source, externalId }: ExternalIdPath) => {
  const [row] = await tx<User[]>`
    select ${columns(tx)} from users u
    where u.tenant_id = ${tenantId} and u.source = ${source} and u.external_id = ${externalId} and u.del_flag = '0'`;
  return row && withNumbers(row);
};

export const readUsers = async (tx: Tx, tenantId: string, userIds: string[]): Promise<User[]> => {
  const rows = await tx<User[]>`
    select ${columns(tx)} from users u
    where u.tenant_id = ${tenantId} and u.user_id = any(${userIds.map(bigintOf)}::bigint[]) and u.del_flag = '0'`;
  return rows.map(withNumbers);
};

/**
 * Reads the leaders of a user: those of their main department and of its ancestors, the nearest first. Returns no row if the
 * user does not exist, and one without a department if nobody leads them.
 */
export const readLeaders = (tx: Tx, tenantId: string, userId: string) => {
  const lookUp = (id: Fragment) => tx`
    cross join lateral (
      -- limit 1 forces the primary key, whatever the statistics say.
      select d.dept_id, d.parent_id, d.dept_name, d.leader_id from departments d
      where d.tenant_id = ${tenantId} and d.dept_id = ${id} limit 1
    ) d`;
  return tx<(Leader | { deptId: null })[]>`
    with recursive up as (
      select d.*, 1 as level from user_departments m ${lookUp(tx`m.dept_id`)}
      where m.tenant_id = ${tenantId} and m.user_id = ${bigintOf(userId)} and m.main
      union all
      select d.*, up.level + 1 from up ${lookUp(tx`up.parent_id`)}
    )
    select l.dept_id as "deptId", l.dept_name as "deptName", l.user_id as "userId", l.user_name as "userName",
      l.nick_name as "nickName", l.status
    from users self
    left join (
      select up.level, up.dept_id, up.dept_name, u.* from up cross join lateral (
        select u.user_id, u.user_name, u.nick_name, u.status from users u
        where u.tenant_id = ${tenantId} and u.user_id = up.leader_id and u.del_flag = '0' limit 1
      ) u
    ) l on l.user_id <> self.user_id
    where self.tenant_id = ${tenantId} and self.user_id = ${bigintOf(userId)} and self.del_flag = '0'
    order by l.level`;
};

/** Converts the department ids, because the driver returns arrays of bigint as text. */
export const withNumbers = <T extends User>(user: T): T => ({ ...user, deptIds: user.deptIds.map(Number) });

export const findByKey = async (tx: Tx, tenantId: string, userKey: string) => {
  const [row] = await tx<{ userId: number }[]>`
    select user_id as "userId" from users where tenant_id = ${tenantId} and user_key = ${userKey} and del_flag = '0'`;
  return row;
};

/**
 * Locks users in the order of ids. `for no key update` is enough, because ids never change. `for update` would also wait for
 * transactions that only reference a user by foreign key.
 */
export const lockUsers = (tx: Tx, tenantId: string, userIds: string[]) =>
  readInIdOrder(
    userIds,
    (chunk) => tx<
      { userId: number; userName: string; nickName: string | null; administrator: boolean; status: string }[]
    >`
      select user_id as "userId", user_name as "userName", nick_name as "nickName", administrator, status from users
      where tenant_id = ${tenantId} and user_id = any(${chunk.map(bigintOf)}::bigint[]) and del_flag = '0'
      order by user_id for no key update`,
  );

/** Replaces a user. If `mustChangePassword` is null, it stays as it is. */
export const updateUser = (
  tx: Tx,
  row: UserReplacement & {
    administrator: boolean;
    tenantId: string;
    userId: string;
    userName: string;
    userKey: string;
    mustChangePassword: boolean | null;
    by: string;
  },
) => tx`
  update users set
    user_name = ${row.userName}, user_key = ${row.userKey}, ${user.assignments(tx, row)},
    administrator = ${row.administrator},
    must_change_password = coalesce(${row.mustChangePassword}::boolean, must_change_password), update_by = ${row.by}, update_time = now()
  where tenant_id = ${row.tenantId} and user_id = ${bigintOf(row.userId)}`;

/** Reads all existing users, and deleted ones that come from `source`. `externalId` is null for users from elsewhere. */
export const readForImport = (tx: Tx, tenantId: string, source: string) => tx<
  { id: string; externalId: string | null; userKey: string; deptId: string | null; isDeleted: boolean }[]
>`
  select u.user_id::text as id, case when u.source = ${source} then u.external_id end as "externalId", u.user_key as "userKey",
    (select m.dept_id::text from user_departments m
      where m.tenant_id = u.tenant_id and m.user_id = u.user_id and m.main) as "deptId",
    u.del_flag <> '0' as "isDeleted"
  from users u where u.tenant_id = ${tenantId} and (u.del_flag = '0' or u.source = ${source}) order by u.user_id`;

export const markDeleted = (tx: Tx, tenantId: string, userIds: string[], by: string) => tx`
  update users set del_flag = '2', update_by = ${by}, update_time = now()
  where tenant_id = ${tenantId} and user_id = any(${userIds.map(bigintOf)}::bigint[])`;

export const markRestored = (tx: Tx, tenantId: string, userIds: string[], by: string) => tx`
  update users set del_flag = '0', update_by = ${by}, update_time = now()
  where tenant_id = ${tenantId} and user_id = any(${userIds.map(bigintOf)}::bigint[])`;

/** Marks users as updated after their departments have changed, so that the ledger records the change. */
export const touchUsers = (tx: Tx, tenantId: string, userIds: string[], by: string) => tx`
  update users set update_by = ${by}, update_time = now()
  where tenant_id = ${tenantId} and user_id = any(${userIds.map(bigintOf)}::bigint[])`;

/** Locks users, deleted or not, in the order of ids. */
export const lockAnyUsers = (tx: Tx, tenantId: string, userIds: string[]) =>
  readInIdOrder(
    userIds,
    (chunk) => tx<{ delFlag: string; administrator: boolean }[]>`
      select del_flag as "delFlag", administrator from users
      where tenant_id = ${tenantId} and user_id = any(${chunk.map(bigintOf)}::bigint[])
      order by user_id for no key update`,
  );
