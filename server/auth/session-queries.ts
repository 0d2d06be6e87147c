import { bigintOf, type Tx } from '../../db/driver.ts';
import type { SessionIdentity } from './credentials.ts';
import type { Session } from './schema.ts';

/**
 * Begins a session. Expired sessions of the user are deleted, and the oldest ones beyond `maxSessions`. The caller holds the
 * lock of `lockLoginUser`, so the number is exact. `clock_timestamp()` follows the order in which transactions got that lock;
 * `now()`, the start of the transaction, does not.
 */
export const insertSession = (
  tx: Tx,
  session: SessionIdentity & {
    refreshHash: Buffer;
    address: string;
    userAgent: string;
    seconds: number;
    maxSessions: number;
  },
) => {
  const { tenantId, sessionId, userId, refreshHash, address, userAgent, seconds, maxSessions } = session;
  return tx`
    with ended as (
      delete from sessions where tenant_id = ${tenantId} and user_id = ${userId} and (expires <= now() or session_id in (
        select session_id from sessions where tenant_id = ${tenantId} and user_id = ${userId} and expires > now()
        order by create_time desc, session_id offset ${maxSessions - 1}))
    )
    insert into sessions (tenant_id, session_id, user_id, refresh_hash, address, user_agent, create_time, last_used, expires)
    values (${tenantId}, ${sessionId}, ${userId}, ${refreshHash}, ${address}, ${userAgent}, clock_timestamp(),
      clock_timestamp(), clock_timestamp() + ${seconds} * interval '1 second')`;
};

export interface SessionRow {
  userId: number;
  refreshHash: Buffer;
  expired: boolean;
  /** The seconds until the session expires, unless it is extended before. */
  secondsLeft: number;
  /** The hash of the previous secret, if a browser refreshed less than `reuseSeconds` ago; else null. */
  previousHash: Buffer | null;
  /** The salt with which the current secret was derived from the previous one; null: it was not derived. */
  nextSalt: Buffer | null;
}

/** The settings that limit sessions. */
interface SessionLimits {
  /** A session that is not refreshed for this long ends. */
  refreshTokenSeconds: number;
  /** A session ends this long after its login in any case. */
  sessionSeconds: number;
}

const endOfSession = (tx: Tx, { sessionSeconds }: SessionLimits) =>
  tx`create_time + ${sessionSeconds} * interval '1 second'`;

export const lockSession = async (
  tx: Tx,
  { tenantId, sessionId }: { tenantId: string; sessionId: string },
  limits: SessionLimits,
  reuseSeconds: number,
) => {
  const recent = tx`last_used > now() - ${reuseSeconds} * interval '1 second'`;
  const [row] = await tx<SessionRow[]>`
    select user_id as "userId", refresh_hash as "refreshHash", 
      least(expires, ${endOfSession(tx, limits)}) <= now() as expired,
      ceil(extract(epoch from expires - now()))::int as "secondsLeft",
      case when ${recent} then previous_hash end as "previousHash", next_salt as "nextSalt"
    from sessions where tenant_id = ${tenantId} and session_id = ${sessionId} for update`;
  return row;
};

/** Reads a session without a lock: its user, the hash of its refresh token, and when it expires in seconds since 1970. */
export const readSession = async (tx: Tx, { tenantId, sessionId }: { tenantId: string; sessionId: string }) => {
  const [row] = await tx<{ userId: number; refreshHash: Buffer; expires: number }[]>`
    select user_id as "userId", refresh_hash as "refreshHash", extract(epoch from expires)::bigint as expires
    from sessions where tenant_id = ${tenantId} and session_id = ${sessionId} and expires > now()`;
  return row;
};

/** Replaces the refresh token and extends the session. Returns the seconds until it expires. */
export const rotateSession = async (
  tx: Tx,
  { tenantId, sessionId }: { tenantId: string; sessionId: string },
  limits: SessionLimits,
  next: { refreshHash: Buffer; previousHash: Buffer | null; nextSalt: Buffer | null },
): Promise<number> => {
  const [{ seconds }] = await tx<[{ seconds: number }]>`
    update sessions set refresh_hash = ${next.refreshHash}, previous_hash = ${next.previousHash},
      next_salt = ${next.nextSalt}, last_used = now(),
      expires = least(now() + ${limits.refreshTokenSeconds} * interval '1 second', ${endOfSession(tx, limits)})
    where tenant_id = ${tenantId} and session_id = ${sessionId}
    returning ceil(extract(epoch from expires - now()))::int as seconds`;
  return seconds;
};

interface SessionOwner {
  tenantId: string;
  userId: string;
}

/** The sessions of a user: the current one first, if it is theirs, then the newest; at most `limit`. */
export const listSessions = (tx: Tx, { tenantId, userId }: SessionOwner, current: string | null, limit: number) => tx<
  Session[]
>`
  select session_id as "sessionId", address, user_agent as "userAgent",
    to_char(create_time, 'YYYY-MM-DD HH24:MI:SS') as "createTime",
    to_char(last_used, 'YYYY-MM-DD HH24:MI:SS') as "lastUsedTime", session_id is not distinct from ${current}::uuid as current
  from sessions where tenant_id = ${tenantId} and user_id = ${userId} and expires > now()
  order by session_id is not distinct from ${current}::uuid desc, create_time desc, session_id limit ${limit}`;

export const countSessions = async (tx: Tx, { tenantId, userId }: SessionOwner): Promise<number> => {
  const [{ total }] = await tx<[{ total: number }]>`
    select count(*) as total from sessions where tenant_id = ${tenantId} and user_id = ${userId} and expires > now()`;
  return total;
};

/** Deletes one session of a user or, if `sessionId` is null, all of them. Returns the ids of those that had not expired. */
export const deleteSessionsOfUser = async (
  tx: Tx,
  { tenantId, userId }: SessionOwner,
  sessionId: string | null,
): Promise<string[]> => {
  const rows = await tx<{ sessionId: string; isActive: boolean }[]>`
    delete from sessions where tenant_id = ${tenantId} and user_id = ${bigintOf(userId)}
      and (${sessionId}::uuid is null or session_id = ${sessionId}::uuid)
    returning session_id as "sessionId", expires > now() as "isActive"`;
  return rows.filter(({ isActive }) => isActive).map((row) => row.sessionId);
};

export const deleteSession = (tx: Tx, tenantId: string, sessionId: string) => tx`
  delete from sessions where tenant_id = ${tenantId} and session_id = ${sessionId}`;

/** Deletes sessions of a tenant that expired more than a day ago. A login deletes all expired sessions of its user. */
export const deleteExpiredSessions = (tx: Tx, tenantId: string, maxRows: number) => tx`
  delete from sessions where tenant_id = ${tenantId} and session_id in (
    select session_id from sessions where tenant_id = ${tenantId} and expires < now() - interval '1 day'
    limit ${maxRows} for update skip locked)`;

export const deleteSessionsOf = (tx: Tx, tenantId: string, userIds: string[], except: string | null) => tx`
  delete from sessions
  where tenant_id = ${tenantId} and user_id = any(${userIds.map(bigintOf)}::bigint[])
    and session_id is distinct from ${except}::uuid`;
