import type { Tx } from '../../db/driver.ts';
import type { Caller } from '../auth/caller.ts';
import { ApiError, apiError } from '../http/errors.ts';
import { recordQuotaNotices } from '../notices/quota-notices.ts';
import {
  type CounterRow,
  type CounterUpdate,
  insertReservations,
  insertUses,
  lockCounters,
  type NewReservation,
  type NewUse,
  type Now,
  nextIds,
  writeCounters,
} from './queries.ts';
import { ACCOUNTS, type CountedUse, type QuotaNumbers, type Reservation } from './schema.ts';

/** A counter that is locked, and what the transaction changes in it. */
export type Counter = CounterRow &
  Required<Pick<CounterUpdate, 'holds' | 'ended'>> & { isChanged: boolean; usedBefore: number };

export const toCounter = (row: CounterRow): Counter => ({
  ...row,
  ...{ holds: [], ended: [], isChanged: false, usedBefore: row.used },
});

/** What is left of a total. A total that was lowered below what is used leaves 0. */
export const leftOf = ({ total, used, reserved }: Pick<QuotaNumbers, 'total' | 'used' | 'reserved'>): number =>
  total === -1 ? -1 : Math.max(0, total - used - reserved);

export const numbersOf = ({
  quota,
  total,
  used,
  reserved,
}: Pick<CounterRow, 'quota' | 'total' | 'used' | 'reserved'>): QuotaNumbers => ({
  ...{ quota, total, used, reserved },
  left: leftOf({ total, used, reserved }),
});

/** Whether an amount is left. Without a limit, the sum must stay a number that JSON does not round. */
const hasRoom = ({ total, used, reserved }: CounterRow, amount: number): boolean =>
  used + reserved + amount <= (total === -1 ? Number.MAX_SAFE_INTEGER : total);

/** A request to use an amount of a quota, or to reserve it. */
export interface QuotaRequest {
  caller: Caller;
  quota: string;
  amount: number;
  subject: string | null;
  /** How long a reservation lasts; without it, the amount is used at once. */
  seconds?: number | undefined;
}

/** Counters that are locked, and an id for each request. */
export interface LockedQuotas {
  tenantId: string;
  counters: Counter[];
  ids: number[];
  /** Tenants that an error may name, apart from the one whose quota is used. */
  visible?: readonly string[];
}

/** Locks the counters of requests of one tenant. Sends all statements at once. */
export async function lockQuotaCounters(
  tx: Tx,
  tenantId: string,
  requests: readonly Pick<QuotaRequest, 'quota'>[],
  now: Now,
): Promise<LockedQuotas> {
  const names = [...new Set(requests.map(({ quota }) => quota))].filter((quota) => quota !== ACCOUNTS);
  const [rows, ids] = await Promise.all([lockCounters(tx, tenantId, names, { now }), nextIds(tx, requests.length)]);
  return { tenantId, counters: rows.map(toCounter), ids };
}

/**
 * Uses or reserves quotas, one request after the other. Each counts against the tenant's own counter and every pool above it,
 * or against none. Returns a result or an error for each, and the function that sends the statements. A request that has failed
 * already keeps its error.
 */
export function consumeOrReserve(locked: LockedQuotas, requests: readonly (QuotaRequest | ApiError)[]) {
  const { tenantId, counters, ids } = locked;
  const uses: NewUse[] = [];
  const reservations: NewReservation[] = [];
  const results = requests.map((request, n) =>
    request instanceof ApiError
      ? request
      : consumeOrReserveOne(locked, request, ids[n] as number, { uses, reservations }),
  );
  const write = async (tx: Tx): Promise<void> => {
    await Promise.all([
      writeChanged(tx, tenantId, counters),
      uses.length > 0 && insertUses(tx, tenantId, uses),
      reservations.length > 0 && insertReservations(tx, tenantId, reservations),
    ]);
  };
  return { results, write };
}

function consumeOrReserveOne(
  { tenantId, counters, visible = [] }: LockedQuotas,
  { caller, quota, amount, subject, seconds }: QuotaRequest,
  id: number,
  { uses, reservations }: { uses: NewUse[]; reservations: NewReservation[] },
): CountedUse | Reservation | ApiError {
  if (quota === ACCOUNTS) return apiError('QUOTA_COUNTS_USERS', { quota });
  const counted = counters.filter((counter) => counter.quota === quota);
  const own = counted.find((counter) => counter.tenantId === tenantId);
  if (!own) return apiError('QUOTA_NOT_FOUND', { quota });
  const full = [own, ...counted].find((counter) => !hasRoom(counter, amount));
  if (full) {
    // Callers below a pool must not learn whose it is, nor its numbers.
    const isVisible = full === own || visible.includes(full.tenantId);
    return apiError('QUOTA_EXHAUSTED', { ...numbersOf(own), ...(isVisible ? { tenantId: full.tenantId } : {}) });
  }
  const { moment: time } = own;
  const entry = { quota, amount, subject, time, ...actorOf(caller) };
  for (const counter of counted) counter.isChanged = true;
  if (seconds === undefined) {
    for (const counter of counted) counter.used += amount;
    uses.push({ ...entry, use_id: id, counted: countedBy(counted) });
    return { useId: id, ...numbersOf(own) };
  }
  const expires = new Date(time.getTime() + seconds * 1000);
  for (const counter of counted) {
    counter.reserved += amount;
    counter.holds.push({ reservation_id: id, amount, expires });
  }
  const pools = counted.filter((counter) => counter !== own).map((counter) => counter.tenantId);
  reservations.push({ ...entry, reservation_id: id, expires, pools });
  return { reservationId: id, ...numbersOf(own) };
}

/** Returns the tenants whose counters count a use, with their periods: a refund in a later period must not reduce that one. */
export const countedBy = (counters: readonly Counter[]): Record<string, number> =>
  Object.fromEntries(counters.map(({ tenantId, resets }) => [tenantId, resets]));

export const actorOf = ({ userId, keyId, ownTenantId }: Caller) => ({
  user_id: userId ?? null,
  key_id: keyId ?? null,
  actor_tenant_id: ownTenantId,
});

export async function writeChanged(tx: Tx, tenantId: string, counters: readonly Counter[]): Promise<void> {
  const changed = counters
    .filter(({ isChanged }) => isChanged)
    .map(({ tenantId, quota, used, reserved, holds, ended }) => ({
      ...{ tenant_id: tenantId, quota, used, reserved },
      ...(holds.length > 0 ? { holds } : {}),
      ...(ended.length > 0 ? { ended } : {}),
    }));
  if (changed.length === 0) return;
  // Both are sent in one round trip.
  await Promise.all([
    writeCounters(tx, tenantId, changed),
    recordQuotaNotices(
      tx,
      tenantId,
      // A refund or a release does not warn.
      counters.filter(({ used, usedBefore }) => used > usedBefore),
    ),
  ]);
}
