import type { Database } from '../../db/connect.ts';
import { codeOf, isLost, type Tx } from '../../db/sql.ts';
import { writeInTenant } from '../../db/tenancy.ts';
import type { Caller } from '../auth/caller.ts';
import { idOf } from '../http/fields.ts';
import { refuse } from '../http/refusals.ts';
import { invalid } from '../http/validation.ts';
import { codesBelow, enterReach } from '../tenants/reach.ts';
import { QUOTAS } from '../tenants/schema.ts';
import {
  type AuditRow,
  type AuditSearch,
  type ChangeRow,
  keepToKeys,
  listAudit,
  openLedgers,
  readByIds,
  readFeed,
  readUnsealed,
  sealChanges,
} from './queries.ts';
import type { AuditFilter } from './schema.ts';

/** Sealed with one call, at most. */
const SEALED_AT_ONCE = 5_000;
/** Looked at by one statement. */
const PLACES_AT_ONCE = 10_000;
const LEDGERS_AT_ONCE = 1_000;

export interface FeedPage {
  rows: Omit<ChangeRow, 'seq'>[];
  next: string;
  /** Behind each row. */
  places: number[];
}

/**
 * What came after a place in a tenant's ledger, in the order in which it was committed. What is committed and has no
 * place yet is given one first, so whoever has been told that his write was done finds it here.
 */
export async function readChanges(
  tx: Tx,
  caller: Caller,
  { after, limit, tenantId: named }: { after: number; limit: number; tenantId: string | undefined },
): Promise<FeedPage> {
  const { rows, next } = await changesAfter(tx, await enterReach(tx, caller, named), after, limit);
  return {
    rows: rows.map(({ seq: _, ...row }) => row),
    next: String(next),
    places: rows.map(({ seq }) => seq),
  };
}

/** The same for who follows a tenant from within the service. Holds the end of the ledger until the transaction ends. */
export async function changesAfter(tx: Tx, tenantId: string, after: number, limit: number) {
  const last = await sealChanges(tx, tenantId, SEALED_AT_ONCE);
  let rows: ChangeRow[] = [];
  let next = after;
  // Until there is one for it: what it passes over, logins most of all, may be most of a ledger.
  while (rows.length === 0 && next < last) {
    const upTo = Math.min(last, next + PLACES_AT_ONCE);
    [, rows] = await Promise.all([keepToKeys(tx), readFeed(tx, tenantId, { after: next, upTo, limit })]);
    next = rows.length === limit ? (rows.at(-1)?.seq ?? upTo) : upTo;
  }
  return { rows: rows.map((row) => shown(row)), next };
}

/** The end of a tenant's ledger, with all that is committed by now. */
export async function lastPlace(tx: Tx, tenantId: string): Promise<number> {
  let before: number;
  let last = -1;
  do {
    before = last;
    last = await sealChanges(tx, tenantId, SEALED_AT_ONCE);
  } while (last > before);
  return last;
}

/** As the feed tells them. */
export const changesOf = async (tx: Tx, tenantId: string, changeIds: number[]): Promise<FeedPage['rows']> =>
  (await readByIds(tx, tenantId, changeIds)).map((row) => shown(row));

export async function listChanges(tx: Tx, caller: Caller, filter: AuditFilter) {
  const { limit = 50, below = true } = filter;
  const tenantId = await enterReach(tx, caller, filter.tenantId);
  const codes = below ? await codesBelow(tx, tenantId, LEDGERS_AT_ONCE + 1) : [tenantId];
  if (codes.length > LEDGERS_AT_ONCE) throw refuse('TOO_MANY_LEDGERS', { limit: LEDGERS_AT_ONCE });
  await openLedgers(tx, codes);
  const rows = await listAudit(tx, codes, searchOf(filter), !below, limit + 1).catch((error) => {
    // Such as the 31st of February.
    throw codeOf(error).startsWith('2200') ? invalid(filter.from ? 'from' : 'to', 'moment') : error;
  });
  const page = rows.slice(0, limit);
  return { rows: page.map(shown), next: rows.length > limit ? String(page.at(-1)?.id) : null };
}

const searchOf = (filter: AuditFilter): AuditSearch => ({
  resource: filter.resource ?? null,
  resourceId: filter.resourceId === undefined ? null : idOf(filter.resourceId),
  action: filter.action ?? null,
  by: filter.by ?? null,
  requestId: filter.requestId ?? null,
  from: filter.from ?? null,
  to: filter.to ?? null,
  earlierThan: filter.cursor || null,
});

/** Of a tenant's quotas a read shows six. */
function shown<T extends Pick<AuditRow, 'resource' | 'before' | 'after'>>(row: T): T {
  if (row.resource !== 'tenant') return row;
  return { ...row, before: withoutHidden(row.before), after: withoutHidden(row.after) };
}

function withoutHidden(record: object | null): object | null {
  const { quotaBo } = (record ?? {}) as { quotaBo?: Record<string, number> };
  return record && { ...record, quotaBo: Object.fromEntries(QUOTAS.map((key) => [key, quotaBo?.[key] ?? 0])) };
}

/** Seals what nobody has asked for: the chain follows its writers by about a second. */
export async function sealAll(db: Database): Promise<void> {
  for (const tenantId of await db.use((sql) => readUnsealed(sql, 100))) {
    await writeInTenant(db, tenantId, (tx) => sealChanges(tx, tenantId, SEALED_AT_ONCE)).catch((error) => {
      // What is wrong with one ledger, or in its way, is nothing to the others.
      if (isLost(codeOf(error))) throw error;
    });
  }
}
