import { bigintOf, type Sql, type Tx } from '../../db/driver.ts';
import type { TokenSubject } from './credentials.ts';
import type { Permission } from './permissions.ts';
import type { TenantState } from './tenant-state.ts';

/** A row of the database function read_callers. */
export interface CallerRow {
  /** null: there is no such user. */
  userName: string | null;
  administrator: boolean;
  status: string;
  delFlag: string;
  mustChangePassword: boolean;
  tenantState: TenantState;
  sessionExists: boolean;
  /** null: there is no such API key, or its secret has expired. */
  key: KeyRow | null;
}

export interface KeyRow {
  keyName: string;
  status: string;
  permissions: Permission[];
  below: boolean;
  addresses: string[] | null;
  requestsPerMinute: number | null;
  /** The time until the key or its secret expires; null: never. */
  secondsLeft: number | null;
}

/** The ids of callers as arrays, for a statement that reads several. A caller is either a user or an API key. */
export const callerIds = (tokens: readonly TokenSubject[]) => ({
  userIds: tokens.map(({ userId }) => (userId === undefined ? null : bigintOf(userId))),
  sessionIds: tokens.map(({ sessionId }) => sessionId ?? null),
  keyIds: tokens.map(({ keyId }) => keyId ?? null),
  secretIds: tokens.map((token) => (token.keyId === undefined ? null : token.secretId)),
});

/** Reads the callers of one tenant, in the order of their tokens. */
export const readCallers = (
  tx: Tx,
  tenantId: string,
  tokens: TokenSubject[],
  { userIds, sessionIds, keyIds, secretIds } = callerIds(tokens),
) => tx<CallerRow[]>`
  select * from read_callers(${tenantId},
    ${userIds}::bigint[], ${sessionIds}::uuid[], ${keyIds}::bigint[], ${secretIds}::bigint[]) order by n`;

/**
 * Attempts are counted by account, existing or not, and address. The address '' stands for all addresses together. The name
 * is stored as a keyed hash (`login_name_hash`).
 */
export interface AttemptKey {
  tenantId: string;
  userKey: string;
  address: string;
}

interface AttemptCounts {
  failures: number;
  /** Attempts in flight, including this one. */
  pending: number;
  /** How long the account stays locked. */
  lockedSeconds: number;
  /** Whether the address has recently logged in to the account. */
  trusted: boolean;
}

/**
 * Makes the commit of this transaction skip the wait for the disk. The transaction only counts an attempt as in flight, and
 * a crash of the database ends the attempt anyway.
 */
export const disableSynchronousCommit = (tx: Tx) => tx`select set_config('synchronous_commit', 'off', true)`;

/** Counts an attempt as in flight. The transaction is rolled back if the attempt is rejected. */
export const reserveAttempt = async (tx: Tx, key: AttemptKey, resetSeconds: number): Promise<AttemptCounts> => {
  const [row] = await tx<[AttemptCounts]>`
    insert into login_failures as f (tenant_id, user_key, address, pending, pending_until)
    values (${key.tenantId}, login_name_hash(${key.userKey}), ${key.address}, 1, now() + interval '30 seconds')
    on conflict (tenant_id, user_key, address) do update set
      failures = case when f.last_failure < now() - ${resetSeconds} * interval '1 second' then 0 else f.failures end,
      pending = case when f.pending_until < now() then 0 else f.pending end + 1,
      pending_until = excluded.pending_until
    returning failures, pending, trusted_until > now() as trusted,
      case when locked_until > now() then ceil(extract(epoch from locked_until - now()))::int else 0 end as "lockedSeconds"`;
  return row;
};

