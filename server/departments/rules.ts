import type { Tx } from '../../db/driver.ts';
import { RetryTransactionError } from '../../db/errors.ts';
import type { RequestOrigin } from '../../db/tenant-scope.ts';
import { lockTenant } from '../access/tenant-scope.ts';
import type { Caller } from '../auth/caller.ts';
import { ApiError, apiError } from '../http/errors.ts';
import { assertEtag, etagOf, type IfMatch } from '../http/etag.ts';
import { idOf, jsonId, jsonIds } from '../http/fields.ts';
import { assertNotRemoved, assertSameId, mergePatch } from '../http/merge-patch.ts';
import { invalid } from '../http/validation.ts';
import {
  assertExternalId,
  completeExternalId,
  type ExternalIdPath,
  externalIdError,
  rethrowAsExternalIdTaken,
} from '../records/external-id.ts';
import { lockLeader } from './leaders.ts';
import { readMove } from './level-queries.ts';
import { assertNotTooDeep, lockParents, type Parents, tooDeep } from './levels.ts';
import type { MemberRemoval } from './members.ts';
import { idsWithMembers } from './members-queries.ts';
import {
  bumpTreeVersion,
  idsWithChildren,
  insertDepts,
  lockAnyForUpdate,
  lockForUpdate,
  markDeleted,
  moveDept,
  readDept,
  readDeptByExternalId,
  updateInPlace,
} from './queries.ts';
import { type DepartmentReplacement, department } from './record.ts';
import type { Dept, DeptInput, DeptPatch, DeptUpdate } from './schema.ts';

interface Creation {
  caller: Pick<Caller, 'tenantId' | 'userName'>;
  input: DeptInput;
  /** Set if several callers share a transaction. */
  origin?: RequestOrigin;
}

export async function createDepartment(
  tx: Tx,
  caller: Caller,
  input: DeptInput,
  { maxLevels }: { maxLevels: number },
): Promise<number> {
  const withLeader = await lockLeader(tx, caller.tenantId, input);
  const parents = await lockParents(tx, caller.tenantId, [toParentId(input.parentId ?? 0)], { wait: true });
  const options = { wait: true, parents, maxLevels };
  // A department with an external id is never created in a batch (batched-create.ts), so this error belongs to this request.
  const [created] = await createDepartments(tx, caller.tenantId, [{ caller, input: withLeader }], options).catch(
    rethrowAsExternalIdTaken,
  );
  if (created instanceof ApiError) throw created;
  return created as number;
}

/**
 * Creates departments of one tenant. Returns an id or an error for each item; without `wait` also 'alone' for an
 * item whose parent does not exist or is locked by another transaction, so that the other items need not wait for it.
 */
export async function createDepartments(
  tx: Tx,
  tenantId: string,
  creations: Creation[],
  {
    wait,
    parents,
    maxLevels,
    send = (insert) => insert(),
  }: { wait: boolean; parents: Parents; maxLevels: number; send?: Send },
): Promise<(number | ApiError | 'alone')[]> {
  const outcomes = creations.map(({ caller, input, origin }) => {
    const parentId = toParentId(input.parentId ?? 0);
    const parent = parents.get(parentId);
    if (isOtherTenant(caller, input.tenantId)) return apiError('OTHER_TENANT');
    const incomplete = externalIdError(input);
    if (incomplete) return incomplete;
    if (!parent) return wait ? apiError('PARENT_NOT_FOUND', { parentId: jsonId(parentId as string) }) : 'alone';
    if (parent.status !== '0') return apiError('PARENT_DISABLED');
    if (parent.level >= maxLevels) return tooDeep(maxLevels);
    return { ...department.withDefaults(input), parentId, by: caller.userName, origin };
  });
  const rows = outcomes.filter((outcome) => outcome !== 'alone' && !(outcome instanceof ApiError));
  const ids = rows.length > 0 ? await send(() => insertDepts(tx, tenantId, rows)) : [];
  return outcomes.map((outcome) => {
    if (outcome === 'alone' || outcome instanceof ApiError) return outcome;
    return ids[rows.indexOf(outcome)] as number;
  });
}

/** Runs the insert. It is the last statement of the transaction, so it may be sent together with the commit. */
type Send = (insert: () => Promise<number[]>) => Promise<number[]>;

export async function readDepartment(tx: Tx, { tenantId }: Caller, deptId: string): Promise<Dept> {
  const dept = await readDept(tx, tenantId, deptId, false);
  if (!dept) throw apiError('DEPT_NOT_FOUND');
  return dept;
}

