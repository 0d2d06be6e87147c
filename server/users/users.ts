import type { Tx } from '../../db/driver.ts';
import { constraintOf, errorCode } from '../../db/errors.ts';
import { assumeTenant, assumeTenantForWrite, lockTenant } from '../access/tenant-scope.ts';
import { asUser, type Caller } from '../auth/caller.ts';
import { assertWithoutNames, type NewPassword } from '../auth/password-policy.ts';
import { hasAllPermissions } from '../auth/permissions.ts';
import { endSessionsOf } from '../auth/sessions.ts';
import { userKey } from '../auth/user-key.ts';
import {
  assertDepartmentExists,
  deleteMembershipsOfUsers,
  insertMemberships,
  lockUserDepartments,
  type MemberRemoval,
  memberIds,
  moveMembers,
  readMemberships,
} from '../departments/members.ts';
import { apiError } from '../http/errors.ts';
import { assertEtag, etagOf, type IfMatch, type Tagged } from '../http/etag.ts';
import { idOf, jsonId, jsonIds, pageOf, type Rows } from '../http/fields.ts';
import { assertNotRemoved, assertSameId, mergePatch } from '../http/merge-patch.ts';
import { assertAccountsLeft } from '../quotas/accounts.ts';
import {
  assertExternalId,
  completeExternalId,
  type ExternalIdPath,
  rethrowAsExternalIdTaken,
} from '../records/external-id.ts';
import {
  countMembers,
  countUsers,
  countUsersOf,
  findByKey,
  hasOtherAdministrator,
  insertUser,
  listAdministrators as listAdministratorNames,
  listUsers as listRows,
  lockAnyUsers,
  lockUsers,
  markDeleted,
  markRestored,
  readLeaders as readLeaderRows,
  readMembers,
  readNames,
  readOfSource,
  readUser as readRow,
  readUserByExternalId as readRowByExternalId,
  readUsers as readRows,
  readTenantLimits,
  recordUserChanges,
  recoverUser as recoverRow,
  replaceHashByDigest,
  replaceHash as replaceHashOf,
  replacePassword,
  touchUsers,
  type UserFields,
  type UserSearch,
  updatePassword,
  updateUser as updateRow,
} from './queries.ts';
import { user as userRecord } from './record.ts';
import type {
  DeptUserFilter,
  Leader,
  User,
  UserBatch,
  UserFilter,
  UserInput,
  UserPatch,
  UserUpdate,
} from './schema.ts';
import { assertUserNameAllowed } from './user-name.ts';

export async function createUser(tx: Tx, caller: Caller, input: UserInput, password: NewPassword): Promise<number> {
  const { userName } = input;
  assertUserNameAllowed(userName, 'userName');
  assertExternalId(input);
  const { tenantId, ...tenant } = await assumeTenantForWrite(tx, caller, input.tenantId);
  assertMayManage(caller, [fieldsOf(input)]);
  assertWithoutNames(password, [userName, input.nickName, tenantId, ...namesOf(tenant)]);
  await assertWithinAccountLimit(tx, tenantId, tenant.accountLimit);
  await assertAccountsLeft(tx, caller, tenantId);
  const depts = await lockUserDepartments(tx, tenantId, input);
  const userId = await insertUser(tx, {
    ...{ tenantId, userName, userKey: userKey(userName), by: caller.userName, ...fieldsOf(input) },
    ...{ passwordHash: password.hash, mustChangePassword: input.mustChangePassword ?? false },
  }).catch(rethrowAsTaken);
  await insertMemberships(tx, tenantId, [{ userId: String(userId), ...depts }]);
  return userId;
}

/**
 * Throws if a caller without all permissions, such as an API key with `user:write`, would create or change an administrator: it
 * could set their password and so gain permissions that it lacks.
 */
export function assertMayManage(caller: Caller, users: readonly { administrator: boolean }[]): void {
  if (users.some(({ administrator }) => administrator) && !hasAllPermissions(caller)) throw apiError('NOT_ALLOWED');
}

export const namesOf = ({ tenantName, companyName }: { tenantName: string | null; companyName: string | null }) => [
  tenantName,
  companyName,
];

/**
 * Creates the first administrator of a tenant, in the transaction that creates the tenant. Errors refer to `fields`, the
 * names under which the caller has sent the name and the password.
 */
