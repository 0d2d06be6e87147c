import type { Tx } from '../../db/driver.ts';
import { errorCode } from '../../db/errors.ts';
import { assumeTenant, assumeTenantForWrite, lockTenant } from '../access/tenant-scope.ts';
import type { Caller } from '../auth/caller.ts';
import { endSessionsOf } from '../auth/sessions.ts';
import { userKey } from '../auth/user-key.ts';
import {
  addMemberships,
  assertDepartmentExists,
  lockUserDepartments,
  membersOf,
  removeMemberships,
} from '../departments/members.ts';
import { apiError } from '../http/errors.ts';
import { assertEtag, etagOf, type IfMatch, type Tagged } from '../http/etag.ts';
import { idOf, jsonIds, pageOf, type Rows } from '../http/fields.ts';
import {
  countMembers,
  countUsers,
  countUsersOf,
  findByKey,
  hasOtherAdministrator,
  insertUser,
  listAdministrators as listAdministratorNames,
  listUsers as listRows,
  lockAnyUser,
  lockUsers,
  markDeleted,
  markRestored,
  readMembers,
  readUser as readRow,
  recoverUser as recoverRow,
  type UserFields,
  updatePassword,
  updateUser as updateRow,
} from './queries.ts';
import { user as userRecord } from './record.ts';
import type { DeptUserFilter, User, UserFilter, UserInput, UserUpdate } from './schema.ts';

export async function createUser(tx: Tx, caller: Caller, input: UserInput, passwordHash: string): Promise<number> {
  const { tenantId, accountCount } = await assumeTenantForWrite(tx, caller, input.tenantId);
  await assertWithinAccountLimit(tx, tenantId, accountCount);
  const depts = await lockUserDepartments(tx, tenantId, input);
  const { userName } = input;
  const row = { tenantId, userName, userKey: userKey(userName), passwordHash, by: caller.userName, ...fieldsOf(input) };
  const userId = await insertUser(tx, row).catch(rethrowAsNameTaken);
  await addMemberships(tx, { tenantId, userId: String(userId) }, depts);
  return userId;
}

/** Creates the first administrator of a tenant, in the transaction that creates the tenant. */
export async function createFirstAdministrator(
  tx: Tx,
  first: { tenantId: string; userName: string; passwordHash: string; by: string },
): Promise<void> {
  const { accountCount } = await lockTenant(tx, first.tenantId);
  // The usual advice, to delete users, does not apply to a new tenant, so the error names the field.
  if (accountCount === 0) throw apiError('ACCOUNT_LIMIT', { accountCount, field: 'accountCount' });
  await insertUser(tx, { ...first, userKey: userKey(first.userName), ...fieldsOf({ roles: ['admin'] }) });
}

/** Administrators read any user in their scope; members read only themselves. */
export async function readUser(
  tx: Tx,
  caller: Caller,
  userId: string,
  requestedTenant: string | undefined,
): Promise<Tagged<User>> {
  assertSelfOrAdministrator(caller, userId, requestedTenant);
  const tenantId = await assumeTenant(tx, caller, requestedTenant);
  const user = await readRow(tx, tenantId, userId);
  if (!user) throw apiError('USER_NOT_FOUND');
  return { data: user, etag: etagOf(user) };
}

export function assertSelfOrAdministrator(caller: Caller, userId: string, requestedTenant: string | undefined): void {
  const isSelf = userId === caller.userId && (requestedTenant === undefined || requestedTenant === caller.tenantId);
  if (!caller.administrator && !isSelf) throw apiError('NOT_ALLOWED');
}

export const readOwnUser = async (tx: Tx, caller: Caller): Promise<User> =>
  (await readUser(tx, caller, caller.userId, undefined)).data;

/** Replaces a user. Without `passwordHash` the password stays. */
export async function updateUser(
  tx: Tx,
  caller: Caller,
  input: UserUpdate,
  passwordHash: string | undefined,
  ifMatch: IfMatch,
): Promise<void> {
  // Lock the tenant first: two concurrent requests could each demote one of the last two administrators.
  const { tenantId } = await assumeTenantForWrite(tx, caller, input.tenantId);
  const userId = idOf(input.userId);
  const [user] = await lockUsers(tx, tenantId, [userId]);
  if (!user) throw apiError('USER_NOT_FOUND');
  if (ifMatch) assertEtag(ifMatch, etagOf(await readRow(tx, tenantId, userId)));
  const fields = fieldsOf(input);
  if (!fields.administrator || fields.status !== '0') await assertNotLastAdministrator(tx, tenantId, [user]);
  const depts = await lockUserDepartments(tx, tenantId, input);
  const userName = input.userName ?? user.userName;
  const by = caller.userName;
  await updateRow(tx, { tenantId, userId, userName, userKey: userKey(userName), by, ...fields }).catch(
    rethrowAsNameTaken,
  );
  await removeMemberships(tx, tenantId, [userId]);
  await addMemberships(tx, { tenantId, userId }, depts);
  if (passwordHash) await updatePassword(tx, tenantId, userId, passwordHash, by);
  if (passwordHash || fields.status !== '0') await endSessionsOf(tx, tenantId, [userId]);
}

