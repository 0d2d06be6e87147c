import { type KeyboardEvent, useRef } from 'react';
import type { Child } from '../api.ts';
import type { TreeRow } from './tree-rows.ts';

interface Keys {
  rows: TreeRow[];
  active: number;
  page: number;
  act: (what: 'open' | 'toggle' | 'mark' | 'read', row: TreeRow) => void;
  onKey: ((event: KeyboardEvent, node: Child) => boolean) | undefined;
  go: (index: number) => void;
}

/** The keys of a tree as WAI-ARIA lays them down. */
export function useTreeKeys({ rows, active, page, act, onKey, go }: Keys) {
  const typed = useRef({ text: '', at: 0 });
  return (event: KeyboardEvent) => {
    const row = rows[active];
    if (!row || event.nativeEvent.isComposing) return;
    const handled = () => {
      event.preventDefault();
      event.stopPropagation();
    };
    if (row.kind === 'dept' && onKey?.(event, row.node)) return handled();
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const step = steps(event.key);
    if (step !== undefined) {
      handled();
      return go(Math.min(rows.length - 1, Math.max(0, step)));
    }
    if (event.key === 'Enter') act(row.kind === 'dept' ? 'open' : 'read', row);
    else if (event.key === ' ') act('mark', row);
    else if (event.key === 'ArrowRight' && row.kind === 'dept') {
      if (row.open) go(Math.min(active + 1, rows.length - 1));
      else if (row.node.hasChildren) act('toggle', row);
    } else if (event.key === 'ArrowLeft') {
      if (row.kind === 'dept' && row.open) act('toggle', row);
      else
        go(
          Math.max(
            0,
            rows.findLastIndex((other, index) => index < active && other.level < row.level),
          ),
        );
    } else if (event.key.length === 1) typeAhead(event.key, event.timeStamp);
    else return;
    handled();
  };

  function steps(key: string): number | undefined {
    if (key === 'ArrowDown') return active + 1;
    if (key === 'ArrowUp') return active - 1;
    if (key === 'PageDown') return active + page;
    if (key === 'PageUp') return active - page;
    if (key === 'Home') return 0;
    if (key === 'End') return rows.length - 1;
    return undefined;
  }

  /** Letters in quick succession are one word; the same letter again goes on to the next. */
  function typeAhead(letter: string, at: number) {
    const goesOn = at - typed.current.at < 700;
    const text = (goesOn ? typed.current.text + letter : letter).toLowerCase();
    typed.current = { text, at };
    const begins = (row: TreeRow | undefined) =>
      row?.kind === 'dept' && row.node.deptName.toLowerCase().startsWith(text);
    const start = goesOn ? active : active + 1;
    for (let step = 0; step < rows.length; step++) {
      const index = (start + step) % rows.length;
      if (begins(rows[index])) return go(index);
    }
  }
}
