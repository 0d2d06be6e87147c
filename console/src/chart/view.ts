import { CARD, type Layout, type Place } from './layout.ts';

/** How the picture lies under the window: a point p of it is seen at x + k·p. */
export interface View {
  x: number;
  y: number;
  k: number;
}
export interface Size {
  width: number;
  height: number;
}

const [SMALLEST, LARGEST] = [0.02, 2.5];
/** Smaller than this nobody reads it: the first view rather shows a part. */
const LEGIBLE = 0.55;
const EDGE = 28;

const within = (least: number, value: number, most: number) => Math.max(least, Math.min(value, most));

/** Whole, and not larger than it is. */
export function fitting(layout: Layout, size: Size): View {
  const room = { width: size.width - 2 * EDGE, height: size.height - 2 * EDGE };
  const k = within(SMALLEST, Math.min(room.width / layout.width, room.height / layout.height), 1);
  const y = Math.max(EDGE, (size.height - layout.height * k) / 3);
  return { k, x: (size.width - layout.width * k) / 2, y };
}

/** Whole if it can be read so; else the upper part of it, the root in the middle. */
export function firstView(layout: Layout, size: Size): View {
  const whole = fitting(layout, size);
  const root = layout.places[0];
  if (whole.k >= LEGIBLE || !root) return whole;
  const k = size.width < 600 ? 0.7 : LEGIBLE;
  return { k, x: size.width / 2 - (root.x + CARD.width / 2) * k, y: EDGE };
}

/** The point under the pointer stays there. */
export function zoomed({ x, y, k }: View, factor: number, at: { x: number; y: number }): View {
  const next = within(SMALLEST, k * factor, LARGEST);
  return { k: next, x: at.x - (at.x - x) * (next / k), y: at.y - (at.y - y) * (next / k) };
}

/** So that nobody loses the picture: something of it always stays in the window. */
export function kept({ x, y, k }: View, layout: Layout, size: Size): View {
  const some = 60;
  return {
    k,
    x: within(some - layout.width * k, x, size.width - some),
    y: within(some - layout.height * k, y, size.height - some),
  };
}

/** Moved as little as it takes to see this card. */
export function showing(view: View, place: Place, size: Size): View {
  const { k } = view;
  const move = (at: number, length: number, room: number) =>
    length + 2 * EDGE > room ? room / 2 - length / 2 - at : within(EDGE - at, 0, room - EDGE - length - at);
  const x = view.x + move(view.x + place.x * k, CARD.width * k, size.width);
  const y = view.y + move(view.y + place.y * k, (CARD.height + 20) * k, size.height);
  return { k, x, y };
}

/** The cards that can be seen, and a little around them. */
export function inView({ places }: Layout, { x, y, k }: View, { width, height }: Size): Place[] {
  const around = 120 / k;
  const [left, right] = [-x / k - around - CARD.width, (width - x) / k + around];
  const [top, bottom] = [-y / k - around - CARD.height, (height - y) / k + around];
  return places.filter((place) => place.x > left && place.x < right && place.y > top && place.y < bottom);
}

export const placeAt = ({ places }: Layout, x: number, y: number) =>
  places.find((place) => x >= place.x && x <= place.x + CARD.width && y >= place.y && y <= place.y + CARD.height);
