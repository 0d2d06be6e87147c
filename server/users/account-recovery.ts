import type { Database } from '../../db/connect.ts';
import { writeInTenant } from '../../db/tenant-scope.ts';
import { hashNewPassword } from '../auth/password-policy.ts';
import { hashPassword } from '../auth/passwords.ts';
import { readTenantState, type TenantState } from '../auth/tenant-state.ts';
import { unlockAccount } from '../auth/throttle.ts';
import { userKey } from '../auth/user-key.ts';
import { listAdministrators } from './accounts.ts';
import { type RecoveredUser, recoverUser } from './passwords.ts';

/** The author that the ledger records instead of a user name. */
const AUTHOR = 'operator';

/** If the user does not exist, the operator is shown up to this many administrators of the tenant. */
const MAX_ADMINISTRATORS = 20;

export type Recovery =
  | ({ found: true; state: TenantState } & RecoveredUser)
  | { found: false; state: 'unknown' | 'deleted' }
  | { found: false; state: TenantState; administrators: string[] };

/**
 * Recovers the account of a user who lost their password; only the operator of the service can do this. Sets a new password,
 * ends the user's sessions, enables the account and clears its failed logins, in one transaction. The ledger records it.
 */
export async function recoverAccount(
  db: Database,
  { tenantId, userName }: { tenantId: string; userName: string },
  text: string,
): Promise<Recovery> {
  const password = await hashNewPassword(hashPassword, text, 'The password');
  return writeInTenant(db, tenantId, async (tx) => {
    const state = await readTenantState(tx, tenantId);
    if (state === 'unknown' || state === 'deleted') return { found: false, state };
    const user = await recoverUser(tx, { tenantId, userName, by: AUTHOR }, password);
    if (!user)
      return { found: false, state, administrators: await listAdministrators(tx, tenantId, MAX_ADMINISTRATORS) };
    await unlockAccount(tx, tenantId, userKey(user.userName));
    return { found: true, state, ...user };
  });
}
