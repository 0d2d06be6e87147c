import { ReadError } from './read-error.ts';
import { MAX_CELLS } from './sheet.ts';

/** How many tags the parts of a workbook may have together. 5,000,000 cells with their values have 20,000,000. */
const MAX_TAGS = 25_000_000;
/** With its style, a cell takes twice the memory. */
const MAX_STYLED_CELLS = MAX_CELLS / 2;

const [LESS_THAN, COLON, SLASH, LETTER_C] = Buffer.from('<:/c');
/** What follows the name of an element. */
const DELIMITERS = new Set(Buffer.from(' \t\r\n/>'));

/**
 * Throws if a workbook has so many tags or cells that they would not fit into the memory of the worker. When one large allocation
 * fails, such as that of a map that grows, Node.js may end the whole process rather than the worker.
 */
export function createTagLimit({ withStyles }: { withStyles: boolean }): (part: Uint8Array) => void {
  const maxCells = withStyles ? MAX_STYLED_CELLS : MAX_CELLS;
  let tags = 0;
  let cells = 0;
  let isClosingTag = false;
  return (part) => {
    for (let at = 0; at < part.length; at++) {
      const byte = part[at];
      if (byte !== LESS_THAN && byte !== COLON) continue;
      if (byte === LESS_THAN) {
        tags++;
        isClosingTag = part[at + 1] === SLASH;
      }
      // `<c r="A1">`, or with a prefix: `<x:c r="A1">`, but not `</x:c>`.
      if (isClosingTag) continue;
      if (part[at + 1] === LETTER_C && DELIMITERS.has(part[at + 2] as number)) cells++;
    }
    if (tags > MAX_TAGS || cells > maxCells) throw new ReadError('tooLarge');
  };
}