export async function readDepartmentByExternalId(tx: Tx, { tenantId }: Caller, path: ExternalIdPath): Promise<Dept> {
  const dept = await readDeptByExternalId(tx, tenantId, path);
  if (!dept) throw apiError('DEPT_NOT_FOUND');
  return dept;
}

export async function updateDepartment(
  tx: Tx,
  caller: Caller,
  input: DeptUpdate,
  { ifMatch, maxLevels }: { ifMatch: IfMatch; maxLevels: number },
): Promise<void> {
  assertOwnTenant(caller, input.tenantId);
  const { tenantId, userName } = caller;
  const deptId = idOf(input.deptId);
  // The parent changes only when it is sent: leaving it out must not move a subtree.
  const parentId = input.parentId == null ? undefined : toParentId(input.parentId);
  assertExternalId(input);
  const values = department.replacement(completeExternalId(await lockLeader(tx, tenantId, input)));
  await assertUnchanged(tx, tenantId, deptId, ifMatch, parentId);
  const { updated, parentBefore } = await updateInPlace(tx, tenantId, deptId, userName, {
    ...values,
    parentId,
  }).catch(rethrowAsExternalIdTaken);
  if (updated) return;
  if (parentId === undefined) throw apiError('DEPT_NOT_FOUND');
  // It was moved or deleted while we waited for its lock. We hold that lock now, but a move has to lock the tenant first.
  if (parentBefore === parentId) throw new RetryTransactionError();
  await moveDepartment(tx, caller, deptId, { ...values, parentId }, { maxLevels });
}

/** Changes only the fields that are sent (RFC 7396). The department is locked before it is read, so no other change is lost. */
export async function patchDepartment(
  tx: Tx,
  caller: Caller,
  deptId: string,
  patch: DeptPatch,
  { ifMatch, ...limits }: { ifMatch: IfMatch; maxLevels: number; allowDisabled?: boolean },
): Promise<void> {
  assertOwnTenant(caller, patch.tenantId);
  assertSameId(deptId, patch.deptId, 'deptId');
  // Every department has a parent, 0 for the top level: null must not move a subtree.
  assertNotRemoved(patch, ['parentId']);
  const { tenantId, userName } = caller;
  const parentId = patch.parentId == null ? undefined : toParentId(patch.parentId);
  const withLeader = await lockLeader(tx, tenantId, completeExternalId(patch));
  // A move locks the tenant before any department. The ETag covers `ancestors`, so it needs that lock too.
  if (ifMatch || parentId !== undefined) await lockTenant(tx, tenantId);
  const locked = await lockAnyForUpdate(tx, tenantId, parentId ? [deptId, parentId] : [deptId]);
  const current = locked.find((dept) => dept.deptId === deptId);
  if (current?.delFlag !== '0') throw apiError('DEPT_NOT_FOUND');
  if (ifMatch) assertEtag(ifMatch, etagOf(await readDept(tx, tenantId, deptId, false)));
  const values = department.withDefaults(mergePatch(department.pick(current), withLeader));
  assertExternalId(values);
  if (parentId !== undefined && parentId !== current.parentId) {
    await moveDepartment(tx, caller, deptId, { ...values, parentId }, limits);
  } else if (!department.isEqual(values, current)) {
    await updateInPlace(tx, tenantId, deptId, userName, { ...values, parentId: undefined }).catch(
      rethrowAsExternalIdTaken,
    );
  }
}

/** `allowDisabled`: a revert or the import from RuoYi may put a department below a parent that is disabled. */
export async function moveDepartment(
  tx: Tx,
  { tenantId, userName }: Caller,
  deptId: string,
  row: DepartmentReplacement & { parentId: string | null },
  { maxLevels, allowDisabled = false }: { maxLevels: number; allowDisabled?: boolean },
): Promise<void> {
  const { parentId } = row;
  // Lock the tenant first (it protects the tree): two concurrent opposite moves would each pass the cycle check. All three
  // statements are sent together, and the later ones get a newer snapshot than the lock.
  const [, found, { level, parentLevel, cycle }] = await Promise.all([
    lockTenant(tx, tenantId),
    lockForUpdate(tx, tenantId, parentId ? [deptId, parentId] : [deptId]),
    readMove(tx, tenantId, deptId, parentId),
  ]);
  if (!found.some((dept) => String(dept.deptId) === deptId)) throw apiError('DEPT_NOT_FOUND');
  if (parentId) {
    const parent = found.find((dept) => String(dept.deptId) === parentId);
    if (!parent) throw apiError('PARENT_NOT_FOUND', { parentId: jsonId(parentId) });
    if (cycle) throw apiError('DEPT_CYCLE');
    if (parent.status !== '0' && !allowDisabled) throw apiError('PARENT_DISABLED');
  }
  await assertNotTooDeep(tx, tenantId, deptId, { from: level, to: parentLevel + 1, maxLevels });
  await Promise.all([
    moveDept(tx, tenantId, deptId, userName, row).catch(rethrowAsExternalIdTaken),
    bumpTreeVersion(tx, tenantId),
  ]);
}