export async function createFirstAdministrator(
  tx: Tx,
  first: { tenantId: string; userName: string; password: NewPassword; mustChangePassword: boolean; by: string },
  fields: { userName: string; password: string },
): Promise<void> {
  const { password, ...row } = first;
  assertUserNameAllowed(row.userName, fields.userName);
  const { accountLimit, ...tenant } = await lockTenant(tx, row.tenantId);
  assertWithoutNames(password, [row.userName, row.tenantId, ...namesOf(tenant)], fields.password);
  // The usual advice, to delete users, does not apply to a new tenant, so the error names the field.
  if (accountLimit === 0) throw apiError('ACCOUNT_LIMIT', { accountCount: accountLimit, field: 'accountCount' });
  const passwordHash = password.hash;
  await insertUser(tx, { ...row, passwordHash, userKey: userKey(row.userName), ...fieldsOf({ roles: ['admin'] }) });
}

/** Callers with `user:read` read any user in their scope; others only themselves. */
export async function readUser(
  tx: Tx,
  caller: Caller,
  userId: string,
  requestedTenant: string | undefined,
): Promise<Tagged<User>> {
  assertMayRead(caller, userId, requestedTenant);
  const tenantId = await assumeTenant(tx, caller, requestedTenant);
  const user = await readRow(tx, tenantId, userId);
  if (!user) throw apiError('USER_NOT_FOUND');
  return { data: user, etag: etagOf(user) };
}

/** Reads the leaders of a user, the nearest first. Callers with `user:read` read those of any user; others their own. */
export async function readLeaders(
  tx: Tx,
  caller: Caller,
  userId: string,
  requestedTenant: string | undefined,
): Promise<Leader[]> {
  assertMayRead(caller, userId, requestedTenant);
  const tenantId = await assumeTenant(tx, caller, requestedTenant);
  const rows = await readLeaderRows(tx, tenantId, userId);
  if (rows.length === 0) throw apiError('USER_NOT_FOUND');
  return rows.flatMap((row) => (row.deptId === null ? [] : [row]));
}

export async function readUserByExternalId(
  tx: Tx,
  caller: Caller,
  path: ExternalIdPath,
  requestedTenant: string | undefined,
): Promise<Tagged<User>> {
  const tenantId = await assumeTenant(tx, caller, requestedTenant);
  const user = await readRowByExternalId(tx, tenantId, path);
  if (!user) throw apiError('USER_NOT_FOUND');
  return { data: user, etag: etagOf(user) };
}

/** Reads users by their ids. */
export async function readUsers(tx: Tx, { tenantId }: Caller, userIds: (number | string)[]): Promise<UserBatch> {
  const ids = userIds.map(idOf);
  const found = await readRows(tx, tenantId, [...new Set(ids)]);
  const byId = new Map(found.map((user) => [String(user.userId), user]));
  return {
    rows: ids.flatMap((id) => byId.get(id) ?? []),
    missing: ids.filter((id) => !byId.has(id)).map(jsonId),
  };
}

export function assertMayRead(caller: Caller, userId: string, requestedTenant: string | undefined): void {
  const isSelf = userId === caller.userId && (requestedTenant === undefined || requestedTenant === caller.tenantId);
  if (!caller.permissions.has('user:read') && !isSelf) throw apiError('NOT_ALLOWED');
}

export const readOwnUser = async (tx: Tx, caller: Caller): Promise<User> =>
  (await readUser(tx, caller, asUser(caller).userId, undefined)).data;

interface UpdateOptions {
  /** Without it the password stays. */
  password?: NewPassword | undefined;
  ifMatch?: IfMatch;
  /** A revert returns to a name that the user had, even if it would not be allowed as a new one. */
  isRevert?: boolean;
}

