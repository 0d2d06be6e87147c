import { type Fragment, long, type Tx } from '../../db/sql.ts';
import type { Rows } from '../http/fields.ts';
import type { User } from './schema.ts';

/** A user's own fields, as they are written. */
export interface UserFields {
  nickName: string | null;
  email: string | null;
  phone: string | null;
  status: '0' | '1';
  administrator: boolean;
}

const columns = (tx: Tx) => tx`
  u.user_id as "userId", u.tenant_id as "tenantId", u.user_name as "userName", u.nick_name as "nickName",
  (select m.dept_id from user_departments m
    where m.tenant_id = u.tenant_id and m.user_id = u.user_id and m.main) as "deptId",
  array(select m.dept_id from user_departments m
    where m.tenant_id = u.tenant_id and m.user_id = u.user_id and not m.main order by m.dept_id)::text[] as "deptIds",
  u.email, u.phone, u.status, array[case when u.administrator then 'admin' else 'member' end] as roles,
  u.create_by as "createBy", to_char(u.create_time, 'YYYY-MM-DD HH24:MI:SS') as "createTime",
  u.update_by as "updateBy", to_char(u.update_time, 'YYYY-MM-DD HH24:MI:SS') as "updateTime"`;

export const readUser = async (tx: Tx, tenantId: string, userId: string) => {
  const [row] = await tx<User[]>`
    select ${columns(tx)} from users u
    where u.tenant_id = ${tenantId} and u.user_id = ${long(userId)} and u.del_flag = '0'`;
  return row && withNumbers(row);
};

export interface UserSearch {
  userName: string | null;
  deptId: string | null;
  status: string | null;
  /** Part of the name, the nick name or the phone. */
  q: string | null;
}

export const listUsers = async (
  tx: Tx,
  tenantId: string,
  filter: UserSearch & { limit: number; offset: number },
): Promise<Rows<User>> => {
  const { userName, deptId, status, q } = filter;
  const holds = (column: Fragment, part: string) => tx`strpos(lower(${column}), lower(${part})) > 0`;
  const inDept = (id: string) => tx`and exists (
    select from user_departments m
    where m.tenant_id = u.tenant_id and m.user_id = u.user_id and m.dept_id = ${long(id)})`;
  const matches = tx`
    u.tenant_id = ${tenantId} and u.del_flag = '0'
    ${userName === null ? tx`` : tx`and ${holds(tx`u.user_name`, userName)}`}
    ${q === null ? tx`` : tx`and (${holds(tx`u.user_name`, q)} or ${holds(tx`u.nick_name`, q)} or strpos(u.phone, ${q}) > 0)`}
    ${deptId === null ? tx`` : inDept(deptId)}
    ${status === null ? tx`` : tx`and u.status = ${status}`}`;
  const [rows, [{ total }]] = await Promise.all([
    tx<User[]>`
      select ${columns(tx)} from (
        select * from users u where ${matches} order by u.user_id limit ${filter.limit} offset ${filter.offset}
      ) u order by u.user_id`,
    tx<[{ total: number }]>`select count(*) as total from users u where ${matches}`,
  ]);
  return { rows: rows.map(withNumbers), total };
};

/** Where memberships are looked for: a department, and with `below` all below it. */
export interface Whereabouts {
  deptId: string;
  below: Fragment | undefined;
}

/** The users of a department or branch, each once. Found from the departments, not from the tenant's users. */
const usersAt = (tx: Tx, tenantId: string, { deptId, below }: Whereabouts) => tx`
  select distinct m.user_id from user_departments m
  where m.tenant_id = ${tenantId} and m.dept_id = any(array(
    select ${long(deptId)}::bigint ${below ? tx`union all (${below})` : tx``}))`;

export const countUsersAt = async (tx: Tx, tenantId: string, at: Whereabouts): Promise<number> => {
  const [row] = await tx<[{ total: number }]>`select count(*) as total from (${usersAt(tx, tenantId, at)}) m`;
  return row.total;
};

