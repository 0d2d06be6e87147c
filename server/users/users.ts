import type { Tx } from '../../db/driver.ts';
import { constraintOf, errorCode } from '../../db/errors.ts';
import { assumeTenantForWrite, lockTenant } from '../access/tenant-scope.ts';
import type { Caller } from '../auth/caller.ts';
import { assertStrongWithoutNames, type NewPassword } from '../auth/password-policy.ts';
import { hasAllPermissions } from '../auth/permissions.ts';
import { endSessionsOf } from '../auth/sessions.ts';
import { userKey } from '../auth/user-key.ts';
import { deleteMembershipsOfUsers, insertMemberships, lockUserDepartments } from '../departments/members.ts';
import { apiError } from '../http/errors.ts';
import { assertEtag, etagOf, type IfMatch } from '../http/etag.ts';
import { idOf, jsonIds } from '../http/fields.ts';
import { assertNotRemoved, assertSameId, mergePatch } from '../http/merge-patch.ts';
import { assertAccountsLeft } from '../quotas/accounts.ts';
import { assertExternalId, completeExternalId, rethrowAsExternalIdTaken } from '../records/external-id.ts';
import { assertNotLastAdministrator, assertWithinAccountLimit } from './accounts.ts';
import { insertUsers, recordUserChanges } from './bulk-queries.ts';
import { updatePassword } from './password-queries.ts';
import { lockUsers, markDeleted, readUser as readRow, type UserFields, updateUser as updateRow } from './queries.ts';
import { user as userRecord } from './record.ts';
import type { UserInput, UserPatch, UserUpdate } from './schema.ts';
import { assertUserNameAllowed } from './user-name.ts';

export async function createUser(tx: Tx, caller: Caller, input: UserInput, password: NewPassword): Promise<number> {
  const { userName } = input;
  assertUserNameAllowed(userName, 'userName');
  assertExternalId(input);
  const { tenantId, ...tenant } = await assumeTenantForWrite(tx, caller, input.tenantId);
  assertMayManage(caller, [fieldsOf(input)]);
  assertStrongWithoutNames(password, [userName, input.nickName, tenantId, ...namesOf(tenant)]);
  await assertWithinAccountLimit(tx, tenantId, tenant.accountLimit);
  await assertAccountsLeft(tx, caller, tenantId);
  const depts = await lockUserDepartments(tx, tenantId, input);
  const mustChangePassword = input.mustChangePassword ?? false;
  const row = {
    userName,
    userKey: userKey(userName),
    ...fieldsOf(input),
    passwordHash: password.hash,
    mustChangePassword,
  };
  const [userId] = await insertUsers(tx, tenantId, caller.userName, [row]).catch(rethrowAsTaken);
  await insertMemberships(tx, tenantId, [{ userId: String(userId), ...depts }]);
  return userId as number;
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
  const { tenantId, password, by, ...row } = first;
  assertUserNameAllowed(row.userName, fields.userName);
  const { accountLimit, ...tenant } = await lockTenant(tx, tenantId);
  assertStrongWithoutNames(password, [row.userName, tenantId, ...namesOf(tenant)], fields.password);
  // The usual advice, to delete users, does not apply to a new tenant, so the error names the field.
  if (accountLimit === 0) throw apiError('ACCOUNT_LIMIT', { accountCount: accountLimit, field: 'accountCount' });
  const administrator = { ...row, userKey: userKey(row.userName), ...fieldsOf({ roles: ['admin'] }) };
  await insertUsers(tx, tenantId, by, [{ ...administrator, passwordHash: password.hash }]);
}

interface UpdateOptions {
  /** Without it the password stays the same. */
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
  if (password) assertStrongWithoutNames(password, [userName, input.nickName, tenantId, ...namesOf(tenant)]);
  const by = caller.userName;
  // Unless the request says otherwise, a new password need not be changed, and without a new one `mustChangePassword` keeps its
  // value.
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
  // Send the defaults of fields that the patch resets: a replacement would keep some that are omitted.
  const fields = { ...after, ...userRecord.withDefaults(after) };
  await updateUser(tx, caller, { ...fields, userId, tenantId, mustChangePassword: sent }, { password });
}

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
    await endSessionsOf(tx, tenantId, chunk);
  });
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

export function rethrowAsTaken(error: unknown): never {
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
