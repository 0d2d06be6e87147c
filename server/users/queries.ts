import { bigintOf, type Fragment, raw, type Tx } from '../../db/driver.ts';
import type { Rows } from '../http/fields.ts';
import type { ExternalIdPath, ListedExternalId } from '../records/external-id.ts';
import { type UserReplacement, type UserValues, user } from './record.ts';
import type { Leader, User } from './schema.ts';

/** The fields of a user that a write sets. */
export type UserFields = UserValues & { administrator: boolean };

const columns = (tx: Tx) => tx`
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

export interface UserSearch {
  userName: string | null;
  deptId: string | null;
  status: string | null;
  /** Part of the user name, nickname or phone number. */
  q: string | null;
  source: string | null;
  externalId: string | null;
  /** Part of the phone number. */
  phone?: string | undefined;
  /** Selects the ids of the users to list. */
  members?: Fragment | undefined;
  createdFrom?: string | undefined;
  createdTo?: string | undefined;
}

const matching = (tx: Tx, tenantId: string, search: UserSearch) => {
  const { userName, deptId, status, q, source, externalId, phone, members, createdFrom, createdTo } = search;
  const contains = (column: Fragment, text: string) => tx`strpos(lower(${column}), lower(${text})) > 0`;
  const inDept = (id: string) => tx`and exists (
    select from user_departments m
    where m.tenant_id = u.tenant_id and m.user_id = u.user_id and m.dept_id = ${bigintOf(id)})`;
  return tx`
    u.tenant_id = ${tenantId} and u.del_flag = '0'
    ${userName === null ? tx`` : tx`and ${contains(tx`u.user_name`, userName)}`}
    ${q === null ? tx`` : tx`and (${contains(tx`u.user_name`, q)} or ${contains(tx`u.nick_name`, q)} or strpos(u.phone, ${q}) > 0)`}
    ${deptId === null ? tx`` : inDept(deptId)}
    ${source === null ? tx`` : tx`and u.source = ${source}`}
    ${externalId === null ? tx`` : tx`and u.external_id = ${externalId}`}
    ${phone === undefined ? tx`` : tx`and strpos(u.phone, ${phone}) > 0`}
    ${members === undefined ? tx`` : tx`and u.user_id in (${members})`}
    ${createdFrom === undefined ? tx`` : tx`and u.create_time >= ${createdFrom}::timestamptz`}
    ${createdTo === undefined ? tx`` : tx`and u.create_time < ${createdTo}::timestamptz + interval '1 second'`}
    ${status === null ? tx`` : tx`and u.status = ${status}`}`;
};

export const listUsers = async (
  tx: Tx,
  tenantId: string,
  filter: UserSearch & { limit: number; offset: number },
): Promise<Rows<User>> => {
  const matches = matching(tx, tenantId, filter);
  const [rows, [{ total }]] = await Promise.all([
    tx<User[]>`
      select ${columns(tx)} from (
        select * from users u where ${matches} order by u.user_id limit ${filter.limit} offset ${filter.offset}
      ) u order by u.user_id`,
    tx<[{ total: number }]>`select count(*) as total from users u where ${matches}`,
  ]);
  return { rows: rows.map(withNumbers), total };
};

/** Reads matching users in the order of their ids, after a given one. */
export const readUsersAfter = async (
  tx: Tx,
  tenantId: string,
  search: UserSearch,
  { afterId, limit }: { afterId: string; limit: number },
): Promise<User[]> => {
  const rows = await tx<User[]>`
    select ${columns(tx)} from (
      select * from users u where ${matching(tx, tenantId, search)} and u.user_id > ${bigintOf(afterId)}
      order by u.user_id limit ${limit}
    ) u order by u.user_id`;
  return rows.map(withNumbers);
};

export const countMembers = async (tx: Tx, members: Fragment): Promise<number> => {
  const [row] = await tx<[{ total: number }]>`select count(*) as total from (${members}) m`;
  return row.total;
};

/** Reads a page of the users whose ids `members` selects. Deleted users have no memberships, so none of them is deleted. */
export const readMembers = async (
  tx: Tx,
  tenantId: string,
  members: Fragment,
  { limit, offset }: { limit: number; offset: number },
): Promise<User[]> => {
  const rows = await tx<User[]>`
    select ${columns(tx)} from (
      ${members} order by m.user_id limit ${limit} offset ${offset}
    ) m cross join lateral (
      select * from users u where u.tenant_id = ${tenantId} and u.user_id = m.user_id limit 1
    ) u order by u.user_id`;
  return rows.map(withNumbers);
};

/** Converts the department ids, because the driver returns arrays of bigint as text. */
const withNumbers = (user: User): User => ({ ...user, deptIds: user.deptIds.map(Number) });

export const findByKey = async (tx: Tx, tenantId: string, userKey: string) => {
  const [row] = await tx<{ userId: number }[]>`
    select user_id as "userId" from users where tenant_id = ${tenantId} and user_key = ${userKey} and del_flag = '0'`;
  return row;
};

/**
 * Locks users in the order of ids. `for update` would also wait for transactions that reference a user by foreign key. A
 * request with an Idempotency-Key inserts such a row before it locks the tenant, so the two could deadlock.
 */
export const lockUsers = (tx: Tx, tenantId: string, userIds: string[]) => tx<
  { userId: number; userName: string; nickName: string | null; administrator: boolean; status: string }[]
>`
  select user_id as "userId", user_name as "userName", nick_name as "nickName", administrator, status from users
  where tenant_id = ${tenantId} and user_id = any(${userIds.map(bigintOf)}::bigint[]) and del_flag = '0'
  order by user_id for no key update`;

/** Counts up to `max` users, so that creating a user in a large tenant does not count all of them; null: no maximum. */
export const countUsers = async (tx: Tx, tenantId: string, max: number | null): Promise<number> => {
  const [row] = await tx<[{ count: number }]>`
    select count(*) from (
      select from users where tenant_id = ${tenantId} and del_flag = '0' limit ${max}
    ) counted`;
  return row.count;
};

/** Counts the users of several tenants, which must be within the scope of the caller, by their codes. */
export const countUsersOf = async (tx: Tx, tenantIds: string[]): Promise<Map<string, number>> => {
  const rows = await tx<{ tenantId: string; accounts: number }[]>`
    select tenant_id as "tenantId", accounts from count_accounts(${tenantIds}::text[])`;
  return new Map(rows.map(({ tenantId, accounts }) => [tenantId, accounts]));
};

export const hasOtherAdministrator = async (tx: Tx, tenantId: string, exceptIds: string[]): Promise<boolean> => {
  const [row] = await tx<[{ found: boolean }]>`
    select exists (
      select from users where tenant_id = ${tenantId} and administrator and status = '0' and del_flag = '0'
        and user_id <> all(${exceptIds.map(bigintOf)}::bigint[])
    ) as found`;
  return row.found;
};

export const insertUser = async (
  tx: Tx,
  row: UserFields & {
    tenantId: string;
    userName: string;
    userKey: string;
    passwordHash: string;
    mustChangePassword: boolean;
    by: string;
  },
): Promise<number> => {
  const [inserted] = await tx<[{ userId: number }]>`
    insert into users (tenant_id, user_name, user_key, ${raw(tx, user.columnNames)}, administrator, password_hash,
      must_change_password, create_by)
    values (${row.tenantId}, ${row.userName}, ${row.userKey}, ${user.values(tx, row)}, ${row.administrator},
      ${row.passwordHash}, ${row.mustChangePassword}, ${row.by})
    returning user_id as "userId"`;
  return inserted.userId;
};

type NewUserRow = UserFields & {
  userName: string;
  userKey: string;
  passwordHash: string;
  mustChangePassword: boolean;
};

/** Inserts users and returns their ids, which ascend in the order of the rows. */
export const insertUsers = async (tx: Tx, tenantId: string, by: string, rows: NewUserRow[]): Promise<number[]> => {
  const sent = rows.map((row) => ({
    user_name: row.userName,
    user_key: row.userKey,
    administrator: row.administrator,
    password_hash: row.passwordHash,
    must_change_password: row.mustChangePassword,
    ...user.byColumn(row),
  }));
  const columnNames = raw(
    tx,
    `user_name, user_key, administrator, password_hash, must_change_password, ${user.columnNames}`,
  );
  const inserted = await tx<{ userId: number }[]>`
    with sent as materialized (
      select nextval('user_serial') as user_id, s.* from rows from (
        json_to_recordset(${JSON.stringify(sent)}::text::json) as (user_name text, user_key text, administrator boolean,
          password_hash text, must_change_password boolean, ${raw(tx, user.columnDefinitions)})
      ) with ordinality s (${columnNames}, n)
    ), inserted as (
      insert into users (tenant_id, user_id, create_by, ${columnNames})
      select ${tenantId}, user_id, ${by}::text, ${columnNames} from sent
    )
    select user_id as "userId" from sent order by n`;
  return inserted.map(({ userId }) => userId);
};

/**
 * Writes what has changed so far to the ledger, instead of at the commit: one statement for thousands of users would take
 * longer than a statement may. The users must not change again in this transaction.
 */
export const recordUserChanges = async (tx: Tx): Promise<void> => {
  await tx`set constraints record_change immediate`;
  await tx`set constraints record_change deferred`;
};

/** Returns those of the given names, in the form of `userKey`, that are taken. */
export const findTakenKeys = async (tx: Tx, tenantId: string, userKeys: string[]): Promise<Set<string>> => {
  const rows = await tx<{ userKey: string }[]>`
    select user_key as "userKey" from users
    where tenant_id = ${tenantId} and user_key = any(${userKeys}::text[]) and del_flag = '0'`;
  return new Set(rows.map(({ userKey }) => userKey));
};

/** Finds users by their external ids. Returns the index of each external id that a user has. */
export const findByExternalIds = (tx: Tx, tenantId: string, listed: readonly ListedExternalId[]) => tx<
  { index: number; userId: number }[]
>`
  select w.index, u.user_id as "userId"
  from json_to_recordset(${JSON.stringify(listed)}::text::json) as w (index int, source text, "externalId" text)
  cross join lateral (
    -- limit 1 forces the index, whatever the statistics say.
    select u.user_id from users u where u.tenant_id = ${tenantId} and u.source = w.source
      and u.external_id = w."externalId" and u.del_flag = '0' limit 1
  ) u
  order by w.index`;

/** Finds users by their names, in the form of `userKey`. */
export const findByKeys = (tx: Tx, tenantId: string, userKeys: string[]) => tx<{ userKey: string; userId: string }[]>`
  select user_key as "userKey", user_id::text as "userId" from users
  where tenant_id = ${tenantId} and user_key = any(${userKeys}::text[]) and del_flag = '0'`;

export type StoredUser = UserFields & {
  userId: string;
  userName: string;
  deptId: string | null;
  /** All departments, the main one included. */
  deptIds: string[];
};

/** Reads users with their departments, without a lock. */
export const readStored = (tx: Tx, tenantId: string, userIds: string[]) => tx<StoredUser[]>`
  select u.user_id::text as "userId", u.user_name as "userName", u.administrator, ${raw(tx, user.columns('u'))},
    m.dept_id::text as "deptId", coalesce(m.dept_ids, '{}')::text[] as "deptIds"
  from users u left join lateral (
    select max(m.dept_id) filter (where m.main) as dept_id, array_agg(m.dept_id order by m.dept_id) as dept_ids
    from user_departments m where m.tenant_id = ${tenantId} and m.user_id = u.user_id
  ) m on true
  where u.tenant_id = ${tenantId} and u.user_id = any(${userIds}::bigint[]) and u.del_flag = '0'`;

/** Replaces the names and the fields of many users. Their passwords stay. */
export const updateMany = (
  tx: Tx,
  tenantId: string,
  by: string,
  rows: readonly (UserFields & { userId: string; userName: string; userKey: string })[],
) => {
  const sent = rows.map((row) => ({
    user_id: row.userId,
    user_name: row.userName,
    user_key: row.userKey,
    administrator: row.administrator,
    ...user.byColumn(row),
  }));
  return tx`
    update users u set user_name = n.user_name, user_key = n.user_key, administrator = n.administrator,
      ${raw(tx, user.assignmentsFrom('n'))}, update_by = ${by}, update_time = now()
    from json_to_recordset(${JSON.stringify(sent)}::text::json) as n (user_id bigint, user_name text, user_key text,
      administrator boolean, ${raw(tx, user.columnDefinitions)})
    where u.tenant_id = ${tenantId} and u.user_id = any(${rows.map(({ userId }) => userId)}::bigint[])
      and u.user_id = n.user_id and u.del_flag = '0'`;
};

/** Reads the account limit and the names of a tenant. */
export const readTenantLimits = async (tx: Tx, tenantId: string) => {
  const [row] = await tx<[{ accountLimit: number; tenantName: string | null; companyName: string | null }]>`
    select account_count as "accountLimit", tenant_name as "tenantName", company_name as "companyName" from tenants
    where tenant_id = ${tenantId}`;
  return row;
};

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

export const updatePassword = (tx: Tx, tenantId: string, userId: string, passwordHash: string, by: string) => tx`
  update users set password_hash = ${passwordHash}, update_by = ${by}, update_time = now()
  where tenant_id = ${tenantId} and user_id = ${bigintOf(userId)} and del_flag = '0'`;

/** Stores another hash of the same password. The ledger records no change, because the password stays. */
export const replaceHash = (
  tx: Tx,
  { tenantId, userId, passwordHash }: { tenantId: string; userId: string; passwordHash: string },
) => tx`
  with rehash as materialized (select set_config('banyan.rehash', 'on', true))
  update users set password_hash = ${passwordHash} from rehash
  where tenant_id = ${tenantId} and user_id = ${bigintOf(userId)}`;

/** Replaces an imported hash, unless the stored one no longer has the given SHA-256 digest. Returns false in that case. */
export const replaceHashByDigest = async (
  tx: Tx,
  row: { tenantId: string; userId: string; digestBefore: string; passwordHash: string; by: string },
): Promise<boolean> => {
  const rows = await tx`
    update users set password_hash = ${row.passwordHash}, update_by = ${row.by}, update_time = now()
    where tenant_id = ${row.tenantId} and user_id = ${bigintOf(row.userId)} and del_flag = '0'
      and encode(sha256(convert_to(password_hash, 'UTF8')), 'hex') = ${row.digestBefore}
    returning 1`;
  return rows.length > 0;
};

/** Reads all existing users, and deleted ones that come from another system. `externalId` is null for all others. */
export const readOfSource = (tx: Tx, tenantId: string, source: string) => tx<
  { id: string; externalId: string | null; userKey: string; deptId: string | null; isDeleted: boolean }[]
>`
  select u.user_id::text as id, case when u.source = ${source} then u.external_id end as "externalId", u.user_key as "userKey",
    (select m.dept_id::text from user_departments m
      where m.tenant_id = u.tenant_id and m.user_id = u.user_id and m.main) as "deptId",
    u.del_flag <> '0' as "isDeleted"
  from users u where u.tenant_id = ${tenantId} and (u.del_flag = '0' or u.source = ${source}) order by u.user_id`;

/** Replaces a user's password, unless it is no longer `oldHash`. Returns false in that case. */
export const replacePassword = async (
  tx: Tx,
  row: { tenantId: string; userId: string; oldHash: string; passwordHash: string; by: string },
): Promise<boolean> => {
  const rows = await tx`
    update users set password_hash = ${row.passwordHash}, must_change_password = false, update_by = ${row.by},
      update_time = now()
    where tenant_id = ${row.tenantId} and user_id = ${bigintOf(row.userId)} and del_flag = '0'
      and password_hash = ${row.oldHash}
    returning 1`;
  return rows.length > 0;
};

/** Reads the names of a user and of their tenant. */
export const readNames = async (tx: Tx, tenantId: string, userId: string): Promise<(string | null)[]> => {
  const [row] = await tx<Record<string, string | null>[]>`
    select u.user_name, u.nick_name, t.tenant_id, t.tenant_name, t.company_name
    from users u join tenants t on t.tenant_id = u.tenant_id
    where u.tenant_id = ${tenantId} and u.user_id = ${bigintOf(userId)}`;
  return Object.values(row ?? {});
};

/** Sets a new password and enables the user. */
export const recoverUser = (tx: Tx, tenantId: string, userId: string, passwordHash: string, by: string) => tx`
  update users set password_hash = ${passwordHash}, must_change_password = false, status = '0', update_by = ${by},
    update_time = now()
  where tenant_id = ${tenantId} and user_id = ${bigintOf(userId)} and del_flag = '0'`;

export const listAdministrators = async (tx: Tx, tenantId: string, limit: number): Promise<string[]> => {
  const rows = await tx<{ userName: string }[]>`
    select user_name as "userName" from users
    where tenant_id = ${tenantId} and administrator and del_flag = '0' order by user_id limit ${limit}`;
  return rows.map(({ userName }) => userName);
};

export const markDeleted = (tx: Tx, tenantId: string, userIds: string[], by: string) => tx`
  update users set del_flag = '2', update_by = ${by}, update_time = now()
  where tenant_id = ${tenantId} and user_id = any(${userIds.map(bigintOf)}::bigint[])`;

export const markRestored = (tx: Tx, tenantId: string, userIds: string[], by: string) => tx`
  update users set del_flag = '0', update_by = ${by}, update_time = now()
  where tenant_id = ${tenantId} and user_id = any(${userIds.map(bigintOf)}::bigint[])`;

/** Marks users as updated after their departments have changed, which the ledger then records with them. */
export const touchUsers = (tx: Tx, tenantId: string, userIds: string[], by: string) => tx`
  update users set update_by = ${by}, update_time = now()
  where tenant_id = ${tenantId} and user_id = any(${userIds.map(bigintOf)}::bigint[])`;

/** Locks users, deleted or not, in the order of ids. */
export const lockAnyUsers = (tx: Tx, tenantId: string, userIds: string[]) => tx<{ delFlag: string }[]>`
  select del_flag as "delFlag" from users
  where tenant_id = ${tenantId} and user_id = any(${userIds.map(bigintOf)}::bigint[])
  order by user_id for no key update`;
