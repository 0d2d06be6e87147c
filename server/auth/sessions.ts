import { timingSafeEqual } from 'node:crypto';
import type { Tx } from '../../db/driver.ts';
import { apiError } from '../http/errors.ts';
import type { Rows } from '../http/fields.ts';
import { invalid } from '../http/validation.ts';
import { asUser, type Caller } from './caller.ts';
import { MAX_SESSIONS, type Session } from './schema.ts';
import {
  countSessions,
  deleteSessionOf,
  deleteSessionsOf,
  listSessions as listRows,
  readSession,
} from './session-queries.ts';
import { hashSecret, UUID_PATTERN } from './tokens.ts';

/** Ends the sessions of users. Their tokens are rejected from the next request on. */
export const endSessionsOf = (tx: Tx, tenantId: string, userIds: string[], exceptSession: string | null = null) =>
  deleteSessionsOf(tx, tenantId, userIds, exceptSession);

/** Returns the newest sessions of a user, at most `MAX_SESSIONS`: BANYAN_SESSIONS_PER_USER allows up to 1,000. */
export async function listSessionsOf(
  tx: Tx,
  user: { tenantId: string; userId: string },
  currentSession: string | null,
): Promise<Rows<Session>> {
  const [rows, total] = await Promise.all([listRows(tx, user, currentSession, MAX_SESSIONS), countSessions(tx, user)]);
  return { rows, total };
}

export async function listSessions(tx: Tx, caller: Caller): Promise<Rows<Session>> {
  const user = asUser(caller);
  return listSessionsOf(tx, user, user.sessionId);
}

/** Ends one session of a user. */
export async function endSessionOf(
  tx: Tx,
  user: { tenantId: string; userId: string },
  sessionId: string,
): Promise<void> {
  if (!(await deleteSessionOf(tx, user, sessionId))) throw apiError('SESSION_NOT_FOUND');
}

export const endSession = (tx: Tx, caller: Caller, sessionId: string): Promise<void> =>
  endSessionOf(tx, asUser(caller), sessionId);

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