export async function updateUser(
  tx: Tx,
  caller: Caller,
  input: UserUpdate,
  { password, ifMatch, isRevert = false }: UpdateOptions = {},
): Promise<void> {
  // Lock the tenant first: two concurrent requests could each demote one of the last two administrators.
  const { tenantId, ...tenant } = await assumeTenantForWrite(tx, caller, input.tenantId);
  const userId = idOf(input.userId);
  assertExternalId(input);
  const [user] = await lockUsers(tx, tenantId, [userId]);
  if (!user) throw apiError('USER_NOT_FOUND');
  if (ifMatch) assertEtag(ifMatch, etagOf(await readRow(tx, tenantId, userId)));
  const fields = { ...userRecord.replacement(completeExternalId(input)), administrator: isAdministrator(input) };
  assertMayManage(caller, [user, fields]);
  if (!fields.administrator || fields.status !== '0') await assertNotLastAdministrator(tx, tenantId, [user]);
  const depts = await lockUserDepartments(tx, tenantId, input);
  const userName = input.userName ?? user.userName;
  if (userName !== user.userName && !isRevert) assertUserNameAllowed(userName, 'userName');
  if (password) assertWithoutNames(password, [userName, input.nickName, tenantId, ...namesOf(tenant)]);
  const by = caller.userName;
  // Unless the request says otherwise, a new password need not be changed, and an old one is left as it is.
  const mustChangePassword = input.mustChangePassword ?? (password ? false : null);
  const row = { tenantId, userId, userName, userKey: userKey(userName), mustChangePassword, by, ...fields };
  await updateRow(tx, row).catch(rethrowAsTaken);
  await deleteMembershipsOfUsers(tx, tenantId, [userId]);
  await insertMemberships(tx, tenantId, [{ userId, ...depts }]);
  if (password) await updatePassword(tx, tenantId, userId, password.hash, by);
  if (password || fields.status !== '0') await endSessionsOf(tx, tenantId, [userId]);
}

/** Changes only the fields that are sent (RFC 7396). The user is locked before they are read, so no other change is lost. */
export async function patchUser(
  tx: Tx,
  caller: Caller,
  userId: string,
  patch: UserPatch,
  { password, ifMatch }: Omit<UpdateOptions, 'isRevert'>,
): Promise<void> {
  assertSameId(userId, patch.userId, 'userId');
  assertNotRemoved(patch, ['userName', 'password']);
  const { tenantId } = await assumeTenantForWrite(tx, caller, patch.tenantId);
  await lockUsers(tx, tenantId, [userId]);
  const current = await readRow(tx, tenantId, userId);
  if (!current) throw apiError('USER_NOT_FOUND');
  assertEtag(ifMatch, etagOf(current));
  const { userName, deptId, deptIds, roles, mustChangePassword } = current;
  const before = { userName, ...userRecord.pick(current), deptId, deptIds, roles, mustChangePassword };
  const { mustChangePassword: required = false, ...after } = mergePatch<Omit<UserPatch, 'userId'>>(
    before,
    completeExternalId(patch),
  );
  if (!password && isUnchanged(before, { ...after, mustChangePassword: required })) return;
  // As in a replacement, a new password need not be changed unless the patch says so.
  const sent = 'mustChangePassword' in patch ? required : null;
  // With the defaults of fields that the patch resets: a replacement would keep some that are omitted.
  const fields = { ...after, ...userRecord.withDefaults(after) };
  await updateUser(tx, caller, { ...fields, userId, tenantId, mustChangePassword: sent }, { password });
}

/** Whether a patch leaves everything as it is. */
function isUnchanged(before: Omit<UserPatch, 'userId'>, after: Omit<UserPatch, 'userId'>): boolean {
  const [a, b] = [before, after].map((user) => {
    const main = user.deptId == null ? null : idOf(user.deptId);
    const others = new Set((user.deptIds ?? []).map(idOf));
    if (main) others.delete(main);
    const { administrator, ...fields } = fieldsOf(user);
    return JSON.stringify([user.userName, fields, administrator, user.mustChangePassword, main, [...others].sort()]);
  });
  return a === b;
}

export async function removeUsers(
  tx: Tx,
  caller: Caller,
  userIds: string[],
  requestedTenant: string | undefined,
  ifMatch: IfMatch,
): Promise<void> {
  const { tenantId } = await assumeTenantForWrite(tx, caller, requestedTenant);
  if (tenantId === caller.ownTenantId && caller.userId !== undefined && userIds.includes(caller.userId))
    throw apiError('OWN_USER');
  const users = await lockUsers(tx, tenantId, userIds);
  const found = new Set(users.map((user) => String(user.userId)));
  const missing = userIds.filter((id) => !found.has(id));
  if (missing.length > 0) throw apiError('USER_NOT_FOUND', { userIds: jsonIds(missing) });
  assertMayManage(caller, users);
  if (ifMatch) for (const id of userIds) assertEtag(ifMatch, etagOf(await readRow(tx, tenantId, id)));
  await assertNotLastAdministrator(tx, tenantId, users);
  await inChunks(tx, userIds, async (chunk) => {
    await markDeleted(tx, tenantId, chunk, caller.userName);
    await deleteMembershipsOfUsers(tx, tenantId, chunk);
  });
  await endSessionsOf(tx, tenantId, userIds);
}

