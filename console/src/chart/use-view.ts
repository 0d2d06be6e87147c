import { type PointerEvent, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { Layout, Place } from './layout.ts';
import { firstView, fitting, kept, type Size, showing, type View, zoomed } from './view.ts';

const STEP = 1.25;

/**
 * Zoom and pan of the window `stage` over a picture. `what` names the picture: another one is seen from its beginning;
 * of the same one, grown or shrunk, the card `anchor` stays where it was.
 */
export function useView(stage: RefObject<HTMLElement | null>, layout: Layout, what: string, anchor: string) {
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const [view, setView] = useState<View>({ x: 0, y: 0, k: 1 });
  const seen = useRef<{ what: string; layout: Layout }>(undefined);
  const latest = useRef({ layout, size });
  latest.current = { layout, size };

  useLayoutEffect(() => {
    const element = stage.current;
    if (!element) return;
    const measure = () => setSize({ width: element.clientWidth, height: element.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [stage]);

  useLayoutEffect(() => {
    if (size.width === 0) return;
    const before = seen.current;
    seen.current = { what, layout };
    if (before?.what !== what) return setView(firstView(layout, size));
    const [was, is] = [before.layout.byId.get(anchor), layout.byId.get(anchor)];
    if (!was || !is || before.layout === layout) return;
    setView(({ x, y, k }) => ({ k, x: x + (was.x - is.x) * k, y: y + (was.y - is.y) * k }));
  }, [layout, what, anchor, size]);

  const move = (how: (view: View, size: Size) => View) =>
    setView((now) => kept(how(now, latest.current.size), latest.current.layout, latest.current.size));
  const middle = ({ width, height }: Size) => ({ x: width / 2, y: height / 2 });
  const actions = {
    zoomIn: () => move((now, room) => zoomed(now, STEP, middle(room))),
    zoomOut: () => move((now, room) => zoomed(now, 1 / STEP, middle(room))),
    fit: () => setView(fitting(layout, size)),
    pan: (dx: number, dy: number) => move(({ x, y, k }) => ({ k, x: x + dx, y: y + dy })),
    show: (place: Place) => move((now, room) => showing(now, place, room)),
  };

  useWheel(stage, move);
  const { dragging, dragged, handlers } = useDrag(stage, move);
  return { view, size, actions, dragging, dragged, handlers };
}

type Move = (how: (view: View, size: Size) => View) => void;

/** React listens to wheels passively; here the page must not scroll along. A pinch on a touchpad is a wheel with Ctrl. */
function useWheel(stage: RefObject<HTMLElement | null>, move: Move) {
  const latest = useRef(move);
  latest.current = move;
  useEffect(() => {
    const element = stage.current;
    if (!element) return;
    const turn = (event: WheelEvent) => {
      event.preventDefault();
      const box = element.getBoundingClientRect();
      const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 20 : 1;
      if (event.shiftKey) return latest.current(({ x, y, k }) => ({ k, x: x - (event.deltaY || event.deltaX), y }));
      const turned = Math.max(-150, Math.min(event.deltaY * lines, 150));
      const factor = Math.exp(-turned * (event.ctrlKey ? 0.01 : 0.002));
      latest.current((view) => zoomed(view, factor, { x: event.clientX - box.left, y: event.clientY - box.top }));
    };
    element.addEventListener('wheel', turn, { passive: false });
    return () => element.removeEventListener('wheel', turn);
  }, [stage]);
}

/** One finger or the mouse pulls the picture; two fingers also pinch it. */
function useDrag(stage: RefObject<HTMLElement | null>, move: Move) {
  const pointers = useRef(new Map<number, { x: number; y: number }>());
  const dragged = useRef(false);
  const [dragging, setDragging] = useState(false);
  const began = useRef({ x: 0, y: 0 });

  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    if (pointers.current.size === 0) dragged.current = false;
    began.current = { x: event.clientX, y: event.clientY };
    pointers.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
  };
  const onPointerMove = (event: PointerEvent) => {
    const before = pointers.current.get(event.pointerId);
    const element = stage.current;
    if (!before || !element) return;
    const now = { x: event.clientX, y: event.clientY };
    if (!dragged.current && Math.hypot(now.x - began.current.x, now.y - began.current.y) < 5) return;
    if (!dragged.current) {
      // Not before it is a pull: whoever has the pointer gets the click too.
      dragged.current = true;
      setDragging(true);
    }
    if (!element.hasPointerCapture(event.pointerId)) element.setPointerCapture(event.pointerId);
    pointers.current.set(event.pointerId, now);
    const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
    if (!other) return move(({ x, y, k }) => ({ k, x: x + now.x - before.x, y: y + now.y - before.y }));
    const box = element.getBoundingClientRect();
    const factor = apart(now, other) / Math.max(1, apart(before, other));
    const middle = { x: (now.x + other.x) / 2 - box.left, y: (now.y + other.y) / 2 - box.top };
    const [dx, dy] = [(now.x - before.x) / 2, (now.y - before.y) / 2];
    move((view) => zoomed({ k: view.k, x: view.x + dx, y: view.y + dy }, factor, middle));
  };
  const onPointerUp = (event: PointerEvent) => {
    pointers.current.delete(event.pointerId);
    if (pointers.current.size === 0) setDragging(false);
  };
  return { dragging, dragged, handlers: { onPointerDown, onPointerMove, onPointerUp, onPointerCancel: onPointerUp } };
}

const apart = (a: { x: number; y: number }, b: { x: number; y: number }) => Math.hypot(a.x - b.x, a.y - b.y);
