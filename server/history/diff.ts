import type { Tx } from '../../db/sql.ts';
import type { Caller } from '../auth/caller.ts';
import type { Dept } from '../departments/schema.ts';
import { refuse } from '../http/refusals.ts';
import { type Paths, pathsAbove } from './above.ts';
import { keepToIndexes, type Moment, readBoth } from './queries.ts';
import { type Diff, MAX_COMPARED, type Placed } from './schema.ts';

/** What came of all that was done between two moments: who was made and deleted in between is not in it. */
export async function compareDepartments(
  tx: Tx,
  { tenantId }: Caller,
  { from, to }: { from: Moment; to: Moment },
): Promise<Diff> {
  await keepToIndexes(tx);
  const touched = await readBoth(tx, tenantId, from, to, MAX_COMPARED + 1);
  if (touched.length > MAX_COMPARED) throw refuse('DIFF_TOO_LARGE', { limit: MAX_COMPARED });
  const [were, are] = [
    await pathsAbove(
      tx,
      tenantId,
      touched.flatMap(({ before }) => before ?? []),
      from,
    ),
    await pathsAbove(
      tx,
      tenantId,
      touched.flatMap(({ after }) => after ?? []),
      to,
    ),
  ];
  const diff: Diff = { created: [], deleted: [], moved: [], renamed: [], changed: [] };
  for (const { before, after } of touched) {
    if (before && after) addChanges(diff, before, after, were, are);
    else if (after) diff.created.push(placed(after, are));
    else if (before) diff.deleted.push(placed(before, were));
  }
  return diff;
}

function addChanges(diff: Diff, before: Dept, after: Dept, were: Paths, are: Paths): void {
  const { deptId, deptName } = after;
  if (before.parentId !== after.parentId) {
    diff.moved.push({
      deptId,
      deptName,
      fromParentId: before.parentId,
      toParentId: after.parentId,
      fromPath: were.names(before.parentId),
      toPath: are.names(after.parentId),
    });
  }
  if (before.deptName !== deptName) diff.renamed.push({ deptId, from: before.deptName, to: deptName });
  const fields = COMPARED.filter((field) => before[field] !== after[field]);
  if (fields.length === 0) return;
  diff.changed.push({
    deptId,
    deptName,
    fields: fields.map((field) => ({ field, from: before[field], to: after[field] })),
  });
}

const COMPARED = ['orderNum', 'leader', 'phone', 'email', 'status'] as const;

const placed = ({ deptId, deptName, parentId }: Dept, paths: Paths): Placed => ({
  deptId,
  deptName,
  parentId,
  path: paths.names(parentId),
});
