import { ReadError } from './read-error.ts';
import {
  MAX_CELL_LENGTH,
  MAX_CELLS,
  MAX_CHARACTERS,
  MAX_COLUMNS,
  MAX_ROWS,
  type SheetCell,
  type SheetRow,
  textOf,
} from './sheet.ts';
import { cleanName } from './text.ts';

/** How many rows are allowed in addition to `MAX_ROWS`: those above the header, and the header itself. */
const MAX_HEADER_ROWS = 20;
/** How many more characters an unsupported cell takes in a message than a text cell. */
const UNSUPPORTED_SIZE = 32;

/**
 * Collects the rows of a sheet that have content. Throws when they would take too much memory in the service: a workbook can
 * store a text once and use it in thousands of cells, but the service receives a copy for each of these cells.
 */
export class RowCollector {
  readonly rows: SheetRow[] = [];
  #cells = 0;
  #characters = 0;

  add(row: number, cells: SheetCell[]): void {
    for (const cell of cells) {
      const length = typeof cell === 'string' ? cell.length : cell.text.length;
      if (length > MAX_CELL_LENGTH) throw new ReadError('cell');
      this.#characters += typeof cell === 'string' ? length : length + UNSUPPORTED_SIZE;
      // Check before the texts are searched for spaces.
      if (this.#characters > MAX_CHARACTERS) throw new ReadError('tooLarge');
    }
    const last = cells.findLastIndex((cell) => !isBlank(cell));
    if (last < 0) return;
    if (last >= MAX_COLUMNS) throw new ReadError('columns');
    this.#cells += last + 1;
    if (this.#cells > MAX_CELLS) throw new ReadError('tooLarge');
    if (this.rows.length >= MAX_ROWS + MAX_HEADER_ROWS) throw new ReadError('rows');
    this.rows.push({ row, cells: cells.slice(0, last + 1) });
  }
}

/** Imports treat a text of spaces as empty. */
const isBlank = (cell: SheetCell): boolean => typeof cell === 'string' && cleanName(cell) === '';

/** The maximum size of a message. A cell counts as its characters plus CELL_SIZE, because each cell takes time of its own. */
const MAX_PIECE = 400_000;
const CELL_SIZE = 50;

/** Divides rows into messages that the service receives in a few milliseconds each, unless a single row takes longer. */
export function* piecesOf(rows: readonly SheetRow[]): Generator<SheetRow[], void> {
  let piece: SheetRow[] = [];
  let size = 0;
  for (const row of rows) {
    const rowSize = row.cells.reduce((sum, cell) => sum + textOf(cell).length + CELL_SIZE, 0);
    if (piece.length > 0 && size + rowSize > MAX_PIECE) {
      yield piece;
      piece = [];
      size = 0;
    }
    piece.push(row);
    size += rowSize;
  }
  if (piece.length > 0) yield piece;
}
