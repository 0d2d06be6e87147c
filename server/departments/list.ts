import type { Tx } from '../../db/sql.ts';
import type { Caller } from '../auth/caller.ts';
import { cutPage, type NextRows, placeIn } from '../http/cursor.ts';
import { idOf, isCalendarDate, pageOf, type Rows, shownId } from '../http/fields.ts';
import { countLetters } from '../http/letters.ts';
import {
  type Cut,
  countRows,
  fewBelow,
  fewFound,
  type Keyed,
  type Order,
  readDepts,
  readIds,
  readNames,
  readPage,
  type Search,
  type Source,
} from './list-queries.ts';
import { tellAncestors } from './paths.ts';
import { walkUp } from './queries.ts';
import type { DeptBatch, DeptFilter, DeptRow, Sort } from './schema.ts';

/** So many are read one by one and sorted, rather than looked for in the order of the list. */
const FEW = 2_000;
/** More where all that match are counted anyway. */
const FEW_OF_ALL = 20_000;
/** What is common is met soon: so many rows are looked at for each one to be shown, before an index is asked. */
const SOON = 10;
/** And so many where no index leaves few; but never more than some, each of which may have to be walked up from. */
const LATER = 500;
const LOOK_AT_MOST = 20_000;

export async function listDepartments(
  tx: Tx,
  caller: Caller,
  filter: DeptFilter,
): Promise<Rows<DeptRow> | NextRows<DeptRow>> {
  const { tenantId } = caller;
  const search = searchOf(filter);
  const order = orderOf(filter);
  const { limit, offset } = pageOf(filter);
  const after = filter.cursor && placeIn(filter.cursor, sortOf(order), isKeyOf[order.sort]);
  const page =
    filter.cursor === undefined
      ? await numberedPage(tx, tenantId, search, order, { limit, offset })
      : await nextPage(tx, tenantId, search, order, { limit, ...(after ? { after } : {}) });
  const rows = await tellAncestors(
    tx,
    tenantId,
    page.rows.map(({ key: _, ...row }) => row),
  );
  return { ...page, rows: filter.withPath ? await withPathNames(tx, tenantId, rows) : rows };
}

async function numberedPage(tx: Tx, tenantId: string, search: Search, order: Order, cut: Cut): Promise<Rows<Keyed>> {
  const few = await fewOf(tx, tenantId, search, FEW_OF_ALL);
  const [rows, total] = await Promise.all([
    few ? readPage(tx, tenantId, search, few, order, cut) : readMany(tx, tenantId, search, order, cut),
    countRows(tx, tenantId, search, few ?? allOf(search)),
  ]);
  return { rows, total };
}

/** What is common fills a page soon, in the order of the list; what is rare is found by an index, and sorted then. */
async function nextPage(tx: Tx, tenantId: string, search: Search, order: Order, cut: Cut): Promise<NextRows<Keyed>> {
  const oneMore = { ...cut, limit: cut.limit + 1 };
  const { deptName, leader, underId } = search;
  const rows =
    (deptName ?? leader ?? underId) === null
      ? await readPage(tx, tenantId, search, { from: 'order' }, order, oneMore)
      : ((await readAmongFirst(tx, tenantId, search, order, oneMore, SOON)) ??
        (await readFew(tx, tenantId, search, order, oneMore)) ??
        (await readMany(tx, tenantId, search, order, oneMore)));
  return cutPage(rows, cut.limit, ({ key, deptId }) => ({ sort: sortOf(order), key, id: String(deptId) }));
}

async function readFew(tx: Tx, tenantId: string, search: Search, order: Order, cut: Cut) {
  const few = await fewOf(tx, tenantId, search, FEW);
  return few && readPage(tx, tenantId, search, few, order, cut);
}

/** A large branch is walked down only when its departments are far apart in the order of the list. */
async function readMany(tx: Tx, tenantId: string, search: Search, order: Order, cut: Cut): Promise<Keyed[]> {
  const found = search.underId && (await readAmongFirst(tx, tenantId, search, order, cut, LATER));
  return found || readPage(tx, tenantId, search, allOf(search), order, cut);
}

/** A page from the first rows in the order of the list; undefined when it is not full. */
async function readAmongFirst(tx: Tx, tenantId: string, search: Search, order: Order, cut: Cut, times: number) {
  const { limit, offset = 0 } = cut;
  const look = Math.min(times * (limit + offset), LOOK_AT_MOST);
  const source: Source = { from: 'order', look };
  if (search.underId === null) {
    const rows = await readPage(tx, tenantId, search, source, order, cut);
    return rows.length === limit ? rows : undefined;
  }
  const seen = await readIds(tx, tenantId, search, source, order, { ...cut, limit: look, offset: 0 });
  const ids = (await thoseBelow(tx, tenantId, search.underId, seen)).slice(offset, offset + limit);
  return ids.length === limit ? readPage(tx, tenantId, search, { from: 'ids', ids }, order, { limit }) : undefined;
}

