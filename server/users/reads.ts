import type { Tx } from '../../db/driver.ts';
import { assumeTenant } from '../access/tenant-scope.ts';
import { asUser, type Caller } from '../auth/caller.ts';
import { apiError } from '../http/errors.ts';
import { etagOf, type Tagged } from '../http/etag.ts';
import { idOf, jsonId } from '../http/fields.ts';
import type { ExternalIdPath } from '../records/external-id.ts';
import {
  readLeaders as readLeaderRows,
  readUser as readRow,
  readUserByExternalId as readRowByExternalId,
  readUsers as readRows,
} from './queries.ts';
import type { Leader, User, UserBatch } from './schema.ts';

export { readForImport as readUsersForImport } from './queries.ts';

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

export async function readUserByExternalId(tx: Tx, { tenantId }: Caller, path: ExternalIdPath): Promise<Tagged<User>> {
  const user = await readRowByExternalId(tx, tenantId, path);
  if (!user) throw apiError('USER_NOT_FOUND');
  return { data: user, etag: etagOf(user) };
}

export async function readUsers(tx: Tx, { tenantId }: Caller, userIds: (number | string)[]): Promise<UserBatch> {
  const ids = userIds.map(idOf);
  const found = await readRows(tx, tenantId, [...new Set(ids)]);
  const byId = new Map(found.map((user) => [String(user.userId), user]));
  return {
    rows: ids.flatMap((id) => byId.get(id) ?? []),
    missing: ids.filter((id) => !byId.has(id)).map(jsonId),
  };
}

/**
 * Throws unless the caller may read this user. It is called before the requested tenant is assumed, so that callers without
 * `user:read` do not learn which tenants exist.
 */
export function assertMayRead(caller: Caller, userId: string, requestedTenant: string | undefined): void {
  const isSelf = userId === caller.userId && (requestedTenant === undefined || requestedTenant === caller.tenantId);
  if (!caller.permissions.has('user:read') && !isSelf) throw apiError('NOT_ALLOWED');
}

export const readOwnUser = async (tx: Tx, caller: Caller): Promise<User> =>
  (await readUser(tx, caller, asUser(caller).userId, undefined)).data;
