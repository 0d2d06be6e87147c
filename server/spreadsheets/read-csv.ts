import { detectDelimiter } from 'hucre/csv';
import { isOtherText } from './file-kind.ts';
import { decodeFormula } from './formula.ts';
import { parseCsvRows } from './parse-csv.ts';
import { ReadError } from './read-error.ts';
import { RowCollector } from './rows.ts';
import type { SheetRow } from './sheet.ts';

/** The maximum number of rows, most of which may be empty: as many as a sheet of a spreadsheet program has. */
const MAX_LINES = 1_048_576;

/** How many characters the delimiter is detected from. */
const SAMPLE_LENGTH = 100_000;

/** Reads a CSV file. Detects its encoding and its delimiter. Row numbers are those of a spreadsheet program. */
export function readCsv(bytes: Uint8Array): SheetRow[] {
  const text = decode(bytes);
  if (isOtherText(text)) throw new ReadError('damaged');
  // Programs write this line to tell Excel which delimiter follows.
  const stated = /^sep=(.)\r?\n/i.exec(text);
  const delimiter = stated?.[1] ?? detectDelimiter(text.slice(0, SAMPLE_LENGTH));
  const collector = new RowCollector();
  let row = 0;
  for (const cells of parseCsvRows(text, delimiter)) {
    row++;
    if (row > MAX_LINES) throw new ReadError('tooLarge');
    if (!stated || row > 1) collector.add(row, cells.map(decodeFormula));
  }
  return collector.rows;
}

/**
 * Decodes by the byte order mark, or as UTF-8 if the bytes are valid UTF-8, or else as GB18030, which contains GBK and GB2312: the
 * encodings in which Excel and WPS save CSV files in China. Chinese text in GBK is practically never valid UTF-8.
 */
function decode(bytes: Uint8Array): string {
  const encodings =
    bytes[0] === 0xff && bytes[1] === 0xfe
      ? ['utf-16le']
      : bytes[0] === 0xfe && bytes[1] === 0xff
        ? ['utf-16be']
        : ['utf-8', 'gb18030'];
  for (const encoding of encodings) {
    try {
      const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
      // No text has NUL: it is another kind of file.
      if (!text.includes('\0')) return text;
    } catch {
      // The next encoding may fit.
    }
  }
  throw new ReadError('encoding');
}
