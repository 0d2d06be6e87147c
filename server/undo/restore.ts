import type { Tx } from '../../db/sql.ts';
import type { Caller } from '../auth/caller.ts';
import { forgetPaths } from '../departments/branch.ts';
import { holdDepartments, parentOf } from '../departments/departments.ts';
import { shownId } from '../http/fields.ts';
import { refuse } from '../http/refusals.ts';
import { lockReach, lockTenant } from '../tenants/reach.ts';
import { bringBackTenant } from '../tenants/tenants.ts';
import type { User } from '../users/schema.ts';
import { bringBackUser } from '../users/users.ts';
import { keepToKeys, lockDepts, readDeletedWith, readLastBefore, restoreDepts } from './queries.ts';
import type { RestoreInput } from './schema.ts';

/** A department, and of what was deleted together with it all that lies below it. */
export async function restoreDepartment(
  tx: Tx,
  { tenantId, userName }: Caller,
  deptId: string,
  input: RestoreInput,
): Promise<void> {
  await keepToKeys(tx);
  // Locked first: nothing is restored or moved meanwhile, so what is deleted stays as we find it.
  await lockTenant(tx, tenantId);
  const deleted = await readDeletedWith(tx, tenantId, deptId);
  const branch = branchOf(deptId, deleted);
  const named = input.parentId == null ? undefined : parentOf(input.parentId);
  const parentId = named === undefined ? (deleted.find((dept) => dept.deptId === deptId)?.parentId ?? null) : named;
  const locked = await lockDepts(tx, tenantId, [...branch, ...(parentId ? [parentId] : [])]);
  const found = new Map(locked.map((dept) => [dept.deptId, dept]));
  const dept = found.get(deptId);
  if (!dept) throw refuse('DEPT_NOT_FOUND');
  if (dept.delFlag === '0') throw refuse('DEPT_NOT_DELETED');
  if (parentId) {
    if (branch.has(parentId)) throw refuse('DEPT_CYCLE');
    const parent = found.get(parentId);
    if (parent?.delFlag !== '0') {
      throw refuse(named ? 'PARENT_NOT_FOUND' : 'PARENT_GONE', { parentId: shownId(parentId) });
    }
    if (parent.status !== '0') throw refuse('PARENT_DISABLED');
  }
  const parents = new Map([...branch].map((id) => [id, found.get(id)?.parentId ?? null]));
  await restoreDepts(tx, tenantId, userName, parents.set(deptId, parentId));
  if (parentId !== dept.parentId) await forgetPaths(tx, tenantId);
}

function branchOf(deptId: string, deleted: readonly { deptId: string; parentId: string | null }[]): Set<string> {
  const children = new Map<string, string[]>();
  for (const { deptId, parentId } of deleted) {
    if (!parentId) continue;
    const siblings = children.get(parentId);
    if (siblings) siblings.push(deptId);
    else children.set(parentId, [deptId]);
  }
  const branch = new Set([deptId]);
  // What is added while it is gone through is gone through too.
  for (const id of branch) for (const child of children.get(id) ?? []) branch.add(child);
  return branch;
}

/** To those of his departments that are still there. */
export async function restoreUser(tx: Tx, caller: Caller, userId: string, inTenant: string | undefined): Promise<void> {
  const { tenantId } = await lockReach(tx, caller, inTenant);
  const was = ((await readLastBefore(tx, tenantId, 'user', userId)) ?? {}) as Partial<User>;
  const { deptId = null, deptIds = [] } = was;
  const { missing } = await holdDepartments(tx, tenantId, [...(deptId ? [deptId] : []), ...deptIds].map(String));
  const isThere = (id: number) => !missing.includes(String(id));
  await bringBackUser(tx, caller, {
    tenantId,
    userId,
    deptId: deptId && isThere(deptId) ? deptId : null,
    deptIds: deptIds.filter(isThere),
  });
}

export const restoreTenant = (tx: Tx, caller: Caller, id: string): Promise<void> => bringBackTenant(tx, caller, id);
