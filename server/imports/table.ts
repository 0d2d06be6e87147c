import { apiError, type Language } from '../http/errors.ts';
import { createSlices, mapInSlices } from '../http/slices.ts';
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

/**
 * How many bytes a row, a cell and a character of a sheet take at most, including what is made from them: the table, the stored
 * and the new values of a record, and the errors.
 */
const ROW_BYTES = 2_500;
const CELL_BYTES = 80;
const CHARACTER_BYTES = 2;

/** Returns how much memory the import of a sheet takes, in bytes. */
export async function estimateMemory(sheet: readonly SheetRow[]): Promise<number> {
  const pause = createSlices();
  let bytes = 0;
  for (const { cells } of sheet) {
    await pause();
    bytes += ROW_BYTES + cells.length * CELL_BYTES;
    for (const cell of cells) bytes += textOf(cell).length * CHARACTER_BYTES;
  }
  return bytes;
}

/** The header is looked for in this many rows: files have titles and notes above it. */
const MAX_ROWS_ABOVE = 20;
/** A header may extend over several rows, with the names of groups of columns above. */
const MAX_HEADER_ROWS = 3;
/** Longer cells are not headers. */
const MAX_HEADER_LENGTH = 200;

/**
 * Finds the header row, and the columns that it names. Without a header row the columns are in the order of the template. At
 * least one of `keys` must be present: without them, rows do not identify their records.
 */
export async function toTable<Row>(
  sheet: readonly SheetRow[],
  columns: readonly Column<Row>[],
  keys: readonly string[],
): Promise<Table> {
  const header = findHeader(sheet, columns);
  const found = header ? header.columns : byPosition(columns);
  if (!found.some(({ column }) => keys.includes(column.key))) {
    const missing = columns.find(({ key }) => key === keys[0]);
    throw apiError('COLUMNS_MISSING', { columns: missing?.header ?? '' });
  }
  const data = header ? await rowsBelow(sheet, header) : sheet;
  for (const each of found) await assertNotRepeated(each, found, data);
  if (data.length > MAX_ROWS) throw apiError('TOO_MANY_ROWS', { limit: MAX_ROWS });
  return {
    columns: found.map(({ column, index, text }) => ({
      key: column.key,
      letter: letterOf(index),
      header: text ?? column.header,
    })),
    headerRow: header && sheet[header.index]?.row,
    rows: await mapInSlices(data, ({ row, cells }) => ({
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
  /** The positions of further columns with the same header. */
  repeatedAt?: number[];
}

interface Header<Row> {
  /** The position of its last row in the sheet, from 0. */
  index: number;
  columns: FoundColumn<Row>[];
}

const byPosition = <Row>(columns: readonly Column<Row>[]): FoundColumn<Row>[] =>
  importedColumns(columns).map((column, index) => ({ column, index }));

/** The header is the row with the most known names; if its cells are merged with those below, the last of these rows. */
function findHeader<Row>(sheet: readonly SheetRow[], columns: readonly Column<Row>[]): Header<Row> | undefined {
  const known = sheet.slice(0, MAX_ROWS_ABOVE).map(({ cells }) => knownColumns(cells, columns));
  const index = known.reduce((best, found, n) => {
    const before = known[best] ?? [];
    return found.length > before.length || (n === best + 1 && isSameHeader(found, before)) ? n : best;
  }, 0);
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

const isSameHeader = <Row>(a: readonly FoundColumn<Row>[], b: readonly FoundColumn<Row>[]): boolean =>
  a.length === b.length && a.every(({ index, text }, n) => index === b[n]?.index && text === b[n]?.text);

/** Returns the rows below the header, without those that repeat it: sheets laid out for printing have it on each page. */
async function rowsBelow<Row>(sheet: readonly SheetRow[], { index: last, columns }: Header<Row>): Promise<SheetRow[]> {
  const headerRows = sheet.slice(Math.max(0, last - MAX_HEADER_ROWS + 1), last + 1);
  const texts = columns.map(({ index, text }) => ({
    index,
    text,
    above: new Set(['', ...headerRows.map(({ cells }) => textAt(cells, index))]),
  }));
  const isHeader = ({ cells }: SheetRow) =>
    texts.every(({ index, above }) => above.has(textAt(cells, index))) &&
    texts.some(({ index, text }) => textAt(cells, index) === text);
  const pause = createSlices();
  const rows: SheetRow[] = [];
  for (const row of sheet.slice(last + 1)) {
    await pause();
    if (!isHeader(row)) rows.push(row);
  }
  return rows;
}

const textAt = (cells: readonly SheetCell[], index: number): string => textOf(cells[index]).trim();

/** Throws if another column has the same header but different contents. Columns of a merged range have the same contents. */
async function assertNotRepeated<Row>(
  { index, text = '', repeatedAt = [] }: FoundColumn<Row>,
  all: readonly FoundColumn<Row>[],
  rows: readonly SheetRow[],
): Promise<void> {
  // A lower row of the header may give such a column a name of its own.
  const others = repeatedAt.filter((other) => all.every((each) => each.index !== other));
  if (others.length === 0) return;
  const pause = createSlices();
  for (const { cells } of rows) {
    await pause();
    const own = textAt(cells, index);
    const other = others.find((each) => textAt(cells, each) !== own);
    if (other === undefined) continue;
    const [a, b] = [letterOf(index), letterOf(other)];
    throw apiError('FILE_UNREADABLE', {
      problem: {
        zh: `${a} 列和 ${b} 列的表头都是“${text}”，请只保留一列`,
        en: `columns ${a} and ${b} have the same header “${text}”, so keep only one of them`,
      },
    });
  }
}

/**
 * Returns the columns whose names a row contains. If two cells name the same column, the one with the header of our template
 * counts, otherwise the first.
 */
function knownColumns<Row>(cells: readonly SheetCell[], columns: readonly Column<Row>[]): FoundColumn<Row>[] {
  const unique = new Map<string, FoundColumn<Row>>();
  for (const [index, cell] of cells.entries()) {
    // Errors quote the header, so it must not be long.
    if (textOf(cell).length > MAX_HEADER_LENGTH) continue;
    const text = textOf(cell).trim();
    const column = text === '' ? undefined : columnOfHeader(columns, text);
    if (!column) continue;
    const isOwnHeader = (name = '') => Object.values(column.header).includes(name);
    const before = unique.get(column.key);
    if (before?.text === text) before.repeatedAt?.push(index);
    else if (!before || (isOwnHeader(text) && !isOwnHeader(before.text)))
      unique.set(column.key, { column, index, text, repeatedAt: [] });
  }
  return [...unique.values()];
}

/** A, …, Z, AA, … */
function letterOf(index: number): string {
  const before = Math.floor(index / 26);
  return (before > 0 ? letterOf(before - 1) : '') + String.fromCharCode(65 + (index % 26));
}
