import type { Tx } from '../../db/driver.ts';
import type { Caller } from '../auth/caller.ts';
import { endSessionsOf } from '../auth/sessions.ts';
import { userKey } from '../auth/user-key.ts';
import { deleteMembershipsOfUsers, insertMemberships, lockAndFindMissing } from '../departments/members.ts';
import { assertAccountsLeft } from '../quotas/accounts.ts';
import { findByKeys, insertUsers, readStored, recordUserChanges, type StoredUser, updateMany } from './bulk-queries.ts';
import { lockUsers, type UserFields } from './queries.ts';
import { inChunks, rethrowAsTaken } from './users.ts';

/** For imports. */
export { hasOtherAdministrator } from './account-queries.ts';
export { findByExternalIds as findUsersByExternalId } from './bulk-queries.ts';
export type { StoredUser };

interface Written extends UserFields {
  userName: string;
  /** The main department; null: none. */
  deptId: string | null;
  /** All departments, the main one included. */
  deptIds: string[];
}

/**
 * What to write so that the users become what a file or a revert says. The rules have been checked, and everything is
 * locked.
 */
export interface UserChanges {
  created: readonly Written[];
  /** `moved`: their departments change. */
  updated: readonly (Written & { userId: string; moved: boolean; wasEnabled: boolean })[];
}

/** Creates and updates users. New ones must change their password at the first login. Returns the ids of all, the new ones first. */
export async function writeUserChanges(
  tx: Tx,
  caller: Caller,
  { created, updated }: UserChanges,
  hashes: readonly string[],
  report: (written: number) => void,
): Promise<string[]> {
  const { tenantId, userName: by } = caller;
  if (created.length > 0) await assertAccountsLeft(tx, caller, tenantId, created.length);
  const ids: string[] = [];
  let next = 0;
  await inChunks(tx, created, async (chunk) => {
    const rows = chunk.map((row) => ({
      ...row,
      userKey: userKey(row.userName),
      passwordHash: hashes[next++] as string,
      mustChangePassword: true,
    }));
    const inserted = (await insertUsers(tx, tenantId, by, rows).catch(rethrowAsTaken)).map(String);
    await insertMemberships(
      tx,
      tenantId,
      chunk.map(({ deptId, deptIds }, n) => ({ userId: inserted[n] as string, deptId, deptIds })),
    );
    ids.push(...inserted);
    report(chunk.length);
  });
  if (created.length > 0 && updated.length > 0) await recordUserChanges(tx);
  await inChunks(tx, updated, async (chunk) => {
    const rows = chunk.map((row) => ({ ...row, userKey: userKey(row.userName) }));
    await Promise.resolve(updateMany(tx, tenantId, by, rows)).catch(rethrowAsTaken);
    const moved = chunk.filter((row) => row.moved);
    if (moved.length > 0) {
      await deleteMembershipsOfUsers(
        tx,
        tenantId,
        moved.map(({ userId }) => userId),
      );
      await insertMemberships(tx, tenantId, moved);
    }
    report(chunk.length);
  });
  const disabled = updated.filter(({ status, wasEnabled }) => wasEnabled && status !== '0').map(({ userId }) => userId);
  if (disabled.length > 0) await endSessionsOf(tx, tenantId, disabled);
  // Write to the ledger now and not at the commit, so that the result can name one of the changes.
  await recordUserChanges(tx);
  return [...ids, ...updated.map(({ userId }) => userId)];
}

// What an import reads before it writes.

/** Returns the ids of users by their names, in the form of `userKey`. */
export async function findUsersByName(tx: Tx, tenantId: string, keys: string[]): Promise<Map<string, string>> {
  const found = await findByKeys(tx, tenantId, keys);
  return new Map(found.map((row) => [row.userKey, row.userId]));
}

export async function readStoredUsers(tx: Tx, tenantId: string, ids: string[]): Promise<Map<string, StoredUser>> {
  const found = await readStored(tx, tenantId, ids);
  return new Map(found.map((user) => [user.userId, user]));
}

/** Locks users, and then the departments that they join, each in the order of ids. */
export async function lockForChanges(
  tx: Tx,
  tenantId: string,
  { userIds, deptIds }: { userIds: string[]; deptIds: string[] },
): Promise<void> {
  if (userIds.length > 0) await lockUsers(tx, tenantId, userIds);
  if (deptIds.length > 0) await lockAndFindMissing(tx, tenantId, deptIds);
}
