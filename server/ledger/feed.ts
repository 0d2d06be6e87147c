import type { Tx } from '../../db/driver.ts';
import { forceIndexScans } from '../../db/planner.ts';
import { assumeTenant } from '../access/tenant-scope.ts';
import type { Caller } from '../auth/caller.ts';
import { readFitting } from '../http/response-size.ts';
import { type ChangeRow, readByIds, readFeed, readLedgerEnd, sealChanges } from './queries.ts';
import { type LedgerResources, showChanges } from './resources.ts';

/** The maximum number of changes that one call seals. */
export const MAX_SEALED = 5_000;
/** The maximum number of positions that one statement scans. */
const MAX_SCANNED = 10_000;

export { type ChangeRow, readRecordChanges } from './queries.ts';

/** The position `latest`: after everything that is committed by now. */
export const LATEST = Number.POSITIVE_INFINITY;

export const positionOf = (cursor: string): number => (cursor === 'latest' ? LATEST : Number(cursor));

type Shown = Awaited<ReturnType<typeof showChanges<ChangeRow>>>[number];

/** A change as the feed shows it. */
export type FeedChange = Omit<Shown, 'tenantId' | 'byTenantId'>;

export interface FeedPage<Row = FeedChange> {
  rows: Row[];
  next: string;
  /** The position after each row. */
  positions: number[];
}

export interface FeedRange {
  after: number;
  limit: number;
  /** If no change is found for this many milliseconds, the page ends without rows and with an advanced cursor. */
  scanMs: number;
}

/**
 * Reads the changes after a position in a tenant's ledger, in the order of their positions. It writes nothing:
 * `isBehind` says that all positions have been read, but some committed changes have no position yet. Then the caller
 * has to seal the ledger and read again.
 */
export async function readChanges(
  tx: Tx,
  resources: LedgerResources,
  caller: Caller,
  { after, limit, scanMs, tenantId: requested }: FeedRange & { tenantId: string | undefined },
): Promise<FeedPage & { isBehind: boolean }> {
  const tenantId = await assumeTenant(tx, caller, requested);
  const { last, hasUnsealed } = await readLedgerEnd(tx, tenantId);
  const range = { after: after === LATEST ? last : after, limit, scanMs };
  const { rows, next } = await readUpTo(tx, tenantId, last, range);
  const shown = await showChanges(tx, resources, { readerTenant: caller.tenantId, tenantId }, rows);
  return {
    isBehind: hasUnsealed && next >= last,
    rows: shown.map(({ seq: _, tenantId: __, byTenantId: ___, ...row }) => row),
    next: String(next),
    positions: rows.map(({ seq }) => seq),
  };
}

/**
 * Seals the ledger and reads the same changes as stored rows. If there was something to seal, the end of the ledger
 * stays locked until the transaction ends.
 */
export const changesAfter = async (tx: Tx, tenantId: string, range: FeedRange) =>
  readUpTo(tx, tenantId, await sealChanges(tx, tenantId, MAX_SEALED), range);

async function readUpTo(tx: Tx, tenantId: string, last: number, { after, limit, scanMs }: FeedRange) {
  const until = performance.now() + scanMs;
  let rows: (ChangeRow & { seq: number })[] = [];
  let next = after;
  if (next >= last) return { rows, next };
  // Continue until there is a row or time runs out: the feed skips logins, which may be most of a ledger.
  do {
    const upTo = Math.min(last, next + MAX_SCANNED);
    await forceIndexScans(tx);
    const found = await readFitting(readFeed(tx, tenantId, { after: next, upTo, limit }));
    rows = found.rows.slice(0, found.fitting);
    const isCut = rows.length === limit || rows.length < found.rows.length;
    next = isCut ? (rows.at(-1)?.seq ?? upTo) : upTo;
  } while (rows.length === 0 && next < last && performance.now() < until);
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

export async function changesByIds(
  tx: Tx,
  resources: LedgerResources,
  tenantId: string,
  changeIds: number[],
): Promise<FeedChange[]> {
  const reader = { readerTenant: tenantId, tenantId };
  const shown = await showChanges(tx, resources, reader, await readByIds(tx, tenantId, changeIds));
  return shown.map(({ tenantId: _, byTenantId: __, ...row }) => row);
}

/** Whether a change is still in the ledger or its archive. */
export const isChangeStored = async (tx: Tx, tenantId: string, changeId: number): Promise<boolean> =>
  (await readByIds(tx, tenantId, [changeId])).length > 0;
