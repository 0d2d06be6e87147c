import type { Tx } from '../../db/driver.ts';
import type { Caller } from '../auth/caller.ts';
import { countDepartments } from '../departments/members.ts';
import { readUsedOfTenant } from '../quotas/rules.ts';
import { QUOTAS } from '../tenants/schema.ts';
import {
  countDescendants,
  type LimitedRow,
  listExpiring,
  listLimitedDescendants,
  readLimits,
} from '../tenants/summary.ts';
import { countAccounts, countAccountsOf } from '../users/accounts.ts';
import type { Overview } from './schema.ts';

/** The maximum number of tenants in each list. */
const MAX_LISTED = 20;
/**
 * The maximum number of tenants whose accounts are counted: `count_accounts` queries them one by one. Those with the smallest
 * limits are checked: they fill up first.
 */
const MAX_CHECKED = 500;
/** A tenant that uses this share of its account limit is listed as nearly full. */
const NEARLY_FULL_RATIO = 0.8;

/** Summarizes the caller's tenant and, for callers who may read tenants, its descendants. */
export async function readOverview(tx: Tx, caller: Caller): Promise<Overview> {
  const { tenantId, permissions, canActInDescendants } = caller;
  const [{ accountCount, quotas }, departments, users, used] = await Promise.all([
    readLimits(tx, caller),
    countDepartments(tx, tenantId),
    countAccounts(tx, tenantId),
    readUsedOfTenant(tx, tenantId),
  ]);
  const own = {
    departments,
    users,
    accounts: { used: users, limit: accountCount },
    quotas: Object.fromEntries(
      QUOTAS.map((key) => [key, { total: quotas[key], used: used[key] ?? null }]),
    ) as Overview['quotas'],
  };
  if (!permissions.has('tenant:read') || !canActInDescendants)
    return { ...own, tenantsBelow: 0, endingSoon: [], full: [] };
  const [tenantsBelow, endingSoon, limited] = await Promise.all([
    countDescendants(tx, caller),
    listExpiring(tx, caller, MAX_LISTED),
    listLimitedDescendants(tx, caller, MAX_CHECKED),
  ]);
  return { ...own, tenantsBelow, endingSoon, full: await findNearlyFull(tx, limited) };
}

async function findNearlyFull(tx: Tx, limited: LimitedRow[]): Promise<Overview['full']> {
  if (limited.length === 0) return [];
  const accounts = await countAccountsOf(
    tx,
    limited.map(({ tenantId }) => tenantId),
  );
  return limited
    .map(({ accountCount, ...tenant }) => ({
      ...tenant,
      used: accounts.get(tenant.tenantId) ?? 0,
      limit: accountCount,
    }))
    .filter(({ used, limit }) => used >= NEARLY_FULL_RATIO * limit)
    .sort((a, b) => b.used / b.limit - a.used / a.limit)
    .slice(0, MAX_LISTED);
}
