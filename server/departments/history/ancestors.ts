import type { Tx } from '../../../db/driver.ts';
import type { PointInTime } from '../../ledger/point-in-time.ts';
import { PathBudget } from '../path-budget.ts';
import { readAncestorsAt } from './queries.ts';

/** The typical length of an id. */
const ID_LENGTH = 8;

/** The paths of departments at a point in time. */
export interface PathsAt {
  /** Returns `ancestors`: the ids from 0 down to the parent. */
  ancestors(parentId: number): string;
  /** Returns the names from the top down to the parent. */
  names(parentId: number): string[];
}

/** Derives paths from the tree at that time: moving an ancestor changes them, but records no change of the descendants. */
export async function readPathsAt(
  tx: Tx,
  tenantId: string,
  parentIds: Iterable<number>,
  time: PointInTime,
): Promise<PathsAt> {
  const parents = [...new Set(parentIds)].filter((id) => id !== 0);
  const rows = parents.length > 0 ? await readAncestorsAt(tx, tenantId, parents, time) : [];
  const byId = new Map(rows.map((row) => [row.deptId, row]));
  const cache = new Map<number, number[]>();
  const budget = new PathBudget();
  const idsTo = (parentId: number): number[] => {
    const cached = cache.get(parentId);
    if (cached) return cached;
    const ids: number[] = [];
    for (let id = parentId; id !== 0; id = byId.get(id)?.parentId ?? 0) {
      budget.spend(ID_LENGTH);
      ids.push(id);
    }
    ids.reverse();
    cache.set(parentId, ids);
    return ids;
  };
  return {
    ancestors: (parentId) => {
      const ids = [0, ...idsTo(parentId)].join(',');
      budget.spend(ids.length);
      return ids;
    },
    names: (parentId) =>
      idsTo(parentId).map((id) => {
        const { deptName } = byId.get(id) ?? { deptName: '' };
        budget.spend(Buffer.byteLength(deptName) + 3);
        return deptName;
      }),
  };
}
