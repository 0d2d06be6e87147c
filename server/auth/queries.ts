import type { Sql, Tx } from '../../db/sql.ts';
import { long } from '../../db/sql.ts';
import type { Repeatable } from './idempotency.ts';
import type { Token } from './tokens.ts';

export type Standing = 'in service' | 'disabled' | 'not started' | 'ended' | 'deleted' | 'unknown';

export interface CallerRow {
  userName: string;
  administrator: boolean;
  status: string;
  delFlag: string;
  tenantStanding: Standing;
  sessionLives: boolean;
}

export const readCaller = (tx: Tx, { tenantId, userId, sessionId }: Token) => tx<CallerRow[]>`
  select u.user_name as "userName", u.administrator, u.status, u.del_flag as "delFlag",
    tenant_standing(u.tenant_id) as "tenantStanding",
    exists (
      select from sessions s
      where s.tenant_id = ${tenantId} and s.session_id = ${sessionId} and s.user_id = u.user_id and s.expires > now()
    ) as "sessionLives"
  from users u
  where u.tenant_id = ${tenantId} and u.user_id = ${long(userId)}`;

export const readStanding = async (tx: Tx, tenantId: string): Promise<Standing> => {
  const [row] = await tx<[{ standing: Standing }]>`select tenant_standing(${tenantId}) as standing`;
  return row.standing;
};

export const insertSession = async (
  tx: Tx,
  session: { tenantId: string; userId: string; refreshHash: Buffer; address: string; seconds: number },
): Promise<string> => {
  const { tenantId, userId, refreshHash, address, seconds } = session;
  const [row] = await tx<[{ sessionId: string }]>`
    insert into sessions (tenant_id, user_id, refresh_hash, address, expires)
    values (${tenantId}, ${userId}, ${refreshHash}, ${address}, now() + ${seconds} * interval '1 second')
    returning session_id as "sessionId"`;
  return row.sessionId;
};

export const lockSession = async (tx: Tx, tenantId: string, sessionId: string) => {
  const [row] = await tx<{ userId: number; refreshHash: Buffer; expired: boolean }[]>`
    select user_id as "userId", refresh_hash as "refreshHash", expires <= now() as expired
    from sessions where tenant_id = ${tenantId} and session_id = ${sessionId} for update`;
  return row;
};

export const rotateSession = (tx: Tx, tenantId: string, sessionId: string, refreshHash: Buffer, seconds: number) => tx`
  update sessions set refresh_hash = ${refreshHash}, expires = now() + ${seconds} * interval '1 second'
  where tenant_id = ${tenantId} and session_id = ${sessionId}`;

export const deleteSession = (tx: Tx, tenantId: string, sessionId: string) => tx`
  delete from sessions where tenant_id = ${tenantId} and session_id = ${sessionId}`;

export const deleteSessionsOf = (tx: Tx, tenantId: string, userIds: string[], except: string | null) => tx`
  delete from sessions
  where tenant_id = ${tenantId} and user_id = any(${userIds.map(long)}::bigint[])
    and session_id is distinct from ${except}::uuid`;

export const deleteExpiredSessions = (tx: Tx, tenantId: string, userId: string) => tx`
  delete from sessions where tenant_id = ${tenantId} and user_id = ${long(userId)} and expires <= now()`;

export interface GuardRow {
  /** Seconds for which this account is closed to this address, to all addresses, and for which the address is. */
  closedHere: number;
  closedEverywhere: number;
  addressClosed: number;
  trusted: boolean;
}

export const readGuard = async (
  tx: Tx,
  { tenantId, userKey, address }: { tenantId: string; userKey: string; address: string },
  limits: { addressFailures: number; addressSeconds: number },
): Promise<GuardRow> => {
  const [row] = await tx<[GuardRow]>`
    select
      coalesce((select greatest(0, ceil(extract(epoch from closed - now())))::int from login_failures
        where tenant_id = ${tenantId} and user_key = ${userKey} and address = ${address} and closed > now()), 0)
        as "closedHere",
      coalesce((select greatest(0, ceil(extract(epoch from closed - now())))::int from login_failures
        where tenant_id = ${tenantId} and user_key = ${userKey} and address = '' and closed > now()), 0)
        as "closedEverywhere",
      coalesce((select ceil(extract(epoch from since + ${limits.addressSeconds} * interval '1 second' - now()))::int
        from login_addresses
        where address = ${address} and failures >= ${limits.addressFailures}
          and since + ${limits.addressSeconds} * interval '1 second' > now()), 0) as "addressClosed",
      coalesce((select trusted from login_failures
        where tenant_id = ${tenantId} and user_key = ${userKey} and address = ${address}), false) as trusted`;
  return row;
};

/** Counts a failure at one address (`''`: over all) and closes the account there when there were too many. */
export const countFailure = (
  tx: Tx,
  at: { tenantId: string; userKey: string; address: string },
  rule: { free: number; seconds: number; growing: boolean; forgottenAfter: number },
) => tx`
  insert into login_failures as f (tenant_id, user_key, address, failures)
  values (${at.tenantId}, ${at.userKey}, ${at.address}, 1)
  on conflict (tenant_id, user_key, address) do update set
    failures = case when f.seen < now() - ${rule.forgottenAfter} * interval '1 second' then 1 else f.failures + 1 end,
    closed = case
      when f.seen < now() - ${rule.forgottenAfter} * interval '1 second' or f.failures + 1 < ${rule.free} then f.closed
      else now() + interval '1 second' * case
        when ${rule.growing} then least(${rule.seconds}, power(2, least(f.failures + 1 - ${rule.free}, 20)))
        else ${rule.seconds}
      end
    end,
    seen = now()`;

export const countAddressFailure = (tx: Tx, address: string, windowSeconds: number) => tx`
  insert into login_addresses as a (address, failures) values (${address}, 1)
  on conflict (address) do update set
    failures = case when a.since < now() - ${windowSeconds} * interval '1 second' then 1 else a.failures + 1 end,
    since = case when a.since < now() - ${windowSeconds} * interval '1 second' then now() else a.since end`;

export const trustAddress = (tx: Tx, at: { tenantId: string; userKey: string; address: string }) => tx`
  insert into login_failures (tenant_id, user_key, address, trusted)
  values (${at.tenantId}, ${at.userKey}, ${at.address}, true)
  on conflict (tenant_id, user_key, address) do update set failures = 0, closed = '-infinity', trusted = true, seen = now()`;

/**
 * Newest first, with their age in seconds. A token lives a day at most: a key that was followed by another two days ago
 * has nothing left to verify, and is good for nothing but misuse.
 */
export const readKeys = (sql: Sql) => sql<{ keyId: string; secret: Buffer; age: number }[]>`
  select key_id as "keyId", secret, extract(epoch from now() - create_time)::int as age
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
