import type { Tx } from '../../db/driver.ts';
import { setTenant } from '../../db/tenant-scope.ts';
import type { Caller } from '../auth/caller.ts';
import { countDepartments } from '../departments/members.ts';
import { QUOTAS } from '../tenants/schema.ts';
import {
  countDescendants,
  type LimitedRow,
  listExpiring,
  listLimitedDescendants,
  readLimits,
} from '../tenants/summary.ts';
import { countAccounts } from '../users/users.ts';
import type { Overview } from './schema.ts';

/** The most tenants in each list. */
const MAX_LISTED = 20;
/**
 * The most tenants whose accounts are counted, because each needs a query of its own. Those with the smallest limits
 * are checked: they fill up first.
 */
const MAX_CHECKED = 500;
/** The share of the account limit from which a tenant counts as full. */
const FULL_RATIO = 0.8;

/** Summarizes the caller's tenant and, for administrators, its descendants. */
export async function readOverview(tx: Tx, caller: Caller): Promise<Overview> {
  const { tenantId, administrator } = caller;
  const [{ accountCount, quotas }, departments, users] = await Promise.all([
    readLimits(tx, caller),
    countDepartments(tx, tenantId),
    countAccounts(tx, tenantId),
  ]);
  const used = { riskReport: quotas.riskReportUsed } as Partial<Record<(typeof QUOTAS)[number], number>>;
  const own = {
    departments,
    users,
    accounts: { used: users, limit: accountCount },
    quotas: Object.fromEntries(
      QUOTAS.map((key) => [key, { total: quotas[key], used: used[key] ?? null }]),
    ) as Overview['quotas'],
  };
  if (!administrator) return { ...own, tenantsBelow: 0, endingSoon: [], full: [] };
  const [tenantsBelow, endingSoon, limited] = await Promise.all([
    countDescendants(tx, caller),
    listExpiring(tx, caller, MAX_LISTED),
    listLimitedDescendants(tx, caller, MAX_CHECKED),
  ]);
  return { ...own, tenantsBelow, endingSoon, full: await findFull(tx, caller, limited) };
}

/** Row security shows users only within their own tenant, so each tenant is assumed in turn. */
async function findFull(tx: Tx, caller: Caller, limited: LimitedRow[]): Promise<Overview['full']> {
  const full: Overview['full'] = [];
  for (const { accountCount, ...tenant } of limited) {
    const [, used] = await Promise.all([setTenant(tx, tenant.tenantId), countAccounts(tx, tenant.tenantId)]);
    if (used >= FULL_RATIO * accountCount) full.push({ ...tenant, used, limit: accountCount });
  }
  await setTenant(tx, caller.tenantId);
  return full.sort((a, b) => b.used / b.limit - a.used / a.limit).slice(0, MAX_LISTED);
}
