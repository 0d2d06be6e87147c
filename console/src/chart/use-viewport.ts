import { type PointerEvent, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { Layout, Place } from './layout.ts';
import {
  fitToWindow,
  getInitialViewport,
  keepVisible,
  type Size,
  scrollIntoView,
  type Viewport,
  zoom,
} from './viewport.ts';

const ZOOM_STEP = 1.25;

/**
 * Zooms and pans the chart. A new `chartKey` resets the viewport; when the layout of the same chart changes, the card
 * `anchorId` keeps its position on the screen.
 */
export function useViewport(stage: RefObject<HTMLElement | null>, layout: Layout, chartKey: string, anchorId: string) {
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const [viewport, setViewport] = useState<Viewport>({ x: 0, y: 0, k: 1 });
  const previous = useRef<{ chartKey: string; layout: Layout }>(undefined);
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
    const before = previous.current;
    previous.current = { chartKey, layout };
    if (before?.chartKey !== chartKey) return setViewport(getInitialViewport(layout, size));
    const [from, to] = [before.layout.byId.get(anchorId), layout.byId.get(anchorId)];
    if (!from || !to || before.layout === layout) return;
    setViewport(({ x, y, k }) => ({ k, x: x + (from.x - to.x) * k, y: y + (from.y - to.y) * k }));
  }, [layout, chartKey, anchorId, size]);

  const update: UpdateViewport = (change) =>
    setViewport((current) =>
      keepVisible(change(current, latest.current.size), latest.current.layout, latest.current.size),
    );
  const getCenter = ({ width, height }: Size) => ({ x: width / 2, y: height / 2 });
  const actions = {
    zoomIn: () => update((current, size) => zoom(current, ZOOM_STEP, getCenter(size))),
    zoomOut: () => update((current, size) => zoom(current, 1 / ZOOM_STEP, getCenter(size))),
    fit: () => setViewport(fitToWindow(layout, size)),
    pan: (dx: number, dy: number) => update(({ x, y, k }) => ({ k, x: x + dx, y: y + dy })),
    scrollTo: (place: Place) => update((current, size) => scrollIntoView(current, place, size)),
  };

  useWheel(stage, update);
  const { dragging, wasDragged, handlers } = useDrag(stage, update);
  return { viewport, size, actions, dragging, wasDragged, handlers };
}

type UpdateViewport = (change: (current: Viewport, size: Size) => Viewport) => void;

/**
 * Uses a non-passive listener, which React does not offer, to keep the page from scrolling. A touchpad pinch is a
 * wheel event with Ctrl.
 */
function useWheel(stage: RefObject<HTMLElement | null>, update: UpdateViewport) {
  const latest = useRef(update);
  latest.current = update;
  useEffect(() => {
    const element = stage.current;
    if (!element) return;
    const handleWheel = (event: WheelEvent) => {
      event.preventDefault();
      const box = element.getBoundingClientRect();
      const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 20 : 1;
      if (event.shiftKey)
        return latest.current(({ x, y, k }) => ({ k, x: x - (event.deltaY || event.deltaX) * unit, y }));
      const delta = Math.max(-150, Math.min(event.deltaY * unit, 150));
      const factor = Math.exp(-delta * (event.ctrlKey ? 0.01 : 0.002));
      latest.current((current) => zoom(current, factor, { x: event.clientX - box.left, y: event.clientY - box.top }));
    };
    element.addEventListener('wheel', handleWheel, { passive: false });
    return () => element.removeEventListener('wheel', handleWheel);
  }, [stage]);
}

/** One pointer pans, two pointers also zoom. */
function useDrag(stage: RefObject<HTMLElement | null>, update: UpdateViewport) {
  const pointers = useRef(new Map<number, { x: number; y: number }>());
  const wasDragged = useRef(false);
  const [dragging, setDragging] = useState(false);
  const start = useRef({ x: 0, y: 0 });

  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    if (pointers.current.size === 0) wasDragged.current = false;
    start.current = { x: event.clientX, y: event.clientY };
    pointers.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
  };
  const onPointerMove = (event: PointerEvent) => {
    const before = pointers.current.get(event.pointerId);
    const element = stage.current;
    if (!before || !element) return;
    // The button was released outside, before the pointer was captured.
    if (event.buttons === 0) return onPointerUp(event);
    const now = { x: event.clientX, y: event.clientY };
    if (!wasDragged.current && Math.hypot(now.x - start.current.x, now.y - start.current.y) < 5) return;
    if (!wasDragged.current) {
      wasDragged.current = true;
      setDragging(true);
    }
    // Capture the pointer only after a drag has started: a captured pointer also redirects the click.
    if (!element.hasPointerCapture(event.pointerId)) element.setPointerCapture(event.pointerId);
    pointers.current.set(event.pointerId, now);
    const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
    if (!other) return update(({ x, y, k }) => ({ k, x: x + now.x - before.x, y: y + now.y - before.y }));
    const box = element.getBoundingClientRect();
    const factor = distance(now, other) / Math.max(1, distance(before, other));
    const center = { x: (now.x + other.x) / 2 - box.left, y: (now.y + other.y) / 2 - box.top };
    const [dx, dy] = [(now.x - before.x) / 2, (now.y - before.y) / 2];
    update((current) => zoom({ k: current.k, x: current.x + dx, y: current.y + dy }, factor, center));
  };
  const onPointerUp = (event: PointerEvent) => {
    pointers.current.delete(event.pointerId);
    if (pointers.current.size === 0) setDragging(false);
  };
  return {
    dragging,
    wasDragged,
    handlers: { onPointerDown, onPointerMove, onPointerUp, onPointerCancel: onPointerUp },
  };
}

const distance = (a: { x: number; y: number }, b: { x: number; y: number }) => Math.hypot(a.x - b.x, a.y - b.y);