/** Of these, those that are somewhere below a department. Together: what is above many of them is looked at once. */
async function thoseBelow(tx: Tx, tenantId: string, underId: string, ids: string[]): Promise<string[]> {
  const rows = await walkUp(tx, tenantId, ids);
  const parents = new Map(rows.map(({ deptId, parentId }) => [deptId, parentId]));
  const known = new Map([
    [0, false],
    [Number(underId), true],
  ]);
  const isAtOrBelow = (deptId: number): boolean => {
    const trail: number[] = [];
    let id = deptId;
    for (; !known.has(id); id = parents.get(id) ?? 0) trail.push(id);
    const found = known.get(id) as boolean;
    for (const passed of trail) known.set(passed, found);
    return found;
  };
  return ids.filter((id) => id !== underId && isAtOrBelow(Number(id)));
}

/** By name, or by branch, whichever leaves few; undefined when neither does. The children of one parent are few as such. */
async function fewOf(tx: Tx, tenantId: string, search: Search, few: number): Promise<Source | undefined> {
  if (search.parentId === null && (search.deptName ?? search.leader) !== null) {
    const ids = await fewFound(tx, search, few);
    if (ids) {
      const { underId } = search;
      return { from: 'ids', ids: underId === null ? ids : await thoseBelow(tx, tenantId, underId, ids) };
    }
  }
  if (search.underId === null) return undefined;
  const ids = await fewBelow(tx, tenantId, search.underId, few);
  return ids && { from: 'ids', ids };
}

const allOf = ({ underId }: Search): Source => ({ from: underId === null ? 'order' : 'branch' });

/** In the order asked. What is another tenant's, deleted or missing is all the same. */
export async function readDepartments(tx: Tx, caller: Caller, asked: (number | string)[]): Promise<DeptBatch> {
  const ids = asked.map(idOf);
  const found = await tellAncestors(tx, caller.tenantId, await readDepts(tx, caller.tenantId, [...new Set(ids)]));
  const byId = new Map(found.map((dept) => [String(dept.deptId), dept]));
  return {
    rows: ids.flatMap((id) => byId.get(id) ?? []),
    missing: ids.filter((id) => !byId.has(id)).map(shownId),
  };
}

/** The ids are in `ancestors` already: each name is read once, however many rows are below it. */
async function withPathNames(tx: Tx, tenantId: string, rows: DeptRow[]): Promise<DeptRow[]> {
  const above = (row: DeptRow) => row.ancestors.split(',').slice(1);
  const ids = new Set<string>();
  for (const row of rows) for (const id of above(row)) ids.add(id);
  const names = await readNames(tx, tenantId, [...ids]);
  const nameOf = new Map(names.map(({ deptId, deptName }) => [deptId, deptName]));
  const count = countLetters();
  return rows.map((row) => {
    const pathNames = above(row).map((id) => nameOf.get(id) ?? '');
    for (const name of pathNames) count(name.length);
    return { ...row, pathNames };
  });
}

const searchOf = (filter: DeptFilter): Search => ({
  deptName: filter.deptName ?? null,
  leader: filter.leader ?? null,
  status: filter.status ?? null,
  parentId: filter.parentId === undefined ? null : idOf(filter.parentId),
  underId: filter.underId === undefined || idOf(filter.underId) === '0' ? null : idOf(filter.underId),
});

function orderOf({ sort = 'orderNum' }: DeptFilter): Order {
  const descending = sort.startsWith('-');
  return { sort: (descending ? sort.slice(1) : sort) as Sort, descending };
}

const sortOf = ({ sort, descending }: Order) => (descending ? `-${sort}` : sort);

/** What may stand as a key in a cursor: it goes to the database as such. */
const isKeyOf: Record<Sort, (key: string) => boolean> = {
  orderNum: (key) => /^-?\d{1,10}$/.test(key) && Number(key) === (Number(key) | 0),
  deptName: (key) => key.length <= 200 && key.isWellFormed() && !key.includes('\0'),
  createTime: (key) => isTime(key),
  updateTime: (key) => key === '-infinity' || isTime(key),
};

const isTime = (key: string) =>
  isCalendarDate(key.slice(0, 10)) && /^T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z$/.test(key.slice(10));
