import { codeOf, type Tx } from '../../db/sql.ts';
import type { Caller } from '../auth/caller.ts';
import { endSessionsOf } from '../auth/sessions.ts';
import { departmentExists, idsBelow } from '../departments/branch.ts';
import { holdDepartments } from '../departments/departments.ts';
import { idOf, pageOf, type Rows, shownIds } from '../http/fields.ts';
import { etagOf, type IfMatch, refuseChanged, type Tagged } from '../http/preconditions.ts';
import { refuse } from '../http/refusals.ts';
import { enterReach, lockReach, lockTenant } from '../tenants/reach.ts';
import {
  countUsers,
  countUsersAt,
  deleteMemberships,
  findById,
  findByKey,
  hasOtherAdministrator,
  holdById,
  insertMemberships,
  insertUser,
  type LoginRow,
  listAdministrators,
  listUsers as listRows,
  lockAnyUser,
  lockUsers,
  markDeleted,
  markRestored,
  readUser as readRow,
  readUsersAt,
  reopenUser,
  type UserFields,
  updatePassword,
  updateUser as updateRow,
} from './queries.ts';
import type { DeptUserFilter, User, UserFilter, UserInput, UserUpdate } from './schema.ts';

/** A user name as it is compared: however its letters are cased or composed. Up and down again, for ß and final ς. */
export const keyOf = (userName: string): string => userName.normalize('NFKC').toUpperCase().toLowerCase();

export async function createUser(tx: Tx, caller: Caller, input: UserInput, passwordHash: string): Promise<number> {
  const { tenantId, accountCount } = await lockReach(tx, caller, input.tenantId);
  await refuseBeyondLimit(tx, tenantId, accountCount);
  const depts = await holdUserDepartments(tx, tenantId, input);
  const userName = input.userName;
  const user = { tenantId, userName, userKey: keyOf(userName), passwordHash, by: caller.userName, ...fieldsOf(input) };
  const userId = await insertUser(tx, user).catch(refuseTakenName);
  await insertMemberships(tx, { tenantId, userId: String(userId) }, depts);
  return userId;
}

/** Made with its tenant, in the same transaction. */
export async function createFirstAdministrator(
  tx: Tx,
  first: { tenantId: string; userName: string; passwordHash: string; by: string },
): Promise<void> {
  const { accountCount } = await lockTenant(tx, first.tenantId);
  // There is nobody yet whom one could delete: what is wrong is the number.
  if (accountCount === 0) throw refuse('ACCOUNT_LIMIT', { accountCount, field: 'accountCount' });
  await insertUser(tx, { ...first, userKey: keyOf(first.userName), ...fieldsOf({ roles: ['admin'] }) });
}

/** Administrators read any user within reach; a user reads himself. */
export async function readUser(
  tx: Tx,
  caller: Caller,
  userId: string,
  inTenant: string | undefined,
): Promise<Tagged<User>> {
  refuseOtherUser(caller, userId, inTenant);
  const tenantId = await enterReach(tx, caller, inTenant);
  const user = await readRow(tx, tenantId, userId);
  if (!user) throw refuse('USER_NOT_FOUND');
  return { data: user, etag: etagOf(user) };
}

export function refuseOtherUser(caller: Caller, userId: string, inTenant: string | undefined): void {
  const himself = userId === caller.userId && (inTenant === undefined || inTenant === caller.tenantId);
  if (!caller.administrator && !himself) throw refuse('NOT_ALLOWED');
}

export const readOwnUser = async (tx: Tx, caller: Caller): Promise<User> =>
  (await readUser(tx, caller, caller.userId, undefined)).data;

