import { ReadError } from './read-error.ts';

/**
 * Yields the rows of a CSV file (RFC 4180), one at a time: a file may have millions of empty lines. In a cell that does not begin
 * with a quote, a quote is an ordinary character. Throws if a quoted cell is never closed. Also throws if a quoted cell contains a
 * line break and text follows the quote that ends it: then its own closing quote is missing, and the quote that ends it opens a
 * cell of a later row. All rows in between would become part of this cell.
 */
export function* parseCsvRows(text: string, delimiter: string): Generator<string[], void> {
  const delimiterCode = delimiter.charCodeAt(0);
  const endOfPlain = (start: number): number => {
    for (let at = start; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === delimiterCode || code === LF || code === CR) return at;
    }
    return text.length;
  };
  let at = 0;
  for (let row = 1; at < text.length; row++) {
    const cells: string[] = [];
    do {
      // The delimiter before this cell.
      if (cells.length > 0) at++;
      let cell = '';
      if (text[at] === QUOTE) {
        const quoted = readQuoted(text, at);
        if (!quoted) throw new ReadError('quote', row);
        cell = quoted.text;
        at = quoted.end;
      }
      const end = endOfPlain(at);
      const rest = text.slice(at, end);
      // The quote that ended the text was the first one of a later row.
      if (cell.includes('\n') && rest.trim() !== '') throw new ReadError('quote', row);
      if (cells.length === MAX_CSV_COLUMNS) throw new ReadError('columns');
      cells.push(cell + rest);
      at = end;
    } while (text.charCodeAt(at) === delimiterCode);
    at += text.startsWith('\r\n', at) ? 2 : 1;
    yield cells;
  }
}

/** As many as a spreadsheet program has. A row of separators alone would take too much memory. */
const MAX_CSV_COLUMNS = 16_384;
const QUOTE = '"';
const LF = 10;
const CR = 13;

/** Reads a quoted text, in which two quotes stand for one. Returns undefined if it does not end. */
function readQuoted(text: string, start: number): { text: string; end: number } | undefined {
  let end = text.indexOf(QUOTE, start + 1);
  while (end >= 0 && text[end + 1] === QUOTE) end = text.indexOf(QUOTE, end + 2);
  return end < 0 ? undefined : { text: text.slice(start + 1, end).replaceAll('""', QUOTE), end: end + 1 };
}
