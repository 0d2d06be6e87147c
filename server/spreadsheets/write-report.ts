import { writeCsv } from 'hucre/csv';
import { writeXlsx } from 'hucre/xlsx';
import { encodeFormula } from './formula.ts';
import { type SheetRow, textOf } from './sheet.ts';

export interface Report {
  format: 'xlsx' | 'csv';
  /** The header of the column with the errors. */
  header: string;
  /** The number of the header row; without one, the errors have no header. */
  headerRow: number | undefined;
  /** The errors by row number. */
  errors: ReadonlyMap<number, string>;
}

/** Writes the rows as they were read, with a further column for what is wrong with each. */
export async function writeReport(
  rows: readonly SheetRow[],
  { format, header, headerRow, errors }: Report,
): Promise<Uint8Array> {
  const width = rows.reduce((most, { cells }) => Math.max(most, cells.length), 0);
  const lines: (string | null)[][] = [];
  for (const { row, cells } of rows) {
    // Rows keep their numbers, which the errors name.
    while (lines.length < row - 1) lines.push([]);
    const texts = Array.from({ length: width }, (_, n) => textOf(cells[n]));
    lines.push([...texts, row === headerRow ? header : (errors.get(row) ?? '')]);
  }
  if (format === 'xlsx') {
    const columns = Array.from({ length: width + 1 }, (_, n) => ({ width: n === width ? 60 : 18 }));
    return writeXlsx({ sheets: [{ name: 'Sheet1', columns, rows: lines }] });
  }
  const text = writeCsv(
    lines.map((cells) => cells.map((cell) => encodeFormula(cell ?? ''))),
    { bom: true },
  );
  return new TextEncoder().encode(text);
}
