import type { Tx } from '../../db/sql.ts';
import type { Caller } from '../auth/caller.ts';
import { idOf, shownId, shownIds } from '../http/fields.ts';
import { etagOf, type IfMatch, refuseChanged, type Tagged } from '../http/preconditions.ts';
import { refuse } from '../http/refusals.ts';
import { lockTenant } from '../tenants/reach.ts';
import { departmentsWithUsers } from '../users/memberships.ts';
import {
  type DeptFields,
  holdDepts,
  insertDept,
  isAtOrAbove,
  lockDepts,
  markDeleted,
  parentsAmong,
  readDept,
  updateDept,
} from './queries.ts';
import type { Dept, DeptInput, DeptUpdate } from './schema.ts';

const TOP = '0';

export async function createDepartment(tx: Tx, caller: Caller, input: DeptInput): Promise<number> {
  refuseOtherTenant(caller, input.tenantId);
  const parentId = parentOf(input.parentId ?? 0);
  if (parentId) await holdParent(tx, caller, parentId);
  return insertDept(tx, caller.tenantId, caller.userName, { ...fieldsOf(input), parentId });
}

export async function readDepartment(
  tx: Tx,
  caller: Caller,
  deptId: string,
  includeDeleted: boolean,
): Promise<Tagged<Dept>> {
  const dept = await readDept(tx, caller.tenantId, deptId, includeDeleted);
  if (!dept) throw refuse('DEPT_NOT_FOUND');
  return { data: dept, etag: etagOf(dept) };
}

export async function updateDepartment(tx: Tx, caller: Caller, input: DeptUpdate, ifMatch: IfMatch): Promise<void> {
  refuseOtherTenant(caller, input.tenantId);
  const { tenantId, userName } = caller;
  const deptId = idOf(input.deptId);
  // The place in the tree changes only when it is sent: forgetting it must not move a branch.
  const parentId = input.parentId == null ? undefined : parentOf(input.parentId);
  const fields = { ...fieldsOf(input), parentId };
  await refuseChangedDept(tx, tenantId, deptId, ifMatch, parentId);
  const stayed = await updateDept(tx, tenantId, deptId, userName, fields, { move: false });
  if (stayed) return;
  if (parentId === undefined) throw refuse('DEPT_NOT_FOUND');
  await moveDepartment(tx, caller, deptId, { ...fields, parentId });
}

async function moveDepartment(
  tx: Tx,
  { tenantId, userName }: Caller,
  deptId: string,
  fields: DeptFields,
): Promise<void> {
  const { parentId } = fields;
  // Locked first: two opposite moves could each look acyclic.
  await lockTenant(tx, tenantId);
  const found = await lockDepts(tx, tenantId, parentId ? [deptId, parentId] : [deptId]);
  if (!found.some((dept) => String(dept.deptId) === deptId)) throw refuse('DEPT_NOT_FOUND');
  if (parentId) {
    const parent = found.find((dept) => String(dept.deptId) === parentId);
    if (!parent) throw refuse('PARENT_NOT_FOUND', { parentId: shownId(parentId) });
    if (await isAtOrAbove(tx, tenantId, deptId, parentId)) throw refuse('DEPT_CYCLE');
    if (parent.status !== '0') throw refuse('PARENT_DISABLED');
  }
  await updateDept(tx, tenantId, deptId, userName, fields, { move: true });
}

export async function removeDepartments(
  tx: Tx,
  { tenantId, userName }: Caller,
  deptIds: string[],
  ifMatch: IfMatch,
): Promise<void> {
  for (const deptId of deptIds) await refuseChangedDept(tx, tenantId, deptId, ifMatch);
  const found = await lockDepts(tx, tenantId, deptIds);
  const missing = deptIds.filter((id) => !found.some((dept) => String(dept.deptId) === id));
  if (missing.length > 0) throw refuse('DEPT_NOT_FOUND', { deptIds: shownIds(missing) });
  // Looked for only now, in a later snapshot than the locks: a child or a user may have come while we waited for them.
  const parents = await parentsAmong(tx, tenantId, deptIds);
  if (parents.length > 0) throw refuse('DEPT_HAS_CHILDREN', { deptIds: shownIds(parents) });
  const used = await departmentsWithUsers(tx, tenantId, deptIds);
  if (used.length > 0) throw refuse('DEPT_HAS_USERS', { deptIds: shownIds(used) });
  await markDeleted(tx, tenantId, deptIds, userName);
}

/** Holds departments for a user who joins them: none of them is deleted meanwhile. Tells the ones there are not. */
export async function holdDepartments(tx: Tx, tenantId: string, deptIds: string[]): Promise<{ missing: string[] }> {
  const found = await holdDepts(tx, tenantId, deptIds);
  return { missing: deptIds.filter((id) => !found.some((dept) => String(dept.deptId) === id)) };
}

async function holdParent(tx: Tx, { tenantId }: Caller, parentId: string): Promise<void> {
  const [parent] = await holdDepts(tx, tenantId, [parentId]);
  if (!parent) throw refuse('PARENT_NOT_FOUND', { parentId: shownId(parentId) });
  if (parent.status !== '0') throw refuse('PARENT_DISABLED');
}

/**
 * The tree is locked too: `ancestors` is part of what was read, and somebody may move the branch. So is the parent it
 * may move to: locked later, it would be out of the order of ids.
 */
async function refuseChangedDept(
  tx: Tx,
  tenantId: string,
  deptId: string,
  ifMatch: IfMatch,
  parentId?: string | null,
): Promise<void> {
  if (!ifMatch) return;
  await lockTenant(tx, tenantId);
  await lockDepts(tx, tenantId, parentId ? [deptId, parentId] : [deptId]);
  const dept = await readDept(tx, tenantId, deptId, false);
  if (!dept) throw refuse('DEPT_NOT_FOUND');
  refuseChanged(ifMatch, etagOf(dept));
}

/** Never silently rewritten: who names another tenant means something else than he would get. */
function refuseOtherTenant(caller: Caller, tenantId: string | null | undefined): void {
  if (tenantId != null && tenantId !== caller.tenantId) throw refuse('OTHER_TENANT');
}

const parentOf = (long: number | string) => (idOf(long) === TOP ? null : idOf(long));

const fieldsOf = (input: DeptInput) => ({
  deptName: input.deptName ?? '',
  orderNum: input.orderNum ?? 0,
  leader: input.leader ?? null,
  phone: input.phone ?? null,
  email: input.email ?? null,
  status: input.status ?? '0',
});
