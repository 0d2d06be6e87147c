import type { Tx } from '../../../db/driver.ts';
import { forceIndexScans } from '../../../db/planner.ts';
import type { Caller } from '../../auth/caller.ts';
import { apiError } from '../../http/errors.ts';
import { createSlices } from '../../http/slices.ts';
import type { PointInTime } from '../../ledger/point-in-time.ts';
import type { StoredRow } from '../../records/record.ts';
import { type Leaders, showLeader } from '../leaders.ts';
import { type DepartmentValues, department, storedLeader, storedParent } from '../record.ts';
import { type PathsAt, readPathsAt } from './ancestors.ts';
import { readLeadersAt } from './leaders.ts';
import { readChangedBetween } from './queries.ts';
import { type DeptWithPath, type Diff, MAX_COMPARED } from './schema.ts';

/** Compares the departments at two points in time. Those that were created and deleted in between are not listed. */
export async function compareDepartments(
  tx: Tx,
  { tenantId }: Caller,
  { from, to }: { from: PointInTime; to: PointInTime },
): Promise<Diff> {
  await forceIndexScans(tx);
  const changed = await readChangedBetween(tx, tenantId, from, to, MAX_COMPARED + 1);
  if (changed.length > MAX_COMPARED) throw apiError('DIFF_TOO_LARGE', { limit: MAX_COMPARED });
  const parents = (side: 'before' | 'after') =>
    changed.flatMap((versions) => {
      const row = versions[side];
      return row ? storedParent(row) : [];
    });
  const pathsBefore = await readPathsAt(tx, tenantId, parents('before'), from);
  const pathsAfter = await readPathsAt(tx, tenantId, parents('after'), to);
  const leaders = (side: 'before' | 'after') =>
    changed.map((versions) => {
      const row = versions[side];
      return row && storedLeader(row);
    });
  const leadersBefore = await readLeadersAt(tx, tenantId, leaders('before'), from);
  const leadersAfter = await readLeadersAt(tx, tenantId, leaders('after'), to);
  const diff: Diff = { created: [], deleted: [], moved: [], renamed: [], changed: [] };
  const pause = createSlices();
  for (const { before, after } of changed) {
    await pause();
    const old = before && toVersion(before, leadersBefore);
    const now = after && toVersion(after, leadersAfter);
    if (old && now) addChanges(diff, old, now, pathsBefore, pathsAfter);
    else if (now) diff.created.push(withPath(now, pathsAfter));
    else if (old) diff.deleted.push(withPath(old, pathsBefore));
  }
  return diff;
}

type Version = Omit<DepartmentValues, 'leaderId'> & { leaderId: number | null; deptId: number; parentId: number };

const toVersion = (row: StoredRow, leaders: Leaders): Version => ({
  deptId: Number(row.dept_id),
  parentId: storedParent(row),
  ...showLeader({ ...department.fromStored(row), leaderId: storedLeader(row) }, leaders),
});

function addChanges(diff: Diff, before: Version, after: Version, pathsBefore: PathsAt, pathsAfter: PathsAt): void {
  const { deptId, deptName } = after;
  if (before.parentId !== after.parentId) {
    diff.moved.push({
      deptId,
      deptName,
      fromParentId: before.parentId,
      toParentId: after.parentId,
      fromPath: pathsBefore.names(before.parentId),
      toPath: pathsAfter.names(after.parentId),
    });
  }
  if (before.deptName !== deptName) diff.renamed.push({ deptId, from: before.deptName, to: deptName });
  const fields = COMPARED_FIELDS.filter((field) => before[field] !== after[field]);
  if (fields.length === 0) return;
  diff.changed.push({
    deptId,
    deptName,
    fields: fields.map((field) => ({ field, from: before[field], to: after[field] })),
  });
}

/** A changed name is listed under `renamed` instead. */
const COMPARED_FIELDS = department.names.filter((name) => name !== 'deptName');

const withPath = ({ deptId, deptName, parentId }: Version, paths: PathsAt): DeptWithPath => ({
  deptId,
  deptName,
  parentId,
  path: paths.names(parentId),
});
