import type { Child } from '../api.ts';
import type { TreeRow } from '../ui/tree/types.ts';
import { ROOT_ID, type TreeState } from './tree-store.ts';

export type DepartmentRow = TreeRow<Child, number>;

/** The visible rows of the tree from top to bottom. Iterative: a tree can be deeper than the call stack. */
export function flattenTree(
  { branches, expanded }: TreeState,
  getUnnamedLabel: (id: number) => string,
): DepartmentRow[] {
  const rows: DepartmentRow[] = [];
  const stack: DepartmentRow[] = getBranchRows(ROOT_ID, 1).reverse();
  for (let row = stack.pop(); row; row = stack.pop()) {
    rows.push(row);
    if (row.kind !== 'node' || !row.expanded) continue;
    const children = getBranchRows(row.id, row.level + 1);
    for (let index = children.length - 1; index >= 0; index--) stack.push(children[index] as DepartmentRow);
  }
  return rows;

  function getBranchRows(parentId: number, level: number): DepartmentRow[] {
    const branch = branches.get(parentId);
    if (!branch) return [{ key: `l${parentId}`, level, parentId, kind: 'loading' }];
    const { rows, pinned, next, state } = branch;
    const setSize = next === null ? rows.length : -1;
    const toRow = (node: Child, position: number): DepartmentRow => ({
      key: `d${node.deptId}`,
      level,
      parentId,
      kind: 'node',
      node,
      id: node.deptId,
      name: node.deptName || getUnnamedLabel(node.deptId),
      hasChildren: node.hasChildren,
      expanded: expanded.has(node.deptId) && node.hasChildren,
      position,
      setSize,
    });
    const branchRows = rows.map((node, index) => toRow(node, index + 1));
    if (state === 'error')
      branchRows.push({ key: `f${parentId}`, level, parentId, kind: 'error', error: branch.error });
    else if (next !== null)
      // Pinned departments follow this row, so it is loaded on click only: the user may just scroll past it.
      branchRows.push({ key: `m${parentId}`, level, parentId, kind: 'more', autoLoad: pinned.length === 0 });
    else if (state === 'loading' && rows.length === 0)
      branchRows.push({ key: `l${parentId}`, level, parentId, kind: 'loading' });
    for (const node of pinned) branchRows.push(toRow(node, 0));
    return branchRows;
  }
}
