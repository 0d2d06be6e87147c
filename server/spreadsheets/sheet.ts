/** How many rows an import may have, without the header. */
export const MAX_ROWS = 100_000;

/** How many characters a cell may have: about as many as a path of 1,000 names. Reading longer cells would block the service. */
export const MAX_CELL_LENGTH = 200_000;

/**
 * How many characters and cells all rows may have together. 100,000 users with all columns have about 30,000,000 characters in
 * 1,400,000 cells; a CSV file of the maximum size has no more characters than this.
 */
export const MAX_CHARACTERS = 52_428_800;
export const MAX_CELLS = 5_000_000;

/** How many columns a sheet may have. Templates have about a dozen; exports of other systems may have many more. */
export const MAX_COLUMNS = 200;

/** A cell that an import cannot read, because its content differs from what a spreadsheet program shows. */
interface UnsupportedCell {
  /**
   * `formula`: without a stored result; `error`: such as #N/A; `date`: a number that is shown as a date; `scientific`: a number
   * that has lost digits, or is shown with an exponent.
   */
  unsupported: 'formula' | 'error' | 'date' | 'scientific';
  text: string;
}

export type SheetCell = string | UnsupportedCell;

/** A row with content. */
export interface SheetRow {
  /** Its number in the file, from 1. */
  row: number;
  cells: SheetCell[];
}

export const textOf = (cell: SheetCell | undefined): string =>
  cell === undefined ? '' : typeof cell === 'string' ? cell : cell.text;
