import { timingSafeEqual } from 'node:crypto';
import type { Tx } from '../../db/driver.ts';
import { apiError } from '../http/errors.ts';
import type { Rows } from '../http/fields.ts';
import { invalid } from '../http/validation.ts';
import { asUser, type Caller } from './caller.ts';
import { recordEndedSessions } from './queries.ts';
import { MAX_SESSIONS, type Session } from './schema.ts';
import { countSessions, deleteSessionsOf, deleteSessionsOfUser, listSessions, readSession } from './session-queries.ts';
import { hashSecret, UUID_PATTERN } from './tokens.ts';

/**
 * Ends the sessions of users because of a change of their accounts, such as a new password. Their tokens are rejected from the
 * next request on. The ledger has that change, so nothing is recorded here.
 */
export const endSessionsOf = (tx: Tx, tenantId: string, userIds: string[], exceptSession: string | null = null) =>
  deleteSessionsOf(tx, tenantId, userIds, exceptSession);

/** Returns sessions of a user: the current one and the newest, at most `MAX_SESSIONS`. BANYAN_SESSIONS_PER_USER allows 1,000. */
export async function listSessionsOf(
  tx: Tx,
  user: { tenantId: string; userId: string },
  currentSession: string | null,
): Promise<Rows<Session>> {
  const [rows, total] = await Promise.all([
    listSessions(tx, user, currentSession, MAX_SESSIONS),
    countSessions(tx, user),
  ]);
  return { rows, total };
}

export async function listOwnSessions(tx: Tx, caller: Caller): Promise<Rows<Session>> {
  const user = asUser(caller);
  return listSessionsOf(tx, user, user.sessionId);
}

/**
 * Ends one session of a user of the tenant in which the caller acts, or all of them. Their tokens are rejected from the next
 * request on. The audit log shows who ended whose sessions, unless only the caller's own session ended: that is a logout.
 */
export async function endAndRecordSessions(
  tx: Tx,
  caller: Caller,
  user: { userId: string; userName: string },
  sessionId?: string,
): Promise<void> {
  const { tenantId } = caller;
  const ended = await deleteSessionsOfUser(tx, { tenantId, userId: user.userId }, sessionId ?? null);
  if (sessionId !== undefined && ended.length === 0) throw apiError('SESSION_NOT_FOUND');
  if (ended.some((each) => each !== caller.sessionId)) await recordEndedSessions(tx, tenantId, caller.userName, user);
}

export const endOwnSession = (tx: Tx, caller: Caller, sessionId: string): Promise<void> =>
  endAndRecordSessions(tx, caller, asUser(caller), sessionId);

/** Finds the session of a refresh token without using the token up. */
export async function findSessionOf(
  tx: Tx,
  token: { tenantId: string; sessionId: string; secret: string },
): Promise<{ userId: string; expires: number }> {
  const session = await readSession(tx, token);
  if (!session || !timingSafeEqual(session.refreshHash, hashSecret(token.secret))) throw apiError('REFRESH_REFUSED');
  return { userId: String(session.userId), expires: session.expires };
}

const SESSION_ID = new RegExp(`^${UUID_PATTERN}$`, 'i');

/** Reads a session id from a parameter of the request. */
export function sessionIdOf(text: string, parameter: string): string {
  if (!SESSION_ID.test(text)) throw invalid(parameter, 'uuid');
  return text.toLowerCase();
}
