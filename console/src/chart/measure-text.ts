import { FONT_FAMILY } from '../theme.ts';

const canvas = document.createElement('canvas').getContext('2d');
const cache = new Map<string, string>();

export function measureText(text: string, size: number, weight = 400): number {
  if (!canvas) return text.length * size;
  canvas.font = `${weight} ${size}px ${FONT_FAMILY}`;
  return canvas.measureText(text).width;
}

/** Truncates a text with an ellipsis, because SVG does not wrap or clip text. */
export function truncateText(text: string, width: number, size: number, weight = 400): string {
  const key = `${width}/${size}/${weight}/${text}`;
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  let result = text;
  if (measureText(text, size, weight) > width) {
    // Split by code points, not UTF-16 units.
    const characters = [...text];
    let [low, high] = [0, characters.length];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (measureText(`${characters.slice(0, middle).join('')}…`, size, weight) <= width) low = middle;
      else high = middle - 1;
    }
    result = `${characters.slice(0, low).join('')}…`;
  }
  if (cache.size > 5000) cache.clear();
  cache.set(key, result);
  return result;
}
