import type { Tx } from '../../db/driver.ts';
import type { Caller } from '../auth/caller.ts';
import { shareOfTenant } from '../auth/fair-queue.ts';
import { checkPassword } from '../auth/login.ts';
import { endSessionsOf } from '../auth/sessions.ts';
import { type AttemptKey, settle, type ThrottleDependencies } from '../auth/throttle.ts';
import { userKey } from '../auth/user-key.ts';
import { readOwnTenant } from '../tenants/tenants.ts';
import { readOwnUser, setPassword } from '../users/users.ts';
import type { Me, PasswordChange } from './schema.ts';

export async function readMe(tx: Tx, caller: Caller): Promise<Me> {
  const [user, tenant] = await Promise.all([readOwnUser(tx, caller), readOwnTenant(tx, caller)]);
  return { user, roles: user.roles, tenant };
}

/**
 * Checks the old password and returns the hash of the new one. It is throttled like a login: a stolen token must not be
 * enough to guess the password.
 */
export async function checkPasswordChange(
  deps: ThrottleDependencies,
  { tenantId, userId, userName }: Caller,
  origin: { address: string; requestId: string },
  { oldPassword, newPassword }: PasswordChange,
): Promise<string> {
  const key: AttemptKey = { tenantId, userKey: userKey(userName), address: origin.address };
  // The caller is known, so they use the share of their tenant.
  const share = shareOfTenant(key);
  const failed = { userName, reason: 'WRONG_PASSWORD', origin } as const;
  const { attempt } = await checkPassword(deps, key, share, oldPassword, failed, { id: userId });
  await settle(deps.db, attempt, 'passed');
  return deps.passwords.hash(newPassword, share);
}

/** Sets a new password and ends all other sessions of the user, because someone else may know the old one. */
export async function changePassword(tx: Tx, caller: Caller, passwordHash: string): Promise<void> {
  await setPassword(tx, caller, passwordHash);
  await endSessionsOf(tx, caller.tenantId, [caller.userId], caller.sessionId);
}
