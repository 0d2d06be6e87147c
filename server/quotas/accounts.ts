import type { Tx } from '../../db/driver.ts';
import type { Caller } from '../auth/caller.ts';
import { type ApiError, apiError } from '../http/errors.ts';
import { recordQuotaNotices } from '../notices/quota-notices.ts';
import { leftOf, numbersOf } from './counters.ts';
import { countSubtreeAccounts, lockCounters, readAccountLimits, readPath } from './queries.ts';
import { ACCOUNTS } from './schema.ts';

/**
 * Throws if the quota `accounts` of the tenant, or a pool above it, has no room for `added` users, which the transaction is about
 * to add. The transaction holds the lock of the tenant's row and keeps the locks of the counters, so additions elsewhere in the
 * subtree wait.
 */
export async function assertAccountsLeft(tx: Tx, caller: Caller, tenantId: string, added = 1): Promise<void> {
  const counters = await lockCounters(tx, tenantId, [ACCOUNTS], { now: undefined });
  const full = counters.find((counter) => counter.total !== -1 && leftOf(counter) < added);
  if (full) throw await toExhausted(tx, caller, tenantId, counters, full);
  await warn(tx, tenantId, counters, added);
}

/** Returns how many users can be added, and the error for those beyond; undefined: there is no limit. Takes no locks. */
export async function readAccountsLeft(
  tx: Tx,
  caller: Caller,
  tenantId: string,
): Promise<{ left: number; error: ApiError } | undefined> {
  const limits = await readAccountLimits(tx, tenantId);
  const [least] = limits.filter(({ total }) => total !== -1).sort((a, b) => leftOf(a) - leftOf(b));
  return least && { left: leftOf(least), error: await toExhausted(tx, caller, tenantId, limits, least) };
}

/**
 * Throws if a tenant that has moved or was restored brings more users into a pool than it has room for. Pools of `former` tenants
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
  if (over && (await countSubtreeAccounts(tx, tenantId)) > 0)
    throw await toExhausted(tx, caller, tenantId, counters, over);
  await warn(tx, tenantId, counters, 0);
}

/** Records which percentages of their totals the counters reach with the added users. */
const warn = (tx: Tx, tenantId: string, counters: Counters, added: number): Promise<void> =>
  recordQuotaNotices(
    tx,
    tenantId,
    counters.map((counter) => ({ ...counter, used: counter.used + added })),
  );

type Counters = Awaited<ReturnType<typeof lockCounters>>;
type Limit = Awaited<ReturnType<typeof readAccountLimits>>[number];

async function toExhausted(
  tx: Tx,
  { ownTenantId }: Caller,
  tenantId: string,
  counters: readonly Limit[],
  full: Limit,
): Promise<ApiError> {
  const own = counters.find((counter) => counter.tenantId === tenantId) ?? full;
  const path = await readPath(tx, tenantId);
  // Callers below a pool must not learn whose it is.
  const isVisible = path.indexOf(full.tenantId) >= path.indexOf(ownTenantId);
  return apiError('QUOTA_EXHAUSTED', { ...numbersOf(own), ...(isVisible ? { tenantId: full.tenantId } : {}) });
}
