import type { Tx } from '../../db/driver.ts';
import { assumeTenantForWrite, lockTenantTree } from '../access/tenant-scope.ts';
import type { Caller } from '../auth/caller.ts';
import { apiError } from '../http/errors.ts';
import type { Rows } from '../http/fields.ts';
import { invalid } from '../http/validation.ts';
import { recordQuotaNotices } from '../notices/quota-notices.ts';
import { actorOf, type Counter, countedBy, leftOf, numbersOf, toCounter, writeChanged } from './counters.ts';
import {
  endReservation as endRow,
  insertUses,
  lockCounters,
  lockReservation,
  lockUse,
  markRefunded,
  type Now,
  nextIds,
  readBelow,
  readSettings,
  readState,
  type StateRow,
  setUsed as setUsedRow,
  startPeriod,
  writeSettings,
} from './queries.ts';
import {
  ACCOUNTS,
  type CountedUse,
  type Quota,
  type QuotaBelow,
  type QuotaInput,
  type QuotaNumbers,
  TENANT_QUOTAS,
} from './schema.ts';

/**
 * Reads the quotas of a tenant that the transaction sees: the six of its `quotaBo`, then the others by name, including those
 * that only a tenant above has and shares, which have no limit of their own. `left` is -1 without a limit.
 */
export async function readQuotas(tx: Tx, tenantId: string, now?: Now): Promise<Quota[]> {
  return toQuotas(await readState(tx, tenantId, now));
}

/** Adds `left` to rows that another statement has read. */
export const toQuotas = (rows: readonly StateRow[]): Quota[] =>
  rows.map(({ isCounted: _, ...row }) => ({ ...row, left: leftOf(row) }));

export { quotaState, type StateRow } from './queries.ts';

/** The maximum number of quotas of descendants in one response. */
const MAX_BELOW = 200;

/**
 * Reads those quotas of a tenant's descendants of which something is used or reserved. The ones that run out first are
 * at the top.
 */
export async function readQuotasBelow(
  tx: Tx,
  { tenantId, canActInDescendants }: Caller,
  now?: Now,
): Promise<Rows<QuotaBelow>> {
  const rows = canActInDescendants ? await readBelow(tx, tenantId, MAX_BELOW, now) : [];
  return {
    rows: rows.map(({ matches: _, ...row }) => ({ ...row, left: leftOf(row) })),
    total: rows[0]?.matches ?? 0,
  };
}

/** Reads what was used of each quota of a tenant, by name; null: nothing was ever counted. */
export async function readUsedOfTenant(tx: Tx, tenantId: string): Promise<Record<string, number | null>> {
  const rows = await readState(tx, tenantId, undefined);
  return Object.fromEntries(rows.map(({ quota, used, isCounted }) => [quota, isCounted ? used : null]));
}

/** Uses what was reserved, or a part of it, and releases the rest. */
export async function confirmReservation(
  tx: Tx,
  caller: Caller,
  id: string,
  amount: number | null | undefined,
  now: Now,
): Promise<CountedUse> {
  const { tenantId } = caller;
  const { reservation, counters, own } = await lockOpen(tx, tenantId, id, amount, now);
  const used = amount ?? reservation.amount;
  const [useId] = (await nextIds(tx, 1)) as [number];
  for (const counter of counters) counter.used += used;
  const { quota, subject } = reservation;
  const entry = { quota, amount: used, subject, time: own.moment, ...actorOf(caller) };
  await writeChanged(tx, tenantId, counters);
  await insertUses(tx, tenantId, [{ ...entry, use_id: useId, counted: countedBy(counters) }]);
  await endRow(tx, tenantId, reservation.reservationId, 'confirmed', useId);
  return { useId, ...numbersOf(own) };
}

/** Releases all of what was reserved. */
export async function releaseReservation(
  tx: Tx,
  { tenantId }: Caller,
  id: string,
  amount: number | null | undefined,
  now: Now,
): Promise<QuotaNumbers> {
  const { reservation, counters, own } = await lockOpen(tx, tenantId, id, amount, now);
  await writeChanged(tx, tenantId, counters);
  await endRow(tx, tenantId, reservation.reservationId, 'released', null);
  return numbersOf(own);
}

/** Locks an open reservation and the counters that hold it, even if the tenant has moved since, and removes it from them. */
async function lockOpen(tx: Tx, tenantId: string, id: string, amount: number | null | undefined, now: Now) {
  const reservation = await lockReservation(tx, tenantId, id);
  if (!reservation) throw apiError('RESERVATION_NOT_FOUND');
  const { quota, pools, state, reservationId } = reservation;
  if (state !== 'open') throw apiError('RESERVATION_ENDED', { state });
  const rows = await lockCounters(tx, tenantId, [quota], { pools, reservationId: String(reservationId), now });
  // Another transaction may have used an expired reservation's amount, even if the clock was set back since then.
  if (rows.some(({ held }) => !held)) throw apiError('RESERVATION_ENDED', { state: 'expired' });
  if ((amount ?? 1) > reservation.amount) throw invalid('amount', 'moreThanReserved');
  const counters = rows.map(toCounter);
  for (const counter of counters) {
    counter.isChanged = true;
    counter.reserved -= reservation.amount;
    counter.ended.push(reservationId);
  }
  return { reservation, counters, own: ownOf(counters, tenantId) };
}

