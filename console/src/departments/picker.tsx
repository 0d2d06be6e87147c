import { useEffect, useState } from 'react';
import type { Child } from '../api.ts';
import { Search } from './search.tsx';
import { Tree } from './tree.tsx';
import { makeTree, type TreeStore } from './tree-store.ts';

interface Props {
  label: string;
  value: Child | undefined;
  onChange: (node: Child) => void;
  refusalOf: (tree: TreeStore, id: number) => string | undefined;
  /** Shown open from the start. */
  around?: number | undefined;
}

/** A department to choose, in a tree that can be searched; what cannot be chosen says why. */
export function Picker({ label, value, onChange, refusalOf, around }: Props) {
  const [tree] = useState(makeTree);
  useEffect(() => {
    // Should that one be gone, the tree is there without it.
    if (around) void tree.reveal(around).catch(() => undefined);
  }, [tree, around]);
  const pick = async (id: number) => {
    await tree.reveal(id);
    const node = tree.node(id);
    if (node && !refusalOf(tree, id)) onChange(node);
  };
  return (
    <div className="departments-picker">
      <Search onPick={pick} refusalOf={(id) => refusalOf(tree, id)}>
        <Tree
          tree={tree}
          label={label}
          current={value?.deptId}
          around={around}
          onOpen={onChange}
          refusalOf={(node) => refusalOf(tree, node.deptId)}
        />
      </Search>
    </div>
  );
}
