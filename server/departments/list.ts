import type { Tx } from '../../db/driver.ts';
import type { Caller } from '../auth/caller.ts';
import { idOf, jsonId, pageOf, type Rows } from '../http/fields.ts';
import { type CursorPage, decodeCursor, toCursorPage } from '../http/pagination.ts';
import { createPathBudget } from '../http/path-budget.ts';
import { isValidKey, type Order, orderOf, type Search, searchOf, sortOf } from './filter.ts';
import {
  countRows,
  type KeyedDept,
  type PageRange,
  readDepts,
  readDescendantIds,
  readNames,
  readPage,
  readPageIds,
  type Source,
  searchIds,
} from './list-queries.ts';
import { addAncestors } from './path-cache.ts';
import { readAncestors } from './queries.ts';
import type { DeptBatch, DeptFilter, DeptRow } from './schema.ts';

/** Up to this many matches are read by their ids and sorted; for more, the index of the sort order is scanned. */
const MAX_SORTED = 2_000;
/** The same for numbered pages, which have to count all matches anyway. */
const MAX_SORTED_WITH_TOTAL = 20_000;
/** How many rows are scanned in sort order for each row of the page before the search index or the branch is tried. */
const SCAN_FACTOR = 10;
/** The same before a large branch is read as a whole. */
const LARGE_BRANCH_SCAN_FACTOR = 500;
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
  const after = filter.cursor && decodeCursor(filter.cursor, sortOf(order), isValidKey[order.sort]);
  const page =
    filter.cursor === undefined
      ? await readNumberedPage(tx, tenantId, search, order, { limit, offset })
      : await readCursorPage(tx, tenantId, search, order, { limit, ...(after ? { after } : {}) });
  const rows = await addAncestors(
    tx,
    tenantId,
    page.rows.map(({ key: _, ...row }) => row),
  );
  return { ...page, rows: filter.withPath ? await withPathNames(tx, tenantId, rows) : rows };
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
 * the few rows that match, and they are sorted.
 */
async function readCursorPage(
  tx: Tx,
  tenantId: string,
  search: Search,
  order: Order,
  range: PageRange,
): Promise<CursorPage<KeyedDept>> {
  const oneMore = { ...range, limit: range.limit + 1 };
  const { deptName, leader, underId } = search;
  const rows =
    (deptName ?? leader ?? underId) === null
      ? await readPage(tx, tenantId, search, { from: 'index' }, order, oneMore)
      : ((await scanInOrder(tx, tenantId, search, order, oneMore, SCAN_FACTOR)) ??
        (await readFewMatches(tx, tenantId, search, order, oneMore)) ??
        (await readManyMatches(tx, tenantId, search, order, oneMore)));
  return toCursorPage(rows, range.limit, ({ key, deptId }) => ({ sort: sortOf(order), key, id: String(deptId) }));
}

/** Finds the matches and sorts them; undefined when there are too many. */
async function readFewMatches(tx: Tx, tenantId: string, search: Search, order: Order, range: PageRange) {
  const matches = await findMatches(tx, tenantId, search, MAX_SORTED);
  return matches && readPage(tx, tenantId, search, matches, order, range);
}

/** Reads a page of a large result. Reads a branch as a whole only when its departments are far apart in sort order. */
async function readManyMatches(
  tx: Tx,
  tenantId: string,
  search: Search,
  order: Order,
  range: PageRange,
): Promise<KeyedDept[]> {
  const rows = search.underId && (await scanInOrder(tx, tenantId, search, order, range, LARGE_BRANCH_SCAN_FACTOR));
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
 * Finds the matches by name and leader, or all departments of the branch; undefined when there are more than `maxRows` in
 * either case. With `parentId` the search index is not used: the index of children finds the few candidates.
 */
async function findMatches(tx: Tx, tenantId: string, search: Search, maxRows: number): Promise<Source | undefined> {
  const { deptName, leader, parentId, underId } = search;
  if (parentId === null && (deptName ?? leader) !== null) {
    const ids = await searchIds(tx, search, maxRows);
    if (ids) return { from: 'ids', ids: underId === null ? ids : await filterDescendants(tx, tenantId, underId, ids) };
  }
  if (underId === null) return undefined;
  const ids = await readDescendantIds(tx, tenantId, underId, maxRows);
  return ids && { from: 'ids', ids };
}

const fullSource = ({ underId }: Search): Source => ({ from: underId === null ? 'index' : 'branch' });

/** Reads departments by their ids. Departments of other tenants are reported as missing, like deleted ones. */
export async function readDepartments(tx: Tx, caller: Caller, deptIds: (number | string)[]): Promise<DeptBatch> {
  const ids = deptIds.map(idOf);
  const found = await addAncestors(tx, caller.tenantId, await readDepts(tx, caller.tenantId, [...new Set(ids)]));
  const byId = new Map(found.map((dept) => [String(dept.deptId), dept]));
  return {
    rows: ids.flatMap((id) => byId.get(id) ?? []),
    missing: ids.filter((id) => !byId.has(id)).map(jsonId),
  };
}

/** Adds the names of the departments in `ancestors`. Each name is read once, however many rows share it. */
async function withPathNames(tx: Tx, tenantId: string, rows: DeptRow[]): Promise<DeptRow[]> {
  const ancestorIds = (row: DeptRow) => row.ancestors.split(',').slice(1);
  const ids = new Set<string>();
  for (const row of rows) for (const id of ancestorIds(row)) ids.add(id);
  const names = await readNames(tx, tenantId, [...ids]);
  const nameOf = new Map(names.map(({ deptId, deptName }) => [deptId, deptName]));
  const spend = createPathBudget();
  return rows.map((row) => {
    const pathNames = ancestorIds(row).map((id) => nameOf.get(id) ?? '');
    for (const name of pathNames) spend(name.length);
    return { ...row, pathNames };
  });
}
