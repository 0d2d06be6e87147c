import { useEffect, useRef } from 'react';
import { findAffected, keepExpanded, type TreeStore } from '../ui/department/tree-store.ts';
import { treeReloads } from '../ui/tree-reloads.ts';

/** The pause after a reload, for each of its lists: an import by another user causes at most about ten requests a second. */
const PAUSE_PER_LIST_MS = 100;

/** Reloads lists of children after something other than the tree has changed them, such as an undo or another user. */
export function useTreeReloads(tree: TreeStore, refresh: (...parentIds: number[]) => Promise<void>): void {
  const latestRefresh = useRef(refresh);
  latestRefresh.current = refresh;
  useEffect(() => {
    let changed = new Set<number>();
    let isReloading = false;
    let isMounted = true;
    const reloadChanged = async () => {
      if (isReloading) return;
      isReloading = true;
      while (isMounted && changed.size > 0) {
        const departments = changed;
        changed = new Set();
        const lists = await findAffected(tree, departments);
        if (!isMounted) return;
        await latestRefresh.current(...lists);
        await new Promise((resolve) => setTimeout(resolve, lists.length * PAUSE_PER_LIST_MS));
      }
      isReloading = false;
    };
    const unsubscribe = treeReloads.subscribe(() => {
      const { departments } = treeReloads.get();
      if (departments === 'all') {
        void latestRefresh.current(...keepExpanded(tree));
        return;
      }
      for (const id of departments) changed.add(id);
      void reloadChanged();
    });
    return () => {
      isMounted = false;
      unsubscribe();
    };
  }, [tree]);
}
