import type { Tx } from '../../../db/driver.ts';
import { assumeTenantForWrite } from '../../access/tenant-scope.ts';
import type { Caller } from '../../auth/caller.ts';
import { apiError } from '../../http/errors.ts';
import { assertNoConflicts } from '../../ledger/conflicts.ts';
import type { RecordRevert } from '../../ledger/resources.ts';
import { rethrowAsExternalIdTaken } from '../../records/external-id.ts';
import type { StoredRow } from '../../records/record.ts';
import { lockLevels, readLevels } from '../level-queries.ts';
import { assertSubtreesNotTooDeep } from '../levels.ts';
import { bumpTreeVersion, lockAnyForUpdate, markDeleted, markRestored, updateMany } from '../queries.ts';
import { readParents } from '../reconcile.ts';
import { department, storedContents, storedParent } from '../record.ts';
import { assertUnused, moveDepartment, toParentId } from '../rules.ts';
import { wasDisabled } from './restore-queries.ts';

/** Reverts changes of departments of the caller's own tenant or of one below it. */
export async function revertDepartments(
  tx: Tx,
  caller: Caller,
  ledgerTenantId: string,
  reverts: RecordRevert[],
  { maxLevels }: { maxLevels: number },
): Promise<void> {
  const { userName } = caller;
  const created = reverts.filter(({ to }) => !to).map(({ id }) => id);
  const deleted = reverts.filter(({ from }) => !from);
  const moved = reverts.filter(({ from, to }) => from && to && storedParent(from) !== storedParent(to));
  const updated = reverts.filter(({ from, to }) => from && to && storedParent(from) === storedParent(to));

  // Lock the tenant first, so that no department is moved or restored between the checks and the writes.
  const { tenantId } = await assumeTenantForWrite(tx, caller, ledgerTenantId);
  const parents = parentsOutside([...deleted, ...moved], deleted);
  const locked = await lockAnyForUpdate(tx, tenantId, [
    ...new Set([...reverts.map(({ id }) => id), ...parents.keys()]),
  ]);
  const found = new Map(locked.map((dept) => [dept.deptId, dept]));
  await assertNoConflicts(tx, tenantId, { resource: 'department', contents: storedContents }, reverts);
  for (const [parentId, changeId] of parents) {
    const parent = found.get(parentId);
    if (parent?.delFlag !== '0') throw apiError('PARENT_GONE', { parentId: Number(parentId) });
    // A department may return to a parent that was already disabled then, but not to one that has been disabled since.
    const disabledSince = parent.status !== '0' && !(await wasDisabled(tx, tenantId, parentId, changeId));
    if (disabledSince) throw apiError('PARENT_DISABLED');
  }

  // Take this lock before external ids are added, as in restoreDepartment.
  if (reverts.some(addsExternalId)) await lockLevels(tx, tenantId);
  if (created.length > 0) {
    await markDeleted(tx, tenantId, created, userName);
    // Any remaining children and members were added by other requests.
    await assertUnused(tx, tenantId, created);
  }
  if (deleted.length > 0) {
    const parentIds = new Map(deleted.map(({ id, to }) => [id, parentIn(to as StoredRow)]));
    await markRestored(tx, tenantId, parentIds, userName).catch(rethrowAsExternalIdTaken);
    const roots = [...parentIds].filter(([, parentId]) => !parentId || !parentIds.has(parentId)).map(([id]) => id);
    await assertSubtreesNotTooDeep(tx, tenantId, roots, maxLevels);
    if ([...parentIds].some(([id, parentId]) => found.get(id)?.parentId !== parentId))
      await bumpTreeVersion(tx, tenantId);
  }
  if (moved.length > 0) {
    const ids = moved.map(({ id }) => id);
    const before = await readLevels(tx, tenantId, ids);
    for (const { id, to } of await sortTopDown(tx, tenantId, moved)) {
      const row = to as StoredRow;
      const values = { ...department.fromStored(row, found.get(id)), parentId: parentIn(row) };
      // Between two moves the tree may be deeper than allowed, so it is measured only after the last one.
      const limits = { maxLevels: Number.POSITIVE_INFINITY, allowDisabled: true };
      await moveDepartment(tx, { ...caller, tenantId }, id, values, limits);
    }
    const after = await readLevels(tx, tenantId, ids);
    const deeper = ids.filter((_, n) => (after[n]?.level ?? 0) > (before[n]?.level ?? 0));
    if (deeper.length > 0) await assertSubtreesNotTooDeep(tx, tenantId, deeper, maxLevels);
  }
  if (updated.length > 0) {
    const rows = updated.map(({ id, to }) => ({
      deptId: id,
      ...department.fromStored(to as StoredRow, found.get(id)),
    }));
    await updateMany(tx, tenantId, userName, rows).catch(rethrowAsExternalIdTaken);
  }
}

/** Whether a revert gives a department an external id that it does not have now. */
function addsExternalId({ from, to }: RecordRevert): boolean {
  if (!to) return false;
  const [now, then] = [from && department.fromStored(from), department.fromStored(to)];
  return then.externalId !== null && (now?.externalId !== then.externalId || now.source !== then.source);
}

const parentIn = (row: StoredRow): string | null => toParentId(storedParent(row));

/**
 * Sorts moves by the level that the departments return to. So the ancestors of a department are in place before it moves: in
 * another order, a move that swaps a parent and its child would be rejected as a cycle.
 */
async function sortTopDown(tx: Tx, tenantId: string, moved: readonly RecordRevert[]): Promise<RecordRevert[]> {
  const targets = new Map(moved.map(({ id, to }) => [id, parentIn(to as StoredRow)]));
  const parentIds = [...targets.values()].filter((id) => id !== null);
  const parents = new Map([...(await readParents(tx, tenantId, [...new Set(parentIds)])), ...targets]);
  const levels = new Map<string, number>();
  for (const { id } of moved) {
    const path: string[] = [];
    let next: string | null = id;
    while (next !== null && !levels.has(next)) {
      path.push(next);
      // Ends the loop if the departments would form a cycle, which the move itself rejects.
      levels.set(next, 0);
      next = parents.get(next) ?? null;
    }
    let level = next === null ? 0 : (levels.get(next) as number);
    for (const step of path.reverse()) levels.set(step, ++level);
  }
  const levelOf = ({ id }: RecordRevert) => levels.get(id) as number;
  return [...moved].sort((a, b) => levelOf(a) - levelOf(b));
}

/** Returns the parents that departments return to, except those restored with them, each with the first change to revert. */
function parentsOutside(reverts: readonly RecordRevert[], restored: readonly RecordRevert[]): Map<string, number> {
  const inside = new Set(restored.map(({ id }) => id));
  const parents = new Map<string, number>();
  for (const { to, first } of reverts) {
    const parentId = to && parentIn(to);
    if (parentId && !inside.has(parentId) && !parents.has(parentId)) parents.set(parentId, first);
  }
  return parents;
}
