import type { Tx } from '../../db/sql.ts';
import { type Origin, ToldAgain } from '../../db/tenancy.ts';
import type { Caller } from '../auth/caller.ts';
import { idOf, shownId, shownIds } from '../http/fields.ts';
import { etagOf, type IfMatch, refuseChanged } from '../http/preconditions.ts';
import { Refusal, refuse } from '../http/refusals.ts';
import { lockTenant } from '../tenants/reach.ts';
import { departmentsWithUsers } from '../users/memberships.ts';
import { type Paths, TOP } from './paths.ts';
import {
  type DeptFields,
  holdDepts,
  insertDepts,
  isAtOrAbove,
  lockDepts,
  markDeleted,
  moveDept,
  parentsAmong,
  readDept,
  readDepts,
  stampTree,
  updateInPlace,
} from './queries.ts';
import type { DeptAsk } from './reading.ts';
import type { Dept, DeptInput, DeptUpdate } from './schema.ts';

export interface Creation {
  caller: Pick<Caller, 'tenantId' | 'userName'>;
  input: DeptInput;
  /** Where several callers share a transaction. */
  origin?: Origin;
}

export async function createDepartment(tx: Tx, caller: Caller, input: DeptInput): Promise<number> {
  const parents = await holdParents(tx, caller.tenantId, [input], { wait: true });
  const [made] = await createDepartments(tx, caller.tenantId, [{ caller, input }], { wait: true, parents });
  if (made instanceof Refusal) throw made;
  return made as number;
}

/**
 * Of one tenant, each on its own: its id, or why it is refused. Without `wait` also 'alone', when its parent is held by
 * somebody at this moment, or isn't there: the others shall not wait for that.
 */
export async function createDepartments(
  tx: Tx,
  tenantId: string,
  creations: Creation[],
  { wait, parents, last = (insert) => insert() }: { wait: boolean; parents: Parents; last?: Last },
): Promise<(number | Refusal | 'alone')[]> {
  const outcomes = creations.map(({ caller, input, origin }) => {
    const parentId = parentOf(input.parentId ?? 0);
    const parent = parents.get(parentId);
    if (isOtherTenant(caller, input.tenantId)) return refuse('OTHER_TENANT');
    if (!parent) return wait ? refuse('PARENT_NOT_FOUND', { parentId: shownId(parentId as string) }) : 'alone';
    if (parent.status !== '0') return refuse('PARENT_DISABLED');
    return { ...fieldsOf(input), parentId, by: caller.userName, origin };
  });
  const rows = outcomes.filter((outcome) => outcome !== 'alone' && !(outcome instanceof Refusal));
  const ids = rows.length > 0 ? await last(() => insertDepts(tx, tenantId, rows)) : [];
  return outcomes.map((outcome) => {
    if (outcome === 'alone' || outcome instanceof Refusal) return outcome;
    return ids[rows.indexOf(outcome)] as number;
  });
}

/** How the insert is sent, after which nothing is left to be decided. */
type Last = (insert: () => Promise<number[]>) => Promise<number[]>;

type Parents = ReadonlyMap<string | null, { status: string }>;

/** The parents of what is to be created, as they are; none of them is deleted or disabled before the transaction ends. */
export async function holdParents(
  tx: Tx,
  tenantId: string,
  inputs: DeptInput[],
  { wait }: { wait: boolean },
): Promise<Parents> {
  const wanted = inputs.map((input) => parentOf(input.parentId ?? 0));
  const parentIds = [...new Set(wanted.filter((id) => id !== null))];
  const held = parentIds.length > 0 ? await holdDepts(tx, tenantId, parentIds, { wait }) : [];
  return new Map<string | null, { status: string }>([
    [null, { status: '0' }],
    ...held.map((parent) => [String(parent.deptId), parent] as const),
  ]);
}

/** Of one tenant, asked for at the same moment. Undefined where there is none. */
export async function readWithPaths(
  tx: Tx,
  paths: Paths,
  tenantId: string,
  asked: readonly DeptAsk[],
): Promise<(Dept | undefined)[]> {
  const rows = await readDepts(tx, tenantId, [...new Set(asked.map(({ deptId }) => deptId))]);
  const [{ treeStamp } = { treeStamp: '' }] = rows;
  const parents = rows.map(({ parentId }) => parentId).filter((parentId) => parentId !== 0);
  const known = await paths.of(tx, tenantId, treeStamp, parents);
  const found = new Map<string, Dept>();
  for (const { treeStamp: _, ...dept } of rows) {
    dept.ancestors = dept.parentId === 0 ? TOP : (known.get(dept.parentId) as string);
    found.set(String(dept.deptId), dept);
  }
  return asked.map(({ deptId, includeDeleted }) => {
    const dept = found.get(deptId);
    return dept?.delFlag === '0' || includeDeleted ? dept : undefined;
  });
}

/** One, within a story. */
export async function readDepartment(tx: Tx, { tenantId }: Caller, deptId: string): Promise<Dept> {
  const dept = await readDept(tx, tenantId, deptId, false);
  if (!dept) throw refuse('DEPT_NOT_FOUND');
  return dept;
}