const ownOf = (counters: Counter[], tenantId: string) =>
  counters.find((counter) => counter.tenantId === tenantId) as Counter;

/** Refunds a use in the counters whose period is still the same. */
export async function refundUse(tx: Tx, caller: Caller, id: string, now: Now): Promise<CountedUse> {
  const { tenantId } = caller;
  const use = await lockUse(tx, tenantId, id);
  if (!use) throw apiError('USE_NOT_FOUND');
  if (use.isRefunded) throw apiError('USE_REFUNDED');
  const pools = Object.keys(use.counted).filter((code) => code !== tenantId);
  const counters = (await lockCounters(tx, tenantId, [use.quota], { pools, now })).map(toCounter);
  for (const counter of counters) {
    if (counter.resets !== use.counted[counter.tenantId]) continue;
    counter.isChanged = true;
    // An administrator may have lowered `used` since then.
    counter.used = Math.max(0, counter.used - use.amount);
  }
  const own = ownOf(counters, tenantId);
  await writeChanged(tx, tenantId, counters);
  await markRefunded(tx, tenantId, use.useId, caller.userName, own.moment);
  return { useId: use.useId, ...numbersOf(own) };
}

/** Sets the total of a quota whose total is in the tenant's record. */
export type SetTotal = (tx: Tx, caller: Caller, quota: string, total: number) => Promise<void>;

/** The record of a tenant stores its six totals as 32-bit integers, and has no value for "no limit". */
const isTotalInRecord = (total: number) => total >= 0 && total <= 2_147_483_647;

/** Creates or replaces a quota of a descendant tenant. Administrators cannot set the quotas of their own tenant. */
export async function putQuota(
  tx: Tx,
  caller: Caller,
  { quota, tenantId: requested }: { quota: string; tenantId: string | undefined },
  input: QuotaInput,
  { setTotal, now }: { setTotal: SetTotal; now: Now },
): Promise<void> {
  const inRecord = (TENANT_QUOTAS as readonly string[]).includes(quota);
  // Every change of a tenant's record takes this lock, and takes it first.
  if (inRecord && input.total != null) await lockTenantTree(tx);
  const { tenantId } = await assumeTenantForWrite(tx, caller, requested);
  const { ownTenantId, userName: by } = caller;
  if (tenantId === ownTenantId) throw apiError('OWN_TENANT');
  if (!inRecord && input.total == null) throw apiError('FIELD_REQUIRED', { field: 'total' });
  if (inRecord && input.total != null && !isTotalInRecord(input.total)) throw invalid('total', 'totalInRecord');
  const period = input.period ?? 'none';
  if (quota === ACCOUNTS && period !== 'none') throw invalid('period', 'accountsPeriod');
  if (quota === ACCOUNTS && input.used != null) throw invalid('used', 'accountsUsed');
  // Lock the counter before the total changes: a use in flight counts against the old total, a later one against the new one.
  const counters = await lockCounters(tx, tenantId, [quota], { pools: [], now });
  const former = await readSettings(tx, tenantId, quota);
  // A quota of `quotaBo`, and one that a pool above shares or has shared, counts before it has settings of its own.
  const hasUsage = counters.some((counter) => counter.tenantId === tenantId && counter.used + counter.reserved > 0);
  if (input.used != null && (former || hasUsage)) throw apiError('QUOTA_EXISTS', { quota });
  const pooled = input.pooled ?? false;
  await writeSettings(tx, tenantId, { quota, total: inRecord ? null : (input.total as number), period, pooled, by });
  if (!former || former.period !== period) await startPeriod(tx, tenantId, quota, period, now);
  if (input.used != null) await setUsedRow(tx, tenantId, quota, input.used);
  if (inRecord && input.total != null) await setTotal(tx, { ...caller, tenantId }, quota, input.total);
  await warnAfterChange(tx, tenantId, [quota], now);
}

/** Sets what was used of a quota of a tenant that the transaction has assumed, for `riskReportUsed`. */
export async function setUsed(tx: Tx, tenantId: string, quota: string, used: number): Promise<void> {
  await lockCounters(tx, tenantId, [quota], { now: undefined });
  await setUsedRow(tx, tenantId, quota, used);
  await warnAfterChange(tx, tenantId, [quota]);
}

/** Records which percentages of their totals a tenant's own counters have reached, after a total or a used amount was set. */
export async function warnAfterChange(tx: Tx, tenantId: string, quotas: string[], now?: Now): Promise<void> {
  if (quotas.length === 0) return;
  await recordQuotaNotices(tx, tenantId, await lockCounters(tx, tenantId, quotas, { pools: [], now }));
}

/** Locks the counters of quotas that the transaction changes. Waits for uses in flight, which count against the old totals. */
export const lockQuotas = (tx: Tx, tenantId: string, quotas: string[]) =>
  lockCounters(tx, tenantId, quotas, { now: undefined });
