/**
 * A tidy tree: every parent over the middle of its children, branches as close as they fit. Widths are kept per row, so
 * that a deep branch may reach below a shallow one beside it. Runs of departments that show nothing below them hang in
 * columns, because a row of fifty is a picture that nobody can read.
 */
export const CARD = { width: 208, height: 76 };

/** Height of a row: a card takes two, with its gap; a level is three further down. */
const ROW = 44;
const ROWS_OF_CARD = 2;
const ROWS_OF_LEVEL = 3;
const GAP = 24;
const SPINE = 22;
/** From this many on, and in columns of this many. */
const HANGS_FROM = 4;
const COLUMN = 8;
/** Directly below the root a row may be longer. */
const ROW_BELOW_ROOT = 6;

export interface Branch {
  id: string;
  children: Branch[];
}

export interface Place {
  id: string;
  /** Of the left upper corner. */
  x: number;
  y: number;
  level: number;
  parent: string | undefined;
  /** Where it is among its siblings, from 1, and how many they are. */
  position: number;
  siblings: number;
  /** Hangs in a column: the one above and below it there. */
  above?: string;
  below?: string;
}

export interface Layout {
  /** Depth first, as one would read them aloud. */
  places: Place[];
  byId: Map<string, Place>;
  width: number;
  height: number;
  /** All lines between them, as one path. */
  lines: string;
}

/** How far it reaches to the left and right of its anchor, row by row. */
interface Outline {
  left: number[];
  right: number[];
}
type Item = Outline & { x: number } & ({ grown: Grown; hung?: never } | { hung: Branch[]; columns: number });
type Grown = Outline & { branch: Branch; items: Item[] };

export function layOut(root: Branch): Layout {
  const grown = grow(root, 0);
  const shift = -Math.min(...grown.left);
  const drawing = { places: new Map<string, Place>(), lines: [] as string[] };
  draw(grown, { centre: shift, row: 0, level: 1, parent: undefined, position: 1, siblings: 1 }, drawing);
  const places = depthFirst(root).map((id) => drawing.places.get(id) as Place);
  return {
    places,
    byId: drawing.places,
    width: shift + Math.max(...grown.right),
    height: Math.max(...places.map(({ y }) => y)) + CARD.height,
    lines: drawing.lines.join(''),
  };
}

function grow(branch: Branch, level: number): Grown {
  const half = CARD.width / 2;
  const left = Array<number>(ROWS_OF_CARD).fill(-half);
  const right = Array<number>(ROWS_OF_CARD).fill(half);
  const items = itemsOf(branch, level);
  const reach: Outline = { left: [], right: [] };
  for (const item of items) {
    // As far left as the rows that both have allow.
    const rows = Math.min(reach.right.length, item.left.length);
    for (let row = 0; row < rows; row++) {
      const x = (reach.right[row] as number) - (item.left[row] as number) + GAP;
      if (row === 0 || x > item.x) item.x = x;
    }
    item.left.forEach((x, row) => {
      reach.left[row] ??= item.x + x;
      reach.right[row] = item.x + (item.right[row] as number);
    });
  }
  const middle = ((items[0]?.x ?? 0) + (items.at(-1)?.x ?? 0)) / 2;
  for (const item of items) item.x -= middle;
  reach.left.forEach((x, row) => {
    left[row + ROWS_OF_LEVEL] = x - middle;
    right[row + ROWS_OF_LEVEL] = (reach.right[row] as number) - middle;
  });
  if (items.length > 0) {
    // The line above the children is as wide as their first row at most.
    left[ROWS_OF_CARD] = left[ROWS_OF_LEVEL] as number;
    right[ROWS_OF_CARD] = right[ROWS_OF_LEVEL] as number;
  }
  return { branch, items, left, right };
}

