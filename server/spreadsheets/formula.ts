/**
 * Cells of CSV files that a spreadsheet program would take for a formula. An apostrophe in front makes it read them as text;
 * decoding removes exactly the apostrophes that encoding added. Cells of xlsx files have a type, so they need neither.
 */

/** How formulas begin. Full-width characters count too: some input methods and programs treat them alike. */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/;
/**
 * A phone number or a number: after its sign it has no letters, and no operators but minus signs, so it calls nothing
 * and refers to nothing.
 */
const PLAIN_NUMBER = /^[+-][\d ().-]+$/;

const isPlainNumber = (text: string): boolean => PLAIN_NUMBER.test(text) && /\d/.test(text);

// Texts that begin with apostrophes before a formula get a further one, so that decoding restores theirs.
const needsApostrophe = (text: string): boolean => FORMULA.test(text) && !isPlainNumber(text.replace(/^'+/, ''));

export const encodeFormula = (text: string): string => (needsApostrophe(text) ? `'${text}` : text);

export const decodeFormula = (cell: string): string =>
  cell.startsWith("'") && needsApostrophe(cell) ? cell.slice(1) : cell;
