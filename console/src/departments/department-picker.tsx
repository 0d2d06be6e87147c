import { useEffect, useState } from 'react';
import type { Child } from '../api.ts';
import { DepartmentSearch } from './department-search.tsx';
import { DepartmentTree } from './department-tree.tsx';
import { createTreeStore, type TreeStore } from './tree-store.ts';

interface Props {
  label: string;
  value: Child | undefined;
  onChange: (node: Child) => void;
  getDisabledReason: (tree: TreeStore, id: number) => string | undefined;
  /** Revealed when the picker opens. */
  initialId?: number | undefined;
}

/** Selects a department from a searchable tree. A department that cannot be selected shows why. */
export function DepartmentPicker({ label, value, onChange, getDisabledReason, initialId }: Props) {
  const [tree] = useState(createTreeStore);
  useEffect(() => {
    // If it has been deleted, the tree is shown without it.
    if (initialId) void tree.reveal(initialId).catch(() => undefined);
  }, [tree, initialId]);
  const selectFound = async (id: number) => {
    await tree.reveal(id);
    const node = tree.getNode(id);
    if (node && !getDisabledReason(tree, id)) onChange(node);
  };
  return (
    <div className="departments-picker">
      <DepartmentSearch onSelect={selectFound} getDisabledReason={(id) => getDisabledReason(tree, id)}>
        <DepartmentTree
          tree={tree}
          label={label}
          selectedId={value?.deptId}
          initialId={initialId}
          onOpen={onChange}
          getDisabledReason={(node) => getDisabledReason(tree, node.deptId)}
        />
      </DepartmentSearch>
    </div>
  );
}