export async function updateDepartment(tx: Tx, caller: Caller, input: DeptUpdate, ifMatch: IfMatch): Promise<void> {
  refuseOtherTenant(caller, input.tenantId);
  const { tenantId, userName } = caller;
  const deptId = idOf(input.deptId);
  // The place in the tree changes only when it is sent: forgetting it must not move a branch.
  const parentId = input.parentId == null ? undefined : parentOf(input.parentId);
  const fields = { ...fieldsOf(input), parentId };
  await refuseChangedDept(tx, tenantId, deptId, ifMatch, parentId);
  const { stayed, was } = await updateInPlace(tx, tenantId, deptId, userName, fields);
  if (stayed) return;
  if (parentId === undefined) throw refuse('DEPT_NOT_FOUND');
  // It was there, and was moved while we waited for it: now it is locked, and the tree, which comes first, is not.
  if (was === parentId) throw new ToldAgain();
  await moveDepartment(tx, caller, deptId, { ...fields, parentId });
}

/** `evenDisabled`: below a disabled parent too, for what was there before. */
export async function moveDepartment(
  tx: Tx,
  { tenantId, userName }: Caller,
  deptId: string,
  fields: DeptFields,
  { evenDisabled = false } = {},
): Promise<void> {
  const { parentId } = fields;
  // Sent together, the lock on the tree before all: without it two opposite moves could each look acyclic. So what they
  // see is of a later snapshot than it.
  const [, found, cycle] = await Promise.all([
    lockTenant(tx, tenantId),
    lockDepts(tx, tenantId, parentId ? [deptId, parentId] : [deptId]),
    parentId !== null && isAtOrAbove(tx, tenantId, deptId, parentId),
  ]);
  if (!found.some((dept) => String(dept.deptId) === deptId)) throw refuse('DEPT_NOT_FOUND');
  if (parentId) {
    const parent = found.find((dept) => String(dept.deptId) === parentId);
    if (!parent) throw refuse('PARENT_NOT_FOUND', { parentId: shownId(parentId) });
    if (cycle) throw refuse('DEPT_CYCLE');
    if (parent.status !== '0' && !evenDisabled) throw refuse('PARENT_DISABLED');
  }
  await Promise.all([moveDept(tx, tenantId, deptId, userName, fields), stampTree(tx, tenantId)]);
}

export async function removeDepartments(
  tx: Tx,
  { tenantId, userName }: Caller,
  deptIds: string[],
  ifMatch: IfMatch,
): Promise<void> {
  // `ancestors` is part of what was read, and somebody may move the branch.
  if (ifMatch) await lockTenant(tx, tenantId);
  const found = await lockDepts(tx, tenantId, deptIds);
  const missing = deptIds.filter((id) => !found.some((dept) => String(dept.deptId) === id));
  if (missing.length > 0) throw refuse('DEPT_NOT_FOUND', { deptIds: shownIds(missing) });
  if (ifMatch) for (const id of deptIds) refuseChanged(ifMatch, etagOf(await readDept(tx, tenantId, id, false)));
  // Looked for only now, in a later snapshot than the locks: a child or a user may have come while we waited for them.
  await refuseInUse(tx, tenantId, deptIds);
  await markDeleted(tx, tenantId, deptIds, userName);
}

/** Of departments that are locked: whether anything is still below them, or in them. */
export async function refuseInUse(tx: Tx, tenantId: string, deptIds: string[]): Promise<void> {
  const parents = await parentsAmong(tx, tenantId, deptIds);
  if (parents.length > 0) throw refuse('DEPT_HAS_CHILDREN', { deptIds: shownIds(parents) });
  const used = await departmentsWithUsers(tx, tenantId, deptIds);
  if (used.length > 0) throw refuse('DEPT_HAS_USERS', { deptIds: shownIds(used) });
}

/** Holds departments for a user who joins them: none of them is deleted meanwhile. Tells the ones there are not. */
export async function holdDepartments(tx: Tx, tenantId: string, deptIds: string[]): Promise<{ missing: string[] }> {
  const found = await holdDepts(tx, tenantId, deptIds);
  return { missing: deptIds.filter((id) => !found.some((dept) => String(dept.deptId) === id)) };
}

/** Held for who creates below it: it is neither deleted nor disabled meanwhile. */
export async function holdParent(tx: Tx, { tenantId }: Caller, parentId: string): Promise<void> {
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
  parentId: string | null | undefined,
): Promise<void> {
  if (!ifMatch) return;
  await lockTenant(tx, tenantId);
  await lockDepts(tx, tenantId, parentId ? [deptId, parentId] : [deptId]);
  const dept = await readDept(tx, tenantId, deptId, false);
  if (!dept) throw refuse('DEPT_NOT_FOUND');
  refuseChanged(ifMatch, etagOf(dept));
}

/** Never silently rewritten: who names another tenant means something else than he would get. */
const isOtherTenant = (caller: Pick<Caller, 'tenantId'>, tenantId: string | null | undefined): boolean =>
  tenantId != null && tenantId !== caller.tenantId;

/** `facts`: which of several it is. */
export function refuseOtherTenant(caller: Caller, tenantId: string | null | undefined, facts = {}): void {
  if (isOtherTenant(caller, tenantId)) throw refuse('OTHER_TENANT', facts);
}

export const parentOf = (long: number | string) => (idOf(long) === TOP ? null : idOf(long));

export const fieldsOf = (input: Omit<DeptInput, 'parentId'>) => ({
  deptName: input.deptName ?? '',
  orderNum: input.orderNum ?? 0,
  leader: input.leader ?? null,
  phone: input.phone ?? null,
  email: input.email ?? null,
  status: input.status ?? '0',
});
