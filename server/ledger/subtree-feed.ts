import { createBatcher } from '../../db/batcher.ts';
import type { Database } from '../../db/connect.ts';
import type { Sql, Tx } from '../../db/driver.ts';
import { forceIndexScans } from '../../db/planner.ts';
import { writeOutsideQueue } from '../../db/tenant-scope.ts';
import { assumeTenant, readSubtreeCodes } from '../access/tenant-scope.ts';
import type { Caller } from '../auth/caller.ts';
import { apiError } from '../http/errors.ts';
import { readFitting } from '../http/response-size.ts';
import { type FeedChange, type FeedPage, type FeedRange, LATEST } from './feed.ts';
import type { ChangeRow } from './queries.ts';
import { type LedgerResources, showChanges } from './resources.ts';
import {
  allowDescendantLedgers,
  type ChangePosition,
  findChangePositions,
  orderChanges,
  readChangesAt,
  readOrderEnd,
  type Subtree,
} from './subtree-queries.ts';
import type { Reader } from './visibility.ts';

/** The feed of a subtree: the changes of a tenant and of all its descendants, in one order (docs/decisions/0016). */

/** The maximum number of changes to which one transaction assigns positions. */
const MAX_ORDERED = 5_000;
/** No limit: no subtree has this many tenants. */
const MAX_TENANTS = 1_000_000_000;
/** The size of the first window of positions that is searched for changes of the subtree, per row of the page. */
const FIRST_WINDOW = 4;

/** A change in the feed of a subtree: `tenantId` is the tenant that it belongs to. */
type SubtreeChange = FeedChange & { tenantId: string };

/** Assigns positions to all changes that are committed by now, in short transactions. */
export async function assignPositions(db: Database): Promise<void> {
  // Most calls find nothing to do, and then need no transaction.
  if (!(await db.use(readOrderEnd)).hasUnordered) return;
  // The database function order_changes sees all tenants, so the transaction itself needs no tenant.
  while ((await writeOutsideQueue(db, '', (tx) => orderChanges(tx, MAX_ORDERED))) === MAX_ORDERED);
}

/**
 * Returns a function that assigns positions to all changes that are committed when it is called. Concurrent readers share one
 * run.
 */
export function createPositionAssigner(db: Database): () => Promise<void> {
  const assignShared = createBatcher<undefined, void>(
    async (_key, batch) => {
      await assignPositions(db);
      for (const { resolve } of batch) resolve();
    },
    { maxInFlight: 1, maxBatchSize: Number.MAX_SAFE_INTEGER },
  );
  return () => assignShared('', undefined);
}

/** Throws unless the caller may read the descendants of their tenant. */
export function assertCanActInDescendants({ canActInDescendants }: Caller): void {
  if (!canActInDescendants) throw apiError('OTHER_TENANT');
}

/**
 * Reads the changes of a subtree after a position. It writes nothing: `isBehind` says that all positions have been read, but some
 * committed changes, of whatever tenant, have no position yet. Then the caller has to assign positions and read again.
 */
export async function readSubtreeChanges(
  tx: Tx,
  resources: LedgerResources,
  caller: Caller,
  { after, limit, scanMs, tenantId: requested }: FeedRange & { tenantId: string | undefined },
): Promise<FeedPage<SubtreeChange> & { isBehind: boolean }> {
  assertCanActInDescendants(caller);
  const subtree = await assumeTenant(tx, caller, requested);
  const { last, hasUnordered } = await readOrderEnd(tx);
  const range = { after: after === LATEST ? last : after, limit, scanMs };
  const { rows, next } = await subtreeChangesUpTo(tx, subtree, last, range);
  return {
    isBehind: hasUnordered && next >= last,
    rows: await showSubtreeChanges(tx, resources, { readerTenant: caller.tenantId, tenantId: subtree }, rows),
    next: String(next),
    positions: rows.map(({ seq }) => seq),
  };
}

/** Reads the same changes as stored rows. The transaction must have assumed the tenant. */
export const subtreeChangesAfter = async (tx: Tx, subtree: string, range: FeedRange) =>
  subtreeChangesUpTo(tx, subtree, (await readOrderEnd(tx)).last, range);