/** `passwordHash` undefined: the password stays. */
export async function updateUser(
  tx: Tx,
  caller: Caller,
  input: UserUpdate,
  passwordHash: string | undefined,
  ifMatch: IfMatch,
): Promise<void> {
  // Locked first: two administrators could each be demoted while the other is still there.
  const { tenantId } = await lockReach(tx, caller, input.tenantId);
  const userId = idOf(input.userId);
  const [user] = await lockUsers(tx, tenantId, [userId]);
  if (!user) throw refuse('USER_NOT_FOUND');
  if (ifMatch) refuseChanged(ifMatch, etagOf(await readRow(tx, tenantId, userId)));
  const fields = fieldsOf(input);
  if (!fields.administrator || fields.status !== '0') await refuseLastAdministrator(tx, tenantId, [user]);
  const depts = await holdUserDepartments(tx, tenantId, input);
  const userName = input.userName ?? user.userName;
  const by = caller.userName;
  await updateRow(tx, { tenantId, userId, userName, userKey: keyOf(userName), by, ...fields }).catch(refuseTakenName);
  await deleteMemberships(tx, tenantId, [userId]);
  await insertMemberships(tx, { tenantId, userId }, depts);
  if (passwordHash) await updatePassword(tx, tenantId, userId, passwordHash, by);
  if (passwordHash || fields.status !== '0') await endSessionsOf(tx, tenantId, [userId]);
}

export async function removeUsers(
  tx: Tx,
  caller: Caller,
  userIds: string[],
  inTenant: string | undefined,
  ifMatch: IfMatch,
): Promise<void> {
  const { tenantId } = await lockReach(tx, caller, inTenant);
  if (tenantId === caller.tenantId && userIds.includes(caller.userId)) throw refuse('OWN_USER');
  const users = await lockUsers(tx, tenantId, userIds);
  const missing = userIds.filter((id) => !users.some((user) => String(user.userId) === id));
  if (missing.length > 0) throw refuse('USER_NOT_FOUND', { userIds: shownIds(missing) });
  if (ifMatch) for (const id of userIds) refuseChanged(ifMatch, etagOf(await readRow(tx, tenantId, id)));
  await refuseLastAdministrator(tx, tenantId, users);
  await markDeleted(tx, tenantId, userIds, caller.userName);
  await deleteMemberships(tx, tenantId, userIds);
  await endSessionsOf(tx, tenantId, userIds);
}

/** With the password he had, in these departments. His sessions stay ended. */
export async function bringBackUser(
  tx: Tx,
  caller: Caller,
  { tenantId, userId, ...depts }: Pick<User, 'deptId' | 'deptIds'> & { tenantId: string; userId: string },
): Promise<void> {
  const { accountCount } = await lockReach(tx, caller, tenantId);
  const user = await lockAnyUser(tx, tenantId, userId);
  if (!user) throw refuse('USER_NOT_FOUND');
  if (user.delFlag === '0') throw refuse('USER_NOT_DELETED');
  await refuseBeyondLimit(tx, tenantId, accountCount);
  const held = await holdUserDepartments(tx, tenantId, depts);
  await markRestored(tx, tenantId, userId, caller.userName).catch(refuseTakenName);
  await insertMemberships(tx, { tenantId, userId }, held);
}

export async function listUsers(tx: Tx, caller: Caller, filter: UserFilter): Promise<Rows<User>> {
  const tenantId = await enterReach(tx, caller, filter.tenantId);
  return listRows(tx, tenantId, {
    userName: filter.userName ?? null,
    deptId: filter.deptId === undefined ? null : idOf(filter.deptId),
    status: filter.status ?? null,
    q: filter.q ?? null,
    ...pageOf(filter),
  });
}

/** How many accounts a tenant uses. */
export const countAccounts = (tx: Tx, tenantId: string): Promise<number> => countUsers(tx, tenantId, null);

/** The users of a department, or of its whole branch. Departments are those of the caller's own tenant. */
export async function listDepartmentUsers(
  tx: Tx,
  { tenantId }: Caller,
  deptId: string,
  { below = false, countOnly = false, ...paging }: DeptUserFilter,
): Promise<Rows<User>> {
  if (!(await departmentExists(tx, tenantId, deptId))) throw refuse('DEPT_NOT_FOUND');
  const at = { deptId, below: below ? idsBelow(tx, tenantId, deptId) : undefined };
  const [rows, total] = await Promise.all([
    countOnly ? [] : readUsersAt(tx, tenantId, at, pageOf(paging)),
    countUsersAt(tx, tenantId, at),
  ]);
  return { rows, total };
}

