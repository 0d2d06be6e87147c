import type { Fragment, Tx } from '../../db/driver.ts';
import type { Caller } from '../auth/caller.ts';
import { apiError } from '../http/errors.ts';
import { idOf, jsonIds } from '../http/fields.ts';
import { countRows, readNames } from './list-queries.ts';
import {
  addMembers,
  deleteMemberships,
  deleteMembersOf,
  insertMemberships,
  type Membership,
  memberIds,
  readMembers,
} from './members-queries.ts';
import { lockForShare, readDept, readIds, readOfSource } from './queries.ts';

// These functions are called by other domains: users, the overview, imports and the RuoYi adapter.

export interface UserDepartments {
  /** The main department; null: none. */
  deptId: string | null;
  /** All departments, the main one included. */
  deptIds: string[];
}

/** Locks the departments of a user, so that none is deleted before the user has joined it. */
export async function lockUserDepartments(
  tx: Tx,
  tenantId: string,
  input: { deptId?: number | string | null | undefined; deptIds?: (number | string)[] | null | undefined },
): Promise<UserDepartments> {
  const deptId = input.deptId == null ? null : idOf(input.deptId);
  const deptIds = [...new Set([...(deptId ? [deptId] : []), ...(input.deptIds ?? []).map(idOf)])];
  const missing = await lockExisting(tx, tenantId, deptIds);
  if (missing.length > 0) throw apiError('USER_DEPT_NOT_FOUND', { deptIds: jsonIds(missing) });
  return { deptId, deptIds };
}

/** Locks departments against deletion; returns the ids of those that do not exist. */
export async function lockExisting(tx: Tx, tenantId: string, deptIds: string[]): Promise<string[]> {
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

export const addMemberships = (tx: Tx, tenantId: string, memberships: readonly Membership[]) =>
  insertMemberships(tx, tenantId, memberships);

/** Returns the members of departments, at most `limit`, and whether one of these departments is their main one. */
export const listMembers = (tx: Tx, tenantId: string, deptIds: string[], limit: number) =>
  readMembers(tx, tenantId, deptIds, limit);

/**
 * Moves members from some departments to another, or removes them without a target. A main department is replaced by the target
 * as main.
 */
export async function moveMembers(
  tx: Tx,
  tenantId: string,
  members: readonly { userId: number; main: boolean }[],
  { from, to }: { from: string[]; to: string | null },
): Promise<void> {
  await deleteMembersOf(tx, tenantId, from);
  if (to) await addMembers(tx, tenantId, to, members);
}

/**
 * What to do with the users of departments that are deleted. `run` is called once the departments and `toDeptId` are locked,
 * and leaves no members in them. The domain of users defines it, because departments must not depend on users.
 */
export interface MemberRemoval {
  /** The department to which users are moved; null: none. */
  toDeptId: string | null;
  run(tx: Tx, caller: Caller, deptIds: string[]): Promise<void>;
}

export const removeMemberships = (tx: Tx, tenantId: string, userIds: string[]) =>
  deleteMemberships(tx, tenantId, userIds);

export async function assertDepartmentExists(tx: Tx, tenantId: string, deptId: string): Promise<void> {
  if (!(await readDept(tx, tenantId, deptId, false))) throw apiError('DEPT_NOT_FOUND');
}

/** Selects the ids of the members of a department or of its subtree, as a fragment of a statement. */
export const membersOf = (tx: Tx, tenantId: string, deptId: string, options: { withSubtree: boolean }): Fragment =>
  memberIds(tx, tenantId, deptId, options);

/** Lists the departments of a tenant that come from another system, including deleted ones. */
export const listDepartmentsOfSource = (tx: Tx, tenantId: string, source: string) => readOfSource(tx, tenantId, source);

/** Reads the names of departments, by id. */
export async function departmentNames(tx: Tx, tenantId: string, deptIds: number[]): Promise<Map<number, string>> {
  const ids = [...new Set(deptIds)].map(String);
  const rows = ids.length > 0 ? await readNames(tx, tenantId, ids) : [];
  return new Map(rows.map(({ deptId, deptName }) => [Number(deptId), deptName]));
}

/** Counts the departments of a tenant. */
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
