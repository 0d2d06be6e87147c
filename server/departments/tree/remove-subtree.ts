import type { Tx } from '../../../db/driver.ts';
import { forceIndexScans } from '../../../db/planner.ts';
import { lockTenant } from '../../access/tenant-scope.ts';
import type { Caller } from '../../auth/caller.ts';
import { apiError } from '../../http/errors.ts';
import { assertEtag, etagOf, type IfMatch } from '../../http/etag.ts';
import { jsonIds } from '../../http/fields.ts';
import type { MemberRemoval } from '../members.ts';
import { idsWithMembers } from '../members-queries.ts';
import { markDeleted } from '../queries.ts';
import { assertTarget, readDepartment } from '../rules.ts';
import { lockSubtree, readSubtreeIds } from './queries.ts';
import { MAX_ERROR_IDS, MAX_SUBTREE_SIZE } from './schema.ts';

/** Deletes a department with all of its descendants, or nothing. */
export async function removeSubtree(
  tx: Tx,
  caller: Caller,
  deptId: string,
  ifMatch: IfMatch,
  memberRemoval?: MemberRemoval,
): Promise<void> {
  const { tenantId, userName } = caller;
  await forceIndexScans(tx);
  // Lock the tenant first, so that no department moves into the subtree or out of it.
  await lockTenant(tx, tenantId);
  const { deptIds, alsoLocked } = await lockWholeSubtree(tx, tenantId, deptId, memberRemoval?.toDeptId ?? null);
  if (ifMatch) assertEtag(ifMatch, etagOf(await readDepartment(tx, caller, deptId)));
  if (memberRemoval) {
    assertTarget(memberRemoval, deptIds, alsoLocked);
    await memberRemoval.run(tx, caller, deptIds);
  }
  const used = await idsWithMembers(tx, tenantId, deptIds);
  if (used.length > 0) throw apiError('DEPT_HAS_USERS', { deptIds: jsonIds(used.slice(0, MAX_ERROR_IDS)) });
  await markDeleted(tx, tenantId, deptIds, userName);
}

/**
 * Locks a department and all of its descendants. While it waits for locks, other transactions can still create departments
 * below those that are not locked yet. Creating a department locks its parent, so nothing is created below a locked one. The
 * subtree is therefore read again until all of it is locked. `alsoId` is locked too, in the same order of ids.
 */
async function lockWholeSubtree(tx: Tx, tenantId: string, deptId: string, alsoId: string | null) {
  const locked = new Set<string>();
  let alsoLocked: { deptId: number }[] = [];
  for (;;) {
    const subtree = await readSubtreeIds(tx, tenantId, deptId, MAX_SUBTREE_SIZE + 1);
    if (subtree.length === 0) throw apiError('DEPT_NOT_FOUND', { deptIds: jsonIds([deptId]) });
    if (subtree.length > MAX_SUBTREE_SIZE) throw apiError('BRANCH_TOO_LARGE', { limit: MAX_SUBTREE_SIZE });
    const unlocked = subtree.filter((id) => !locked.has(id));
    if (unlocked.length === 0) return { deptIds: subtree, alsoLocked };
    const isFirst = locked.size === 0;
    const rows = await lockSubtree(tx, tenantId, isFirst && alsoId ? [...unlocked, alsoId] : unlocked);
    if (isFirst) alsoLocked = rows.filter((row) => String(row.deptId) === alsoId);
    for (const id of unlocked) locked.add(id);
  }
}
