import type { Tx } from '../../db/sql.ts';
import { countLetters } from '../http/letters.ts';
import { walkUp } from './queries.ts';
import type { Dept } from './schema.ts';

/**
 * The paths of parents, as `ancestors` shows them, kept by the stamp of their tenant's tree. A read fetches its rows and
 * that stamp in one snapshot; only a move changes the path of what exists, and each move gives the tree another stamp.
 * So nothing here is ever stale, at whichever node the move was made. A database that was put back has an old stamp again,
 * and may have given an id again: with each new connection all begins anew.
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

/** From the top down to each of these, itself included; and to all above them. */
async function walkPaths(tx: Tx, tenantId: string, deptIds: number[]): Promise<Map<number, string>> {
  const rows = await walkUp(tx, tenantId, deptIds);
  const parents = new Map(rows.map(({ deptId, parentId }) => [deptId, parentId]));
  const paths = new Map([[0, TOP]]);
  for (const deptId of deptIds) {
    const trail: number[] = [];
    for (let id = deptId; !paths.has(id); id = parents.get(id) ?? 0) trail.push(id);
    for (const id of trail.reverse()) paths.set(id, `${paths.get(parents.get(id) ?? 0)},${id}`);
  }
  return paths;
}

/** Puts in what rows show of what is above them. */
export async function tellAncestors<T extends Dept>(tx: Tx, tenantId: string, rows: T[]): Promise<T[]> {
  const parents = [...new Set(rows.map(({ parentId }) => parentId))].filter((id) => id !== 0);
  const paths = parents.length > 0 ? await walkPaths(tx, tenantId, parents) : new Map<number, string>();
  const count = countLetters();
  for (const row of rows) {
    row.ancestors = paths.get(row.parentId) ?? TOP;
    count(row.ancestors.length);
  }
  return rows;
}

/** About twenty megabytes: a path or a tenant counts with its letters, and with what it takes beside them. */
const KEPT_AT_MOST = 20_000_000;
const BESIDE = 60;
const SHARED = 1_000;

interface Tree {
  stamp: string;
  opened: number;
  paths: Map<number, string>;
  /** What they count. */
  size: number;
}

/** `opened`: of the connections, see pool.ts. */
export function makePaths(opened: () => number): Paths {
  const trees = new Map<string, Tree>();
  let kept = 0;

  function treeOf(tenantId: string, stamp: string): Tree {
    const before = trees.get(tenantId);
    if (before?.stamp === stamp && before.opened === opened()) return before;
    const tree = { stamp, opened: opened(), paths: new Map(), size: BESIDE };
    if (before) kept -= before.size;
    trees.set(tenantId, tree);
    count(tree.size);
    return tree;
  }

  /** When it is full, all begins anew: what is asked for often is soon here again. */
  function count(more: number) {
    kept += more;
    if (kept <= KEPT_AT_MOST) return;
    trees.clear();
    kept = 0;
  }

  return {
    known: (tenantId, stamp) => treeOf(tenantId, stamp).paths,
    async of(tx, tenantId, stamp, parentIds) {
      const tree = treeOf(tenantId, stamp);
      const missing = [...new Set(parentIds)].filter((id) => !tree.paths.has(id));
      if (missing.length === 0) return tree.paths;
      const walked = await walkPaths(tx, tenantId, missing);
      const asked = new Set(missing);
      let more = 0;
      for (const [id, path] of walked) {
        // Also of those above, which many others share; but not of thousands, where it is thousands of levels deep.
        if (tree.paths.has(id) || (path.length > SHARED && !asked.has(id))) continue;
        tree.paths.set(id, path);
        more += path.length + BESIDE;
      }
      tree.size += more;
      // Unless another stamp has come meanwhile, or all began anew: then these paths serve this once.
      if (trees.get(tenantId) === tree) count(more);
      return tree.paths;
    },
  };
}
