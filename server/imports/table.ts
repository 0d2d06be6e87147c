import { apiError, type Language } from '../http/errors.ts';
import { type Column, columnOfHeader, importedColumns } from '../spreadsheets/column.ts';
import { MAX_ROWS, type SheetCell, type SheetRow, textOf } from '../spreadsheets/sheet.ts';

/** A column of the file that the import reads. */
interface TableColumn {
  key: string;
  /** Its letter in the file, such as C. */
  letter: string;
  /** As the file has it; without a header row, as the template has it. */
  header: string | Readonly<Record<Language, string>>;
}

export interface TableRow {
  /** Its number in the file, from 1. */
  row: number;
  /** The cells by the keys of their columns. */
  cells: ReadonlyMap<string, SheetCell>;
}

export interface Table {
  columns: readonly TableColumn[];
  /** undefined: the columns have the order of the template. */
  headerRow: number | undefined;
  rows: TableRow[];
}

/** The header is looked for in this many rows: files have titles and notes above it. */
const MAX_ROWS_ABOVE = 20;
/** A header may extend over several rows, with the names of groups of columns above. */
const MAX_HEADER_ROWS = 3;

/**
 * Finds the header, and the columns by it. Without a header the columns are in the order of the template. At least one of
 * `keys` must be present: without them, rows do not identify their records.
 */
export function toTable<Row>(
  sheet: readonly SheetRow[],
  columns: readonly Column<Row>[],
  keys: readonly string[],
): Table {
  const header = findHeader(sheet, columns);
  const found = header ? header.columns : byPosition(columns);
  if (!found.some(({ column }) => keys.includes(column.key))) {
    const missing = columns.find(({ key }) => key === keys[0]);
    throw apiError('COLUMNS_MISSING', { columns: missing?.header ?? '' });
  }
  const data = header ? sheet.slice(header.index + 1) : sheet;
  if (data.length > MAX_ROWS) throw apiError('TOO_MANY_ROWS', { limit: MAX_ROWS });
  return {
    columns: found.map(({ column, index, text }) => ({
      key: column.key,
      letter: letterOf(index),
      header: text ?? column.header,
    })),
    headerRow: header && sheet[header.index]?.row,
    rows: data.map(({ row, cells }) => ({
      row,
      cells: new Map(found.map(({ column, index }) => [column.key, cells[index] ?? ''])),
    })),
  };
}

interface FoundColumn<Row> {
  column: Column<Row>;
  /** Its position in the file, from 0. */
  index: number;
  text?: string;
}

const byPosition = <Row>(columns: readonly Column<Row>[]): FoundColumn<Row>[] =>
  importedColumns(columns).map((column, index) => ({ column, index }));

/** The header is the row with the most known names. */
function findHeader<Row>(sheet: readonly SheetRow[], columns: readonly Column<Row>[]) {
  const known = sheet.slice(0, MAX_ROWS_ABOVE).map(({ cells }) => knownColumns(cells, columns));
  const index = known.reduce((best, found, n) => (found.length > (known[best]?.length ?? 0) ? n : best), 0);
  if (!known[index]?.length) return undefined;
  // A cell that was merged over several rows of the header has its name in the first of them.
  const all = known
    .slice(Math.max(0, index - MAX_HEADER_ROWS + 1), index + 1)
    .reverse()
    .flat();
  const unique = new Map<string, FoundColumn<Row>>();
  const taken = new Set<number>();
  for (const found of all) {
    if (unique.has(found.column.key) || taken.has(found.index)) continue;
    unique.set(found.column.key, found);
    taken.add(found.index);
  }
  return { index, columns: [...unique.values()].filter(({ column }) => column.imported) };
}

/** Returns the columns whose names a row contains. If two cells name the same column, the one with its proper name counts. */
function knownColumns<Row>(cells: readonly SheetCell[], columns: readonly Column<Row>[]): FoundColumn<Row>[] {
  const unique = new Map<string, FoundColumn<Row>>();
  for (const [index, cell] of cells.entries()) {
    const text = textOf(cell).trim();
    const column = text === '' ? undefined : columnOfHeader(columns, text);
    if (!column) continue;
    const isProper = Object.values(column.header).includes(text);
    if (!unique.has(column.key) || isProper) unique.set(column.key, { column, index, text });
  }
  return [...unique.values()];
}

/** A, …, Z, AA, … */
function letterOf(index: number): string {
  const before = Math.floor(index / 26);
  return (before > 0 ? letterOf(before - 1) : '') + String.fromCharCode(65 + (index % 26));
}
