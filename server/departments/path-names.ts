import type { Tx } from '../../db/driver.ts';
import { readNames } from './list-queries.ts';
import { readAncestors } from './queries.ts';

/** Returns the names from the top down to a department, itself included. */
type PathNames = (deptId: number) => string[];

/**
 * Reads the names of departments and of all of their ancestors, each once, however many paths share it. A path is built only
 * when it is needed: together, the paths of deep trees would need far more memory than the names.
 */
export async function readPathNames(tx: Tx, tenantId: string, deptIds: Iterable<number>): Promise<PathNames> {
  const ids = [...new Set(deptIds)];
  const rows = ids.length > 0 ? await readAncestors(tx, tenantId, ids) : [];
  const parents = new Map(rows.map(({ deptId, parentId }) => [deptId, parentId]));
  const named = rows.length > 0 ? await readNames(tx, tenantId, [...parents.keys()].map(String)) : [];
  const names = new Map(named.map(({ deptId, deptName }) => [Number(deptId), deptName]));
  return (deptId) => {
    const path: string[] = [];
    for (let id = deptId; id !== 0; id = parents.get(id) ?? 0) path.push(names.get(id) ?? '');
    return path.reverse();
  };
}
