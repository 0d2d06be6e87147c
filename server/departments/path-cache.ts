import { LRUCache } from 'lru-cache';
import type { Tx } from '../../db/driver.ts';
import { PathBudget } from './path-budget.ts';
import { readAncestors } from './queries.ts';
import type { Dept } from './schema.ts';

/**
 * Caches the paths of parents, as `ancestors` shows them, by the tree version of their tenant. A read gets its rows and the
 * tree version in one snapshot; only a move changes the path of an existing department, and every move changes the tree
 * version. So a cached path is never stale, even if the move was made on another node. A database restored from a backup may
 * have a cached tree version with other departments, so every new connection invalidates the cache.
 */
export interface PathCache {
  /** Returns the cached paths of this tree version, by department: from the top down to the department itself. */
  cached(tenantId: string, treeVersion: string): ReadonlyMap<number, string>;
  /** The same, after reading missing paths of `parentIds`. Must run in the snapshot in which the tree version was read. */
  load(
    tx: Tx,
    tenantId: string,
    treeVersion: string,
    parentIds: Iterable<number>,
  ): Promise<ReadonlyMap<number, string>>;
  /** How many paths were found in the cache and how many had to be read, for metrics. */
  readonly lookups: { hits: number; misses: number };
  /** Returns the approximate size of all cached paths in bytes, and how many tenants they belong to. */
  size(): { bytes: number; tenants: number };
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

/** Reads the paths from the top down to each of these departments, itself included, and to all of their ancestors. */
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

/** Sets `ancestors` of each row. Returns how many rows fit into one response, at least one. */
export async function addAncestors(tx: Tx, tenantId: string, rows: Dept[]): Promise<number> {
  const parents = [...new Set(rows.map(({ parentId }) => parentId))].filter((id) => id !== 0);
  const paths = parents.length > 0 ? await readPaths(tx, tenantId, parents) : new Map<number, string>();
  const budget = new PathBudget();
  for (const [n, row] of rows.entries()) {
    row.ancestors = paths.get(row.parentId) ?? TOP;
    if (!budget.trySpend(row.ancestors.length) && n > 0) return n;
  }
  return rows.length;
}

/** About 20 MB: the size of a path is its length plus an estimate of the overhead of a map entry. */
const MAX_SIZE = 20_000_000;
const OVERHEAD = 60;
/** Paths of ancestors are cached too, because other departments share them. Longer ones would fill the cache. */
const MAX_SHARED_LENGTH = 1_000;

/** The cached paths of one tenant. */
interface CachedTree {
  version: string;
  connectionsOpened: number;
  paths: Map<number, string>;
  size: number;
}

/** `connectionsOpened` returns how many connections the pool has opened so far. */
export function createPathCache(connectionsOpened: () => number): PathCache {
  const trees = new LRUCache<string, CachedTree>({ maxSize: MAX_SIZE, sizeCalculation: ({ size }) => size });
  const lookups = { hits: 0, misses: 0 };

  function treeOf(tenantId: string, version: string): CachedTree {
    const before = trees.get(tenantId);
    if (before?.version === version && before.connectionsOpened === connectionsOpened()) return before;
    const tree = { version, connectionsOpened: connectionsOpened(), paths: new Map(), size: OVERHEAD };
    trees.set(tenantId, tree);
    return tree;
  }

  return {
    cached: (tenantId, version) => treeOf(tenantId, version).paths,
    async load(tx, tenantId, version, parentIds) {
      const tree = treeOf(tenantId, version);
      const wanted = new Set(parentIds);
      const missing = [...wanted].filter((id) => !tree.paths.has(id));
      lookups.misses += missing.length;
      lookups.hits += wanted.size - missing.length;
      if (missing.length === 0) return tree.paths;
      const read = await readPaths(tx, tenantId, missing);
      const missingIds = new Set(missing);
      for (const [id, path] of read) {
        if (tree.paths.has(id) || (path.length > MAX_SHARED_LENGTH && !missingIds.has(id))) continue;
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
    lookups,
    size: () => ({ bytes: trees.calculatedSize, tenants: trees.size }),
  };
}