/** How many users are written at once; the ledger takes about half a second for them on a busy machine. */
const CHUNK_SIZE = 1_000;

/** Writes many users in chunks. Each but the last is recorded in the ledger before the next: at the commit it would take too long. */
export async function inChunks<T>(tx: Tx, items: readonly T[], write: (chunk: T[]) => Promise<void>): Promise<void> {
  for (let at = 0; at < items.length; at += CHUNK_SIZE) {
    await write(items.slice(at, at + CHUNK_SIZE));
    if (at + CHUNK_SIZE < items.length) await recordUserChanges(tx);
  }
}

/**
 * The maximum number of users that a deletion of departments may move or delete. Each leaves a row in the ledger at the commit, and all of it
 * must fit into the limit of a statement: 1,000 take about 0.6 seconds, and their revert 2, on a busy machine.
 */
const MAX_AFFECTED_USERS = 2_000;

/** Moves the users of departments that are deleted to `toDeptId`, or without one deletes those whose main department it is. */
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
    await lockUsers(tx, tenantId, idsOf(moved));
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
  const memberships = await lockFormerDepartments(tx, tenantId, users);
  await deleteMembershipsOfUsers(tx, tenantId, userIds);
  await insertMemberships(tx, tenantId, memberships);
  await touchUsers(tx, tenantId, userIds, caller.userName);
}

async function lockFormerDepartments(tx: Tx, tenantId: string, users: readonly FormerDepartments[]) {
  const memberships = users.map(({ userId, deptId, deptIds }) => {
    const main = deptId === null ? null : String(deptId);
    return { userId, deptId: main, deptIds: [...new Set([...(main ? [main] : []), ...deptIds.map(String)])] };
  });
  await lockUserDepartments(tx, tenantId, { deptIds: [...new Set(memberships.flatMap(({ deptIds }) => deptIds))] });
  return memberships;
}

/** Filters that RuoYi's front ends send (ruoyi-api/). Times have the form of `createTime`, and seconds that are included. */
interface FurtherUserFilters {
  phone?: string | undefined;
  /** Only users of this department and of those below it. */
  underId?: string | undefined;
  createdFrom?: string | undefined;
  createdTo?: string | undefined;
}

export async function listUsers(
  tx: Tx,
  caller: Caller,
  filter: UserFilter,
  { underId, ...further }: FurtherUserFilters = {},
): Promise<Rows<User>> {
  const tenantId = await assumeTenant(tx, caller, filter.tenantId);
  return listRows(tx, tenantId, {
    ...searchOf(filter),
    ...further,
    members: underId === undefined ? undefined : memberIds(tx, tenantId, underId, { withSubtree: true }),
    ...pageOf(filter),
  });
}

export const searchOf = (filter: Omit<UserFilter, 'pageNum' | 'pageSize'>): UserSearch => ({
  userName: filter.userName ?? null,
  deptId: filter.deptId === undefined ? null : idOf(filter.deptId),
  status: filter.status ?? null,
  q: filter.q ?? null,
  source: filter.source ?? null,
  externalId: filter.externalId ?? null,
});

/** Counts the accounts of a tenant. */
export const countAccounts = (tx: Tx, tenantId: string): Promise<number> => countUsers(tx, tenantId, null);

/** Counts the accounts of several tenants with one statement. The tenants must be within the caller's scope. */
export const countAccountsOf = (tx: Tx, tenantIds: string[]): Promise<Map<string, number>> =>
  countUsersOf(tx, tenantIds);

/** Lists the users of a department, or of its whole subtree. */
export async function listDepartmentUsers(
  tx: Tx,
  { tenantId }: Caller,
  deptId: string,
  { below = false, countOnly = false, ...paging }: DeptUserFilter,
): Promise<Rows<User>> {
  await assertDepartmentExists(tx, tenantId, deptId);
  const members = () => memberIds(tx, tenantId, deptId, { withSubtree: below });
  const [rows, total] = await Promise.all([
    countOnly ? [] : readMembers(tx, tenantId, members(), pageOf(paging)),
    countMembers(tx, members()),
  ]);
  return { rows, total };
}

