import type { Tx } from '../../db/driver.ts';
import type { Caller } from '../auth/caller.ts';
import { apiError } from '../http/errors.ts';
import { idOf, jsonIds } from '../http/fields.ts';
import { countRows, readNames } from './list-queries.ts';
import { addMembers, deleteMembershipsOfDepartments } from './members-queries.ts';
import { lockForShare, readDept, readIds } from './queries.ts';

// Other domains call these functions: users, the overview, the RuoYi adapter and the import from RuoYi.

/** Other domains call these statements directly. */
export { deleteMembershipsOfUsers, insertMemberships, memberIds, readMemberships } from './members-queries.ts';
export { readOfSource as readDepartmentsOfSource } from './queries.ts';

interface UserDepartments {
  /** The main department; null: none. */
  deptId: string | null;
  /** All departments, the main one included. */
  deptIds: string[];
}

/** Locks the departments of a user, so that they are not deleted before the user has joined them. */
export async function lockUserDepartments(
  tx: Tx,
  tenantId: string,
  input: { deptId?: number | string | null | undefined; deptIds?: (number | string)[] | null | undefined },
): Promise<UserDepartments> {
  const deptId = input.deptId == null ? null : idOf(input.deptId);
  const deptIds = [...new Set([...(deptId ? [deptId] : []), ...(input.deptIds ?? []).map(idOf)])];
  const missing = await lockAndFindMissing(tx, tenantId, deptIds);
  if (missing.length > 0) throw apiError('USER_DEPT_NOT_FOUND', { deptIds: jsonIds(missing) });
  return { deptId, deptIds };
}

/** Locks departments against deletion; returns the ids of those that do not exist. */
export async function lockAndFindMissing(tx: Tx, tenantId: string, deptIds: string[]): Promise<string[]> {
  const found = await lockForShare(tx, tenantId, deptIds);
  return without(deptIds, found);
}

/** Returns the ids of departments that do not exist, without locking the others. */
export const findMissing = async (tx: Tx, tenantId: string, deptIds: string[]): Promise<string[]> =>
  without(deptIds, await readIds(tx, tenantId, deptIds));

function without(deptIds: string[], found: readonly { deptId: number }[]): string[] {
  const existing = new Set(found.map(({ deptId }) => String(deptId)));
  return deptIds.filter((id) => !existing.has(id));
}

/**
 * Moves members from some departments to another, or removes them if there is no target. If one of these was the main department
 * of a member, the target becomes their main department.
 */
export async function moveMembers(
  tx: Tx,
  tenantId: string,
  members: readonly { userId: number; main: boolean }[],
  { from, to }: { from: string[]; to: string | null },
): Promise<void> {
  await deleteMembershipsOfDepartments(tx, tenantId, from);
  if (to) await addMembers(tx, tenantId, to, members);
}

/**
 * What to do with the users of departments that are deleted. `run` is called once the departments and `toDeptId` are locked,
 * and leaves no members in the deleted departments. The domain of users defines it, because departments must not depend on users.
 */
export interface MemberRemoval {
  /** The department to which users are moved; null: none. */
  toDeptId: string | null;
  run(tx: Tx, caller: Caller, deptIds: string[]): Promise<void>;
}

export async function assertDepartmentExists(tx: Tx, tenantId: string, deptId: string): Promise<void> {
  if (!(await readDept(tx, tenantId, deptId, false))) throw apiError('DEPT_NOT_FOUND');
}

export async function departmentNames(tx: Tx, tenantId: string, deptIds: number[]): Promise<Map<number, string>> {
  const ids = [...new Set(deptIds)].map(String);
  const rows = ids.length > 0 ? await readNames(tx, tenantId, ids) : [];
  return new Map(rows.map(({ deptId, deptName }) => [Number(deptId), deptName]));
}

export const countDepartments = (tx: Tx, tenantId: string): Promise<number> =>
  countRows(tx, tenantId, NO_FILTER, { from: 'index' });

const NO_FILTER = {
  deptName: null,
  exact: false,
  leader: null,
  status: null,
  source: null,
  externalId: null,
  parentId: null,
  underId: null,
};
