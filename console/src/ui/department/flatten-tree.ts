import type { Child } from '../../api.ts';
import type { TreeRow } from '../tree/types.ts';
import { ROOT_ID, type TreeState } from './tree-store.ts';

export type DepartmentRow = TreeRow<Child, number>;

/** The visible rows of the tree from top to bottom. Iterative: a tree can be deeper than the call stack. */
export function flattenTree(
  { childLists, expanded }: TreeState,
  getUnnamedLabel: (id: number) => string,
): DepartmentRow[] {
  const rows: DepartmentRow[] = [];
  const stack: DepartmentRow[] = getChildRows(ROOT_ID, 1).reverse();
  for (let row = stack.pop(); row; row = stack.pop()) {
    rows.push(row);
    if (row.kind !== 'node' || !row.expanded) continue;
    const children = getChildRows(row.id, row.level + 1);
    for (let index = children.length - 1; index >= 0; index--) stack.push(children[index] as DepartmentRow);
  }
  return rows;

  function getChildRows(parentId: number, level: number): DepartmentRow[] {
    const childList = childLists.get(parentId);
    if (!childList) return [{ key: `l${parentId}`, level, parentId, kind: 'loading' }];
    const { rows, pinned, next, state } = childList;
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
    const childRows = rows.map((node, index) => toRow(node, index + 1));
    if (state === 'error')
      childRows.push({ key: `f${parentId}`, level, parentId, kind: 'error', error: childList.error });
    else if (next !== null)
      // If pinned departments follow this row, it is loaded on click only: the user may just scroll past it.
      childRows.push({ key: `m${parentId}`, level, parentId, kind: 'more', autoLoad: pinned.length === 0 });
    else if (state === 'loading' && rows.length === 0)
      childRows.push({ key: `l${parentId}`, level, parentId, kind: 'loading' });
    for (const node of pinned) childRows.push(toRow(node, 0));
    return childRows;
  }
}