/**
 * Replaces the caller's own password, which was `oldHash` when it was checked. If an administrator has set another one since,
 * theirs stays.
 */
export async function replaceOwnPassword(
  tx: Tx,
  caller: Caller,
  oldHash: string,
  password: NewPassword,
): Promise<void> {
  const { tenantId, userId, userName } = asUser(caller);
  assertWithoutNames(password, await readNames(tx, tenantId, userId), 'newPassword');
  const row = { tenantId, userId, oldHash, passwordHash: password.hash, by: userName };
  if (!(await replacePassword(tx, row))) throw apiError('WRONG_PASSWORD');
}

/** Stores another hash of the same password, for a login with a hash that was imported. */
export const replaceHash = (tx: Tx, user: { tenantId: string; userId: string; passwordHash: string }) =>
  replaceHashOf(tx, user);

/**
 * Replaces a hash that was imported by another one of the same source. Returns false if the stored hash is no longer the one
 * whose SHA-256 digest is `digestBefore`: the user has logged in since, or has another password.
 */
export async function replaceImportedHash(
  tx: Tx,
  { tenantId, userName }: Caller,
  userId: string,
  hash: { digestBefore: string; passwordHash: string },
): Promise<boolean> {
  const isReplaced = await replaceHashByDigest(tx, { tenantId, userId, ...hash, by: userName });
  if (isReplaced) await endSessionsOf(tx, tenantId, [userId]);
  return isReplaced;
}

/** Lists all users of a tenant, for an import. Those from another system have its ids, including deleted ones. */
export const listUsersOfSource = (tx: Tx, tenantId: string, source: string) => readOfSource(tx, tenantId, source);

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
  password: NewPassword,
): Promise<RecoveredUser | undefined> {
  const tenant = await lockTenant(tx, tenantId);
  const found = await findByKey(tx, tenantId, userKey(userName));
  // Lock before writing: a concurrent login with the old password waits for the lock and then fails.
  const [user] = found ? await lockUsers(tx, tenantId, [String(found.userId)]) : [];
  if (!user) return undefined;
  const userId = String(user.userId);
  assertWithoutNames(password, [user.userName, user.nickName, tenantId, ...namesOf(tenant)], 'The password');
  await recoverRow(tx, tenantId, userId, password.hash, by);
  await endSessionsOf(tx, tenantId, [userId]);
  return { userId, userName: user.userName, administrator: user.administrator, wasDisabled: user.status !== '0' };
}

/** Lists the names of a tenant's administrators, the oldest account first. */
export const listAdministrators = (tx: Tx, tenantId: string, limit: number): Promise<string[]> =>
  listAdministratorNames(tx, tenantId, limit);

/** Reads how many accounts a tenant may have, -1 for any number, and how many it has. */
export async function readAccounts(tx: Tx, tenantId: string): Promise<{ accountLimit: number; count: number }> {
  const { accountLimit } = await readTenantLimits(tx, tenantId);
  return { accountLimit, count: accountLimit === -1 ? 0 : await countUsers(tx, tenantId, accountLimit) };
}

/** Throws if there is no room for `added` users. The transaction holds the tenant's lock, so concurrent requests cannot exceed it. */
export async function assertWithinAccountLimit(
  tx: Tx,
  tenantId: string,
  accountLimit: number,
  added = 1,
): Promise<void> {
  if (accountLimit === -1) return;
  const count = await countUsers(tx, tenantId, accountLimit);
  if (count + added > accountLimit) throw apiError('ACCOUNT_LIMIT', { accountCount: accountLimit });
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

function rethrowAsTaken(error: unknown): never {
  if (errorCode(error) === '23505' && constraintOf(error) === 'users_name') throw apiError('USER_NAME_TAKEN');
  return rethrowAsExternalIdTaken(error);
}

export const fieldsOf = (
  input: Partial<Omit<UserInput, 'userName' | 'password' | 'mustChangePassword'>>,
): UserFields => ({
  ...userRecord.withDefaults(input),
  administrator: isAdministrator(input),
});

const isAdministrator = ({ roles }: Pick<UserInput, 'roles'>): boolean => roles?.includes('admin') ?? false;
