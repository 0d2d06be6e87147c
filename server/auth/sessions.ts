import type { Tx } from '../../db/sql.ts';
import type { Rows } from '../http/fields.ts';
import { refuse } from '../http/refusals.ts';
import { invalid } from '../http/validation.ts';
import type { Caller } from './caller.ts';
import { MAX_SESSIONS, type Session } from './schema.ts';
import { countSessions, deleteOwnSession, deleteSessionsOf, listSessions as listRows } from './session-queries.ts';

/** Their tokens are refused from the next request on. */
export const endSessionsOf = (tx: Tx, tenantId: string, userIds: string[], exceptSession: string | null = null) =>
  deleteSessionsOf(tx, tenantId, userIds, exceptSession);

/** The caller's own. A program that logs in anew each time may have thousands: the newest will do. */
export async function listSessions(tx: Tx, caller: Caller): Promise<Rows<Session>> {
  const [rows, total] = await Promise.all([listRows(tx, caller, MAX_SESSIONS), countSessions(tx, caller)]);
  return { rows, total };
}

export async function endSession(tx: Tx, caller: Caller, sessionId: string): Promise<void> {
  if (!(await deleteOwnSession(tx, caller, sessionId))) throw refuse('SESSION_NOT_FOUND');
}

/** A session's id in a path. */
export function pathSessionId(text: string): string {
  if (!/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)) throw invalid('id', 'uuid');
  return text.toLowerCase();
}