async function subtreeChangesUpTo(tx: Tx, subtree: string, last: number, { after, limit, scanMs }: FeedRange) {
  const until = performance.now() + scanMs;
  let rows: (ChangeRow & { seq: number })[] = [];
  let next = after;
  if (next >= last) return { rows, next };
  // Read the tenants after `last`, in case each statement has its own snapshot: a tenant that joins the subtree between the two
  // statements may have changes up to that position, and the page must not skip them.
  const tenants = { root: subtree, tenantIds: await readSubtreeCodes(tx, subtree, MAX_TENANTS) };
  await allowDescendantLedgers(tx);
  await forceIndexScans(tx);
  // Continue until there is a row or time runs out: changes may have been removed from the archive.
  do {
    const { placed, upTo } = await findInWindow(tx, tenants, { after: next, last, limit });
    const found = placed.length > 0 ? await readFitting(readChangesAt(tx, subtree, placed)) : { rows: [], fitting: 0 };
    rows = found.rows.slice(0, found.fitting);
    if (rows.length < found.rows.length) next = rows.at(-1)?.seq ?? upTo;
    else next = placed.length === limit ? (placed.at(-1)?.position ?? upTo) : upTo;
  } while (rows.length === 0 && next < last && performance.now() < until);
  return { rows, next };
}

/**
 * Finds the first changes of the subtree. Starts with a small window of positions, so that a large subtree reads little more
 * than one page, and widens it while too few changes are found.
 */
async function findInWindow(
  tx: Tx,
  subtree: Subtree,
  { after, last, limit }: { after: number; last: number; limit: number },
): Promise<{ placed: ChangePosition[]; upTo: number }> {
  for (let window = limit * FIRST_WINDOW; ; window *= 4) {
    const upTo = Math.min(last, after + window);
    const placed = await findChangePositions(tx, subtree, { after, upTo, limit });
    if (placed.length === limit || upTo === last) return { placed, upTo };
  }
}

/** The last position of the order. Changes that are committed but have no position yet will be after it. */
export const lastSubtreePosition = async (sql: Sql | Tx): Promise<number> => (await readOrderEnd(sql)).last;

/** Reads changes of a subtree by their ids, as its feed shows them. Leaves out those of tenants that have left the subtree. */
export async function subtreeChangesByIds(
  tx: Tx,
  resources: LedgerResources,
  subtree: string,
  changes: readonly { ledger: string; id: number }[],
): Promise<SubtreeChange[]> {
  await allowDescendantLedgers(tx);
  const rows = await readChangesAt(
    tx,
    subtree,
    changes.map((change) => ({ position: 0, ...change })),
  );
  return showSubtreeChanges(tx, resources, { readerTenant: subtree, tenantId: subtree }, rows);
}

/** Whether a change of the subtree is still stored, and its tenant still in the subtree. */
export const isSubtreeChangeStored = async (tx: Tx, subtree: string, change: { ledger: string; id: number }) => {
  await allowDescendantLedgers(tx);
  return (await readChangesAt(tx, subtree, [{ position: 0, ...change }])).length > 0;
};

async function showSubtreeChanges(
  tx: Tx,
  resources: LedgerResources,
  reader: Reader,
  rows: (ChangeRow & { seq: number })[],
): Promise<SubtreeChange[]> {
  const shown = await showChanges(tx, resources, reader, rows);
  return shown.map(({ seq: _, byTenantId: __, ...row }) => ({ ...row, tenantId: ownerOf(row) }));
}

/**
 * Returns the tenant that a change belongs to. The ledger of the root records which tenants join or leave the subtree; there
 * the record names the tenant.
 */
function ownerOf({ tenantId, resource, before, after }: Omit<FeedChange, 'tenantId'> & { tenantId: string }): string {
  return resource === 'tenant'
    ? String(((after ?? before) as { tenantId?: string } | null)?.tenantId ?? tenantId)
    : tenantId;
}
