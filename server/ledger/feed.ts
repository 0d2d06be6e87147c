import type { Database } from '../../db/connect.ts';
import type { Tx } from '../../db/driver.ts';
import { errorCode, isConnectionLost } from '../../db/errors.ts';
import { forceIndexScans } from '../../db/planner.ts';
import { writeInTenant } from '../../db/tenant-scope.ts';
import { assumeTenant } from '../access/tenant-scope.ts';
import type { Caller } from '../auth/caller.ts';
import { type ChangeRow, readByIds, readFeed, sealChanges, tenantsWithUnsealedChanges } from './queries.ts';
import { type LedgerResources, showChanges } from './resources.ts';

/** The maximum number of changes that one call seals. */
const MAX_SEALED = 5_000;
/** The maximum number of positions that one statement scans. */
const MAX_SCANNED = 10_000;

export { type ChangeRow, readRecordChanges } from './queries.ts';

type Shown = Awaited<ReturnType<typeof showChanges<ChangeRow>>>[number];

/** A change as the feed shows it. */
export type FeedChange = Omit<Shown, 'tenantId'>;

export interface FeedPage {
  rows: FeedChange[];
  next: string;
  /** The position after each row. */
  positions: number[];
}

/**
 * Reads the changes after a position in a tenant's ledger, in the order of their commits. Committed changes without a
 * position get one first, so a caller whose write has been confirmed finds it here.
 */
export async function readChanges(
  tx: Tx,
  resources: LedgerResources,
  caller: Caller,
  { after, limit, tenantId: requested }: { after: number; limit: number; tenantId: string | undefined },
): Promise<FeedPage> {
  const tenantId = await assumeTenant(tx, caller, requested);
  const { rows, next } = await changesAfter(tx, tenantId, after, limit);
  const shown = await showChanges(tx, resources, rows);
  return {
    rows: shown.map(({ seq: _, tenantId: __, ...row }) => row),
    next: String(next),
    positions: rows.map(({ seq }) => seq),
  };
}

/** Reads the same changes as stored rows. Locks the end of the ledger until the transaction ends. */
export async function changesAfter(tx: Tx, tenantId: string, after: number, limit: number) {
  const last = await sealChanges(tx, tenantId, MAX_SEALED);
  let rows: (ChangeRow & { seq: number })[] = [];
  let next = after;
  // Continue until there is a row: the feed skips logins, which may be most of a ledger.
  while (rows.length === 0 && next < last) {
    const upTo = Math.min(last, next + MAX_SCANNED);
    [, rows] = await Promise.all([forceIndexScans(tx), readFeed(tx, tenantId, { after: next, upTo, limit })]);
    next = rows.length === limit ? (rows.at(-1)?.seq ?? upTo) : upTo;
  }
  return { rows, next };
}

/** Returns the last position of a tenant's ledger after sealing everything that is committed by now. */
export async function lastPosition(tx: Tx, tenantId: string): Promise<number> {
  let before: number;
  let last = -1;
  do {
    before = last;
    last = await sealChanges(tx, tenantId, MAX_SEALED);
  } while (last > before);
  return last;
}

/** Reads changes by their ids, as the feed shows them. */
export async function changesByIds(
  tx: Tx,
  resources: LedgerResources,
  tenantId: string,
  changeIds: number[],
): Promise<FeedChange[]> {
  const shown = await showChanges(tx, resources, await readByIds(tx, tenantId, changeIds));
  return shown.map(({ tenantId: _, ...row }) => row);
}

/** Whether a change is still in the ledger or its archive. */
export const isChangeStored = async (tx: Tx, tenantId: string, changeId: number): Promise<boolean> =>
  (await readByIds(tx, tenantId, [changeId])).length > 0;

/** Seals changes of tenants whose feed is not being read, so that the hash chain lags by about a second at most. */
export async function sealAll(db: Database): Promise<void> {
  for (const tenantId of await db.use((sql) => tenantsWithUnsealedChanges(sql, 100))) {
    await writeInTenant(db, tenantId, (tx) => sealChanges(tx, tenantId, MAX_SEALED)).catch((error) => {
      // One ledger that cannot be sealed must not prevent the others from being sealed.
      if (isConnectionLost(errorCode(error))) throw error;
    });
  }
}
