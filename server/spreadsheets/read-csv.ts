import { detectDelimiter, parseCsv } from 'hucre/csv';
import { decodeFormula } from './formula.ts';
import { ReadError } from './read-error.ts';
import { RowCollector } from './rows.ts';
import { MAX_ROWS, type SheetRow } from './sheet.ts';

/** The maximum number of rows that are parsed. Most of them may be empty. */
const MAX_LINES = 3 * MAX_ROWS;

/** Reads a CSV file. Detects its encoding and its delimiter. Row numbers are those of a spreadsheet program. */
export function readCsv(bytes: Uint8Array): SheetRow[] {
  const text = decode(bytes);
  // Excel writes this line to say which delimiter follows.
  const stated = /^sep=(.)\r?\n/i.exec(text);
  const delimiter = stated?.[1] ?? detectDelimiter(text);
  const rows = parseCsv(text, { delimiter, maxRows: MAX_LINES });
  if (rows.length >= MAX_LINES) throw new ReadError('rows');
  const collector = new RowCollector();
  for (const [n, cells] of rows.entries()) {
    if (stated && n === 0) continue;
    collector.add(
      n + 1,
      cells.map((cell) => decodeFormula(String(cell ?? ''))),
    );
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
