import type { Tx } from '../../db/sql.ts';
import type { Caller } from '../auth/caller.ts';
import type { ChildrenFilter, ChildrenPage } from '../branches/schema.ts';
import type { Dept, DeptFilter, DeptRow, Sort } from '../departments/schema.ts';
import { cutPage, placeIn } from '../http/cursor.ts';
import { idOf, pageOf, type Rows } from '../http/fields.ts';
import { refuse } from '../http/refusals.ts';
import { invalid } from '../http/validation.ts';
import { pathsAbove } from './above.ts';
import { hadMore, type Order, readPage } from './list-queries.ts';
import { keepToIndexes, listChildren, type Moment, readRecord } from './queries.ts';

/** A list of all looks at each department that there ever was: of more than this it would not end in time. */
const MAX_LISTED = 100_000;

/** As it was at a moment; what was not there then, or was deleted, is not found. */
export async function readDepartmentAt(tx: Tx, { tenantId }: Caller, deptId: string, moment: Moment): Promise<Dept> {
  await keepToIndexes(tx);
  const dept = await readRecord<Dept>(tx, tenantId, 'department', deptId, moment);
  if (!dept) throw refuse('DEPT_NOT_FOUND');
  const paths = await pathsAbove(tx, tenantId, [dept], moment);
  return { ...dept, ancestors: paths.ancestors(dept.parentId) };
}

export async function listChildrenAt(
  tx: Tx,
  caller: Caller,
  deptId: string,
  { limit = 50, cursor, counts = false }: ChildrenFilter,
  moment: Moment,
): Promise<ChildrenPage> {
  if (counts) throw invalid('counts', 'onlyNow');
  const sort = `children of ${deptId}`;
  const after = cursor ? placeIn(cursor, sort, isOrderNum) : undefined;
  if (deptId === '0') await keepToIndexes(tx);
  else await readDepartmentAt(tx, caller, deptId, moment);
  const { tenantId } = caller;
  const rows = await listChildren(tx, tenantId, deptId, { moment, after, limit: limit + 1 });
  const page = cutPage(rows, limit, ({ dept }) => ({ sort, key: String(dept.orderNum), id: String(dept.deptId) }));
  const paths = await pathsAbove(tx, tenantId, [{ parentId: Number(deptId) }], moment);
  const ancestors = paths.ancestors(Number(deptId));
  return { ...page, rows: page.rows.map(({ dept, hasChildren }) => ({ ...dept, ancestors, hasChildren })) };
}

const isOrderNum = (key: string) => /^-?\d{1,10}$/.test(key) && (Number(key) | 0) === Number(key);

/** The same filters and orders as the list of today, in numbered pages: what was does not change between two of them. */
export async function listDepartmentsAt(
  tx: Tx,
  { tenantId }: Caller,
  filter: DeptFilter,
  moment: Moment,
): Promise<Rows<DeptRow>> {
  if (filter.cursor !== undefined) throw invalid('cursor', 'onlyNow');
  const search = {
    deptName: filter.deptName ?? null,
    leader: filter.leader ?? null,
    status: filter.status ?? null,
    parentId: filter.parentId === undefined ? null : idOf(filter.parentId),
    underId: filter.underId === undefined || idOf(filter.underId) === '0' ? null : idOf(filter.underId),
  };
  await keepToIndexes(tx);
  const ofAll = search.parentId === null && search.underId === null;
  if (ofAll && (await hadMore(tx, tenantId, MAX_LISTED))) throw refuse('PAST_TOO_LARGE', { limit: MAX_LISTED });
  const { total, rows } = await readPage(tx, tenantId, search, orderOf(filter), { moment, ...pageOf(filter) });
  const paths = await pathsAbove(tx, tenantId, rows, moment);
  return {
    total,
    rows: rows.map((dept) => ({
      ...dept,
      ancestors: paths.ancestors(dept.parentId),
      ...(filter.withPath ? { pathNames: paths.names(dept.parentId) } : {}),
    })),
  };
}

function orderOf({ sort = 'orderNum' }: DeptFilter): Order {
  const descending = sort.startsWith('-');
  return { sort: (descending ? sort.slice(1) : sort) as Sort, descending };
}
