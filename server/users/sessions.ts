import type { Tx } from '../../db/driver.ts';
import type { Caller } from '../auth/caller.ts';
import type { Session } from '../auth/schema.ts';
import { endSessionOf, endSessionsOf, listSessionsOf } from '../auth/sessions.ts';
import { apiError } from '../http/errors.ts';
import type { Rows } from '../http/fields.ts';
import { readUser } from './queries.ts';

/** Lists the sessions of a user in the tenant in which the caller acts. */
export async function listUserSessions(tx: Tx, caller: Caller, userId: string): Promise<Rows<Session>> {
  await assertUserExists(tx, caller, userId);
  return listSessionsOf(tx, { tenantId: caller.tenantId, userId }, caller.sessionId ?? null);
}

/** Ends one session of a user, or all of them. Their tokens are rejected from the next request on. */
export async function endUserSessions(
  tx: Tx,
  caller: Caller,
  userId: string,
  sessionId: string | undefined,
): Promise<void> {
  await assertUserExists(tx, caller, userId);
  const { tenantId } = caller;
  if (sessionId === undefined) await endSessionsOf(tx, tenantId, [userId]);
  else await endSessionOf(tx, { tenantId, userId }, sessionId);
}

async function assertUserExists(tx: Tx, { tenantId }: Caller, userId: string): Promise<void> {
  if (!(await readUser(tx, tenantId, userId))) throw apiError('USER_NOT_FOUND');
}
