import { useEffect } from 'react';
import { ROOT_ID, type TreeStore } from '../ui/department/tree-store.ts';
import { treeReloads } from '../ui/tree-reloads.ts';

/** Reloads lists of children after something other than the tree has changed them: an undo, or another user. */
export function useTreeReloads(tree: TreeStore, refresh: (...parentIds: number[]) => Promise<void>): void {
  useEffect(
    () =>
      treeReloads.subscribe(() => {
        const { departments } = treeReloads.get();
        // The number of users of a department that is shown includes those of departments below it that are not loaded.
        const reloadsAll = departments === 'all' || !isLoaded(tree, departments);
        if (reloadsAll) tree.discardCollapsed();
        const { childLists, expanded } = tree.state.get();
        const isShown = (id: number) => id === ROOT_ID || (expanded.has(id) && tree.getNode(id) !== undefined);
        const changed = reloadsAll
          ? [...childLists.keys()].filter(isShown)
          : [...departments].flatMap((id) => [id, ...tree.getAncestors(id), ROOT_ID]);
        void refresh(...changed.filter((id) => childLists.has(id)));
      }),
    [tree, refresh],
  );
}

/** Whether the tree has loaded these departments and all of their ancestors. */
function isLoaded(tree: TreeStore, departments: ReadonlySet<number>): boolean {
  const listed = new Set([ROOT_ID]);
  for (const { rows, pinned } of tree.state.get().childLists.values())
    for (const { deptId } of [...rows, ...pinned]) listed.add(deptId);
  return [...departments].every((id) => [id, ...tree.getAncestors(id)].every((each) => listed.has(each)));
}