export async function removeUsers(
  tx: Tx,
  caller: Caller,
  userIds: string[],
  requestedTenant: string | undefined,
  ifMatch: IfMatch,
): Promise<void> {
  const { tenantId } = await assumeTenantForWrite(tx, caller, requestedTenant);
  if (tenantId === caller.tenantId && userIds.includes(caller.userId)) throw apiError('OWN_USER');
  const users = await lockUsers(tx, tenantId, userIds);
  const missing = userIds.filter((id) => !users.some((user) => String(user.userId) === id));
  if (missing.length > 0) throw apiError('USER_NOT_FOUND', { userIds: jsonIds(missing) });
  if (ifMatch) for (const id of userIds) assertEtag(ifMatch, etagOf(await readRow(tx, tenantId, id)));
  await assertNotLastAdministrator(tx, tenantId, users);
  await markDeleted(tx, tenantId, userIds, caller.userName);
  await removeMemberships(tx, tenantId, userIds);
  await endSessionsOf(tx, tenantId, userIds);
}

/** Restores a deleted user with their previous password, in the given departments. Their sessions stay ended. */
export async function restoreDeletedUser(
  tx: Tx,
  caller: Caller,
  { tenantId, userId, ...depts }: Pick<User, 'deptId' | 'deptIds'> & { tenantId: string; userId: string },
): Promise<void> {
  const { accountCount } = await assumeTenantForWrite(tx, caller, tenantId);
  const user = await lockAnyUser(tx, tenantId, userId);
  if (!user) throw apiError('USER_NOT_FOUND');
  if (user.delFlag === '0') throw apiError('USER_NOT_DELETED');
  await assertWithinAccountLimit(tx, tenantId, accountCount);
  const departments = await lockUserDepartments(tx, tenantId, depts);
  await markRestored(tx, tenantId, userId, caller.userName).catch(rethrowAsNameTaken);
  await addMemberships(tx, { tenantId, userId }, departments);
}

export async function listUsers(tx: Tx, caller: Caller, filter: UserFilter): Promise<Rows<User>> {
  const tenantId = await assumeTenant(tx, caller, filter.tenantId);
  return listRows(tx, tenantId, {
    userName: filter.userName ?? null,
    deptId: filter.deptId === undefined ? null : idOf(filter.deptId),
    status: filter.status ?? null,
    q: filter.q ?? null,
    ...pageOf(filter),
  });
}

/** Counts the accounts of a tenant. */
export const countAccounts = (tx: Tx, tenantId: string): Promise<number> => countUsers(tx, tenantId, null);

/** Counts the accounts of several tenants with one statement. The tenants must be within the caller's scope. */
export const countAccountsOf = (tx: Tx, tenantIds: string[]): Promise<Map<string, number>> =>
  countUsersOf(tx, tenantIds);

/** Lists the users of a department of the caller's own tenant, or of its whole branch. */
export async function listDepartmentUsers(
  tx: Tx,
  { tenantId }: Caller,
  deptId: string,
  { below = false, countOnly = false, ...paging }: DeptUserFilter,
): Promise<Rows<User>> {
  await assertDepartmentExists(tx, tenantId, deptId);
  const members = () => membersOf(tx, tenantId, deptId, { withBranch: below });
  const [rows, total] = await Promise.all([
    countOnly ? [] : readMembers(tx, tenantId, members(), pageOf(paging)),
    countMembers(tx, members()),
  ]);
  return { rows, total };
}

export const setPassword = (tx: Tx, { tenantId, userId, userName }: Caller, passwordHash: string) =>
  updatePassword(tx, tenantId, userId, passwordHash, userName);

export interface RecoveredUser {
  userId: string;
  userName: string;
  administrator: boolean;
  wasDisabled: boolean;
}

/** Sets a new password and enables the user, for the operator. Returns undefined if there is no such user. */
export async function recoverUser(
  tx: Tx,
  { tenantId, userName, by }: { tenantId: string; userName: string; by: string },
  passwordHash: string,
): Promise<RecoveredUser | undefined> {
  await lockTenant(tx, tenantId);
  const found = await findByKey(tx, tenantId, userKey(userName));
  // Lock before writing: a concurrent login with the old password waits for the lock and then fails.
  const [user] = found ? await lockUsers(tx, tenantId, [String(found.userId)]) : [];
  if (!user) return undefined;
  const userId = String(user.userId);
  await recoverRow(tx, tenantId, userId, passwordHash, by);
  await endSessionsOf(tx, tenantId, [userId]);
  return { userId, userName: user.userName, administrator: user.administrator, wasDisabled: user.status !== '0' };
}

/** Lists the names of a tenant's administrators, the oldest account first. */
export const listAdministrators = (tx: Tx, tenantId: string, limit: number): Promise<string[]> =>
  listAdministratorNames(tx, tenantId, limit);

/** Throws if the limit is reached. The transaction holds the tenant's lock, so concurrent requests cannot exceed it. */
async function assertWithinAccountLimit(tx: Tx, tenantId: string, accountCount: number): Promise<void> {
  if (accountCount === -1) return;
  if ((await countUsers(tx, tenantId, accountCount)) >= accountCount) throw apiError('ACCOUNT_LIMIT', { accountCount });
}

/** Throws if no enabled administrator would remain without `users`. The transaction holds the tenant's lock. */
async function assertNotLastAdministrator(
  tx: Tx,
  tenantId: string,
  users: readonly { userId: number; administrator: boolean; status: string }[],
): Promise<void> {
  const demoted = users.filter((user) => user.administrator && user.status === '0').map((user) => String(user.userId));
  if (demoted.length > 0 && !(await hasOtherAdministrator(tx, tenantId, demoted))) throw apiError('LAST_ADMINISTRATOR');
}

function rethrowAsNameTaken(error: unknown): never {
  throw errorCode(error) === '23505' ? apiError('USER_NAME_TAKEN') : error;
}

const fieldsOf = (input: Partial<Omit<UserInput, 'userName' | 'password'>>): UserFields => ({
  ...userRecord.withDefaults(input),
  administrator: input.roles?.includes('admin') ?? false,
});
