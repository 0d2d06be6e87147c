export const CARD = { width: 208, height: 76 };

/** A card with its gap takes two rows; the next level starts three rows further down. */
const ROW_HEIGHT = 44;
const ROWS_PER_CARD = 2;
const ROWS_PER_LEVEL = 3;
const GAP = 24;
/** The space for the vertical line beside a column. */
const SPINE = 22;
const MIN_STACKED = 4;
const CARDS_PER_COLUMN = 8;
/** The root may have a longer row of children before they are stacked. */
const MAX_ROW_BELOW_ROOT = 6;

/** A card and the cards below it. */
export interface CardNode {
  id: string;
  children: CardNode[];
}

/** Where a card is drawn, and where it is in the tree. */
export interface Place {
  id: string;
  /** The upper left corner. */
  x: number;
  y: number;
  level: number;
  parent: string | undefined;
  /** The position among the siblings, starting at 1, and their number. */
  position: number;
  siblings: number;
  /** The neighbours in a column of stacked cards. */
  above?: string;
  below?: string;
}

export interface Layout {
  /** In depth-first order, which is the reading order. */
  places: Place[];
  byId: Map<string, Place>;
  width: number;
  height: number;
  /** All connecting lines as one SVG path. */
  lines: string;
}

/**
 * How far a subtree extends to the left and right of the center of its top card, per row. For stacked cards, it is measured from
 * the center of all of them.
 */
interface Outline {
  left: number[];
  right: number[];
}
type LayoutItem = Outline & { x: number } & (
    | { subtree: Subtree; stacked?: never }
    | { stacked: CardNode[]; columns: number }
  );
type Subtree = Outline & { node: CardNode; items: LayoutItem[] };

/**
 * A tidy tree layout: every parent is centered above its children, and subtrees are as close together as possible.
 * The outline of a subtree is computed per row, so that a deep subtree can extend below a shallow neighbour. Consecutive
 * leaves are stacked in columns, because a single row of fifty cards would be illegible.
 */
export function computeLayout(root: CardNode): Layout {
  const subtree = buildSubtree(root, 0);
  const shift = -Math.min(...subtree.left);
  const drawing = { places: new Map<string, Place>(), lines: [] as string[] };
  draw(subtree, { centerX: shift, row: 0, level: 1, parent: undefined, position: 1, siblings: 1 }, drawing);
  const places = depthFirst(root).map((id) => drawing.places.get(id) as Place);
  return {
    places,
    byId: drawing.places,
    width: shift + Math.max(...subtree.right),
    height: Math.max(...places.map(({ y }) => y)) + CARD.height,
    lines: drawing.lines.join(''),
  };
}

function buildSubtree(node: CardNode, level: number): Subtree {
  const half = CARD.width / 2;
  const left = Array<number>(ROWS_PER_CARD).fill(-half);
  const right = Array<number>(ROWS_PER_CARD).fill(half);
  const items = getItems(node, level);
  const childrenOutline: Outline = { left: [], right: [] };
  for (const item of items) {
    // Move it as far to the left as the common rows allow.
    const rows = Math.min(childrenOutline.right.length, item.left.length);
    for (let row = 0; row < rows; row++) {
      const x = (childrenOutline.right[row] as number) - (item.left[row] as number) + GAP;
      if (row === 0 || x > item.x) item.x = x;
    }
    item.left.forEach((x, row) => {
      childrenOutline.left[row] ??= item.x + x;
      childrenOutline.right[row] = item.x + (item.right[row] as number);
    });
  }
  const middle = ((items[0]?.x ?? 0) + (items.at(-1)?.x ?? 0)) / 2;
  for (const item of items) item.x -= middle;
  childrenOutline.left.forEach((x, row) => {
    left[row + ROWS_PER_LEVEL] = x - middle;
    right[row + ROWS_PER_LEVEL] = (childrenOutline.right[row] as number) - middle;
  });
  if (items.length > 0) {
    // The connecting line is not wider than the first row of children.
    left[ROWS_PER_CARD] = left[ROWS_PER_LEVEL] as number;
    right[ROWS_PER_CARD] = right[ROWS_PER_LEVEL] as number;
  }
  return { node, items, left, right };
}

