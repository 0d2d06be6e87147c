import type { Tx } from '../../db/driver.ts';
import { setTenant } from '../../db/tenant-scope.ts';
import { assumeTenant, readSubtreeCodes } from '../access/tenant-scope.ts';
import type { Caller } from '../auth/caller.ts';
import { apiError } from '../http/errors.ts';
import { idOf } from '../http/fields.ts';
import { readFitting } from '../http/response-size.ts';
import { asInvalidTime } from './point-in-time.ts';
import { type AuditSearch, type ChangeCount, countBatches, listAudit } from './queries.ts';
import { type LedgerResources, showChanges } from './resources.ts';
import type { AuditFilter } from './schema.ts';
import { assertCanActInDescendants } from './subtree-feed.ts';
import { allowDescendantLedgers } from './subtree-queries.ts';

/** The maximum number of descendants whose ledgers one request reads. */
const MAX_DESCENDANTS = 1_000;

export async function listChanges(tx: Tx, resources: LedgerResources, caller: Caller, filter: AuditFilter) {
  const { limit = 50, below = caller.canActInDescendants } = filter;
  if (below) assertCanActInDescendants(caller);
  const tenantId = await assumeTenant(tx, caller, filter.tenantId);
  const codes = below ? await readSubtreeCodes(tx, tenantId, MAX_DESCENDANTS + 2) : [tenantId];
  if (codes.length > MAX_DESCENDANTS + 1) throw apiError('TOO_MANY_LEDGERS', { limit: MAX_DESCENDANTS });
  if (below) await allowDescendantLedgers(tx);
  // A search for a name, or a part of one, must not find changes whose actor is hidden: callers could guess names.
  const knownTo = searchesName(filter) ? caller.tenantId : null;
  const isOtherScope = knownTo !== null && tenantId !== knownTo;
  if (isOtherScope) {
    // Which actors are known depends on tenants that the transaction sees only from the caller's tenant.
    await setTenant(tx, caller.tenantId);
    await allowDescendantLedgers(tx);
  }
  const { rows, fitting } = await readFitting(listAudit(tx, codes, searchOf(filter, knownTo), !below, limit + 1)).catch(
    asInvalidTime({ from: filter.from, to: filter.to }),
  );
  if (isOtherScope) await setTenant(tx, tenantId);
  const page = rows.slice(0, Math.min(limit, fitting));
  const counts = filter.grouped && page.length > 0 ? await countBatches(tx, page) : [];
  const counted = filter.grouped ? page.map((row, n) => ({ ...row, counts: countsAt(counts, n + 1) })) : page;
  return {
    rows: await showChanges(tx, resources, { readerTenant: caller.tenantId, tenantId }, counted),
    next: rows.length > page.length ? String(page.at(-1)?.id) : null,
  };
}

const searchesName = ({ by, byPart }: AuditFilter) => by !== undefined || byPart !== undefined;

const countsAt = (counts: readonly (ChangeCount & { position: number })[], position: number): ChangeCount[] =>
  counts.filter((count) => count.position === position).map(({ position: _, ...count }) => count);

const searchOf = (filter: AuditFilter, knownTo: string | null): AuditSearch => ({
  resource: filter.resource ?? null,
  resourceId: filter.resourceId === undefined ? null : idOf(filter.resourceId),
  action: filter.action ?? null,
  by: filter.by ?? null,
  byPart: filter.byPart ?? null,
  requestId: filter.requestId ?? null,
  from: filter.from ?? null,
  to: filter.to ?? null,
  latest: filter.latest ?? false,
  grouped: filter.grouped ?? false,
  before: filter.cursor || null,
  knownTo,
});
