import type { Tx } from '../../db/driver.ts';
import { assumeTenant, assumeTenantForWrite } from '../access/tenant-scope.ts';
import type { Caller } from '../auth/caller.ts';
import { lockAndFindMissing, lockUserDepartments } from '../departments/members.ts';
import { ApiError, apiError } from '../http/errors.ts';
import { createSlices, mapInSlices } from '../http/slices.ts';
import { assertNoConflicts } from '../ledger/conflicts.ts';
import { readLastDeleted, readStoredAt } from '../ledger/history.ts';
import type { PointInTime } from '../ledger/point-in-time.ts';
import type { LedgerResource, RecordRevert } from '../ledger/resources.ts';
import type { StoredRow } from '../records/record.ts';
import { assertNotLastAdministrator } from './accounts.ts';
import { membershipOf, replaceDepartments, restoreDeletedUsers } from './memberships.ts';
import { lockAnyUsers, lockUsers, readUser as readUserRow } from './queries.ts';
import { assertMayRead } from './reads.ts';
import { readStoredUsers, type StoredUser, writeUserChanges } from './reconcile.ts';
import { rolesOf, storedContents, storedDepartments, user } from './record.ts';
import type { User } from './schema.ts';
import { createStoredReader } from './stored-reader.ts';
import { assertMayManage, removeUsers, updateUser } from './users.ts';

export async function readUserAt(
  tx: Tx,
  show: (row: StoredRow) => User,
  caller: Caller,
  userId: string,
  { tenantId: requestedTenant, time }: { tenantId: string | undefined; time: PointInTime },
): Promise<User> {
  assertMayRead(caller, userId, requestedTenant);
  const tenantId = await assumeTenant(tx, caller, requestedTenant);
  const row = await readStoredAt(tx, tenantId, 'user', userId, time);
  if (!row) throw apiError('USER_NOT_FOUND');
  return show(row);
}

/** Restores a deleted user to those of their departments that still exist. */
export async function restoreUser(
  tx: Tx,
  caller: Caller,
  userId: string,
  requestedTenant: string | undefined,
): Promise<void> {
  const { tenantId } = await assumeTenantForWrite(tx, caller, requestedTenant);
  const row = await readLastDeleted(tx, tenantId, 'user', userId);
  const { deptId, deptIds } = row ? storedDepartments(row) : { deptId: null, deptIds: [] };
  const missing = await lockAndFindMissing(tx, tenantId, [...(deptId ? [deptId] : []), ...deptIds].map(String));
  const exists = (id: number) => !missing.includes(String(id));
  await restoreDeletedUsers(tx, caller, tenantId, [
    { userId, deptId: deptId && exists(deptId) ? deptId : null, deptIds: deptIds.filter(exists) },
  ]);
}

/** Shows and reverts users for the ledger. */
export function userResource(timeZone: string): LedgerResource {
  const show = createStoredReader(timeZone);
  return {
    resource: 'user',
    show: (_tx, rows) => rows.map(({ row }) => show(row)),
    contents: storedContents,
    revert: revertUsers,
  };
}

async function revertUsers(tx: Tx, caller: Caller, ledger: string, reverts: RecordRevert[]): Promise<void> {
  const { tenantId } = await assumeTenantForWrite(tx, caller, ledger);
  await lockAnyUsers(
    tx,
    tenantId,
    reverts.map(({ id }) => id),
  );
  await assertNoConflicts(tx, tenantId, { resource: 'user', contents: storedContents }, reverts);
  const created: string[] = [];
  const deleted: RecordRevert[] = [];
  const moved: RecordRevert[] = [];
  const updated: { id: string; from: StoredRow; to: StoredRow }[] = [];
  const pause = createSlices();
  for (const revert of reverts) {
    const { id, from, to } = revert;
    if (!to) created.push(id);
    else if (!from) deleted.push(revert);
    else if (isMoved(from, to)) moved.push(revert);
    else updated.push({ id, from, to });
    await pause();
  }
  if (created.length > 0) await removeUsers(tx, caller, created, tenantId, undefined);
  // A request may have deleted or moved all users of a department, so these are written together.
  if (deleted.length > 0)
    await restoreDeletedUsers(tx, caller, tenantId, deleted.map(formerDepartments)).catch(rethrowAsDeptGone);
  if (moved.length > 0)
    await replaceDepartments(tx, caller, tenantId, moved.map(formerDepartments)).catch(rethrowAsDeptGone);
  const changesRequirement = ({ from, to }: { from: StoredRow; to: StoredRow }) => mustChange(from) !== mustChange(to);
  const together = updated.filter((each) => !changesRequirement(each));
  if (together.length > 0) await updateTogether(tx, caller, tenantId, together).catch(rethrowAsDeptGone);
  for (const { id: userId, to } of updated.filter(changesRequirement)) {
    const mustChangePassword = mustChange(to);
    const present = await readUserRow(tx, tenantId, userId);
    const userName = String(to.user_name);
    const roles = rolesOf(to.administrator === true);
    const input = { userId, tenantId, userName, ...user.fromStored(to, present), ...storedDepartments(to), roles };
    await updateUser(tx, caller, { ...input, mustChangePassword }, { isRevert: true }).catch(rethrowAsDeptGone);
  }
}

const mustChange = (row: StoredRow): boolean => row.must_change_password === true;

/** Gives many users the fields and departments of recorded rows: an import may have changed 100,000. */
async function updateTogether(
  tx: Tx,
  caller: Caller,
  tenantId: string,
  targets: readonly { id: string; to: StoredRow }[],
): Promise<void> {
  const userIds = targets.map(({ id }) => id);
  const locked = await lockUsers(tx, tenantId, userIds);
  if (locked.length < userIds.length) throw apiError('USER_NOT_FOUND');
  const present = await readStoredUsers(tx, tenantId, userIds);
  const rows = await mapInSlices(targets, ({ id: userId, to }) => {
    const now = present.get(userId) as StoredUser;
    const departments = membershipOf(userId, storedDepartments(to));
    return {
      ...departments,
      ...user.fromStored(to, now),
      userName: String(to.user_name),
      administrator: to.administrator === true,
      moved:
        now.deptId !== departments.deptId || now.deptIds.toSorted().join() !== departments.deptIds.toSorted().join(),
      wasEnabled: now.status === '0',
    };
  });
  assertMayManage(caller, [...locked, ...rows]);
  const leavesAdministrator = rows.some((row) => row.administrator && row.status === '0');
  // A revert may exchange administrators: one that makes somebody an administrator leaves at least that one.
  if (!leavesAdministrator) await assertNotLastAdministrator(tx, tenantId, locked);
  await lockUserDepartments(tx, tenantId, { deptIds: [...new Set(rows.flatMap(({ deptIds }) => deptIds))] });
  await writeUserChanges(tx, { ...caller, tenantId }, { created: [], updated: rows }, [], () => {});
}

const formerDepartments = ({ id, to }: RecordRevert) => ({ userId: id, ...storedDepartments(to as StoredRow) });

/** Whether only the departments differ. */
function isMoved(from: StoredRow, to: StoredRow): boolean {
  const [a, b] = [from, to].map((row) =>
    JSON.stringify([{ ...storedContents(row), deptId: null, deptIds: [] }, row.must_change_password]),
  );
  return a === b;
}

/** The departments in a revert did exist, so the error has to say that they no longer do. */
function rethrowAsDeptGone(error: unknown): never {
  if (error instanceof ApiError && error.code === 'USER_DEPT_NOT_FOUND')
    throw apiError('USER_DEPT_GONE', error.details);
  throw error;
}
