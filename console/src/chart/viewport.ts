import { CARD, type Layout, type Place } from './layout.ts';

/** The transformation from chart to screen: a point p of the chart is at x + k·p on the screen. */
export interface Viewport {
  x: number;
  y: number;
  k: number;
}
export interface Size {
  width: number;
  height: number;
}

const [MIN_SCALE, MAX_SCALE] = [0.02, 2.5];
/** Below this scale the text is hard to read, so the initial viewport shows only a part of the chart. */
const MIN_INITIAL_SCALE = 0.85;
const MARGIN = 28;

const clamp = (min: number, value: number, max: number) => Math.max(min, Math.min(value, max));

/** The whole chart, at most at its original size. */
export function fitToWindow(layout: Layout, size: Size): Viewport {
  const room = { width: size.width - 2 * MARGIN, height: size.height - 2 * MARGIN };
  const k = clamp(MIN_SCALE, Math.min(room.width / layout.width, room.height / layout.height), 1);
  const y = Math.max(MARGIN, (size.height - layout.height * k) / 3);
  return { k, x: (size.width - layout.width * k) / 2, y };
}

/** The whole chart if it is legible; otherwise its upper part with the root in the center. */
export function getInitialViewport(layout: Layout, size: Size): Viewport {
  const whole = fitToWindow(layout, size);
  const root = layout.places[0];
  if (whole.k >= MIN_INITIAL_SCALE || !root) return whole;
  const k = MIN_INITIAL_SCALE;
  return { k, x: size.width / 2 - (root.x + CARD.width / 2) * k, y: MARGIN };
}

/** Zooms around a point of the screen. */
export function zoom({ x, y, k }: Viewport, factor: number, at: { x: number; y: number }): Viewport {
  const next = clamp(MIN_SCALE, k * factor, MAX_SCALE);
  return { k: next, x: at.x - (at.x - x) * (next / k), y: at.y - (at.y - y) * (next / k) };
}

/** Keeps a part of the chart in the window. */
export function keepVisible({ x, y, k }: Viewport, layout: Layout, size: Size): Viewport {
  const minVisible = 60;
  return {
    k,
    x: clamp(minVisible - layout.width * k, x, size.width - minVisible),
    y: clamp(minVisible - layout.height * k, y, size.height - minVisible),
  };
}

/** Moves the viewport by as little as possible to show a card. */
export function scrollIntoView(view: Viewport, place: Place, size: Size): Viewport {
  const { k } = view;
  const move = (at: number, length: number, room: number) =>
    length + 2 * MARGIN > room ? room / 2 - length / 2 - at : clamp(MARGIN - at, 0, room - MARGIN - length - at);
  const x = view.x + move(view.x + place.x * k, CARD.width * k, size.width);
  const y = view.y + move(view.y + place.y * k, (CARD.height + 20) * k, size.height);
  return { k, x, y };
}

/** The cards in view, with some margin. */
export function getVisiblePlaces({ places }: Layout, { x, y, k }: Viewport, { width, height }: Size): Place[] {
  const margin = 120 / k;
  const [left, right] = [-x / k - margin - CARD.width, (width - x) / k + margin];
  const [top, bottom] = [-y / k - margin - CARD.height, (height - y) / k + margin];
  return places.filter((place) => place.x > left && place.x < right && place.y > top && place.y < bottom);
}

export const findPlaceAt = ({ places }: Layout, x: number, y: number) =>
  places.find((place) => x >= place.x && x <= place.x + CARD.width && y >= place.y && y <= place.y + CARD.height);
