import { type KeyboardEvent, useRef } from 'react';
import type { NodeRow, RowAction, TreeRow } from './types.ts';

interface Options<Node, Id> {
  rows: TreeRow<Node, Id>[];
  activeIndex: number;
  /** The number of rows that PageUp and PageDown move by. */
  pageSize: number;
  onAction: (action: RowAction, row: TreeRow<Node, Id>) => void;
  /** Additional keys of the screen. Returns true if it has handled the event. */
  onNodeKeyDown: ((event: KeyboardEvent, node: Node) => boolean) | undefined;
  onMove: (index: number) => void;
}

const TYPE_AHEAD_MS = 700;

/** Keyboard navigation as in the WAI-ARIA tree view pattern. */
export function useTreeKeyboard<Node, Id>({
  rows,
  activeIndex,
  pageSize,
  onAction,
  onNodeKeyDown,
  onMove,
}: Options<Node, Id>) {
  const typeAhead = useRef({ text: '', time: 0 });
  return (event: KeyboardEvent) => {
    const row = rows[activeIndex];
    if (!row || event.nativeEvent.isComposing) return;
    const markHandled = () => {
      event.preventDefault();
      event.stopPropagation();
    };
    if (row.kind === 'node' && onNodeKeyDown?.(event, row.node)) return markHandled();
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const target = getTargetIndex(event.key);
    if (target !== undefined) {
      markHandled();
      return onMove(Math.min(rows.length - 1, Math.max(0, target)));
    }
    if (event.key === 'Enter') onAction(row.kind === 'node' ? 'open' : 'load', row);
    else if (event.key === ' ') onAction('check', row);
    else if (event.key === 'ArrowRight' && row.kind === 'node') expandOrEnter(row);
    else if (event.key === 'ArrowLeft') collapseOrLeave(row);
    else if (event.key.length === 1) moveToMatch(event.key, event.timeStamp);
    else return;
    markHandled();
  };

  function expandOrEnter(row: NodeRow<Node, Id>) {
    if (row.expanded) onMove(Math.min(activeIndex + 1, rows.length - 1));
    else if (row.hasChildren) onAction('toggle', row);
  }

  function collapseOrLeave(row: TreeRow<Node, Id>) {
    if (row.kind === 'node' && row.expanded) return onAction('toggle', row);
    const parent = rows.findLastIndex((other, index) => index < activeIndex && other.level < row.level);
    if (parent >= 0) onMove(parent);
  }

  function getTargetIndex(key: string): number | undefined {
    if (key === 'ArrowDown') return activeIndex + 1;
    if (key === 'ArrowUp') return activeIndex - 1;
    if (key === 'PageDown') return activeIndex + pageSize;
    if (key === 'PageUp') return activeIndex - pageSize;
    if (key === 'Home') return 0;
    if (key === 'End') return rows.length - 1;
    return undefined;
  }

  /** Characters typed in quick succession form a prefix; a single character moves on to the next match. */
  function moveToMatch(character: string, time: number) {
    const continues = time - typeAhead.current.time < TYPE_AHEAD_MS;
    const text = (continues ? typeAhead.current.text + character : character).toLowerCase();
    typeAhead.current = { text, time };
    const matches = (row: TreeRow<Node, Id> | undefined) =>
      row?.kind === 'node' && row.name.toLowerCase().startsWith(text);
    const start = continues ? activeIndex : activeIndex + 1;
    for (let step = 0; step < rows.length; step++) {
      const index = (start + step) % rows.length;
      if (matches(rows[index])) return onMove(index);
    }
  }
}