/** For logins: by name, or by id when a session names it. */
export const findLogin = (
  tx: Tx,
  tenantId: string,
  by: { key: string } | { id: string },
): Promise<LoginRow | undefined> => ('key' in by ? findByKey(tx, tenantId, by.key) : findById(tx, tenantId, by.id));

/** The same, held: it does not change until the transaction ends. */
export const holdLogin = (tx: Tx, tenantId: string, userId: string): Promise<LoginRow | undefined> =>
  holdById(tx, tenantId, userId);

export type { LoginRow };

export const setPassword = (tx: Tx, { tenantId, userId, userName }: Caller, passwordHash: string) =>
  updatePassword(tx, tenantId, userId, passwordHash, userName);

export interface ReopenedUser {
  userId: string;
  userName: string;
  administrator: boolean;
  wasDisabled: boolean;
}

/** Whoever runs the service lets a user in again, with a new password. Undefined: there is no such user. */
export async function reopen(
  tx: Tx,
  { tenantId, userName, by }: { tenantId: string; userName: string; by: string },
  passwordHash: string,
): Promise<ReopenedUser | undefined> {
  await lockTenant(tx, tenantId);
  const found = await findByKey(tx, tenantId, keyOf(userName));
  // Held before it is written: a login that is under way with the old password waits, and then fails.
  const [user] = found ? await lockUsers(tx, tenantId, [String(found.userId)]) : [];
  if (!user) return undefined;
  const userId = String(user.userId);
  await reopenUser(tx, tenantId, userId, passwordHash, by);
  await endSessionsOf(tx, tenantId, [userId]);
  return { userId, userName: user.userName, administrator: user.administrator, wasDisabled: user.status !== '0' };
}

/** Their names, the oldest first. */
export const administratorsOf = (tx: Tx, tenantId: string, limit: number): Promise<string[]> =>
  listAdministrators(tx, tenantId, limit);

/** Counted under the tenant's lock: of many who come at once, only as many as there is room for get in. */
async function refuseBeyondLimit(tx: Tx, tenantId: string, accountCount: number): Promise<void> {
  if (accountCount === -1) return;
  if ((await countUsers(tx, tenantId, accountCount)) >= accountCount) throw refuse('ACCOUNT_LIMIT', { accountCount });
}

/** Under the tenant's lock. `users` are about to cease to be administrators. */
async function refuseLastAdministrator(
  tx: Tx,
  tenantId: string,
  users: readonly { userId: number; administrator: boolean; status: string }[],
): Promise<void> {
  const losing = users.filter((user) => user.administrator && user.status === '0').map((user) => String(user.userId));
  if (losing.length > 0 && !(await hasOtherAdministrator(tx, tenantId, losing))) throw refuse('LAST_ADMINISTRATOR');
}

async function holdUserDepartments(tx: Tx, tenantId: string, input: Pick<UserUpdate, 'deptId' | 'deptIds'>) {
  const deptId = input.deptId == null ? null : idOf(input.deptId);
  const deptIds = [...new Set([...(deptId ? [deptId] : []), ...(input.deptIds ?? []).map(idOf)])];
  const { missing } = await holdDepartments(tx, tenantId, deptIds);
  if (missing.length > 0) throw refuse('USER_DEPT_NOT_FOUND', { deptIds: shownIds(missing) });
  return { deptId, deptIds };
}

function refuseTakenName(error: unknown): never {
  throw codeOf(error) === '23505' ? refuse('USER_NAME_TAKEN') : error;
}

const fieldsOf = (input: Partial<Omit<UserInput, 'userName' | 'password'>>): UserFields => ({
  nickName: input.nickName ?? null,
  email: input.email ?? null,
  phone: input.phone ?? null,
  status: input.status ?? '0',
  administrator: input.roles?.includes('admin') ?? false,
});
