import { ApiError, type Detail } from '../http/errors.ts';
import type { SheetCell } from '../spreadsheets/sheet.ts';
import { isEmpty, type ReadCell } from './cells.ts';
import type { Table, TableRow } from './table.ts';

export interface CellError {
  /** The key of the column; null: the error concerns the row. */
  key: string | null;
  error: ApiError;
}

/** A row can have a wrong department in each of many paths. Further errors of a row are counted, but not kept. */
const MAX_ERRORS_PER_ROW = 10;

/** Collects the errors of all rows, by the index of the row. */
export class ImportErrors {
  readonly byRow = new Map<number, CellError[]>();
  count = 0;

  has(n: number): boolean {
    return this.byRow.has(n);
  }

  add(n: number, key: string | null, error: ApiError): void {
    this.count++;
    const known = this.byRow.get(n);
    if (known && known.length < MAX_ERRORS_PER_ROW) known.push({ key, error });
    else if (!known) this.byRow.set(n, [{ key, error }]);
  }

  /** Runs a check of a cell and keeps the error that it throws. */
  check<T>(n: number, key: string | null, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.add(n, key, error);
      return undefined;
    }
  }
}

/** Returns a function that finds the name of a column, as errors show it. */
export function headersOf({ columns }: Table): (key: string) => Detail {
  const headers = new Map(columns.map(({ key, header }) => [key, header]));
  return (key) => headers.get(key) ?? key;
}

/** Reads the cells of a row. An empty cell and a missing column leave the field out. */
export function readCells<Readers extends Readonly<Record<string, ReadCell<unknown>>>>(
  { cells }: TableRow,
  readers: Readers,
  headerOf: (key: string) => Detail,
  check: <T>(key: string, read: () => T) => T | undefined,
): { [Key in keyof Readers]?: ReturnType<Readers[Key]> } {
  const values: Record<string, unknown> = {};
  for (const [key, read] of Object.entries(readers)) {
    const cell = cells.get(key);
    if (isEmpty(cell)) continue;
    const value = check(key, () => read(cell as SheetCell, headerOf(key)));
    if (value !== undefined) values[key] = value;
  }
  return values as { [Key in keyof Readers]?: ReturnType<Readers[Key]> };
}
