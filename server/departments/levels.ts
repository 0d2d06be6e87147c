import type { Tx } from '../../db/driver.ts';
import { apiError } from '../http/errors.ts';
import {
  lockLevels,
  lockLevelsForShare,
  lockParentRows,
  raiseLevelBound,
  readDeepestLevel,
  readHeight,
  readLevelBound,
  readLevels,
  setLevelBound,
} from './level-queries.ts';

/** A department that gets children, locked. */
export interface Parent {
  status: string;
  /** 1: top level; 0: the parent of the top level itself. */
  level: number;
}

/** Parents by id; null is the parent of the top level. */
export type Parents = ReadonlyMap<string | null, Parent>;

/**
 * Locks the parents of new departments, so that they are not deleted, disabled or moved deeper before the transaction ends.
 * Records that departments will be created up to `height` levels below them.
 */
export async function lockParents(
  tx: Tx,
  tenantId: string,
  ids: (string | null)[],
  { wait, height = 1 }: { wait: boolean; height?: number },
): Promise<Parents> {
  const parents = new Map<string | null, Parent>([[null, { status: '0', level: 0 }]]);
  const parentIds = [...new Set(ids.filter((id) => id !== null))];
  if (parentIds.length > 0) {
    // Both statements are sent together, the lock first, so the levels are read in a newer snapshot.
    const [locked, levels] = await Promise.all([
      lockParentRows(tx, tenantId, parentIds, { wait }).execute(),
      readLevels(tx, tenantId, parentIds),
    ]);
    const levelOf = new Map(parentIds.map((id, n) => [id, levels[n]?.level ?? 0]));
    for (const { deptId, status } of locked) {
      parents.set(String(deptId), { status, level: levelOf.get(String(deptId)) ?? 0 });
    }
    const bound = levels[0]?.bound ?? Number.POSITIVE_INFINITY;
    const bottom = Math.max(...levels.map(({ level }) => level)) + height;
    if (bottom > bound) await raiseLevelBound(tx, tenantId, bottom);
  } else if (height > 1) {
    // A move that measures the tree waits for this creation.
    await lockLevelsForShare(tx, tenantId);
    await raiseLevelBound(tx, tenantId, height);
  }
  return parents;
}

export const tooDeep = (limit: number) => apiError('TOO_DEEP', { limit, setting: 'BANYAN_DEPARTMENT_LEVELS' });

/**
 * Throws if a subtree would be too deep after a move. The caller must have locked the tenant. A subtree that is too deep
 * already may still move up or stay on its level.
 */
export async function assertNotTooDeep(
  tx: Tx,
  tenantId: string,
  deptId: string,
  { from, to, maxLevels }: { from: number; to: number; maxLevels: number },
): Promise<void> {
  const deeperBy = to - from;
  if (deeperBy <= 0) return;
  if (to > maxLevels) throw tooDeep(maxLevels);
  // The bound is read in a later snapshot than the lock: no creation below the subtree is in flight then.
  const [, bound] = await Promise.all([lockLevels(tx, tenantId).execute(), readLevelBound(tx, tenantId)]);
  if (bound !== undefined && bound + deeperBy <= maxLevels)
    return void (await raiseLevelBound(tx, tenantId, bound + deeperBy));
  // Every move that takes a subtree deeper adds to the bound, so it may be far too high: measure the tree.
  const height = await readHeight(tx, tenantId, null);
  if (height + deeperBy > maxLevels) {
    const bottom = to + (await readHeight(tx, tenantId, deptId)) - 1;
    if (bottom > maxLevels) throw tooDeep(maxLevels);
  }
  await setLevelBound(tx, tenantId, height + deeperBy);
}

/**
 * Throws if subtrees that have already been restored or moved are too deep. The caller must have locked the tenant. The levels
 * are locked before their bound is raised, as in moves and creations.
 */
export async function assertSubtreesNotTooDeep(
  tx: Tx,
  tenantId: string,
  rootIds: string[],
  maxLevels: number,
): Promise<void> {
  const [, bottom] = await Promise.all([lockLevels(tx, tenantId).execute(), readDeepestLevel(tx, tenantId, rootIds)]);
  if (bottom > maxLevels) throw tooDeep(maxLevels);
  await raiseLevelBound(tx, tenantId, bottom);
}
