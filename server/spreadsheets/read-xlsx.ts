import { EncryptedFileError } from 'hucre';
import { type Cell, type CellValue, readXlsx as readWorkbook } from 'hucre/xlsx';
import { ReadError } from './read-error.ts';
import { readDirectory, unpackEntry } from './read-zip.ts';
import { RowCollector } from './rows.ts';
import { MAX_COLUMNS, type SheetCell, type SheetRow } from './sheet.ts';

/** Reads the first visible sheet of a workbook. */
export async function readXlsx(bytes: Uint8Array): Promise<SheetRow[]> {
  const readStyles = hasZeroPadding(bytes);
  let found = false;
  const isFirstVisible = (info: { hidden?: boolean; veryHidden?: boolean }) => {
    if (found || info.hidden || info.veryHidden) return false;
    found = true;
    return true;
  };
  const { sheets } = await readWorkbook(bytes, { sheets: isFirstVisible, readStyles }).catch((error: unknown) => {
    if (error instanceof EncryptedFileError) throw new ReadError('encrypted');
    if (error instanceof Error && /cells\), over the/.test(error.message)) throw new ReadError('tooLarge');
    throw new ReadError('damaged');
  });
  const [sheet] = sheets;
  if (!sheet) throw new ReadError('empty');
  const { rows, cells, merges = [] } = sheet;
  // A merged cell has its value at the top left. Its other cells show the same to a reader.
  for (const { startRow, endRow, startCol, endCol } of merges) {
    const value = rows[startRow]?.[startCol];
    if (value == null) continue;
    for (let row = startRow; row <= Math.min(endRow, rows.length - 1); row++) {
      const filled = rows[row] as CellValue[];
      for (let col = startCol; col <= Math.min(endCol, filled.length - 1, MAX_COLUMNS - 1); col++)
        filled[col] ??= value;
    }
  }
  const collector = new RowCollector();
  for (const [n, values] of rows.entries()) {
    const shown = values.map((value, col) => toCell(value, cells?.get(`${n},${col}`)));
    collector.add(n + 1, shown);
  }
  return collector.rows;
}

/** A number format that shows leading zeros, such as `00000000` for employee numbers. */
const ZERO_PADDING = /^0{2,}(?=;|$)/;

/** Whether a workbook has such a format. Reading the styles of all cells takes much more memory, and few workbooks need it. */
function hasZeroPadding(bytes: Uint8Array): boolean {
  const styles = readDirectory(bytes).find(({ name }) => name === 'xl/styles.xml');
  return styles !== undefined && /formatCode="0{2,}[;"]/.test(unpackEntry(bytes, styles).toString('utf8'));
}

function toCell(value: CellValue | undefined, cell: Cell | undefined): SheetCell {
  if (cell?.type === 'error') return { unsupported: 'error', text: String(value) };
  if (value instanceof Date) return { unsupported: 'date', text: dateText(value) };
  if (value == null) return cell?.formula === undefined ? '' : { unsupported: 'formula', text: `=${cell.formula}` };
  if (typeof value === 'number') {
    const [zeros = ''] = cell?.style?.numFmt?.match(ZERO_PADDING) ?? [];
    return numberCell(value, zeros.length);
  }
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  return value;
}

/** The smallest number with more digits than a spreadsheet program keeps: the program replaces the others by zeros. */
const MIN_ROUNDED = 1e15;

/** The digits of a number without an exponent, as phone numbers and ids need it, at least as many as its format shows. */
function numberCell(value: number, digits: number): SheetCell {
  // 0.1 + 0.2 is shown as 0.3.
  const text = String(Number.isInteger(value) ? value : Number(value.toPrecision(15)));
  if (Math.abs(value) < MIN_ROUNDED && !text.includes('e'))
    return /^\d+$/.test(text) ? text.padStart(digits, '0') : text;
  return { unsupported: 'scientific', text: Number.isFinite(value) ? value.toExponential().toUpperCase() : text };
}

function dateText(date: Date): string {
  if (Number.isNaN(date.getTime())) return '';
  const [day = '', time = ''] = date.toISOString().split('T');
  return time.startsWith('00:00:00') ? day : `${day} ${time.slice(0, 8)}`;
}
