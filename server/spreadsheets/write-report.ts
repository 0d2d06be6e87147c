import { writeCsv } from 'hucre/csv';
import { writeXlsx } from 'hucre/xlsx';
import { type SheetRow, textOf } from './sheet.ts';
import { csvCell, xlsxCell } from './writing.ts';

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
  const encode = { xlsx: xlsxCell, csv: csvCell }[format];
  const lines: (string | null)[][] = [];
  for (const { row, cells } of rows) {
    // Rows keep their numbers, which the errors name.
    while (lines.length < row - 1) lines.push([]);
    const texts = Array.from({ length: width }, (_, n) => encode(textOf(cells[n])) || null);
    lines.push([...texts, row === headerRow ? header : encode(errors.get(row) ?? '')]);
  }
  if (format === 'xlsx') {
    const columns = Array.from({ length: width + 1 }, (_, n) => ({ width: n === width ? 60 : 18 }));
    return writeXlsx({ sheets: [{ name: 'Sheet1', columns, rows: lines }] });
  }
  return new TextEncoder().encode(writeCsv(lines, { bom: true }));
}
