import { readInChunks } from '../../db/chunks.ts';
import { raw, type Tx } from '../../db/driver.ts';
import { externalIdFinder } from '../records/external-id.ts';
import type { UserFields } from './queries.ts';
import { user } from './record.ts';

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
 * Writes what has changed so far to the ledger now, instead of at the commit: a commit that records thousands of users would
 * take longer than a statement may. The users must not change again in this transaction.
 */
export const recordUserChanges = async (tx: Tx): Promise<void> => {
  await tx`set constraints record_change immediate`;
  await tx`set constraints record_change deferred`;
};

export const findByExternalIds = externalIdFinder('users', 'user_id');

/** Finds users by their names, in the form of `userKey`. */
export const findByKeys = (tx: Tx, tenantId: string, userKeys: string[]) =>
  readInChunks(
    userKeys,
    (chunk) => tx<{ userKey: string; userId: string }[]>`
      select user_key as "userKey", user_id::text as "userId" from users
      where tenant_id = ${tenantId} and user_key = any(${chunk}::text[]) and del_flag = '0'`,
  );

export type StoredUser = UserFields & {
  userId: string;
  userName: string;
  deptId: string | null;
  /** All departments, the main one included. */
  deptIds: string[];
};

/** Reads users with their departments, without a lock. */
export const readStored = (tx: Tx, tenantId: string, userIds: string[]) =>
  readInChunks(
    userIds,
    (chunk) => tx<StoredUser[]>`
      select u.user_id::text as "userId", u.user_name as "userName", u.administrator, ${raw(tx, user.columns('u'))},
        m.dept_id::text as "deptId", coalesce(m.dept_ids, '{}')::text[] as "deptIds"
      from users u left join lateral (
        select max(m.dept_id) filter (where m.main) as dept_id, array_agg(m.dept_id order by m.dept_id) as dept_ids
        from user_departments m where m.tenant_id = ${tenantId} and m.user_id = u.user_id
      ) m on true
      where u.tenant_id = ${tenantId} and u.user_id = any(${chunk}::bigint[]) and u.del_flag = '0'`,
  );

/** Replaces the names and the fields of many users. Their passwords stay the same. */
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
