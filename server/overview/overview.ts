import type { Tx } from '../../db/sql.ts';
import { enterTenant } from '../../db/tenancy.ts';
import type { Caller } from '../auth/caller.ts';
import { countDepartments } from '../departments/branch.ts';
import { QUOTAS } from '../tenants/schema.ts';
import { countBelow, endingSoon, type Limited, limitedBelow, readLimits } from '../tenants/summary.ts';
import { countAccounts } from '../users/users.ts';
import type { Overview } from './schema.ts';

const LISTED = 20;
/** So many tenants below are counted: each costs a question of its own. Those of the smallest limits fill up soonest. */
const LOOKED_AT = 500;
const FULL = 0.8;

/** How the caller's tenant stands. Of the tenants below only administrators learn anything. */
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
  const [tenantsBelow, ending, limited] = await Promise.all([
    countBelow(tx, caller),
    endingSoon(tx, caller, LISTED),
    limitedBelow(tx, caller, LOOKED_AT),
  ]);
  return { ...own, tenantsBelow, endingSoon: ending, full: await fullOf(tx, caller, limited) };
}

/** Users are seen in their own tenant alone, so each is entered in turn. */
async function fullOf(tx: Tx, caller: Caller, limited: Limited[]): Promise<Overview['full']> {
  const counted: Overview['full'] = [];
  for (const { accountCount, ...tenant } of limited) {
    const [, used] = await Promise.all([enterTenant(tx, tenant.tenantId), countAccounts(tx, tenant.tenantId)]);
    if (used >= FULL * accountCount) counted.push({ ...tenant, used, limit: accountCount });
  }
  await enterTenant(tx, caller.tenantId);
  return counted.sort((a, b) => b.used / b.limit - a.used / a.limit).slice(0, LISTED);
}
