import type { Tx } from '../../db/sql.ts';
import { walkPaths } from './queries.ts';

/**
 * The paths of parents, as `ancestors` shows them, kept by the version of their tenant's tree. A read fetches its rows
 * and that version in one statement; only a move changes the path of what exists, and each move makes a new version. So
 * nothing here is ever stale, at whichever node the move was made.
 */
export interface Paths {
  /** The paths from the top down to these parents, each included. Within the snapshot in which the version was read. */
  of(tx: Tx, tenantId: string, version: number, parentIds: Iterable<number>): Promise<Map<number, string>>;
}

export function makePaths(most = 200_000): Paths {
  const trees = new Map<string, { version: number; paths: Map<number, string> }>();
  let kept = 0;

  function treeOf(tenantId: string, version: number): Map<number, string> {
    const tree = trees.get(tenantId);
    if (tree?.version === version) return tree.paths;
    const paths = new Map<number, string>();
    // A snapshot may be older than one that was read before it: then its paths are its own affair.
    if (tree && tree.version > version) return paths;
    kept -= tree?.paths.size ?? 0;
    trees.set(tenantId, { version, paths });
    return paths;
  }

  return {
    async of(tx, tenantId, version, parentIds) {
      const known = treeOf(tenantId, version);
      const missing = [...new Set(parentIds)].filter((id) => !known.has(id));
      if (missing.length === 0) return known;
      const walked = await walkPaths(tx, tenantId, missing);
      if (kept + walked.length > most) {
        // Full: all begins anew. What is asked for often is soon here again.
        trees.clear();
        kept = 0;
      }
      const isKept = trees.get(tenantId)?.paths === known;
      for (const { parentId, path } of walked) known.set(parentId, path);
      if (isKept) kept += walked.length;
      return known;
    },
  };
}