/** Memberships end with their user, so the users are all there. */
export const readUsersAt = async (
  tx: Tx,
  tenantId: string,
  at: Whereabouts,
  { limit, offset }: { limit: number; offset: number },
): Promise<User[]> => {
  const rows = await tx<User[]>`
    select ${columns(tx)} from (
      ${usersAt(tx, tenantId, at)} order by m.user_id limit ${limit} offset ${offset}
    ) m cross join lateral (
      select * from users u where u.tenant_id = ${tenantId} and u.user_id = m.user_id limit 1
    ) u order by u.user_id`;
  return rows.map(withNumbers);
};

/** The driver reads arrays of bigint as text. */
const withNumbers = (user: User): User => ({ ...user, deptIds: user.deptIds.map(Number) });

export interface LoginRow {
  userId: number;
  userName: string;
  passwordHash: string;
  status: string;
  delFlag: string;
}

const loginColumns = (tx: Tx) => tx`
  select user_id as "userId", user_name as "userName", password_hash as "passwordHash", status, del_flag as "delFlag"
  from users`;

export const findByKey = async (tx: Tx, tenantId: string, userKey: string) => {
  const [row] = await tx<LoginRow[]>`
    ${loginColumns(tx)} where tenant_id = ${tenantId} and user_key = ${userKey} and del_flag = '0'`;
  return row;
};

export const findById = async (tx: Tx, tenantId: string, userId: string) => {
  const [row] = await tx<LoginRow[]>`
    ${loginColumns(tx)} where tenant_id = ${tenantId} and user_id = ${long(userId)}`;
  return row;
};

export const holdById = async (tx: Tx, tenantId: string, userId: string) => {
  const [row] = await tx<LoginRow[]>`
    ${loginColumns(tx)} where tenant_id = ${tenantId} and user_id = ${long(userId)} for share`;
  return row;
};

/**
 * Locked in the order of ids. Not `for update`: that would wait for the foreign keys of others, such as the key of an
 * Idempotency-Key, which its caller takes before the tenant's lock.
 */
export const lockUsers = (tx: Tx, tenantId: string, userIds: string[]) => tx<
  { userId: number; userName: string; administrator: boolean; status: string }[]
>`
  select user_id as "userId", user_name as "userName", administrator, status from users
  where tenant_id = ${tenantId} and user_id = any(${userIds.map(long)}::bigint[]) and del_flag = '0'
  order by user_id for no key update`;

/** The same of one, also when he is deleted. */
export const lockAnyUser = async (tx: Tx, tenantId: string, userId: string) => {
  const [row] = await tx<{ delFlag: string }[]>`
    select del_flag as "delFlag" from users
    where tenant_id = ${tenantId} and user_id = ${long(userId)} for no key update`;
  return row;
};

/** Stops counting at `enough`: a large tenant is not counted through for each new user. null: all of them. */
export const countUsers = async (tx: Tx, tenantId: string, enough: number | null): Promise<number> => {
  const [row] = await tx<[{ count: number }]>`
    select count(*) from (
      select from users where tenant_id = ${tenantId} and del_flag = '0' limit ${enough}
    ) counted`;
  return row.count;
};

export const hasOtherAdministrator = async (tx: Tx, tenantId: string, exceptIds: string[]): Promise<boolean> => {
  const [row] = await tx<[{ found: boolean }]>`
    select exists (
      select from users where tenant_id = ${tenantId} and administrator and status = '0' and del_flag = '0'
        and user_id <> all(${exceptIds.map(long)}::bigint[])
    ) as found`;
  return row.found;
};

export const insertUser = async (
  tx: Tx,
  user: UserFields & { tenantId: string; userName: string; userKey: string; passwordHash: string; by: string },
): Promise<number> => {
  const [row] = await tx<[{ userId: number }]>`
    insert into users (tenant_id, user_name, user_key, nick_name, email, phone, status, administrator, password_hash,
      create_by)
    values (${user.tenantId}, ${user.userName}, ${user.userKey}, ${user.nickName}, ${user.email}, ${user.phone},
      ${user.status}, ${user.administrator}, ${user.passwordHash}, ${user.by})
    returning user_id as "userId"`;
  return row.userId;
};

