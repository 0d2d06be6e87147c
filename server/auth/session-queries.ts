import { bigintOf, type Tx } from '../../db/driver.ts';
import type { Token } from './claims.ts';
import type { Session } from './schema.ts';

export const insertSession = (
  tx: Tx,
  session: Token & { refreshHash: Buffer; address: string; userAgent: string; seconds: number },
) => {
  const { tenantId, sessionId, userId, refreshHash, address, userAgent, seconds } = session;
  return tx`
    with expired as (
      delete from sessions where tenant_id = ${tenantId} and user_id = ${userId} and expires <= now()
    )
    insert into sessions (tenant_id, session_id, user_id, refresh_hash, address, user_agent, expires)
    values (${tenantId}, ${sessionId}, ${userId}, ${refreshHash}, ${address}, ${userAgent},
      now() + ${seconds} * interval '1 second')`;
};

export interface SessionRow {
  userId: number;
  refreshHash: Buffer;
  expired: boolean;
  /** The previous token of a browser that refreshed less than `reuseSeconds` ago, and the salt that derived the next one. */
  previousHash: Buffer | null;
  nextSalt: Buffer | null;
}

export const lockSession = async (tx: Tx, tenantId: string, sessionId: string, reuseSeconds: number) => {
  const recent = tx`last_used > now() - ${reuseSeconds} * interval '1 second'`;
  const [row] = await tx<SessionRow[]>`
    select user_id as "userId", refresh_hash as "refreshHash", expires <= now() as expired,
      case when ${recent} then previous_hash end as "previousHash", next_salt as "nextSalt"
    from sessions where tenant_id = ${tenantId} and session_id = ${sessionId} for update`;
  return row;
};

export const rotateSession = (
  tx: Tx,
  tenantId: string,
  sessionId: string,
  next: { refreshHash: Buffer; previousHash: Buffer | null; nextSalt: Buffer | null; seconds: number },
) => tx`
  update sessions set refresh_hash = ${next.refreshHash}, previous_hash = ${next.previousHash},
    next_salt = ${next.nextSalt}, last_used = now(), expires = now() + ${next.seconds} * interval '1 second'
  where tenant_id = ${tenantId} and session_id = ${sessionId}`;

/** The sessions of a user: the one of the token first, then the newest; at most `limit`. */
export const listSessions = (tx: Tx, { tenantId, userId, sessionId }: Token, limit: number) => tx<Session[]>`
  select session_id as "sessionId", address, user_agent as "userAgent",
    to_char(create_time, 'YYYY-MM-DD HH24:MI:SS') as "createTime",
    to_char(last_used, 'YYYY-MM-DD HH24:MI:SS') as "lastUsedTime", session_id = ${sessionId} as current
  from sessions where tenant_id = ${tenantId} and user_id = ${userId} and expires > now()
  order by session_id = ${sessionId} desc, create_time desc, session_id limit ${limit}`;

export const countSessions = async (tx: Tx, { tenantId, userId }: Token): Promise<number> => {
  const [{ total }] = await tx<[{ total: number }]>`
    select count(*) as total from sessions where tenant_id = ${tenantId} and user_id = ${userId} and expires > now()`;
  return total;
};

/** Returns false if the user has no such session. */
export const deleteOwnSession = async (tx: Tx, { tenantId, userId }: Token, sessionId: string): Promise<boolean> => {
  const rows = await tx`
    delete from sessions where tenant_id = ${tenantId} and user_id = ${userId} and session_id = ${sessionId} returning 1`;
  return rows.length > 0;
};

export const deleteSession = (tx: Tx, tenantId: string, sessionId: string) => tx`
  delete from sessions where tenant_id = ${tenantId} and session_id = ${sessionId}`;

export const deleteSessionsOf = (tx: Tx, tenantId: string, userIds: string[], except: string | null) => tx`
  delete from sessions
  where tenant_id = ${tenantId} and user_id = any(${userIds.map(bigintOf)}::bigint[])
    and session_id is distinct from ${except}::uuid`;