/** The same for an address, over all accounts. */
export const reserveAddress = async (tx: Tx, address: string, windowSeconds: number) => {
  const [row] = await tx<[{ failures: number; pending: number; secondsLeft: number }]>`
    insert into login_addresses as a (address, pending, pending_until)
    values (${address}, 1, now() + interval '30 seconds')
    on conflict (address) do update set
      failures = case when a.window_start < now() - ${windowSeconds} * interval '1 second' then 0 else a.failures end,
      window_start = case when a.window_start < now() - ${windowSeconds} * interval '1 second' then now() else a.window_start end,
      pending = case when a.pending_until < now() then 0 else a.pending end + 1,
      pending_until = excluded.pending_until
    returning failures, pending,
      ceil(extract(epoch from window_start + ${windowSeconds} * interval '1 second' - now()))::int as "secondsLeft"`;
  return row;
};

/** An address stays trusted this long after a login; longer than a session lasts by default. */
const TRUSTED_DAYS = 60;

/** Ends an attempt. A failure is counted; `maxFailures` of them lock the account (in a row, unless the rule is `exponential`). */
export const settleAttempt = (
  tx: Tx,
  key: AttemptKey,
  outcome: AttemptOutcome,
  rule: { maxFailures: number; lockSeconds: number; exponential: boolean },
) => {
  const pending = tx`pending = greatest(pending - 1, 0)`;
  const where = tx`
    where tenant_id = ${key.tenantId} and user_key = login_name_hash(${key.userKey}) and address = ${key.address}`;
  if (outcome === 'abandoned' || (outcome === 'passed' && rule.exponential)) {
    return tx`update login_failures set ${pending} ${where}`;
  }
  if (outcome === 'passed') {
    return tx`update login_failures set ${pending}, failures = 0, locked_until = '-infinity',
      trusted_until = now() + ${TRUSTED_DAYS} * interval '1 day' ${where}`;
  }
  if (rule.exponential) {
    return tx`
      update login_failures set ${pending}, failures = failures + 1, last_failure = now(),
        locked_until = case when failures + 1 < ${rule.maxFailures} then locked_until else
          now() + interval '1 second' * least(${rule.lockSeconds}, power(2, least(failures + 1 - ${rule.maxFailures}, 20))) end
      ${where}`;
  }
  return tx`
    update login_failures set ${pending}, last_failure = now(),
      failures = case when failures + 1 < ${rule.maxFailures} then failures + 1 else 0 end,
      locked_until = case when failures + 1 < ${rule.maxFailures} then locked_until
        else now() + ${rule.lockSeconds} * interval '1 second' end
    ${where}`;
};

/** `abandoned`: the password was not decisive, because another error ended the login. */
export type AttemptOutcome = 'failed' | 'passed' | 'abandoned';

export const settleAddress = (tx: Tx, address: string, outcome: AttemptOutcome) => tx`
  update login_addresses set pending = greatest(pending - 1, 0), failures = failures + ${outcome === 'failed' ? 1 : 0}
  where address = ${address}`;

/** Returns tenants that have expired counters or sessions. */
export const tenantsWithExpiredLogins = (sql: Sql, maxRows: number) => sql<{ tenantId: string }[]>`
  select tenant_id as "tenantId" from tenants_with_expired_logins(${maxRows}) tenant_id`;

/**
 * Deletes expired counters of a tenant: a day after the last failure or the end of the trust in the address, whichever is later.
 */
export const deleteExpiredFailures = (tx: Tx, tenantId: string, maxRows: number) => tx`
  delete from login_failures where tenant_id = ${tenantId} and (user_key, address) in (
    select user_key, address from login_failures
    where tenant_id = ${tenantId} and greatest(last_failure, trusted_until) < now() - interval '1 day' and pending_until < now()
    order by greatest(last_failure, trusted_until) limit ${maxRows} for update skip locked)`;

/** Deletes expired counters of addresses, which belong to no tenant: a day after their window began. */
export const deleteExpiredAddresses = (tx: Tx, maxRows: number) => tx`
  delete from login_addresses where address in (
    select address from login_addresses where window_start < now() - interval '1 day' and pending_until < now()
    order by window_start limit ${maxRows} for update skip locked)`;

