import { useEffect } from 'react';
import { ROOT_ID, type TreeStore } from '../ui/department/tree-store.ts';
import { treeReloads } from '../ui/tree-reloads.ts';

/** Reloads lists of children after something other than the tree has changed them: an undo, or another user. */
export function useTreeReloads(tree: TreeStore, refresh: (...parentIds: number[]) => Promise<void>): void {
  useEffect(
    () =>
      treeReloads.subscribe(() => {
        const { departments } = treeReloads.get();
        if (departments === 'all') tree.discardCollapsed();
        const { childLists, expanded } = tree.state.get();
        const isShown = (id: number) => id === ROOT_ID || (expanded.has(id) && tree.getNode(id) !== undefined);
        const changed =
          departments === 'all'
            ? [...childLists.keys()].filter(isShown)
            : [...departments].flatMap((id) => [id, ...tree.getAncestors(id), ROOT_ID]);
        void refresh(...changed.filter((id) => childLists.has(id)));
      }),
    [tree, refresh],
  );
}
