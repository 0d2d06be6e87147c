import type { Tx } from '../../db/driver.ts';
import { forceCustomPlans } from '../../db/planner.ts';
import { encodePath } from '../spreadsheets/path.ts';
import { cleanName } from '../spreadsheets/text.ts';
import { findByNames } from './queries.ts';

/** A place in the tree that a path names, whether or not a department is there. */
export interface PathNode {
  /** The names as they were written, from the top down. */
  names: readonly string[];
  /** null: the parent of the top level. */
  parent: PathNode | null;
  children: Map<string, PathNode>;
  /** The departments at this place: siblings may share a name. */
  deptIds: readonly (string | null)[];
}

/** A path as errors show it, without spaces around it. */
export const showPath = (names: readonly string[]): string => cleanName(encodePath(names));

/** Finds departments by their paths, with one or two statements for each level. */
export class PathTree {
  readonly root: PathNode = { names: [], parent: null, children: new Map(), deptIds: [null] };

  /** Returns the place of a path. Spaces around the names don't matter. */
  add(names: readonly string[]): PathNode {
    let node = this.root;
    for (const [n, name] of names.entries()) {
      const key = cleanName(name);
      let child = node.children.get(key);
      if (!child) {
        child = { names: names.slice(0, n + 1), parent: node, children: new Map(), deptIds: [] };
        node.children.set(key, child);
      }
      node = child;
    }
    return node;
  }

  /** Finds the departments at all places. */
  async resolve(tx: Tx, tenantId: string): Promise<void> {
    await forceCustomPlans(tx);
    for (let level = [this.root]; level.length > 0; ) {
      const parents = level.filter(({ deptIds, children }) => deptIds.length > 0 && children.size > 0);
      const names = new Set<string>();
      for (const { children } of parents) {
        for (const [key, { names: written }] of children) names.add(key).add(written.at(-1) as string);
      }
      const parentIds = parents.flatMap(({ deptIds }) => deptIds.filter((id) => id !== null));
      const found = [
        ...(level[0] === this.root ? await findByNames(tx, tenantId, 'top', [...names]) : []),
        ...(parentIds.length > 0 ? await findByNames(tx, tenantId, parentIds, [...names]) : []),
      ];
      const byPlace = new Map<string, { deptId: string; deptName: string }[]>();
      for (const { deptId, parentId, deptName } of found) {
        const key = `${parentId} ${cleanName(deptName)}`;
        byPlace.set(key, [...(byPlace.get(key) ?? []), { deptId, deptName }]);
      }
      for (const { deptIds, children } of parents) {
        for (const [key, child] of children) {
          const candidates = deptIds.flatMap((id) => byPlace.get(`${id} ${key}`) ?? []);
          const exact = candidates.filter(({ deptName }) => deptName === child.names.at(-1));
          child.deptIds = (exact.length > 0 ? exact : candidates).map(({ deptId }) => deptId);
        }
      }
      level = parents.flatMap(({ children }) => [...children.values()]);
    }
  }
}
