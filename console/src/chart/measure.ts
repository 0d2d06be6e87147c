export const FONT =
  "system-ui, -apple-system, 'Segoe UI', Roboto, 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', 'Noto Sans', sans-serif";

const canvas = document.createElement('canvas').getContext('2d');
const known = new Map<string, string>();

export function widthOf(text: string, size: number, weight = 400): number {
  if (!canvas) return text.length * size;
  canvas.font = `${weight} ${size}px ${FONT}`;
  return canvas.measureText(text).width;
}

/** As much of the text as fits: SVG neither breaks lines nor cuts them. */
export function fitted(text: string, width: number, size: number, weight = 400): string {
  const key = `${width}/${size}/${weight}/${text}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  let fits = text;
  if (widthOf(text, size, weight) > width) {
    // Letters, not halves of them.
    const letters = [...text];
    let [low, high] = [0, letters.length];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (widthOf(`${letters.slice(0, middle).join('')}…`, size, weight) <= width) low = middle;
      else high = middle - 1;
    }
    fits = `${letters.slice(0, low).join('')}…`;
  }
  if (known.size > 5000) known.clear();
  known.set(key, fits);
  return fits;
}
