import type { Tx } from '../../db/driver.ts';
import type { Caller } from '../auth/caller.ts';
import { idOf, jsonId, pageOf, type Rows } from '../http/fields.ts';
import { type CursorPage, decodeCursor, formatSort, type PageRange, toCursorPage } from '../http/pagination.ts';
import { responseBytes } from '../http/response-size.ts';
import { createSlices } from '../http/slices.ts';
import { externalIdOf, isValidKey, type Order, orderOf, type Search, searchOf } from './filter.ts';
import {
  countRows,
  type KeyedDept,
  readDepts,
  readDescendantIds,
  readNames,
  readPage,
  readPageIds,
  type Source,
  searchIds,
} from './list-queries.ts';
import { PathBudget, pathsTooLong } from './path-budget.ts';
import { addAncestors } from './path-cache.ts';
import { findByExternalIds, readAncestors } from './queries.ts';
import type { DeptBatch, DeptFilter, DeptRow } from './schema.ts';

/** Up to this many matches are read by their ids and sorted; for more, the index of the sort order is scanned. */
const MAX_SORTED = 2_000;
/** The same for numbered pages, which have to count all matches anyway. */
const MAX_SORTED_WITH_TOTAL = 20_000;
/** How many rows are scanned in sort order for each row of the page before the search index or the subtree is tried. */
const SCAN_FACTOR = 10;
/** The same before a large subtree is read as a whole. */
const LARGE_SUBTREE_SCAN_FACTOR = 500;
/** The maximum number of rows that such a scan reads: the ancestors of each of them may have to be read too. */
const MAX_SCANNED = 20_000;

export async function listDepartments(
  tx: Tx,
  caller: Caller,
  filter: DeptFilter,
): Promise<Rows<DeptRow> | CursorPage<DeptRow>> {
  const { tenantId } = caller;
  const search = searchOf(filter);
  const order = orderOf(filter);
  const { limit, offset } = pageOf(filter);
  const after = filter.cursor && decodeCursor(filter.cursor, formatSort(order), isValidKey[order.sort]);
  if (filter.cursor === undefined) {
    const page = await readNumberedPage(tx, tenantId, search, order, { limit, offset });
    const rows = await withPaths(tx, tenantId, page.rows, filter);
    // A page ends where its number says, so it cannot end early like one with a cursor.
    if (rows.length < page.rows.length) throw pathsTooLong();
    return { ...page, rows };
  }
  const found = await readCursorPage(tx, tenantId, search, order, { limit, ...(after ? { after } : {}) });
  const rows = await withPaths(tx, tenantId, found.slice(0, limit), filter);
  const positionOf = ({ key, deptId }: KeyedDept) => ({ sort: formatSort(order), key, id: String(deptId) });
  return { ...toCursorPage(found, rows.length, positionOf), rows };
}

async function readNumberedPage(
  tx: Tx,
  tenantId: string,
  search: Search,
  order: Order,
  range: PageRange,
): Promise<Rows<KeyedDept>> {
  const matches = await findMatches(tx, tenantId, search, MAX_SORTED_WITH_TOTAL);
  const [rows, total] = await Promise.all([
    matches
      ? readPage(tx, tenantId, search, matches, order, range)
      : readManyMatches(tx, tenantId, search, order, range),
    countRows(tx, tenantId, search, matches ?? fullSource(search)),
  ]);
  return { rows, total };
}

/**
 * A common term fills the page after a short scan in sort order. If it does not, the term is rare: the search index finds
 * the few rows that match, and they are sorted. Returns one row more than the limit if there are more.
 */
async function readCursorPage(
  tx: Tx,
  tenantId: string,
  search: Search,
  order: Order,
  range: PageRange,
): Promise<KeyedDept[]> {
  const oneMore = { ...range, limit: range.limit + 1 };
  if (externalIdOf(search)) return (await readFewMatches(tx, tenantId, search, order, oneMore)) ?? [];
  const { deptName, leader, underId } = search;
  if ((deptName ?? leader ?? underId) === null)
    return readPage(tx, tenantId, search, { from: 'index' }, order, oneMore);
  return (
    (await scanInOrder(tx, tenantId, search, order, oneMore, SCAN_FACTOR)) ??
    (await readFewMatches(tx, tenantId, search, order, oneMore)) ??
    (await readManyMatches(tx, tenantId, search, order, oneMore))
  );
}

/** Finds the matches and sorts them; undefined when there are too many. */
async function readFewMatches(tx: Tx, tenantId: string, search: Search, order: Order, range: PageRange) {
  const matches = await findMatches(tx, tenantId, search, MAX_SORTED);
  return matches && readPage(tx, tenantId, search, matches, order, range);
}

/** Reads a page of a large result. Reads a subtree as a whole only when its departments are far apart in sort order. */
async function readManyMatches(
  tx: Tx,
  tenantId: string,
  search: Search,
  order: Order,
  range: PageRange,
): Promise<KeyedDept[]> {
  const rows = search.underId && (await scanInOrder(tx, tenantId, search, order, range, LARGE_SUBTREE_SCAN_FACTOR));
  return rows || readPage(tx, tenantId, search, fullSource(search), order, range);
}

