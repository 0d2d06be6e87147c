import type { Tx } from '../../db/driver.ts';
import { asUser, type Caller } from '../auth/caller.ts';
import { fairnessKeyOfTenant } from '../auth/fair-queue.ts';
import { checkPassword } from '../auth/login.ts';
import { hashNewPassword, type NewPassword } from '../auth/password-policy.ts';
import { endSessionsOf } from '../auth/sessions.ts';
import { type AttemptKey, settle, type ThrottleDependencies } from '../auth/throttle.ts';
import { userKey } from '../auth/user-key.ts';
import { apiError } from '../http/errors.ts';
import { readOwnTenant } from '../tenants/tenants.ts';
import { replaceOwnPassword } from '../users/passwords.ts';
import { readOwnUser } from '../users/reads.ts';
import type { Me, PasswordChange } from './schema.ts';

export async function readMe(tx: Tx, caller: Caller): Promise<Me> {
  const [user, tenant] = await Promise.all([readOwnUser(tx, caller), readOwnTenant(tx, caller)]);
  return { user, roles: user.roles, tenant };
}

/** A password change whose old password was right: the stored hash of the old password, and the new password. */
interface CheckedChange {
  oldHash: string;
  password: NewPassword;
}

/**
 * Checks the old password and hashes the new one. It is throttled like a login: a stolen token must not be
 * enough to guess the password.
 */
export async function checkPasswordChange(
  deps: ThrottleDependencies,
  caller: Caller,
  origin: { address: string; requestId: string },
  { oldPassword, newPassword }: PasswordChange,
): Promise<CheckedChange> {
  const { tenantId, userId, userName } = asUser(caller);
  const key: AttemptKey = { tenantId, userKey: userKey(userName), address: origin.address };
  // The caller is authenticated, so the work counts against their tenant, not against their address.
  const fairnessKey = fairnessKeyOfTenant(key);
  const failed = { userName, reason: 'WRONG_PASSWORD', origin } as const;
  const { attempt, user } = await checkPassword(deps, key, fairnessKey, oldPassword, failed, { id: userId });
  await settle(deps.db, attempt, 'passed');
  if (newPassword === oldPassword) throw apiError('PASSWORD_UNCHANGED');
  return {
    oldHash: user.passwordHash,
    password: await hashNewPassword((text) => deps.passwords.hash(text, fairnessKey), newPassword, 'newPassword'),
  };
}

/** Sets a new password and ends all other sessions of the user, because someone else may know the old one. */
export async function changePassword(tx: Tx, caller: Caller, { oldHash, password }: CheckedChange): Promise<void> {
  await replaceOwnPassword(tx, caller, oldHash, password);
  const { tenantId, userId, sessionId } = asUser(caller);
  await endSessionsOf(tx, tenantId, [userId], sessionId);
}
