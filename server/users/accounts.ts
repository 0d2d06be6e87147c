import type { Tx } from '../../db/driver.ts';
import { apiError } from '../http/errors.ts';
import { countUsers, hasOtherAdministrator, readTenantLimits } from './account-queries.ts';

export { countUsersOf as countAccountsOf, listAdministrators } from './account-queries.ts';

export const countAccounts = (tx: Tx, tenantId: string): Promise<number> => countUsers(tx, tenantId, null);

/** Reads how many accounts a tenant may have (-1: any number), and how many it has, up to that limit; 0 without a limit. */
export async function readAccounts(tx: Tx, tenantId: string): Promise<{ accountLimit: number; count: number }> {
  const { accountLimit } = await readTenantLimits(tx, tenantId);
  return { accountLimit, count: accountLimit === -1 ? 0 : await countUsers(tx, tenantId, accountLimit) };
}

/** Throws if `added` users would exceed the limit. Writes hold the tenant's lock, so that concurrent ones wait. */
export async function assertWithinAccountLimit(
  tx: Tx,
  tenantId: string,
  accountLimit: number,
  added = 1,
): Promise<void> {
  if (accountLimit === -1) return;
  const count = await countUsers(tx, tenantId, accountLimit);
  if (count + added > accountLimit) throw apiError('ACCOUNT_LIMIT', { accountCount: accountLimit });
}

/** Throws if no enabled administrator would remain without `users`. The transaction holds the tenant's lock. */
export async function assertNotLastAdministrator(
  tx: Tx,
  tenantId: string,
  users: readonly { userId: number; administrator: boolean; status: string }[],
): Promise<void> {
  const demoted = users.filter((user) => user.administrator && user.status === '0').map((user) => String(user.userId));
  if (demoted.length > 0 && !(await hasOtherAdministrator(tx, tenantId, demoted))) throw apiError('LAST_ADMINISTRATOR');
}
