import { ReadError } from './read-error.ts';
import { MAX_CELL_LENGTH, MAX_CELLS, MAX_CHARACTERS, MAX_ROWS, type SheetCell, type SheetRow } from './sheet.ts';

/** Rows above the header, and the header itself. */
const MAX_HEADER_ROWS = 20;
/** What an unsupported cell takes in a message in addition to its text, compared with a text. */
const UNSUPPORTED_SIZE = 32;

/**
 * Collects the rows of a sheet that have content. Throws when they would take too much memory in the service, which receives a
 * copy of each cell: a workbook stores a text once that thousands of cells show.
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
    }
    const last = cells.findLastIndex((cell) => cell !== '');
    if (last < 0) return;
    this.#cells += last + 1;
    if (this.#cells > MAX_CELLS || this.#characters > MAX_CHARACTERS) throw new ReadError('unpacked');
    if (this.rows.length >= MAX_ROWS + MAX_HEADER_ROWS) throw new ReadError('rows');
    this.rows.push({ row, cells: cells.slice(0, last + 1) });
  }
}
