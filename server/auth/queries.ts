import type { Sql, Tx } from '../../db/sql.ts';
import { long } from '../../db/sql.ts';
import type { Repeatable } from './idempotency.ts';
import type { Token } from './tokens.ts';

export type Standing = 'in service' | 'disabled' | 'not started' | 'ended' | 'deleted' | 'unknown';

export interface CallerRow {
  /** null: there is no such user. */
  userName: string | null;
  administrator: boolean;
  status: string;
  delFlag: string;
  tenantStanding: Standing;
  sessionLives: boolean;
}

/** In the order of the tokens; all of one tenant. Where there is no such user, all of it is null. */
export const readCallers = (tx: Tx, tenantId: string, tokens: Token[]) => tx<CallerRow[]>`
  select u.user_name as "userName", u.administrator, u.status, u.del_flag as "delFlag", standing as "tenantStanding",
    s.session_id is not null as "sessionLives"
  from tenant_standing(${tenantId}) standing
  cross join unnest(
    (select ${tokens.map(({ userId }) => long(userId))}::bigint[]),
    (select ${tokens.map(({ sessionId }) => sessionId)}::uuid[])
  ) with ordinality a (user_id, session_id, n)
  -- limit 1 leaves the planner no choice but the primary keys, statistics or not.
  left join lateral (
    select * from users u where u.tenant_id = ${tenantId} and u.user_id = a.user_id limit 1
  ) u on true
  left join lateral (
    select s.session_id from sessions s
    where s.tenant_id = ${tenantId} and s.session_id = a.session_id and s.user_id = u.user_id and s.expires > now() limit 1
  ) s on true
  order by a.n`;

export const readStanding = async (tx: Tx, tenantId: string): Promise<Standing> => {
  const [row] = await tx<[{ standing: Standing }]>`select tenant_standing(${tenantId}) as standing`;
  return row.standing;
};

/** An account as somebody tries to log in to it, existing or not, and from where. */
export interface Attempt {
  tenantId: string;
  userKey: string;
  address: string;
}

export interface Counted {
  failures: number;
  /** Attempts under way, this one included. */
  pending: number;
  /** For how many seconds it is closed. */
  closed: number;
  trusted: boolean;
}

/**
 * This transaction need not outlive a crash of the database, and does not wait for the disk: with the crash the attempt
 * ends whose being under way it notes.
 */
export const letGo = (tx: Tx) => tx`select set_config('synchronous_commit', 'off', true)`;

/** Counts an attempt as under way, at one address or (`''`) over all. Rolled back when it is not let through. */
export const reserveAttempt = async (tx: Tx, at: Attempt, forgottenAfter: number): Promise<Counted> => {
  const [row] = await tx<[Counted]>`
    insert into login_failures as f (tenant_id, user_key, address, pending, pending_until)
    values (${at.tenantId}, ${at.userKey}, ${at.address}, 1, now() + interval '30 seconds')
    on conflict (tenant_id, user_key, address) do update set
      failures = case when f.seen < now() - ${forgottenAfter} * interval '1 second' then 0 else f.failures end,
      pending = case when f.pending_until < now() then 0 else f.pending end + 1,
      pending_until = excluded.pending_until
    returning failures, pending, trusted,
      case when closed > now() then ceil(extract(epoch from closed - now()))::int else 0 end as closed`;
  return row;
};

export const reserveAddress = async (tx: Tx, address: string, windowSeconds: number) => {
  const [row] = await tx<[{ failures: number; pending: number; left: number }]>`
    insert into login_addresses as a (address, pending, pending_until)
    values (${address}, 1, now() + interval '30 seconds')
    on conflict (address) do update set
      failures = case when a.since < now() - ${windowSeconds} * interval '1 second' then 0 else a.failures end,
      since = case when a.since < now() - ${windowSeconds} * interval '1 second' then now() else a.since end,
      pending = case when a.pending_until < now() then 0 else a.pending end + 1,
      pending_until = excluded.pending_until
    returning failures, pending,
      ceil(extract(epoch from since + ${windowSeconds} * interval '1 second' - now()))::int as left`;
  return row;
};

/** Ends an attempt. A failure counts, and closes the account there after `free` of them in a row. */
export const settleAttempt = (
  tx: Tx,
  at: Attempt,
  outcome: Outcome,
  rule: { free: number; seconds: number; growing: boolean },
) => {
  const pending = tx`pending = greatest(pending - 1, 0)`;
  const where = tx`where tenant_id = ${at.tenantId} and user_key = ${at.userKey} and address = ${at.address}`;
  if (outcome === 'dropped' || (outcome === 'passed' && rule.growing)) {
    return tx`update login_failures set ${pending} ${where}`;
  }
  if (outcome === 'passed') {
    return tx`update login_failures set ${pending}, failures = 0, closed = '-infinity', trusted = true ${where}`;
  }
  if (rule.growing) {
    return tx`
      update login_failures set ${pending}, failures = failures + 1, seen = now(),
        closed = case when failures + 1 < ${rule.free} then closed else
          now() + interval '1 second' * least(${rule.seconds}, power(2, least(failures + 1 - ${rule.free}, 20))) end
      ${where}`;
  }
  return tx`
    update login_failures set ${pending}, seen = now(),
      failures = case when failures + 1 < ${rule.free} then failures + 1 else 0 end,
      closed = case when failures + 1 < ${rule.free} then closed else now() + ${rule.seconds} * interval '1 second' end
    ${where}`;
};