/**
 * Unlocks an account for all addresses. Attempts in flight stay counted. Locks the rows in the order that logins use: the
 * address first, then `''`, which stands for all addresses.
 */
export const unlockAccount = (tx: Tx, tenantId: string, userKey: string) => tx`
  update login_failures set failures = 0, locked_until = '-infinity'
  where tenant_id = ${tenantId} and user_key = login_name_hash(${userKey}) and address = any(array(
    select address from login_failures where tenant_id = ${tenantId} and user_key = login_name_hash(${userKey})
    order by address desc for update))`;

/**
 * Reads the signing keys, newest first, with their age in seconds and the current time in milliseconds. A key that was
 * replaced more than two days ago is left out: tokens live for a day at most, so it could only be misused.
 */
export const readSigningKeys = (sql: Sql) => sql<{ keyId: string; privateKey: Buffer; age: number; now: number }[]>`
  select key_id as "keyId", private_key as "privateKey", extract(epoch from now() - create_time)::int as age,
    extract(epoch from clock_timestamp())::float8 * 1000 as now
  from signing_keys k
  where not exists (
    select from signing_keys n where n.create_time > k.create_time and n.create_time < now() - interval '2 days')
  order by create_time desc, key_id`;

/** Inserts a signing key, unless another node has just done so. */
export const insertSigningKey = (tx: Tx, privateKey: Buffer, lifetimeDays: number) => tx`
  insert into signing_keys (private_key)
  select ${privateKey} where not exists (
    select from signing_keys where create_time > now() - ${lifetimeDays} * interval '1 day')`;

/**
 * Records a login in the audit log. Logins to unknown tenants are recorded too, so that they take as long as others. `refused`
 * and `passed`, the ledger's names of failed and successful logins, are part of the API.
 */
export const recordLogin = (
  tx: Tx,
  tenantId: string,
  login: { userName: string; userId: string | null; reason: string | null },
) => tx`
  select record_change(${tenantId}, ${login.userName}, 'login', ${login.userId ?? 0}::bigint,
    ${login.reason ? 'refused' : 'passed'}, null,
    ${JSON.stringify({ user_name: login.userName, reason: login.reason })}::text::jsonb)`;

/** Records in the audit log that a caller has ended sessions of a user. */
export const recordEndedSessions = (
  tx: Tx,
  tenantId: string,
  by: string,
  user: { userId: string; userName: string },
) => tx`
  select record_change(${tenantId}, ${by}, 'login', ${bigintOf(user.userId)}::bigint, 'ended', null,
    ${JSON.stringify({ user_name: user.userName, reason: null })}::text::jsonb)`;

export interface LoginUser {
  userId: number;
  userName: string;
  passwordHash: string;
  mustChangePassword: boolean;
  status: string;
  delFlag: string;
}

const loginColumns = (tx: Tx) => tx`
  select user_id as "userId", user_name as "userName", password_hash as "passwordHash",
    must_change_password as "mustChangePassword", status, del_flag as "delFlag"
  from users`;

/** Finds a user by name, or by the id that a session contains. */
export const findLoginUser = async (
  tx: Tx,
  tenantId: string,
  by: { key: string } | { id: string },
): Promise<LoginUser | undefined> => {
  const [row] =
    'key' in by
      ? await tx<
          LoginUser[]
        >`${loginColumns(tx)} where tenant_id = ${tenantId} and user_key = ${by.key} and del_flag = '0'`
      : await tx<LoginUser[]>`${loginColumns(tx)} where tenant_id = ${tenantId} and user_id = ${bigintOf(by.id)}`;
  return row;
};

/** The same by id, with a lock: until the transaction ends, the user cannot change and cannot begin another session. */
export const lockLoginUser = async (tx: Tx, tenantId: string, userId: string): Promise<LoginUser | undefined> => {
  const [row] = await tx<LoginUser[]>`
    ${loginColumns(tx)} where tenant_id = ${tenantId} and user_id = ${bigintOf(userId)} for no key update`;
  return row;
};
