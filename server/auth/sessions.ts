import { timingSafeEqual } from 'node:crypto';
import type { Tx } from '../../db/driver.ts';
import { apiError } from '../http/errors.ts';
import type { Rows } from '../http/fields.ts';
import { invalid } from '../http/validation.ts';
import { asUser, type Caller } from './caller.ts';
import { MAX_SESSIONS, type Session } from './schema.ts';
import {
  countSessions,
  deleteOwnSession,
  deleteSessionsOf,
  listSessions as listRows,
  readSession,
} from './session-queries.ts';
import { hashSecret, UUID_PATTERN } from './tokens.ts';

/** Ends the sessions of users. Their tokens are rejected from the next request on. */
export const endSessionsOf = (tx: Tx, tenantId: string, userIds: string[], exceptSession: string | null = null) =>
  deleteSessionsOf(tx, tenantId, userIds, exceptSession);

/** The caller's newest sessions: a program that logs in for every call may have thousands. */
export async function listSessions(tx: Tx, caller: Caller): Promise<Rows<Session>> {
  const user = asUser(caller);
  const [rows, total] = await Promise.all([listRows(tx, user, MAX_SESSIONS), countSessions(tx, user)]);
  return { rows, total };
}

export async function endSession(tx: Tx, caller: Caller, sessionId: string): Promise<void> {
  if (!(await deleteOwnSession(tx, asUser(caller), sessionId))) throw apiError('SESSION_NOT_FOUND');
}

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

/** Reads a session id from a path. */
export function pathSessionId(text: string): string {
  if (!SESSION_ID.test(text)) throw invalid('id', 'uuid');
  return text.toLowerCase();
}
