import type { Tx } from '../../db/driver.ts';
import type { Caller } from '../auth/caller.ts';
import { apiError } from '../http/errors.ts';
import { leftOf, numbersOf } from './counters.ts';
import { countSubtreeAccounts, lockCounters, readPath } from './queries.ts';
import { ACCOUNTS } from './schema.ts';

/**
 * Throws if the quota `accounts` of the tenant, or a pool above it, has no room for `added` users. The transaction holds the
 * lock of the tenant's row and keeps the locks of the counters, so users that are added elsewhere in the subtree wait.
 */
export async function assertAccountsLeft(tx: Tx, caller: Caller, tenantId: string, added = 1): Promise<void> {
  const counters = await lockCounters(tx, tenantId, [ACCOUNTS], { now: undefined });
  const full = counters.find((counter) => counter.total !== -1 && leftOf(counter) < added);
  if (full) await throwExhausted(tx, caller, tenantId, counters, full);
}

/**
 * Throws if a tenant that has moved or was restored brings more users into a pool than are left. Pools of `former` tenants
 * had these users before, so they are not checked. The transaction has assumed the tenant.
 */
export async function assertAccountsFit(
  tx: Tx,
  caller: Caller,
  tenantId: string,
  former: readonly string[],
): Promise<void> {
  const counters = await lockCounters(tx, tenantId, [ACCOUNTS], { now: undefined });
  const over = counters.find(
    (counter) => !former.includes(counter.tenantId) && counter.total !== -1 && counter.used > counter.total,
  );
  if (!over || (await countSubtreeAccounts(tx, tenantId)) === 0) return;
  await throwExhausted(tx, caller, tenantId, counters, over);
}

type Counters = Awaited<ReturnType<typeof lockCounters>>;

async function throwExhausted(
  tx: Tx,
  { ownTenantId }: Caller,
  tenantId: string,
  counters: Counters,
  full: Counters[number],
): Promise<never> {
  const own = counters.find((counter) => counter.tenantId === tenantId) ?? full;
  const path = await readPath(tx, tenantId);
  // Callers below a pool must not learn whose it is.
  const isVisible = path.indexOf(full.tenantId) >= path.indexOf(ownTenantId);
  throw apiError('QUOTA_EXHAUSTED', { ...numbersOf(own), ...(isVisible ? { tenantId: full.tenantId } : {}) });
}
