import { EncryptedFileError } from 'hucre';
import { type Cell, type CellValue, readXlsx as readWorkbook } from 'hucre/xlsx';
import { isPadding, pad } from './padding.ts';
import { ReadError } from './read-error.ts';
import { hideEntries, readDirectory, unpackEntry, type ZipEntry } from './read-zip.ts';
import { RowCollector } from './rows.ts';
import { MAX_COLUMNS, type SheetCell, type SheetRow } from './sheet.ts';
import { createTagLimit } from './tags.ts';

/** Reads the first visible sheet of a workbook. */
export async function readXlsx(file: Uint8Array): Promise<SheetRow[]> {
  const entries = readDirectory(file);
  const textOfEntry = (name: string): string => {
    const entry = entries.find((each) => each.name === name);
    return entry ? unpackEntry(file, entry).toString('utf8') : '';
  };
  const bytes = withoutDrawings(file, entries, textOfEntry);
  const readStyles = usesPadding(textOfEntry(STYLES));
  const checkTags = createTagLimit({ withStyles: readStyles });
  for (const entry of entries)
    if (Math.max(entry.size, entry.packedSize) >= MIN_COUNTED) checkTags(unpackEntry(file, entry));
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

/** Smaller parts cannot take much memory. */
const MIN_COUNTED = 1_000_000;
const STYLES = 'xl/styles.xml';
const RELATIONSHIPS = '_rels/.rels';

/**
 * Hides what sheets refer to, such as drawings, comments and pivot tables: the library would unpack an image once for each place
 * in which it is shown. Only two relationship files remain: that of the package, which names the workbook, and that of
 * the workbook, which names the sheets, the texts and the styles.
 */
function withoutDrawings(
  file: Uint8Array,
  entries: readonly ZipEntry[],
  textOfEntry: (name: string) => string,
): Uint8Array {
  const relationships = textOfEntry(RELATIONSHIPS).match(/<[^<>]*\/officeDocument["'][^<>]*>/)?.[0] ?? '';
  const workbook = relationships.match(/\bTarget=["']\/?([^"']*)["']/)?.[1] ?? '';
  const kept = [RELATIONSHIPS, workbook.replace(/([^/]*)$/, '_rels/$1.rels')];
  return hideEntries(
    file,
    entries.filter(({ name }) => name.endsWith('.rels') && !kept.includes(name)),
  );
}

/** Whether cells of a workbook show leading zeros. Reading the styles of all cells takes much more memory, and few workbooks need it. */
function usesPadding(styles: string): boolean {
  const start = styles.indexOf('<cellXfs');
  const formatsOfCells = styles.slice(start, styles.indexOf('</cellXfs>', start));
  const used = new Set(Array.from(formatsOfCells.matchAll(/\bnumFmtId=["'](\d+)["']/g), ([, id]) => id));
  for (const [tag] of styles.matchAll(/<numFmt\b[^<>]*>/g)) {
    if (isPadding(attribute(tag, 'formatCode')) && used.has(attribute(tag, 'numFmtId'))) return true;
  }
  return false;
}

const attribute = (tag: string, name: string): string =>
  (
    tag
      .match(new RegExp(`\\b${name}=(?:"([^"]*)"|'([^']*)')`))
      ?.slice(1)
      .join('') ?? ''
  ).replaceAll('&quot;', '"');

function toCell(value: CellValue | undefined, cell: Cell | undefined): SheetCell {
  if (cell?.type === 'error') return { unsupported: 'error', text: String(value) };
  if (value instanceof Date) return { unsupported: 'date', text: dateText(value) };
  if (value == null) return cell?.formula === undefined ? '' : { unsupported: 'formula', text: `=${cell.formula}` };
  if (typeof value === 'number') return numberCell(value, cell?.style?.numFmt);
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  return value;
}

/** The smallest number with more digits than a spreadsheet program keeps: the program replaces the others by zeros. */
const MIN_ROUNDED = 1e15;

/**
 * Returns a number without an exponent, as phone numbers and ids need to be read, with the leading zeros that its format shows.
 */
function numberCell(value: number, format: string | undefined): SheetCell {
  // 0.1 + 0.2 is shown as 0.3.
  const text = String(Number.isInteger(value) ? value : Number(value.toPrecision(15)));
  if (Math.abs(value) < MIN_ROUNDED && !text.includes('e'))
    return /^\d+$/.test(text) && format !== undefined && isPadding(format) ? pad(text, format) : text;
  return { unsupported: 'scientific', text: Number.isFinite(value) ? value.toExponential().toUpperCase() : text };
}

function dateText(date: Date): string {
  if (Number.isNaN(date.getTime())) return '';
  const [day = '', time = ''] = date.toISOString().split('T');
  return time.startsWith('00:00:00') ? day : `${day} ${time.slice(0, 8)}`;
}
