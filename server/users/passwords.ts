import type { Tx } from '../../db/driver.ts';
import { lockTenant } from '../access/tenant-scope.ts';
import { asUser, type Caller } from '../auth/caller.ts';
import { assertStrongWithoutNames, type NewPassword } from '../auth/password-policy.ts';
import { endSessionsOf } from '../auth/sessions.ts';
import { userKey } from '../auth/user-key.ts';
import { apiError } from '../http/errors.ts';
import { readNames, recoverUser as recoverRow, replaceHashByDigest, replacePassword } from './password-queries.ts';
import { findByKey, lockUsers } from './queries.ts';
import { namesOf } from './users.ts';

export { replaceHash } from './password-queries.ts';

/**
 * Replaces the caller's own password, whose hash was `oldHash` when it was checked. If an administrator has set another one
 * since, theirs is kept.
 */
export async function replaceOwnPassword(
  tx: Tx,
  caller: Caller,
  oldHash: string,
  password: NewPassword,
): Promise<void> {
  const { tenantId, userId, userName } = asUser(caller);
  assertStrongWithoutNames(password, await readNames(tx, tenantId, userId), 'newPassword');
  const row = { tenantId, userId, oldHash, passwordHash: password.hash, by: userName };
  if (!(await replacePassword(tx, row))) throw apiError('WRONG_PASSWORD');
}

/**
 * Replaces an imported hash with a newer one from the same source. Returns false if the stored hash is no longer the one
 * whose SHA-256 digest is `digestBefore`: the user has logged in since, or has another password.
 */
export async function replaceImportedHash(
  tx: Tx,
  { tenantId, userName }: Caller,
  userId: string,
  hash: { digestBefore: string; passwordHash: string },
): Promise<boolean> {
  const isReplaced = await replaceHashByDigest(tx, { tenantId, userId, ...hash, by: userName });
  if (isReplaced) await endSessionsOf(tx, tenantId, [userId]);
  return isReplaced;
}

export interface RecoveredUser {
  userId: string;
  userName: string;
  administrator: boolean;
  wasDisabled: boolean;
}

/** Sets a new password and enables the user, for the operator. Returns undefined if there is no such user. */
export async function recoverUser(
  tx: Tx,
  { tenantId, userName, by }: { tenantId: string; userName: string; by: string },
  password: NewPassword,
): Promise<RecoveredUser | undefined> {
  const tenant = await lockTenant(tx, tenantId);
  const found = await findByKey(tx, tenantId, userKey(userName));
  // Lock before writing: a concurrent login with the old password waits for the lock and then fails.
  const [user] = found ? await lockUsers(tx, tenantId, [String(found.userId)]) : [];
  if (!user) return undefined;
  const userId = String(user.userId);
  assertStrongWithoutNames(password, [user.userName, user.nickName, tenantId, ...namesOf(tenant)], 'The password');
  await recoverRow(tx, tenantId, userId, password.hash, by);
  await endSessionsOf(tx, tenantId, [userId]);
  return { userId, userName: user.userName, administrator: user.administrator, wasDisabled: user.status !== '0' };
}
