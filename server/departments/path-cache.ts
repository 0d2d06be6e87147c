import { LRUCache } from 'lru-cache';
import type { Tx } from '../../db/driver.ts';
import { createPathBudget } from '../http/path-budget.ts';
import { readAncestors } from './queries.ts';
import type { Dept } from './schema.ts';

/**
 * Caches the paths of parents, as `ancestors` shows them, by the tree version of their tenant. A read gets its rows and the
 * tree version in one snapshot; only a move changes the path of an existing department, and every move changes the tree
 * version. So a cached path is never stale, on whichever node the move was made. A database restored from a backup may
 * repeat a tree version together with other departments; so every new connection starts with an empty cache.
 */
export interface PathCache {
  /** The cached paths under this tree version: from the top down to a department, itself included. */
  cached(tenantId: string, treeVersion: string): ReadonlyMap<number, string>;
  /** The same, with the paths of all these parents. Has to run in the snapshot that the tree version was read in. */
  load(
    tx: Tx,
    tenantId: string,
    treeVersion: string,
    parentIds: Iterable<number>,
  ): Promise<ReadonlyMap<number, string>>;
}

/** The `ancestors` of top-level departments. */
export const TOP = '0';

/** Returns `ancestors` from the parent and the grandparent; undefined when neither path is cached. */
export function ancestorsOf(
  cached: ReadonlyMap<number, string>,
  parentId: number,
  grandparentId: number,
): string | undefined {
  if (parentId === 0) return TOP;
  const upper = grandparentId === 0 ? TOP : cached.get(grandparentId);
  return upper === undefined ? cached.get(parentId) : `${upper},${parentId}`;
}

/** The paths from the top down to each of these departments, itself included, and to all of their ancestors. */
async function readPaths(tx: Tx, tenantId: string, deptIds: number[]): Promise<Map<number, string>> {
  const rows = await readAncestors(tx, tenantId, deptIds);
  const parents = new Map(rows.map(({ deptId, parentId }) => [deptId, parentId]));
  const paths = new Map([[0, TOP]]);
  for (const deptId of deptIds) {
    const trail: number[] = [];
    for (let id = deptId; !paths.has(id); id = parents.get(id) ?? 0) trail.push(id);
    for (const id of trail.reverse()) paths.set(id, `${paths.get(parents.get(id) ?? 0)},${id}`);
  }
  return paths;
}

/** Fills in `ancestors`. */
export async function addAncestors<T extends Dept>(tx: Tx, tenantId: string, rows: T[]): Promise<T[]> {
  const parents = [...new Set(rows.map(({ parentId }) => parentId))].filter((id) => id !== 0);
  const paths = parents.length > 0 ? await readPaths(tx, tenantId, parents) : new Map<number, string>();
  const spend = createPathBudget();
  for (const row of rows) {
    row.ancestors = paths.get(row.parentId) ?? TOP;
    spend(row.ancestors.length);
  }
  return rows;
}

/** About 20 MB: the size of a path is its length plus an estimate of the overhead of a map entry. */
const MAX_SIZE = 20_000_000;
const OVERHEAD = 60;
/** Paths of ancestors are cached too, because other departments share them. Longer ones would fill the cache. */
const MAX_SHARED_LENGTH = 1_000;

interface Tree {
  version: string;
  connections: number;
  paths: Map<number, string>;
  size: number;
}

/** `opened`: how many connections the pool has opened so far. */
export function createPathCache(opened: () => number): PathCache {
  const trees = new LRUCache<string, Tree>({ maxSize: MAX_SIZE, sizeCalculation: ({ size }) => size });

  function treeOf(tenantId: string, version: string): Tree {
    const before = trees.get(tenantId);
    if (before?.version === version && before.connections === opened()) return before;
    const tree = { version, connections: opened(), paths: new Map(), size: OVERHEAD };
    trees.set(tenantId, tree);
    return tree;
  }

  return {
    cached: (tenantId, version) => treeOf(tenantId, version).paths,
    async load(tx, tenantId, version, parentIds) {
      const tree = treeOf(tenantId, version);
      const missing = [...new Set(parentIds)].filter((id) => !tree.paths.has(id));
      if (missing.length === 0) return tree.paths;
      const read = await readPaths(tx, tenantId, missing);
      const wanted = new Set(missing);
      for (const [id, path] of read) {
        if (tree.paths.has(id) || (path.length > MAX_SHARED_LENGTH && !wanted.has(id))) continue;
        tree.paths.set(id, path);
        tree.size += path.length + OVERHEAD;
      }
      // Store the tree with its new size, which may evict others. If the tree was replaced or evicted while its paths were
      // read, they serve this request only. A tree that alone exceeds the limit is evicted.
      if (trees.peek(tenantId) === tree) {
        trees.delete(tenantId);
        trees.set(tenantId, tree);
      }
      return tree.paths;
    },
  };
}
