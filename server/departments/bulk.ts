import type { Tx } from '../../db/driver.ts';
import type { Caller } from '../auth/caller.ts';
import { apiError } from '../http/errors.ts';
import { jsonId } from '../http/fields.ts';
import { invalid } from '../http/validation.ts';
import {
  assertExternalId,
  assertNewExternalId,
  listExternalIds,
  rethrowAsExternalIdTaken,
} from '../records/external-id.ts';
import { lockLeaders } from './leaders.ts';
import { lockLevelsForShare } from './level-queries.ts';
import { lockParents, tooDeep } from './levels.ts';
import { findByExternalIds, insertDepts, readDept, reserveIds } from './queries.ts';
import { department } from './record.ts';
import { assertOwnTenant, toParentId } from './rules.ts';
import type { NewDept, NewDeptIds, NewDepts } from './tree/schema.ts';

/** Checks a request without locks, before slow work that it needs. Creating the departments checks everything again. */
export async function checkNewDepartments(tx: Tx, caller: Caller, input: NewDepts): Promise<void> {
  planDepartments(caller, input);
  const parentId = toParentId(input.parentId ?? 0);
  const parent = parentId && (await readDept(tx, caller.tenantId, parentId, false));
  if (parentId && !parent) throw apiError('PARENT_NOT_FOUND', { parentId: jsonId(parentId) });
  if (parent && parent.status !== '0') throw apiError('PARENT_DISABLED');
  await assertExternalIdsFree(tx, caller.tenantId, input.departments);
}

/** Checks the entries, and returns the index of each one's parent. */
function planDepartments(caller: Caller, { departments }: NewDepts, allowDisabled = false): number[] {
  const externalIds = new Set<string>();
  for (const [n, entry] of departments.entries()) {
    assertExternalId(entry, `departments[${n}].`);
    assertNewExternalId(externalIds, entry, `departments[${n}].`);
    assertOwnTenant(caller, entry.tenantId, { field: `departments[${n}].tenantId` });
    // Unknown fields are ignored, but ignoring this one would create the department below the wrong parent.
    if ((entry as { parentId?: unknown }).parentId != null) throw invalid(`departments[${n}].parentId`, 'entryParent');
  }
  const parents = resolveParentRefs(departments);
  assertNoCycle(parents);
  if (!allowDisabled) assertParentsEnabled(departments, parents);
  return parents;
}

/**
 * Creates departments, of which some may be parents of others: all of them or none. `allowDisabled`: the import from RuoYi may
 * put departments below a parent that is disabled.
 */
export async function addDepartments(
  tx: Tx,
  caller: Caller,
  input: NewDepts,
  { maxLevels, allowDisabled = false }: { maxLevels: number; allowDisabled?: boolean },
): Promise<NewDeptIds> {
  const { departments } = input;
  const parents = planDepartments(caller, input, allowDisabled);
  const withLeaders = await lockLeaders(tx, caller.tenantId, departments, (n) => `departments[${n}].leaderId`);
  const parentId = toParentId(input.parentId ?? 0);
  const height = heightOf(parents);
  const locked = await lockParents(tx, caller.tenantId, [parentId], { wait: true, height });
  const parent = locked.get(parentId);
  if (!parent) throw apiError('PARENT_NOT_FOUND', { parentId: jsonId(parentId as string) });
  if (parent.status !== '0' && !allowDisabled) throw apiError('PARENT_DISABLED');
  if (parent.level + height > maxLevels) throw tooDeep(maxLevels);
  // Below a department, `lockParents` has taken this lock. A restore adds several external ids to the unique index in a different
  // order, and holds the lock exclusively while it does: without the lock, the two could deadlock.
  if (parentId === null) await lockLevelsForShare(tx, caller.tenantId);
  const deptIds = await reserveIds(tx, departments.length);
  const rows = withLeaders.map((entry, n) => ({
    ...department.withDefaults(entry),
    deptId: deptIds[n] as number,
    parentId: parents[n] === NONE ? parentId : String(deptIds[parents[n] as number]),
    by: caller.userName,
  }));
  await assertExternalIdsFree(tx, caller.tenantId, departments);
  await insertDepts(tx, caller.tenantId, rows).catch(rethrowAsExternalIdTaken);
  return { deptIds };
}

/** Throws an error that names the entry if an external id is taken. Another transaction may still take one: the index decides. */
async function assertExternalIdsFree(tx: Tx, tenantId: string, departments: NewDept[]): Promise<void> {
  const [taken] = await findByExternalIds(tx, tenantId, listExternalIds(departments));
  if (taken) throw apiError('EXTERNAL_ID_TAKEN', { field: `departments[${taken.index}].externalId` });
}

const NONE = -1;

/** Returns the index of each entry's parent in the list; NONE: it has no `parentRef`. */
function resolveParentRefs(departments: NewDept[]): number[] {
  const indexes = new Map<string, number>();
  for (const [n, { ref }] of departments.entries()) {
    if (indexes.has(ref)) throw invalid(`departments[${n}].ref`, 'repeated');
    indexes.set(ref, n);
  }
  return departments.map(({ parentRef }, n) => {
    if (parentRef == null) return NONE;
    const parent = indexes.get(parentRef);
    if (parent === undefined) throw invalid(`departments[${n}].parentRef`, 'unknownRef');
    return parent;
  });
}

/** Goes up from each entry to one that was visited before. If this same pass visited it, there is a cycle. */
function assertNoCycle(parents: number[]): void {
  const visitedFrom = new Int32Array(parents.length).fill(NONE);
  for (const start of parents.keys()) {
    let n = start;
    while (n !== NONE && visitedFrom[n] === NONE) {
      visitedFrom[n] = start;
      n = parents[n] as number;
    }
    if (n !== NONE && visitedFrom[n] === start) throw invalid(`departments[${n}].parentRef`, 'refCycle');
  }
}

/** Counts the levels of the entries, which form no cycle. */
function heightOf(parents: number[]): number {
  const levels = new Int32Array(parents.length);
  let height = 0;
  for (const start of parents.keys()) {
    const trail: number[] = [];
    let n = start;
    for (; n !== NONE && levels[n] === 0; n = parents[n] as number) trail.push(n);
    let level = n === NONE ? 0 : (levels[n] as number);
    for (const each of trail.reverse()) levels[each] = ++level;
    height = Math.max(height, level);
  }
  return height;
}

/** Throws if a new parent is disabled: as in other requests, a disabled department cannot get children. */
function assertParentsEnabled(departments: NewDept[], parents: number[]): void {
  const n = parents.findIndex((parent) => departments[parent]?.status === '1');
  if (n >= 0) throw apiError('PARENT_DISABLED', { field: `departments[${n}].parentRef` });
}
