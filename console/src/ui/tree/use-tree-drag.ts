import { type PointerEvent, type RefObject, useEffect, useRef, useState } from 'react';
import type { DragHandlers, DropTarget, NodeRow, TreeRow } from './types.ts';

interface DragState<Node> {
  moved: Node;
  target?: DropTarget<Node> | undefined;
  /** Why the node cannot be dropped on the target. */
  error?: string | undefined;
}

const DRAG_THRESHOLD_PX = 6;
const SCROLL_EDGE_PX = 40;
const SCROLL_STEP_PX = 12;
const HOVER_DELAY_MS = 700;

/**
 * Drag and drop with pointer events. The browser's own drag and drop ends when the dragged row is scrolled out of the
 * virtualised list, and cannot show why a drop is not allowed. Touch scrolls the list instead of dragging.
 */
export function useTreeDrag<Node, Id>(
  scroller: RefObject<HTMLDivElement | null>,
  rows: TreeRow<Node, Id>[],
  rowHeight: number,
  handlers: DragHandlers<Node> | undefined,
) {
  const [drag, setDrag] = useState<DragState<Node>>();
  const labelRef = useRef<HTMLDivElement>(null);
  const latest = useRef({ rows, handlers });
  latest.current = { rows, handlers };
  const cancel = useRef<() => void>(undefined);
  useEffect(() => () => cancel.current?.(), []);

  function startDrag(event: PointerEvent, movedRow: NodeRow<Node, Id>) {
    if (!handlers || event.button !== 0 || event.pointerType === 'touch') return;
    const moved = movedRow.node;
    const start = { x: event.clientX, y: event.clientY };
    const pointer = { ...start };
    let current: DragState<Node> | undefined;
    let frame = 0;
    let hover: { id: Id; timer: ReturnType<typeof setTimeout> } | undefined;

    const updateTarget = () => {
      const hit = getRowAtPointer();
      const target = hit && { node: hit.row.node, position: hit.position };
      const isSame = current?.target?.node === target?.node && current?.target?.position === target?.position;
      if (current && isSame) return;
      const error = target && latest.current.handlers?.validate(moved, target);
      current = { moved, target, error };
      setDrag(current);
      // Do not expand the dragged node itself: nothing can be dropped into it.
      setHover(hit?.position === 'into' && hit.row.id !== movedRow.id ? hit.row : undefined);
    };
    const setHover = (row: NodeRow<Node, Id> | undefined) => {
      if (hover?.id === row?.id) return;
      clearTimeout(hover?.timer);
      hover = row && {
        id: row.id,
        timer: setTimeout(() => row.hasChildren && latest.current.handlers?.onHover(row.node), HOVER_DELAY_MS),
      };
    };
    const getRowAtPointer = (): { row: NodeRow<Node, Id>; position: DropTarget<Node>['position'] } | undefined => {
      const { x, y } = pointer;
      const box = scroller.current?.getBoundingClientRect();
      if (!box || !scroller.current || x < box.left || x > box.right || y < box.top || y > box.bottom) return undefined;
      const offset = (y - box.top + scroller.current.scrollTop) / rowHeight;
      const row = latest.current.rows[Math.floor(offset)];
      if (row?.kind !== 'node') return undefined;
      const fraction = offset % 1;
      if (fraction < 0.25) return { row, position: 'before' };
      // The lower edge of an expanded node borders on its first child, so "after" would be misleading there.
      return { row, position: fraction > 0.75 && !row.expanded ? 'after' : 'into' };
    };
    const scrollAtEdges = () => {
      const box = scroller.current?.getBoundingClientRect();
      if (box && scroller.current) {
        if (pointer.y < box.top + SCROLL_EDGE_PX) scroller.current.scrollTop -= SCROLL_STEP_PX;
        if (pointer.y > box.bottom - SCROLL_EDGE_PX) scroller.current.scrollTop += SCROLL_STEP_PX;
        updateTarget();
      }
      frame = requestAnimationFrame(scrollAtEdges);
    };
    const onMove = (event: globalThis.PointerEvent) => {
      pointer.x = event.clientX;
      pointer.y = event.clientY;
      if (!current && Math.hypot(pointer.x - start.x, pointer.y - start.y) < DRAG_THRESHOLD_PX) return;
      if (!frame) frame = requestAnimationFrame(scrollAtEdges);
      updateTarget();
      if (labelRef.current) labelRef.current.style.transform = `translate(${pointer.x + 14}px, ${pointer.y + 14}px)`;
    };
    const onUp = () => {
      const final = current;
      endDrag();
      if (final?.target && !final.error) latest.current.handlers?.onDrop(moved, final.target);
    };
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      endDrag();
    };
    const endDrag = () => {
      cancelAnimationFrame(frame);
      clearTimeout(hover?.timer);
      window.removeEventListener('pointermove', onMove);
      window.removeEventListener('pointerup', onUp);
      window.removeEventListener('pointercancel', endDrag);
      window.removeEventListener('keydown', onKeyDown, true);
      cancel.current = undefined;
      setDrag(undefined);
    };
    window.addEventListener('pointermove', onMove);
    window.addEventListener('pointerup', onUp);
    window.addEventListener('pointercancel', endDrag);
    window.addEventListener('keydown', onKeyDown, true);
    cancel.current = endDrag;
  }
  return { drag, startDrag, labelRef };
}
