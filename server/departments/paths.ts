import type { Tx } from '../../db/driver.ts';
import { forceCustomPlans } from '../../db/planner.ts';
import { apiError } from '../http/errors.ts';
import { createSlices } from '../http/slices.ts';
import { encodePath } from '../spreadsheets/path.ts';
import { cleanName } from '../spreadsheets/text.ts';
import { findByNames } from './queries.ts';

/** How many places the paths of a file may name. A file of 100,000 departments usually names about 100,000 places. */
const MAX_PLACES = 300_000;

const NO_CHILDREN: ReadonlyMap<string, PathNode> = new Map();

/** A place in the tree that a path names, whether or not a department is there. */
export class PathNode {
  /** As it was written. */
  readonly name: string;
  /** null: the parent of the top level. */
  readonly parent: PathNode | null;
  children: ReadonlyMap<string, PathNode> = NO_CHILDREN;
  /** The departments at this place: siblings may share a name. */
  deptIds: readonly (string | null)[] = [];

  constructor(name: string, parent: PathNode | null) {
    this.name = name;
    this.parent = parent;
  }

  /** The names from the top down. They are not stored: a file may name places that are a thousand levels deep. */
  get names(): string[] {
    const names: string[] = [];
    for (let node: PathNode = this; node.parent; node = node.parent) names.push(node.name);
    return names.reverse();
  }
}

/** A path as errors show it, without spaces around it. */
export const showPath = (names: readonly string[]): string => cleanName(encodePath(names));

/** Finds departments by their paths, level by level. */
export class PathTree {
  readonly root = new PathNode('', null);
  #places = 0;

  constructor() {
    this.root.deptIds = [null];
  }

  /** Returns the place of a path. Spaces around the names don't matter. Throws if the paths name too many places. */
  add(names: readonly string[]): PathNode {
    let node = this.root;
    for (const name of names) {
      const key = cleanName(name);
      let child = node.children.get(key);
      if (!child) {
        if (++this.#places > MAX_PLACES) throw apiError('FILE_UNREADABLE', { problem: tooManyPlaces });
        child = new PathNode(name, node);
        if (node.children === NO_CHILDREN) node.children = new Map();
        (node.children as Map<string, PathNode>).set(key, child);
      }
      node = child;
    }
    return node;
  }

  /** Finds the departments at all places. */
  async resolve(tx: Tx, tenantId: string): Promise<void> {
    await forceCustomPlans(tx);
    const pause = createSlices();
    for (let level = [this.root]; level.length > 0; ) {
      const parents = level.filter(({ deptIds, children }) => deptIds.length > 0 && children.size > 0);
      const names = new Set<string>();
      const placeOf = new Map<string | null, PathNode>();
      for (const parent of parents) {
        for (const id of parent.deptIds) placeOf.set(id, parent);
        for (const [key, { name }] of parent.children) names.add(key).add(name);
        await pause();
      }
      const parentIds = [...placeOf.keys()].filter((id) => id !== null);
      const found = [
        ...(level[0] === this.root ? await findByNames(tx, tenantId, 'top', [...names]) : []),
        ...(parentIds.length > 0 ? await findByNames(tx, tenantId, parentIds, [...names]) : []),
      ];
      const candidates = new Map<PathNode, { deptId: string; deptName: string }[]>();
      for (const { deptId, parentId, deptName } of found) {
        const place = placeOf.get(parentId)?.children.get(cleanName(deptName));
        if (place)
          candidates
            .set(place, candidates.get(place) ?? [])
            .get(place)
            ?.push({ deptId, deptName });
        await pause();
      }
      for (const [place, depts] of candidates) {
        const exact = depts.filter(({ deptName }) => deptName === place.name);
        place.deptIds = (exact.length > 0 ? exact : depts).map(({ deptId }) => deptId);
      }
      level = parents.flatMap(({ children }) => [...children.values()]);
    }
  }
}

const tooManyPlaces = {
  zh: `其中的路径包含的部门超过 ${MAX_PLACES} 个，请拆分文件后重试`,
  en: `its paths name more than ${MAX_PLACES} departments. Split it`,
};
