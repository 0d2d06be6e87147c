import { type KeyboardEvent, type Ref, useEffect } from 'react';
import type { Child, Dept } from '../../api.ts';
import { useTexts } from '../../language.ts';
import { useStore } from '../../store.ts';
import { Empty } from '../states.tsx';
import { DepartmentTree } from './department-tree.tsx';
import { departmentTexts } from './texts.ts';
import { isEmptyTree, type TreeStore } from './tree-store.ts';

interface Props {
  id: string;
  tree: TreeStore;
  value: number[];
  multiple: boolean;
  /** Shown when the tree opens, on whichever level it is. */
  revealedId: number | undefined;
  onSelect: (node: Child) => void;
  getDisabledReason: ((dept: Dept) => string | undefined) | undefined;
  keyHandler: Ref<(event: KeyboardEvent) => void>;
  onActiveRow: (elementId: string | undefined) => void;
}

/** The tree in the popup of the picker. Children are loaded when a department is expanded. */
export function PickerTree({ id, tree, value, multiple, revealedId, onSelect, ...props }: Props) {
  const t = useTexts(departmentTexts);
  const isEmpty = isEmptyTree(useStore(tree.state));
  useEffect(() => {
    // If it has been deleted, the tree is shown without it.
    if (revealedId !== undefined) void tree.reveal(revealedId).catch(() => undefined);
  }, [tree, revealedId]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the text field keeps the focus, and handles the keys
    <div className="department-picker-tree" onMouseDown={(event) => event.preventDefault()}>
      {isEmpty ? (
        <div id={id}>
          <Empty text={t.none} />
        </div>
      ) : (
        <DepartmentTree
          {...props}
          id={id}
          tree={tree}
          label={t.tree}
          selectedId={multiple ? undefined : value[0]}
          initialId={revealedId}
          checkedIds={multiple ? new Set(value) : undefined}
          onCheck={multiple ? onSelect : undefined}
          onOpen={onSelect}
        />
      )}
    </div>
  );
}
