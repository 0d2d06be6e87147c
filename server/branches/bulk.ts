import type { Tx } from '../../db/sql.ts';
import type { Caller } from '../auth/caller.ts';
import { fieldsOf, holdParent, parentOf, refuseOtherTenant } from '../departments/departments.ts';
import { refuse } from '../http/refusals.ts';
import { invalid } from '../http/validation.ts';
import { insertDepts, takeIds } from './queries.ts';
import type { NewDept, NewDeptIds, NewDepts } from './schema.ts';

/** Many departments that may be each other's parents: all of them or none. */
export async function addDepartments(tx: Tx, caller: Caller, input: NewDepts): Promise<NewDeptIds> {
  const { departments } = input;
  for (const [at, entry] of departments.entries()) {
    refuseOtherTenant(caller, entry.tenantId, { field: `departments[${at}].tenantId` });
    // Ignored like other unknown fields, it would put a department where nobody meant it to be.
    if ((entry as { parentId?: unknown }).parentId != null) throw invalid(`departments[${at}].parentId`, 'entryParent');
  }
  const parents = parentsAmong(departments);
  refuseCycle(parents);
  refuseDisabledParent(departments, parents);
  const parentId = parentOf(input.parentId ?? 0);
  if (parentId) await holdParent(tx, caller, parentId);
  const deptIds = await takeIds(tx, departments.length);
  const rows = departments.map((entry, at) => ({
    ...fieldsOf(entry),
    deptId: deptIds[at] as number,
    parentId: parents[at] === NONE ? parentId : (deptIds[parents[at] as number] as number),
  }));
  await insertDepts(tx, caller.tenantId, caller.userName, rows);
  return { deptIds };
}

const NONE = -1;

/** For each entry the place of its parent in the list. */
function parentsAmong(departments: NewDept[]): number[] {
  const places = new Map<string, number>();
  for (const [at, { ref }] of departments.entries()) {
    if (places.has(ref)) throw invalid(`departments[${at}].ref`, 'repeated');
    places.set(ref, at);
  }
  return departments.map(({ parentRef }, at) => {
    if (parentRef == null) return NONE;
    const parent = places.get(parentRef);
    if (parent === undefined) throw invalid(`departments[${at}].parentRef`, 'unknownRef');
    return parent;
  });
}

/** From each entry upwards, until what was seen before: on the same way it is a cycle, on an earlier one it is fine. */
function refuseCycle(parents: number[]): void {
  const seenFrom = new Int32Array(parents.length).fill(NONE);
  for (const start of parents.keys()) {
    let at = start;
    while (at !== NONE && seenFrom[at] === NONE) {
      seenFrom[at] = start;
      at = parents[at] as number;
    }
    if (at !== NONE && seenFrom[at] === start) throw invalid(`departments[${at}].parentRef`, 'refCycle');
  }
}

/** As if they came one by one: below a disabled department none is created. */
function refuseDisabledParent(departments: NewDept[], parents: number[]): void {
  const at = parents.findIndex((parent) => departments[parent]?.status === '1');
  if (at >= 0) throw refuse('PARENT_DISABLED', { field: `departments[${at}].parentRef` });
}
