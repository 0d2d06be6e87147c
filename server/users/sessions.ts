import type { Tx } from '../../db/driver.ts';
import type { Caller } from '../auth/caller.ts';
import type { Session } from '../auth/schema.ts';
import { endAndRecordSessions, listSessionsOf } from '../auth/sessions.ts';
import { apiError } from '../http/errors.ts';
import type { Rows } from '../http/fields.ts';
import { readUser } from './queries.ts';
import { assertMayManage } from './users.ts';

/** Lists the sessions of a user in the tenant in which the caller acts. */
export async function listUserSessions(tx: Tx, caller: Caller, userId: string): Promise<Rows<Session>> {
  await findUser(tx, caller, userId);
  return listSessionsOf(tx, { tenantId: caller.tenantId, userId }, caller.sessionId ?? null);
}

/** Ends one session of a user, or all of them. Their tokens are rejected from the next request on. */
export async function endUserSessions(
  tx: Tx,
  caller: Caller,
  userId: string,
  sessionId: string | undefined,
): Promise<void> {
  const { userName, roles } = await findUser(tx, caller, userId);
  assertMayManage(caller, [{ administrator: roles.includes('admin') }]);
  await endAndRecordSessions(tx, caller, { userId, userName }, sessionId);
}

async function findUser(tx: Tx, { tenantId }: Caller, userId: string) {
  const user = await readUser(tx, tenantId, userId);
  if (!user) throw apiError('USER_NOT_FOUND');
  return user;
}
