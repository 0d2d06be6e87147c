import type { Tx } from '../../../db/driver.ts';
import { forceIndexScans } from '../../../db/planner.ts';
import type { Caller } from '../../auth/caller.ts';
import { apiError } from '../../http/errors.ts';
import { idOf, pageOf, type Rows } from '../../http/fields.ts';
import { decodeCursor, toCursorPage } from '../../http/pagination.ts';
import { invalid } from '../../http/validation.ts';
import { readStoredAt } from '../../ledger/history.ts';
import type { PointInTime } from '../../ledger/point-in-time.ts';
import { storedParent } from '../record.ts';
import type { Dept, DeptFilter, DeptRow, Sort } from '../schema.ts';
import type { StoredReader } from '../stored-reader.ts';
import type { ChildrenFilter, ChildrenPage } from '../tree/schema.ts';
import { readPathsAt } from './ancestors.ts';
import { hadMoreThan, type Order, readPage } from './list-queries.ts';
import { listChildrenAt as listRows } from './queries.ts';

/** A list of the past reads every department that ever existed: with more than this it would exceed the deadline. */
const MAX_LISTED = 100_000;

/** Reads a department as it was; one that did not exist or was deleted then is not found. */
export async function readDepartmentAt(
  tx: Tx,
  show: StoredReader,
  { tenantId }: Caller,
  deptId: string,
  time: PointInTime,
): Promise<Dept> {
  await forceIndexScans(tx);
  const row = await readStoredAt(tx, tenantId, 'department', deptId, time);
  if (!row) throw apiError('DEPT_NOT_FOUND');
  const paths = await readPathsAt(tx, tenantId, [storedParent(row)], time);
  return show(row, paths.ancestors(storedParent(row)));
}

export async function listChildrenAt(
  tx: Tx,
  show: StoredReader,
  caller: Caller,
  deptId: string,
  { limit = 50, cursor, counts = false, time }: ChildrenFilter & { time: PointInTime },
): Promise<ChildrenPage> {
  if (counts) throw invalid('counts', 'notWithAsOf');
  const sort = `children of ${deptId}`;
  const after = cursor ? decodeCursor(cursor, sort, isOrderNum) : undefined;
  if (deptId === '0') await forceIndexScans(tx);
  else await readDepartmentAt(tx, show, caller, deptId, time);
  const { tenantId } = caller;
  const rows = await listRows(tx, tenantId, deptId, { time, after, limit: limit + 1 });
  const page = toCursorPage(rows, limit, (row) => ({ sort, key: String(row.orderNum), id: String(row.deptId) }));
  const paths = await readPathsAt(tx, tenantId, [Number(deptId)], time);
  const ancestors = paths.ancestors(Number(deptId));
  return { ...page, rows: page.rows.map(({ row, hasChildren }) => ({ ...show(row, ancestors), hasChildren })) };
}

const isOrderNum = (key: string) => /^-?\d{1,10}$/.test(key) && (Number(key) | 0) === Number(key);

/** Filters and orders like the present list, in numbered pages: the past does not change between two of them. */
export async function listDepartmentsAt(
  tx: Tx,
  show: StoredReader,
  { tenantId }: Caller,
  filter: DeptFilter,
  time: PointInTime,
): Promise<Rows<DeptRow>> {
  if (filter.cursor !== undefined) throw invalid('cursor', 'notWithAsOf');
  const search = {
    deptName: filter.deptName ?? null,
    leader: filter.leader ?? null,
    status: filter.status ?? null,
    parentId: filter.parentId === undefined ? null : idOf(filter.parentId),
    underId: filter.underId === undefined || idOf(filter.underId) === '0' ? null : idOf(filter.underId),
  };
  await forceIndexScans(tx);
  const ofAll = search.parentId === null && search.underId === null;
  if (ofAll && (await hadMoreThan(tx, tenantId, MAX_LISTED))) throw apiError('PAST_TOO_LARGE', { limit: MAX_LISTED });
  const { total, rows } = await readPage(tx, tenantId, search, orderOf(filter), { time, ...pageOf(filter) });
  const paths = await readPathsAt(tx, tenantId, rows.map(storedParent), time);
  return {
    total,
    rows: rows.map((row) => ({
      ...show(row, paths.ancestors(storedParent(row))),
      ...(filter.withPath ? { pathNames: paths.names(storedParent(row)) } : {}),
    })),
  };
}

function orderOf({ sort = 'orderNum' }: DeptFilter): Order {
  const descending = sort.startsWith('-');
  return { sort: (descending ? sort.slice(1) : sort) as Sort, descending };
}
