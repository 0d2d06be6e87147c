import type { Child } from '../api.ts';
import { TOP, type TreeState } from './tree-store.ts';

/** What the tree shows, line by line; only those within sight are in the page. */
export type TreeRow = { key: string; level: number; parentId: number } & (
  | { kind: 'dept'; node: Child; open: boolean; position: number; size: number }
  /** `inBetween`: departments follow it, so it is read on request, not by scrolling past. */
  | { kind: 'more'; inBetween: boolean }
  | { kind: 'loading' }
  | { kind: 'failed'; error: unknown }
);

/** Without recursion: a tree may be deeper than a stack. */
export function visibleRows({ branches, open }: TreeState): TreeRow[] {
  const rows: TreeRow[] = [];
  const waiting: TreeRow[] = linesOf(TOP, 1).reverse();
  for (let row = waiting.pop(); row; row = waiting.pop()) {
    rows.push(row);
    if (row.kind !== 'dept' || !row.open) continue;
    const below = linesOf(row.node.deptId, row.level + 1);
    for (let last = below.length - 1; last >= 0; last--) waiting.push(below[last] as TreeRow);
  }
  return rows;

  function linesOf(parentId: number, level: number): TreeRow[] {
    const branch = branches.get(parentId);
    if (!branch) return [{ key: `l${parentId}`, level, parentId, kind: 'loading' }];
    const { rows, aside, next, state } = branch;
    const size = next === null ? rows.length : -1;
    const line = (node: Child, position: number): TreeRow => ({
      key: `d${node.deptId}`,
      level,
      parentId,
      kind: 'dept',
      node,
      open: open.has(node.deptId) && node.hasChildren,
      position,
      size,
    });
    const lines = rows.map((node, index) => line(node, index + 1));
    if (state === 'failed') lines.push({ key: `f${parentId}`, level, parentId, kind: 'failed', error: branch.error });
    else if (next !== null)
      lines.push({ key: `m${parentId}`, level, parentId, kind: 'more', inBetween: aside.length > 0 });
    else if (state === 'loading' && rows.length === 0)
      lines.push({ key: `l${parentId}`, level, parentId, kind: 'loading' });
    for (const node of aside) lines.push(line(node, 0));
    return lines;
  }
}