/** The order of the children stays; what hangs is what stands together anyway. */
function itemsOf({ children }: Branch, level: number): Item[] {
  const items: Item[] = [];
  const inARow = level === 0 && children.length <= ROW_BELOW_ROOT;
  for (let at = 0; at < children.length; ) {
    let end = at;
    while (end < children.length && children[end]?.children.length === 0) end++;
    if (end - at >= HANGS_FROM && !inARow) {
      items.push(hang(children.slice(at, end)));
      at = end;
    } else {
      const grown = grow(children[at] as Branch, level + 1);
      items.push({ grown, left: grown.left, right: grown.right, x: 0 });
      at++;
    }
  }
  return items;
}

function hang(hung: Branch[]): Item {
  // Many are rather a block than a thread.
  const columns = Math.ceil(hung.length / Math.max(COLUMN, Math.ceil(Math.sqrt(hung.length * 2))));
  const rows = Math.ceil(hung.length / columns) * ROWS_OF_CARD;
  const half = (columns * (CARD.width + SPINE) + (columns - 1) * GAP) / 2;
  return { hung, columns, x: 0, left: Array<number>(rows).fill(-half), right: Array<number>(rows).fill(half) };
}

interface At extends Omit<Place, 'id' | 'x' | 'y'> {
  centre: number;
  row: number;
}
interface Drawing {
  places: Map<string, Place>;
  lines: string[];
}

function draw({ branch, items }: Grown, at: At, drawing: Drawing): void {
  const { centre, row, ...place } = at;
  drawing.places.set(branch.id, { id: branch.id, x: centre - CARD.width / 2, y: row * ROW, ...place });
  if (items.length === 0) return;
  const below = { level: at.level + 1, parent: branch.id, siblings: branch.children.length };
  const bus = (row + ROWS_OF_LEVEL) * ROW - 20;
  const tops: number[] = [centre];
  let position = 1;
  for (const item of items) {
    const x = centre + item.x;
    if (item.hung) {
      tops.push(...drawHung(item, { ...below, centre: x, row: row + ROWS_OF_LEVEL, position }, bus, drawing));
      position += item.hung.length;
    } else {
      draw(item.grown, { ...below, centre: x, row: row + ROWS_OF_LEVEL, position }, drawing);
      drawing.lines.push(`M${x} ${bus}V${(row + ROWS_OF_LEVEL) * ROW}`);
      tops.push(x);
      position++;
    }
  }
  drawing.lines.push(`M${centre} ${row * ROW + CARD.height}V${bus}M${Math.min(...tops)} ${bus}H${Math.max(...tops)}`);
}

/** Tells where the lines down to its columns begin. */
function drawHung({ hung, columns }: Item & { hung: Branch[] }, at: At, bus: number, drawing: Drawing): number[] {
  const { centre, row, position, ...place } = at;
  const inColumn = Math.ceil(hung.length / columns);
  const pitch = CARD.width + SPINE + GAP;
  const first = centre - (columns * pitch - GAP) / 2;
  const spines: number[] = [];
  hung.forEach(({ id }, index) => {
    const column = Math.floor(index / inColumn);
    const step = index % inColumn;
    const spine = first + column * pitch + 6;
    const x = first + column * pitch + SPINE;
    const y = (row + step * ROWS_OF_CARD) * ROW;
    const above = step > 0 ? hung[index - 1]?.id : undefined;
    const below = step < inColumn - 1 ? hung[index + 1]?.id : undefined;
    const neighbours = { ...(above ? { above } : {}), ...(below ? { below } : {}) };
    drawing.places.set(id, { id, x, y, ...place, position: position + index, ...neighbours });
    drawing.lines.push(`M${spine} ${y + CARD.height / 2}H${x}`);
    if (!below) drawing.lines.push(`M${spine} ${bus}V${y + CARD.height / 2}`);
    if (step === 0) spines.push(spine);
  });
  return spines;
}

const depthFirst = (branch: Branch): string[] => [branch.id, ...branch.children.flatMap(depthFirst)];
