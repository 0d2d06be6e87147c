import type { Tx } from '../../db/driver.ts';
import type { Caller } from '../auth/caller.ts';
import { apiError } from '../http/errors.ts';
import { pageOf, type Rows } from '../http/fields.ts';
import { type CursorPage, decodeCursor, toCursorPage } from '../http/pagination.ts';
import { invalid } from '../http/validation.ts';
import type { QuotaUse, Usage, UsageFilter, UseFilter } from './schema.ts';
import { countUses, listUses as listRows, sumUses, sumUsesByTenant, type UseSearch } from './usage-queries.ts';

/** The maximum number of rows in one response. */
const MAX_ROWS = 10_000;

/** Lists uses, the latest first. */
export async function listUses(
  tx: Tx,
  caller: Caller,
  filter: UseFilter,
): Promise<Rows<QuotaUse> | CursorPage<QuotaUse>> {
  const search = searchOf(filter);
  const page = pageOf(filter);
  if (filter.cursor === undefined) {
    const [rows, total] = await Promise.all([listRows(tx, caller, search, page), countUses(tx, caller, search)]);
    return { rows, total };
  }
  const after = filter.cursor && decodeCursor(filter.cursor, 'useId', (key) => key === '');
  const rows = await listRows(tx, caller, search, { before: after ? after.id : null, limit: page.limit + 1 });
  return toCursorPage([...rows], page.limit, ({ useId }) => ({ sort: 'useId', key: '', id: String(useId) }));
}

/** Sums uses that were not refunded, by day or month. */
export async function readUsage(tx: Tx, caller: Caller, filter: UsageFilter): Promise<Usage> {
  const { per = 'day', by } = filter;
  const search = searchOf(filter);
  const limit = MAX_ROWS + 1;
  const { tenantId, canActInDescendants: below } = caller;
  const rows =
    by === 'tenant'
      ? await sumUsesByTenant(tx, tenantId, search, { per, below, limit })
      : await sumUses(tx, caller, search, { per, by, limit });
  if (rows.length > MAX_ROWS) throw apiError('USAGE_TOO_LARGE', { limit: MAX_ROWS });
  return rows;
}

function searchOf(filter: Omit<UsageFilter, 'per' | 'by'> & { subject?: string }): UseSearch {
  const { quota = null, subject = null, from = null, to = null } = filter;
  if (from && to && to < from) throw invalid('to', 'beforeFrom');
  return { quota, subject, from, to };
}
