import type { Tx } from '../../db/sql.ts';
import { walkPaths } from './queries.ts';

/**
 * The paths of parents, as `ancestors` shows them, kept by the stamp of their tenant's tree. A read fetches its rows and
 * that stamp in one snapshot; only a move changes the path of what exists, and each move gives the tree another stamp.
 * So nothing here is ever stale, at whichever node the move was made.
 */
export interface Paths {
  /** Those that are known under this stamp: from the top down to a department, itself included. */
  known(tenantId: string, stamp: string): ReadonlyMap<number, string>;
  /** The same with all of these parents, walked where they are not known. Within the snapshot of the stamp. */
  of(tx: Tx, tenantId: string, stamp: string, parentIds: Iterable<number>): Promise<ReadonlyMap<number, string>>;
}

/** Above the roots. */
export const TOP = '0';

/** What a department shows, by its parent and the parent of that; undefined when neither path is known. */
export function ancestorsOf(known: ReadonlyMap<number, string>, parentId: number, above: number): string | undefined {
  if (parentId === 0) return TOP;
  const upper = above === 0 ? TOP : known.get(above);
  return upper === undefined ? known.get(parentId) : `${upper},${parentId}`;
}

/** Paths and tenants. A path has some sixty bytes: about twenty megabytes in all. */
const KEPT_AT_MOST = 200_000;

export function makePaths(): Paths {
  const trees = new Map<string, { stamp: string; paths: Map<number, string> }>();
  let kept = 0;

  function treeOf(tenantId: string, stamp: string): Map<number, string> {
    const tree = trees.get(tenantId);
    if (tree?.stamp === stamp) return tree.paths;
    makeRoom(1);
    const paths = new Map<number, string>();
    kept += 1 - (trees.has(tenantId) ? 1 + (tree?.paths.size ?? 0) : 0);
    trees.set(tenantId, { stamp, paths });
    return paths;
  }

  /** When it is full, all begins anew: what is asked for often is soon here again. */
  function makeRoom(more: number) {
    if (kept + more <= KEPT_AT_MOST) return;
    trees.clear();
    kept = 0;
  }

  /** With those of all above it, which many others share. */
  function keep(paths: Map<number, string>, path: string) {
    for (let end = path.length; end > TOP.length; ) {
      const before = path.lastIndexOf(',', end - 1);
      const id = Number(path.slice(before + 1, end));
      if (paths.has(id)) return;
      paths.set(id, path.slice(0, end));
      end = before;
    }
  }

  return {
    known: treeOf,
    async of(tx, tenantId, stamp, parentIds) {
      const paths = treeOf(tenantId, stamp);
      const missing = [...new Set(parentIds)].filter((id) => !paths.has(id));
      if (missing.length === 0) return paths;
      const walked = await walkPaths(tx, tenantId, missing);
      makeRoom(walked.reduce((sum, { path }) => sum + path.split(',').length, 0));
      const before = paths.size;
      for (const { path } of walked) keep(paths, path);
      // Unless another stamp has come meanwhile, or all began anew: then these paths serve this once.
      if (trees.get(tenantId)?.paths === paths) kept += paths.size - before;
      return paths;
    },
  };
}