/** Stacks runs of consecutive leaves; the order of the children does not change. */
function getItems({ children }: CardNode, level: number): LayoutItem[] {
  const items: LayoutItem[] = [];
  const keepInRow = level === 0 && children.length <= MAX_ROW_BELOW_ROOT;
  for (let start = 0; start < children.length; ) {
    let end = start;
    while (end < children.length && children[end]?.children.length === 0) end++;
    if (end - start >= MIN_STACKED && !keepInRow) {
      items.push(stackLeaves(children.slice(start, end)));
      start = end;
    } else {
      const subtree = buildSubtree(children[start] as CardNode, level + 1);
      items.push({ subtree, left: subtree.left, right: subtree.right, x: 0 });
      start++;
    }
  }
  return items;
}

function stackLeaves(stacked: CardNode[]): LayoutItem {
  // Use more columns for many cards, so that they form a block.
  const columns = Math.ceil(stacked.length / Math.max(CARDS_PER_COLUMN, Math.ceil(Math.sqrt(stacked.length * 2))));
  const rows = Math.ceil(stacked.length / columns) * ROWS_PER_CARD;
  const half = (columns * (CARD.width + SPINE) + (columns - 1) * GAP) / 2;
  return { stacked, columns, x: 0, left: Array<number>(rows).fill(-half), right: Array<number>(rows).fill(half) };
}

interface DrawPosition extends Omit<Place, 'id' | 'x' | 'y'> {
  centerX: number;
  row: number;
}
interface Drawing {
  places: Map<string, Place>;
  lines: string[];
}

function draw({ node, items }: Subtree, at: DrawPosition, drawing: Drawing): void {
  const { centerX, row, ...place } = at;
  drawing.places.set(node.id, { id: node.id, x: centerX - CARD.width / 2, y: row * ROW_HEIGHT, ...place });
  if (items.length === 0) return;
  const below = { level: at.level + 1, parent: node.id, siblings: node.children.length };
  const lineY = (row + ROWS_PER_LEVEL) * ROW_HEIGHT - 20;
  /** The x positions of the vertical lines that meet the horizontal one. */
  const connectorXs: number[] = [centerX];
  let position = 1;
  for (const item of items) {
    const x = centerX + item.x;
    if (item.stacked) {
      connectorXs.push(
        ...drawStack(item, { ...below, centerX: x, row: row + ROWS_PER_LEVEL, position }, lineY, drawing),
      );
      position += item.stacked.length;
    } else {
      draw(item.subtree, { ...below, centerX: x, row: row + ROWS_PER_LEVEL, position }, drawing);
      drawing.lines.push(`M${x} ${lineY}V${(row + ROWS_PER_LEVEL) * ROW_HEIGHT}`);
      connectorXs.push(x);
      position++;
    }
  }
  drawing.lines.push(
    `M${centerX} ${row * ROW_HEIGHT + CARD.height}V${lineY}M${Math.min(...connectorXs)} ${lineY}H${Math.max(...connectorXs)}`,
  );
}

/** Returns the x positions of the vertical lines. */
function drawStack(
  { stacked, columns }: LayoutItem & { stacked: CardNode[] },
  at: DrawPosition,
  lineY: number,
  drawing: Drawing,
): number[] {
  const { centerX, row, position, ...place } = at;
  const cardsInColumn = Math.ceil(stacked.length / columns);
  const pitch = CARD.width + SPINE + GAP;
  const first = centerX - (columns * pitch - GAP) / 2;
  const spines: number[] = [];
  stacked.forEach(({ id }, index) => {
    const column = Math.floor(index / cardsInColumn);
    const step = index % cardsInColumn;
    const spine = first + column * pitch + 6;
    const x = first + column * pitch + SPINE;
    const y = (row + step * ROWS_PER_CARD) * ROW_HEIGHT;
    const above = step > 0 ? stacked[index - 1]?.id : undefined;
    const below = step < cardsInColumn - 1 ? stacked[index + 1]?.id : undefined;
    const neighbours = { ...(above ? { above } : {}), ...(below ? { below } : {}) };
    drawing.places.set(id, { id, x, y, ...place, position: position + index, ...neighbours });
    drawing.lines.push(`M${spine} ${y + CARD.height / 2}H${x}`);
    if (!below) drawing.lines.push(`M${spine} ${lineY}V${y + CARD.height / 2}`);
    if (step === 0) spines.push(spine);
  });
  return spines;
}

const depthFirst = (node: CardNode): string[] => [node.id, ...node.children.flatMap(depthFirst)];
