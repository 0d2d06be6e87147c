import type { Tx } from '../../db/driver.ts';
import { assumeTenantForWrite } from '../access/tenant-scope.ts';
import type { Caller } from '../auth/caller.ts';
import {
  deleteMembershipsOfUsers,
  insertMemberships,
  lockUserDepartments,
  type MemberRemoval,
  moveMembers,
  readMemberships,
} from '../departments/members.ts';
import { apiError } from '../http/errors.ts';
import { assertAccountsLeft } from '../quotas/accounts.ts';
import { assertWithinAccountLimit } from './accounts.ts';
import { lockAnyUsers, lockUsers, markRestored, touchUsers } from './queries.ts';
import type { User } from './schema.ts';
import { assertMayManage, removeUsers, rethrowAsTaken } from './users.ts';

/**
 * The maximum number of users that a deletion of departments may move or delete. Each leaves a row in the ledger. The
 * rows of all moved users are written at the commit, within the time limit of a statement: 1,000 take about 0.6
 * seconds, and reverting them takes 2, on a busy machine.
 */
const MAX_AFFECTED_USERS = 2_000;

/** Moves the users of deleted departments to `toDeptId`, or, if it is null, deletes those whose main department is deleted. */
export const memberRemoval = (toDeptId: string | null): MemberRemoval => ({
  toDeptId,
  async run(tx, caller, deptIds) {
    const { tenantId, userName } = caller;
    const members = await readMemberships(tx, tenantId, deptIds, MAX_AFFECTED_USERS + 1);
    if (members.length > MAX_AFFECTED_USERS) throw apiError('TOO_MANY_USERS', { limit: MAX_AFFECTED_USERS });
    const deleted = toDeptId === null ? members.filter(({ main }) => main) : [];
    if (deleted.length > 0) await removeUsers(tx, caller, idsOf(deleted), undefined, undefined);
    const moved = members.filter((member) => !deleted.includes(member));
    if (moved.length === 0) return;
    assertMayManage(caller, await lockUsers(tx, tenantId, idsOf(moved)));
    await moveMembers(tx, tenantId, moved, { from: deptIds, to: toDeptId });
    await touchUsers(tx, tenantId, idsOf(moved), userName);
  },
});

const idsOf = (users: readonly { userId: number }[]) => users.map(({ userId }) => String(userId));

/** A user and the departments that they are to have again. */
type FormerDepartments = Pick<User, 'deptId' | 'deptIds'> & { userId: string };

/** Restores deleted users with their previous passwords, in the given departments. Their sessions stay ended. */
export async function restoreDeletedUsers(
  tx: Tx,
  caller: Caller,
  requestedTenant: string,
  users: readonly FormerDepartments[],
): Promise<void> {
  const { tenantId, accountLimit } = await assumeTenantForWrite(tx, caller, requestedTenant);
  const userIds = users.map(({ userId }) => userId);
  const locked = await lockAnyUsers(tx, tenantId, userIds);
  if (locked.length < users.length) throw apiError('USER_NOT_FOUND');
  assertMayManage(caller, locked);
  if (locked.some(({ delFlag }) => delFlag === '0')) throw apiError('USER_NOT_DELETED');
  await assertWithinAccountLimit(tx, tenantId, accountLimit, users.length);
  await assertAccountsLeft(tx, caller, tenantId, users.length);
  const memberships = await lockFormerDepartments(tx, tenantId, users);
  await markRestored(tx, tenantId, userIds, caller.userName).catch(rethrowAsTaken);
  await insertMemberships(tx, tenantId, memberships);
}

/** Replaces the departments of users, and nothing else. */
export async function replaceDepartments(
  tx: Tx,
  caller: Caller,
  requestedTenant: string,
  users: readonly FormerDepartments[],
): Promise<void> {
  const { tenantId } = await assumeTenantForWrite(tx, caller, requestedTenant);
  const userIds = users.map(({ userId }) => userId);
  const locked = await lockUsers(tx, tenantId, userIds);
  if (locked.length < users.length) throw apiError('USER_NOT_FOUND');
  assertMayManage(caller, locked);
  const memberships = await lockFormerDepartments(tx, tenantId, users);
  await deleteMembershipsOfUsers(tx, tenantId, userIds);
  await insertMemberships(tx, tenantId, memberships);
  await touchUsers(tx, tenantId, userIds, caller.userName);
}

/** Returns the departments of a user as they are stored: `deptIds` includes the main one. */
export function membershipOf(userId: string, { deptId, deptIds }: Pick<User, 'deptId' | 'deptIds'>) {
  const main = deptId === null ? null : String(deptId);
  return { userId, deptId: main, deptIds: [...new Set([...(main ? [main] : []), ...deptIds.map(String)])] };
}

async function lockFormerDepartments(tx: Tx, tenantId: string, users: readonly FormerDepartments[]) {
  const memberships = users.map(({ userId, ...departments }) => membershipOf(userId, departments));
  await lockUserDepartments(tx, tenantId, { deptIds: [...new Set(memberships.flatMap(({ deptIds }) => deptIds))] });
  return memberships;
}
