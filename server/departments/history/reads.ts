import type { Tx } from '../../../db/driver.ts';
import { forceIndexScans } from '../../../db/planner.ts';
import type { Caller } from '../../auth/caller.ts';
import { apiError } from '../../http/errors.ts';
import { pageOf, type Rows } from '../../http/fields.ts';
import { decodeCursor, toCursorPage } from '../../http/pagination.ts';
import { createSlices } from '../../http/slices.ts';
import { invalid } from '../../http/validation.ts';
import { readStoredAt } from '../../ledger/history.ts';
import type { PointInTime } from '../../ledger/point-in-time.ts';
import { isValidKey, orderOf, searchOf, sortOfChildren } from '../filter.ts';
import { rowsFitting } from '../path-budget.ts';
import { storedLeader, storedParent } from '../record.ts';
import type { Dept, DeptFilter, DeptRow } from '../schema.ts';
import type { StoredReader } from '../stored-reader.ts';
import type { ChildrenFilter, ChildrenPage } from '../tree/schema.ts';
import { readPathsAt } from './ancestors.ts';
import { readLeadersAt } from './leaders.ts';
import { everHadMoreDepartmentsThan, readPage } from './list-queries.ts';
import { listChildrenAt as listRows } from './queries.ts';

/** Without `parentId` and `underId`, a list of the past reads all departments that ever existed: more would exceed the deadline. */
const MAX_LISTED = 100_000;

/** Reads a department as it was at a point in time. Throws if it did not exist then. */
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
  return show(row, paths.ancestors(storedParent(row)), await readLeadersAt(tx, tenantId, [storedLeader(row)], time));
}

export async function listChildrenAt(
  tx: Tx,
  show: StoredReader,
  caller: Caller,
  deptId: string,
  { limit = 50, cursor, counts = false, branchCounts = false, time }: ChildrenFilter & { time: PointInTime },
): Promise<ChildrenPage> {
  if (counts) throw invalid('counts', 'notWithAsOf');
  if (branchCounts) throw invalid('branchCounts', 'notWithAsOf');
  const sort = sortOfChildren(deptId);
  const after = cursor ? decodeCursor(cursor, sort, isValidKey.orderNum) : undefined;
  if (deptId === '0') await forceIndexScans(tx);
  else await readDepartmentAt(tx, show, caller, deptId, time);
  const { tenantId } = caller;
  const rows = await listRows(tx, tenantId, deptId, { time, after, limit: limit + 1 });
  const paths = await readPathsAt(tx, tenantId, [Number(deptId)], time);
  const ancestors = paths.ancestors(Number(deptId));
  const leaders = await readLeadersAt(
    tx,
    tenantId,
    rows.map(({ row }) => storedLeader(row)),
    time,
  );
  const page = toCursorPage(rows, Math.min(limit, rowsFitting(ancestors)), (row) => ({
    sort,
    key: String(row.orderNum),
    id: String(row.deptId),
  }));
  return {
    ...page,
    rows: page.rows.map(({ row, hasChildren }) => ({ ...show(row, ancestors, leaders), hasChildren })),
  };
}

/** Filters and sorts like `listDepartments`. Pages are numbered: the past does not change between two requests. */
export async function listDepartmentsAt(
  tx: Tx,
  show: StoredReader,
  { tenantId }: Caller,
  filter: DeptFilter,
  time: PointInTime,
): Promise<Rows<DeptRow>> {
  if (filter.cursor !== undefined) throw invalid('cursor', 'notWithAsOf');
  const search = searchOf(filter);
  await forceIndexScans(tx);
  const isUnbounded = search.parentId === null && search.underId === null;
  if (isUnbounded && (await everHadMoreDepartmentsThan(tx, tenantId, MAX_LISTED)))
    throw apiError('PAST_TOO_LARGE', { limit: MAX_LISTED });
  const { total, rows } = await readPage(tx, tenantId, search, orderOf(filter), { time, ...pageOf(filter) });
  const paths = await readPathsAt(tx, tenantId, rows.map(storedParent), time);
  const leaders = await readLeadersAt(tx, tenantId, rows.map(storedLeader), time);
  const pause = createSlices();
  const shown: DeptRow[] = [];
  for (const row of rows) {
    const parentId = storedParent(row);
    const dept = show(row, paths.ancestors(parentId), leaders);
    shown.push(filter.withPath ? { ...dept, pathNames: paths.names(parentId) } : dept);
    await pause();
  }
  return { total, rows: shown };
}
