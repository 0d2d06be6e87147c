import type { Tx } from '../../db/driver.ts';
import type { Caller } from '../auth/caller.ts';
import { rethrowAsExternalIdTaken } from '../records/external-id.ts';
import { lockLevels, lockLevelsForShare, raiseLevelBound, readHeights } from './level-queries.ts';
import {
  bumpTreeVersion,
  insertDepts,
  lockAnyForUpdate,
  moveMany,
  readAncestors,
  readStored,
  reserveIds,
  type StoredDepartment,
  updateMany,
} from './queries.ts';
import type { DepartmentValues } from './record.ts';

/** For imports. */
export { findByExternalIds as findDepartmentsByExternalId } from './queries.ts';
export type { StoredDepartment };

/** The parent of a department in a list of changes: a stored department, null for the top level, or the index in `created`. */
export type ParentRef = { deptId: string | null } | { index: number };

/** What to write so that the departments become what a file says. The rules have been checked, and everything is locked. */
export interface DepartmentChanges {
  /** Parents come before their children. */
  created: readonly { values: DepartmentValues; parent: ParentRef }[];
  updated: readonly (DepartmentValues & { deptId: string })[];
  moved: readonly { deptId: string; values: DepartmentValues; parent: ParentRef }[];
  /** The deepest level of the departments that are created or moved, and of the subtrees that move deeper. */
  deepestLevel: number;
}

/** Each row also adds a row to the ledger and entries to the search index, and a statement has to be short. */
const CHUNK_SIZE = 5_000;

/** Creates, updates and moves departments. Returns the ids of the new ones. */
export async function writeChanges(
  tx: Tx,
  { tenantId, userName }: Caller,
  { created, updated, moved, deepestLevel }: DepartmentChanges,
  report: (written: number) => void,
): Promise<string[]> {
  const ids = created.length > 0 ? (await reserveIds(tx, created.length)).map(String) : [];
  const idOf = (parent: ParentRef) => ('index' in parent ? (ids[parent.index] as string) : parent.deptId);
  const inChunks = async <T>(rows: readonly T[], write: (chunk: T[]) => PromiseLike<unknown>) => {
    for (let at = 0; at < rows.length; at += CHUNK_SIZE) {
      const chunk = rows.slice(at, at + CHUNK_SIZE);
      await Promise.resolve(write(chunk)).catch(rethrowAsExternalIdTaken);
      report(chunk.length);
    }
  };
  if (deepestLevel > 0) await raiseLevelBound(tx, tenantId, deepestLevel);
  let next = 0;
  await inChunks(created, (chunk) =>
    insertDepts(
      tx,
      tenantId,
      chunk.map(({ values, parent }) => ({
        ...values,
        deptId: Number(ids[next++]),
        parentId: idOf(parent),
        by: userName,
      })),
    ),
  );
  await inChunks(updated, (chunk) => updateMany(tx, tenantId, userName, chunk));
  await inChunks(moved, (chunk) =>
    moveMany(
      tx,
      tenantId,
      userName,
      chunk.map(({ deptId, values, parent }) => ({ ...values, deptId, parentId: idOf(parent) })),
    ),
  );
  if (moved.length > 0) await bumpTreeVersion(tx, tenantId);
  return ids;
}

// What an import reads before it writes. It compares all rows of a file, so each of these takes many ids.

export async function readStoredDepartments(
  tx: Tx,
  tenantId: string,
  ids: string[],
): Promise<Map<string, StoredDepartment>> {
  const found = await readStored(tx, tenantId, ids);
  return new Map(found.map((dept) => [dept.deptId, dept]));
}

/** Returns the parents of departments and of all of their ancestors; null: top level. */
export async function readParents(tx: Tx, tenantId: string, ids: string[]): Promise<Map<string, string | null>> {
  const found = ids.length > 0 ? await readAncestors(tx, tenantId, ids) : [];
  return new Map(found.map(({ deptId, parentId }) => [String(deptId), parentId === 0 ? null : String(parentId)]));
}

/** Counts the levels of subtrees, in the order of the ids. */
export const readSubtreeHeights = (tx: Tx, tenantId: string, ids: string[]): Promise<number[]> =>
  ids.length > 0 ? readHeights(tx, tenantId, ids) : Promise.resolve([]);

/**
 * Locks departments that are changed or get children, in the order of ids, and then the levels, in exclusive mode if departments
 * are moved. The tenant is locked already, so nobody else moves departments.
 */
export async function lockDepartments(
  tx: Tx,
  tenantId: string,
  ids: string[],
  { moves }: { moves: boolean },
): Promise<void> {
  if (ids.length > 0) await lockAnyForUpdate(tx, tenantId, ids);
  await (moves ? lockLevels(tx, tenantId) : lockLevelsForShare(tx, tenantId));
}
