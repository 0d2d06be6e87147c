import type { Tx } from '../../../db/driver.ts';
import { RetryTransactionError } from '../../../db/errors.ts';
import { forceIndexScans } from '../../../db/planner.ts';
import { lockTenant } from '../../access/tenant-scope.ts';
import type { Caller } from '../../auth/caller.ts';
import { apiError } from '../../http/errors.ts';
import { jsonId } from '../../http/fields.ts';
import { rethrowAsExternalIdTaken } from '../../records/external-id.ts';
import { lockLevels } from '../level-queries.ts';
import { assertSubtreesNotTooDeep } from '../levels.ts';
import { bumpTreeVersion, lockAnyForUpdate, markRestored } from '../queries.ts';
import { toParentId } from '../rules.ts';
import { readDeletedWith } from './restore-queries.ts';
import type { RestoreInput } from './schema.ts';

/** Restores a department with the part of its subtree that the same request deleted. */
export async function restoreDepartment(
  tx: Tx,
  { tenantId, userName }: Caller,
  deptId: string,
  input: RestoreInput,
  { maxLevels }: { maxLevels: number },
): Promise<void> {
  await forceIndexScans(tx);
  // Lock the tenant first, so that no department is moved or restored meanwhile.
  await lockTenant(tx, tenantId);
  const deleted = await readDeletedWith(tx, tenantId, deptId);
  const subtree = deletedSubtreeOf(deptId, deleted);
  const requested = input.parentId == null ? undefined : toParentId(input.parentId);
  const parentBefore = deleted.find((dept) => dept.deptId === deptId)?.parentId ?? null;
  const parentId = requested === undefined ? parentBefore : requested;
  const locked = await lockAnyForUpdate(tx, tenantId, [...subtree, ...(parentId ? [parentId] : [])]);
  const found = new Map(locked.map((dept) => [dept.deptId, dept]));
  const dept = found.get(deptId);
  if (!dept) throw apiError('DEPT_NOT_FOUND');
  if (dept.delFlag === '0') throw apiError('DEPT_NOT_DELETED');
  // The department was deleted while we waited for its lock: what was read before, such as its parent, is out of date.
  if (!deleted.some((each) => each.deptId === deptId)) throw new RetryTransactionError();
  if (parentId) {
    if (subtree.has(parentId)) throw apiError('DEPT_CYCLE');
    const parent = found.get(parentId);
    if (parent?.delFlag !== '0') {
      throw apiError(requested ? 'PARENT_NOT_FOUND' : 'PARENT_GONE', { parentId: jsonId(parentId) });
    }
    if (parent.status !== '0') throw apiError('PARENT_DISABLED');
  }
  const parents = new Map([...subtree].map((id) => [id, found.get(id)?.parentId ?? null]));
  // Take this lock before external ids are added to the unique index, as creations do: in another order, the two could deadlock.
  if (locked.some(({ externalId, deptId }) => externalId !== null && subtree.has(deptId)))
    await lockLevels(tx, tenantId);
  await markRestored(tx, tenantId, parents.set(deptId, parentId), userName).catch(rethrowAsExternalIdTaken);
  await assertSubtreesNotTooDeep(tx, tenantId, [deptId], maxLevels);
  if (parentId !== dept.parentId) await bumpTreeVersion(tx, tenantId);
}

function deletedSubtreeOf(
  deptId: string,
  deleted: readonly { deptId: string; parentId: string | null }[],
): Set<string> {
  const children = new Map<string, string[]>();
  for (const { deptId, parentId } of deleted) {
    if (!parentId) continue;
    const siblings = children.get(parentId);
    if (siblings) siblings.push(deptId);
    else children.set(parentId, [deptId]);
  }
  const subtree = new Set([deptId]);
  // The loop also visits elements that are added while it runs.
  for (const id of subtree) for (const child of children.get(id) ?? []) subtree.add(child);
  return subtree;
}
