import type { ReadableStream } from 'node:stream/web';
import { writeCsvStream } from 'hucre/csv';
import { writeXlsxStream, XLSX_MAX_ROWS_PER_SHEET } from 'hucre/xlsx';
import type { Language } from '../http/errors.ts';
import type { CellValue, Column } from './column.ts';
import { encodeFormula } from './formula.ts';
import type { Format } from './schema.ts';

/** What a sheet is called and which columns it has. */
export interface Sheet<Row> {
  title: Readonly<Record<Language, string>>;
  /** The name of the file without its extension, for clients that read only ASCII. */
  fileName: string;
  columns: readonly Column<Row>[];
}

/** The maximum number of characters of a cell in an xlsx file. Programs report a file with longer ones as damaged. */
const MAX_CELL_LENGTH = 32_767;

/** The format that keeps an edited cell as text: without it, a program turns an id or a phone number into a number. */
export const TEXT_FORMAT = '@';

/** Yields a file with these rows. It reads them only as fast as the file is consumed, and keeps none of them. */
export function writeSheet<Row>(
  { title, columns }: Sheet<Row>,
  rows: AsyncIterable<CellValue[]>,
  { format, language, maxRowsPerSheet = XLSX_MAX_ROWS_PER_SHEET }: WriteOptions,
): AsyncGenerator<Buffer, void> {
  const headers = columns.map(({ header }) => header[language]);
  if (format === 'csv') {
    return chunksOf(writeCsvStream(mapCells(rows, csvCell), { headers, bom: true, lineSeparator: '\r\n' }));
  }
  return chunksOf(
    writeXlsxStream(mapCells(rows, xlsxCell), {
      name: title[language],
      columns: columns.map(({ header, width, isNumber }) => ({
        header: header[language],
        width,
        ...(isNumber ? {} : { numFmt: TEXT_FORMAT }),
      })),
      freezePane: { rows: 1 },
      maxRowsPerSheet,
    }),
  );
}

interface WriteOptions {
  format: Format;
  language: Language;
  /** Further rows go into further sheets, each with the header. */
  maxRowsPerSheet?: number;
}

async function* mapCells(rows: AsyncIterable<CellValue[]>, map: (text: string) => string) {
  for await (const row of rows) yield row.map((cell) => (typeof cell === 'string' ? map(cell) : cell));
}

export const csvCell = encodeFormula;

/**
 * Truncates texts that are too long, and escapes what the format would decode: `_x0041_` stands for a character. A string cell is
 * never a formula, whatever it begins with.
 */
export function xlsxCell(text: string): string {
  const cut = text.length > MAX_CELL_LENGTH ? `${text.slice(0, MAX_CELL_LENGTH - 1).toWellFormed()}…` : text;
  return cut.replaceAll(/_(?=x[\dA-Fa-f]{4}_)/g, '_x005F_').replaceAll(/[\uFFFE\uFFFF]/g, '\uFFFD');
}

async function* chunksOf(stream: unknown): AsyncGenerator<Buffer, void> {
  for await (const { buffer, byteOffset, byteLength } of stream as ReadableStream<Uint8Array>) {
    yield Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
  }
}