/** `dropped`: it came to neither, because something else was in the way. */
export type Outcome = 'failed' | 'passed' | 'dropped';

export const settleAddress = (tx: Tx, address: string, outcome: Outcome) => tx`
  update login_addresses set pending = greatest(pending - 1, 0), failures = failures + ${outcome === 'failed' ? 1 : 0}
  where address = ${address}`;

/** Those that count no more, a few at a time, by whoever fails next: the tables stay as large as a day's failures. */
export const forgetFailures = async (tx: Tx, tenantId: string) => {
  await tx`
    delete from login_failures where (tenant_id, user_key, address) in (
      select tenant_id, user_key, address from login_failures
      where tenant_id = ${tenantId} and not trusted and seen < now() - interval '1 day' and pending_until < now()
      order by seen limit 20 for update skip locked)`;
  await tx`
    delete from login_addresses where address in (
      select address from login_addresses where since < now() - interval '1 day' and pending_until < now()
      order by since limit 20 for update skip locked)`;
};

/**
 * An account is open again, from wherever it was closed to. What is under way stays counted. Locked in the order of
 * those who guess: one address, then the account over all, which is `''`.
 */
export const reopenAccount = (tx: Tx, tenantId: string, userKey: string) => tx`
  update login_failures set failures = 0, closed = '-infinity'
  where tenant_id = ${tenantId} and user_key = ${userKey} and address = any(array(
    select address from login_failures where tenant_id = ${tenantId} and user_key = ${userKey}
    order by address desc for update))`;

/**
 * Newest first, with their age in seconds, and the time in milliseconds. A token lives a day at most: a key that was followed by another two days ago
 * has nothing left to verify, and is good for nothing but misuse.
 */
export const readKeys = (sql: Sql) => sql<{ keyId: string; secret: Buffer; age: number; now: number }[]>`
  select key_id as "keyId", secret, extract(epoch from now() - create_time)::int as age,
    extract(epoch from clock_timestamp())::float8 * 1000 as now
  from signing_keys k
  where not exists (
    select from signing_keys n where n.create_time > k.create_time and n.create_time < now() - interval '2 days')
  order by create_time desc`;

/** Unless another node was faster. */
export const insertKey = (sql: Sql, secret: Buffer, signsDays: number) => sql`
  insert into signing_keys (secret)
  select ${secret} where not exists (
    select from signing_keys where create_time > now() - ${signsDays} * interval '1 day')`;

export interface KeptAnswer {
  result: unknown;
  /** Reason and facts, as idempotency.ts wrote them. */
  refusal: unknown;
}

/** True when the key is ours to use: new, or a day old. Waits for whoever uses it at this moment. */
export const claimKey = async (
  tx: Tx,
  { tenantId, userId }: Token,
  { key, fingerprint }: Repeatable,
): Promise<boolean> => {
  const rows = await tx`
    insert into idempotency_keys as k (tenant_id, user_id, key, fingerprint)
    values (${tenantId}, ${userId}, ${key}, ${fingerprint})
    on conflict (tenant_id, user_id, key) do update
      set fingerprint = excluded.fingerprint, result = null, refusal = null, create_time = now()
      where k.create_time <= now() - interval '24 hours'
    returning 1`;
  return rows.length > 0;
};

export const readKept = async (tx: Tx, { tenantId, userId }: Token, key: string) => {
  const [row] = await tx<(KeptAnswer & { fingerprint: Buffer })[]>`
    select fingerprint, result, refusal from idempotency_keys
    where tenant_id = ${tenantId} and user_id = ${userId} and key = ${key} and create_time > now() - interval '24 hours'`;
  return row;
};

export const keepAnswer = (tx: Tx, { tenantId, userId }: Token, key: string, { result, refusal }: KeptAnswer) => tx`
  update idempotency_keys set result = ${tx.json(result as never)}, refusal = ${refusal ? tx.json(refusal as never) : null}
  where tenant_id = ${tenantId} and user_id = ${userId} and key = ${key}`;

/** A few at a time, by whoever comes: the table stays as large as a day's use. */
export const dropOldKeys = (tx: Tx, tenantId: string) => tx`
  delete from idempotency_keys where (tenant_id, user_id, key) in (
    select tenant_id, user_id, key from idempotency_keys
    where tenant_id = ${tenantId} and create_time <= now() - interval '24 hours'
    limit 20 for update skip locked)`;

/** An audit's row. Accounts of no tenant have a ledger of their own, so that they take as long as others. */
export const noteLogin = (
  tx: Tx,
  tenantId: string,
  note: { userName: string; userId: string | null; reason: string | null },
) => tx`
  select note_change(${tenantId}, ${note.userName}, 'login', ${note.userId ?? 0}::bigint, ${note.reason ? 'refused' : 'passed'},
    null, ${JSON.stringify({ userName: note.userName, reason: note.reason })}::text::json)`;
