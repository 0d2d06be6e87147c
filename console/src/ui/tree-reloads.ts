import { createStore } from '../store.ts';

interface TreeReload {
  /** The departments in which something has changed: it may show in their rows and in those of their ancestors. */
  departments: ReadonlySet<number> | 'all';
}

/**
 * The last reload of trees that was asked for, after a change that was not made in the tree itself. Trees keep their rows
 * outside the query cache, so they subscribe to this.
 */
export const treeReloads = createStore<TreeReload>({ departments: new Set() });

export const reloadTrees = (departments: TreeReload['departments']): void => treeReloads.set({ departments });