export async function removeDepartments(
  tx: Tx,
  caller: Caller,
  deptIds: string[],
  ifMatch: IfMatch,
  memberRemoval?: MemberRemoval,
): Promise<void> {
  const { tenantId, userName } = caller;
  // The ETag covers `ancestors`, so the tree must not change while it is compared. Writes of users lock the tenant first, too.
  if (ifMatch || memberRemoval) await lockTenant(tx, tenantId);
  const found = await lockForUpdate(
    tx,
    tenantId,
    memberRemoval?.toDeptId ? [...deptIds, memberRemoval.toDeptId] : deptIds,
  );
  const missing = deptIds.filter((id) => !found.some((dept) => String(dept.deptId) === id));
  if (missing.length > 0) throw apiError('DEPT_NOT_FOUND', { deptIds: jsonIds(missing) });
  if (ifMatch) for (const id of deptIds) assertEtag(ifMatch, etagOf(await readDept(tx, tenantId, id, false)));
  // Check after locking, in a new snapshot: a child or a member may have been added while we waited.
  if (memberRemoval) {
    await assertNoChildren(tx, tenantId, deptIds);
    assertTarget(memberRemoval, deptIds, found);
    await memberRemoval.run(tx, caller, deptIds);
  }
  await assertUnused(tx, tenantId, deptIds);
  await markDeleted(tx, tenantId, deptIds, userName);
}

/** Throws if locked departments have children or members. */
export async function assertUnused(tx: Tx, tenantId: string, deptIds: string[]): Promise<void> {
  await assertNoChildren(tx, tenantId, deptIds);
  const used = await idsWithMembers(tx, tenantId, deptIds);
  if (used.length > 0) throw apiError('DEPT_HAS_USERS', { deptIds: jsonIds(used) });
}

async function assertNoChildren(tx: Tx, tenantId: string, deptIds: string[]): Promise<void> {
  const parents = await idsWithChildren(tx, tenantId, deptIds);
  if (parents.length > 0) throw apiError('DEPT_HAS_CHILDREN', { deptIds: jsonIds(parents) });
}

/** Throws unless the department to which users are moved is among the locked ones and stays. */
export function assertTarget(
  { toDeptId }: MemberRemoval,
  deletedIds: string[],
  locked: readonly { deptId: number | string }[],
): void {
  if (toDeptId === null) return;
  if (deletedIds.includes(toDeptId)) throw invalid('toDeptId', 'deleted');
  if (!locked.some(({ deptId }) => String(deptId) === toDeptId)) {
    throw apiError('USER_DEPT_NOT_FOUND', { deptIds: jsonIds([toDeptId]) });
  }
}

/**
 * Compares the ETag under locks. The tenant is locked too: the ETag covers `ancestors`, so the tree must not change. So is the
 * new parent: locking it later would break the order of ids.
 */
async function assertUnchanged(
  tx: Tx,
  tenantId: string,
  deptId: string,
  ifMatch: IfMatch,
  parentId: string | null | undefined,
): Promise<void> {
  if (!ifMatch) return;
  await lockTenant(tx, tenantId);
  await lockForUpdate(tx, tenantId, parentId ? [deptId, parentId] : [deptId]);
  const dept = await readDept(tx, tenantId, deptId, false);
  if (!dept) throw apiError('DEPT_NOT_FOUND');
  assertEtag(ifMatch, etagOf(dept));
}

/** The code of another tenant is an error: ignoring it would write to a tenant that the caller did not mean. */
const isOtherTenant = (caller: Pick<Caller, 'tenantId'>, tenantId: string | null | undefined): boolean =>
  tenantId != null && tenantId !== caller.tenantId;

/** `details` identifies the item of a request with several. */
export function assertOwnTenant(caller: Caller, tenantId: string | null | undefined, details = {}): void {
  if (isOtherTenant(caller, tenantId)) throw apiError('OTHER_TENANT', details);
}

/** Converts a parent id of the API, where 0 is the top level, to one of the database, where null is. */
export const toParentId = (id: number | string): string | null => (idOf(id) === '0' ? null : idOf(id));