/** Reads a page from the first rows in sort order; undefined when they do not fill it. */
async function scanInOrder(
  tx: Tx,
  tenantId: string,
  search: Search,
  order: Order,
  range: PageRange,
  scanFactor: number,
) {
  const { limit, offset = 0 } = range;
  const maxScanned = Math.min(scanFactor * (limit + offset), MAX_SCANNED);
  const source: Source = { from: 'index', maxScanned };
  if (search.underId === null) {
    const rows = await readPage(tx, tenantId, search, source, order, range);
    return rows.length === limit ? rows : undefined;
  }
  const scanned = await readPageIds(tx, tenantId, search, source, order, { ...range, limit: maxScanned, offset: 0 });
  const ids = (await filterDescendants(tx, tenantId, search.underId, scanned)).slice(offset, offset + limit);
  return ids.length === limit ? readPage(tx, tenantId, search, { from: 'ids', ids }, order, { limit }) : undefined;
}

/** Returns those departments that are descendants of `underId`. Ancestors that they share are read once. */
async function filterDescendants(tx: Tx, tenantId: string, underId: string, ids: string[]): Promise<string[]> {
  const rows = await readAncestors(tx, tenantId, ids);
  const parents = new Map(rows.map(({ deptId, parentId }) => [deptId, parentId]));
  const known = new Map([
    [0, false],
    [Number(underId), true],
  ]);
  const isAtOrBelow = (deptId: number): boolean => {
    const trail: number[] = [];
    let id = deptId;
    for (; !known.has(id); id = parents.get(id) ?? 0) trail.push(id);
    const result = known.get(id) as boolean;
    for (const visited of trail) known.set(visited, result);
    return result;
  };
  return ids.filter((id) => id !== underId && isAtOrBelow(Number(id)));
}

/**
 * Finds the matches by external id, or by name and leader, or all departments of the subtree; undefined when there are more
 * than `maxRows`, or when none of these filters is set. With `parentId` the search index is not used: the index of children
 * finds the few candidates.
 */
async function findMatches(tx: Tx, tenantId: string, search: Search, maxRows: number): Promise<Source | undefined> {
  const { deptName, leader, parentId, underId } = search;
  const externalId = externalIdOf(search);
  if (externalId) {
    const ids = (await findByExternalIds(tx, tenantId, [externalId])).map(({ id }) => String(id));
    return { from: 'ids', ids: underId === null ? ids : await filterDescendants(tx, tenantId, underId, ids) };
  }
  if (parentId === null && (deptName ?? leader) !== null) {
    const ids = await searchIds(tx, search, maxRows);
    if (ids) return { from: 'ids', ids: underId === null ? ids : await filterDescendants(tx, tenantId, underId, ids) };
  }
  if (underId === null) return undefined;
  const ids = await readDescendantIds(tx, tenantId, underId, maxRows);
  return ids && { from: 'ids', ids };
}

const fullSource = ({ underId }: Search): Source => ({ from: underId === null ? 'index' : 'subtree' });

/** Reads departments by their ids. Departments of other tenants are reported as missing, like deleted ones. */
export async function readDepartments(tx: Tx, caller: Caller, deptIds: (number | string)[]): Promise<DeptBatch> {
  const ids = deptIds.map(idOf);
  const found = await readDepts(tx, caller.tenantId, [...new Set(ids)]);
  if ((await addAncestors(tx, caller.tenantId, found)) < found.length) throw pathsTooLong();
  const byId = new Map(found.map((dept) => [String(dept.deptId), dept]));
  return {
    rows: ids.flatMap((id) => byId.get(id) ?? []),
    missing: ids.filter((id) => !byId.has(id)).map(jsonId),
  };
}

/** Adds `ancestors` and, with `withPath`, the names in it. Returns as many rows as fit into one response, at least one. */
async function withPaths(
  tx: Tx,
  tenantId: string,
  keyed: KeyedDept[],
  { withPath = false }: DeptFilter,
): Promise<DeptRow[]> {
  const all = keyed.map(({ key: _, ...row }): DeptRow => row);
  const rows = all.slice(0, await addAncestors(tx, tenantId, all));
  return withPath ? withPathNames(tx, tenantId, rows) : rows;
}

/** Adds `pathNames`. Each name is read once, however many rows share it. */
async function withPathNames(tx: Tx, tenantId: string, rows: DeptRow[]): Promise<DeptRow[]> {
  const ancestorIds = (row: DeptRow) => row.ancestors.split(',').slice(1);
  const pause = createSlices();
  const ids = new Set<string>();
  for (const row of rows) {
    for (const id of ancestorIds(row)) ids.add(id);
    await pause();
  }
  const nameOf = new Map<string, { name: string; bytes: number }>();
  for (const { deptId, deptName: name } of await readNames(tx, tenantId, [...ids])) {
    nameOf.set(deptId, { name, bytes: responseBytes(name) + 1 });
    await pause();
  }
  const budget = new PathBudget();
  const shown: DeptRow[] = [];
  for (const row of rows) {
    let bytes = row.ancestors.length;
    const pathNames = ancestorIds(row).map((id) => {
      const found = nameOf.get(id);
      bytes += found?.bytes ?? 3;
      return found?.name ?? '';
    });
    if (!budget.trySpend(bytes) && shown.length > 0) break;
    shown.push({ ...row, pathNames });
    await pause();
  }
  return shown;
}
