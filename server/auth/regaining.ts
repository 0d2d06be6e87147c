import type { Database } from '../../db/connect.ts';
import { writeInTenant } from '../../db/tenancy.ts';
import { administratorsOf, keyOf, type ReopenedUser, reopen } from '../users/users.ts';
import { hashPassword } from './passwords.ts';
import { readStanding, reopenAccount, type Standing } from './queries.ts';

/** In the ledger, where users have their names. */
const BY = 'operator';

/** Named when somebody else is asked for; a tenant rarely has more. */
const NAMED = 20;

export type Regained =
  | ({ found: true; standing: Standing } & ReopenedUser)
  | { found: false; standing: 'unknown' | 'deleted' }
  | { found: false; standing: Standing; administrators: string[] };

/**
 * Lets a user back in whose password nobody knows; only the operator of the service can do this. Sets a new password, ends
 * the user's sessions, enables the account and clears its failed logins, in one transaction. The ledger records it.
 */
export async function regain(
  db: Database,
  { tenantId, userName }: { tenantId: string; userName: string },
  password: string,
): Promise<Regained> {
  const passwordHash = await hashPassword(password);
  return writeInTenant(db, tenantId, async (tx) => {
    const standing = await readStanding(tx, tenantId);
    if (standing === 'unknown' || standing === 'deleted') return { found: false, standing };
    const user = await reopen(tx, { tenantId, userName, by: BY }, passwordHash);
    if (!user) return { found: false, standing, administrators: await administratorsOf(tx, tenantId, NAMED) };
    await reopenAccount(tx, tenantId, keyOf(user.userName));
    return { found: true, standing, ...user };
  });
}
