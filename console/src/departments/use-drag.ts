import { type PointerEvent, type RefObject, useEffect, useRef, useState } from 'react';
import type { Child } from '../api.ts';
import type { Target } from './placing.ts';
import type { TreeRow } from './tree-rows.ts';

export interface Dragging {
  whyNot(moved: Child, target: Target): string | undefined;
  drop(moved: Child, target: Target): void;
  /** Held over a closed department for a while. */
  hold(node: Child): void;
}

export interface Drag {
  moved: Child;
  target?: Target | undefined;
  refusal?: string | undefined;
}

const FAR = 6;
const EDGE = 40;
const HOLD = 700;

/**
 * By pointer events and not by the browser's own drag and drop: that one ends when the dragged row scrolls out of the
 * page, and cannot say why something is refused. Fingers scroll; they use the dialog.
 */
export function useDrag(
  scroller: RefObject<HTMLDivElement | null>,
  rows: TreeRow[],
  rowHeight: number,
  dragging: Dragging | undefined,
) {
  const [drag, setDrag] = useState<Drag>();
  const label = useRef<HTMLDivElement>(null);
  const latest = useRef({ rows, dragging });
  latest.current = { rows, dragging };
  const stop = useRef<() => void>(undefined);
  useEffect(() => () => stop.current?.(), []);

  function begin(event: PointerEvent, moved: Child) {
    if (!dragging || event.button !== 0 || event.pointerType === 'touch') return;
    const from = { x: event.clientX, y: event.clientY };
    const at = { ...from };
    let now: Drag | undefined;
    let frame = 0;
    let holding: { id: number; timer: ReturnType<typeof setTimeout> } | undefined;

    const look = () => {
      const target = targetAt(at.y);
      const same = now?.target?.node === target?.node && now?.target?.where === target?.where;
      if (now && same) return;
      const refusal = target && latest.current.dragging?.whyNot(moved, target);
      now = { moved, target, refusal };
      setDrag(now);
      // Nothing can be dropped into what is dragged: opened, it would only push away what lies below it.
      hold(target?.where === 'into' && target.node.deptId !== moved.deptId ? target.node : undefined);
    };
    const hold = (node: Child | undefined) => {
      if (holding?.id === node?.deptId) return;
      clearTimeout(holding?.timer);
      holding = node && {
        id: node.deptId,
        timer: setTimeout(() => node.hasChildren && latest.current.dragging?.hold(node), HOLD),
      };
    };
    const targetAt = (y: number): Target | undefined => {
      const box = scroller.current?.getBoundingClientRect();
      if (!box || !scroller.current || at.x < box.left || at.x > box.right || y < box.top || y > box.bottom) return;
      const place = (y - box.top + scroller.current.scrollTop) / rowHeight;
      const row = latest.current.rows[Math.floor(place)];
      if (row?.kind !== 'dept') return;
      const within = place % 1;
      if (within < 0.25) return { node: row.node, where: 'before' };
      // Below an open one are its children: there the line would say something else than what happens.
      return { node: row.node, where: within > 0.75 && !row.open ? 'after' : 'into' };
    };
    const scroll = () => {
      const box = scroller.current?.getBoundingClientRect();
      if (box && scroller.current) {
        if (at.y < box.top + EDGE) scroller.current.scrollTop -= 12;
        if (at.y > box.bottom - EDGE) scroller.current.scrollTop += 12;
        look();
      }
      frame = requestAnimationFrame(scroll);
    };
    const move = (event: globalThis.PointerEvent) => {
      at.x = event.clientX;
      at.y = event.clientY;
      if (!now && Math.hypot(at.x - from.x, at.y - from.y) < FAR) return;
      if (!frame) frame = requestAnimationFrame(scroll);
      look();
      if (label.current) label.current.style.transform = `translate(${at.x + 14}px, ${at.y + 14}px)`;
    };
    const up = () => {
      const last = now;
      end();
      if (last?.target && !last.refusal) latest.current.dragging?.drop(moved, last.target);
    };
    const key = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      end();
    };
    const end = () => {
      cancelAnimationFrame(frame);
      clearTimeout(holding?.timer);
      window.removeEventListener('pointermove', move);
      window.removeEventListener('pointerup', up);
      window.removeEventListener('pointercancel', end);
      window.removeEventListener('keydown', key, true);
      stop.current = undefined;
      setDrag(undefined);
    };
    window.addEventListener('pointermove', move);
    window.addEventListener('pointerup', up);
    window.addEventListener('pointercancel', end);
    window.addEventListener('keydown', key, true);
    stop.current = end;
  }
  return { drag, begin, label };
}