export const updateUser = (
  tx: Tx,
  user: UserFields & { tenantId: string; userId: string; userName: string; userKey: string; by: string },
) => tx`
  update users set
    user_name = ${user.userName}, user_key = ${user.userKey}, nick_name = ${user.nickName}, email = ${user.email},
    phone = ${user.phone}, status = ${user.status}, administrator = ${user.administrator}, update_by = ${user.by},
    update_time = now()
  where tenant_id = ${user.tenantId} and user_id = ${long(user.userId)}`;

export const updatePassword = (tx: Tx, tenantId: string, userId: string, passwordHash: string, by: string) => tx`
  update users set password_hash = ${passwordHash}, update_by = ${by}, update_time = now()
  where tenant_id = ${tenantId} and user_id = ${long(userId)} and del_flag = '0'`;

/** A new password, and enabled. */
export const reopenUser = (tx: Tx, tenantId: string, userId: string, passwordHash: string, by: string) => tx`
  update users set password_hash = ${passwordHash}, status = '0', update_by = ${by}, update_time = now()
  where tenant_id = ${tenantId} and user_id = ${long(userId)} and del_flag = '0'`;

export const listAdministrators = async (tx: Tx, tenantId: string, limit: number): Promise<string[]> => {
  const rows = await tx<{ userName: string }[]>`
    select user_name as "userName" from users
    where tenant_id = ${tenantId} and administrator and del_flag = '0' order by user_id limit ${limit}`;
  return rows.map(({ userName }) => userName);
};

export const markDeleted = (tx: Tx, tenantId: string, userIds: string[], by: string) => tx`
  update users set del_flag = '2', update_by = ${by}, update_time = now()
  where tenant_id = ${tenantId} and user_id = any(${userIds.map(long)}::bigint[])`;

export const markRestored = (tx: Tx, tenantId: string, userId: string, by: string) => tx`
  update users set del_flag = '0', update_by = ${by}, update_time = now()
  where tenant_id = ${tenantId} and user_id = ${long(userId)}`;

export const insertMemberships = (
  tx: Tx,
  at: { tenantId: string; userId: string },
  { deptId, deptIds }: { deptId: string | null; deptIds: string[] },
) => tx`
  insert into user_departments (tenant_id, user_id, dept_id, main)
  select ${at.tenantId}, ${at.userId}, id, id is not distinct from ${deptId}::bigint
  from unnest(${deptIds}::bigint[]) as id`;

export const deleteMemberships = (tx: Tx, tenantId: string, userIds: string[]) => tx`
  delete from user_departments where tenant_id = ${tenantId} and user_id = any(${userIds.map(long)}::bigint[])`;

export const deptsWithUsers = async (tx: Tx, tenantId: string, deptIds: string[]): Promise<string[]> => {
  const rows = await tx<{ deptId: number }[]>`
    select distinct dept_id as "deptId" from user_departments
    where tenant_id = ${tenantId} and dept_id = any(${deptIds.map(long)}::bigint[]) order by 1`;
  return rows.map(({ deptId }) => String(deptId));
};

/** Asked as a range, and in the order that only the index of departments has: whatever the planner believes, it is used. */
export const countByDept = async (tx: Tx, tenantId: string, deptIds: number[]): Promise<Map<number, number>> => {
  const rows = await tx<{ deptId: number; users: number }[]>`
    select d.id as "deptId", c.users from unnest(${deptIds.map(String)}::bigint[]) as d (id) cross join lateral (
      select count(*)::int as users from (
        select from user_departments m
        where m.tenant_id = ${tenantId} and m.dept_id >= d.id and m.dept_id <= d.id order by m.dept_id offset 0
      ) m
    ) c where c.users > 0`;
  return new Map(rows.map(({ deptId, users }) => [deptId, users]));
};
