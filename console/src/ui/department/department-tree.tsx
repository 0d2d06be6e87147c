import { type KeyboardEvent, type Ref, useCallback, useEffect, useMemo } from 'react';
import type { Child } from '../../api.ts';
import { useTexts } from '../../language.ts';
import { useStore } from '../../store.ts';
import { LiveMark } from '../live-mark.tsx';
import { StatusTag } from '../status-tag.tsx';
import { TreeView } from '../tree/tree-view.tsx';
import type { DragHandlers, TreeRowButton } from '../tree/types.ts';
import { flattenTree } from './flatten-tree.ts';
import { departmentTexts } from './texts.ts';
import { ROOT_ID, type TreeStore } from './tree-store.ts';
import './department.css';

interface Props {
  tree: TreeStore;
  label: string;
  id?: string;
  selectedId: number | undefined;
  /** Scrolled into view while nothing is selected. */
  initialId?: number | undefined;
  onOpen: (node: Child) => void;
  checkedIds?: ReadonlySet<number> | undefined;
  onCheck?: ((node: Child) => void) | undefined;
  onNodeKeyDown?: ((event: KeyboardEvent, node: Child) => boolean) | undefined;
  dragHandlers?: DragHandlers<Child> | undefined;
  getDisabledReason?: ((node: Child) => string | undefined) | undefined;
  rowButtons?: readonly TreeRowButton<Child>[] | undefined;
  onRowButton?: ((key: string, node: Child, element: HTMLElement) => void) | undefined;
  /** See TreeView. */
  keyHandler?: Ref<(event: KeyboardEvent) => void> | undefined;
  onActiveRow?: ((elementId: string | undefined) => void) | undefined;
}

/** Connects a TreeStore to the tree view. */
export function DepartmentTree({ tree, ...props }: Props) {
  const t = useTexts(departmentTexts);
  const state = useStore(tree.state);
  const rows = useMemo(() => flattenTree(state, t.unnamed), [state, t]);
  useEffect(() => void tree.expand(ROOT_ID), [tree]);
  const toggle = useCallback(
    ({ deptId }: Child, expand: boolean) => {
      if (expand) void tree.expand(deptId);
      else tree.collapse(deptId);
    },
    [tree],
  );
  const loadMore = useCallback((parentId: number) => void tree.loadMore(parentId), [tree]);
  const renderExtra = useCallback(
    ({ deptId, status, branchUserCount }: Child) => (
      <>
        {status === '1' && <StatusTag>{t.disabled}</StatusTag>}
        <LiveMark resource="department" id={deptId} />
        {branchUserCount !== undefined && (
          <span className="department-count" aria-hidden>
            {branchUserCount}
          </span>
        )}
      </>
    ),
    [t],
  );
  const getDescription = useCallback(
    ({ branchUserCount }: Child) => (branchUserCount === undefined ? undefined : t.treeCount(branchUserCount)),
    [t],
  );
  return (
    <TreeView
      {...props}
      rows={rows}
      onToggle={toggle}
      onLoadMore={loadMore}
      loadMoreText={t.loadMore}
      renderExtra={renderExtra}
      getDescription={getDescription}
    />
  );
}
