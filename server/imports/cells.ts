import { apiError, type Detail } from '../http/errors.ts';
import { createValueValidator, invalid } from '../http/validation.ts';
import { type SheetCell, textOf } from '../spreadsheets/sheet.ts';
import { cleanCode, cleanName } from '../spreadsheets/text.ts';
import { valueOfWord, type Words } from '../spreadsheets/words.ts';

/** Reads the value of a cell. Throws an ApiError whose field is `header`. */
export type ReadCell<Value> = (cell: SheetCell, header: Detail) => Value;

/** What a spreadsheet program makes of a long number when it saves a CSV file, such as 1.38E+10. */
const SCIENTIFIC = /^\d(\.\d+)?E\+\d+$/i;

export const isEmpty = (cell: SheetCell | undefined): boolean =>
  cell === undefined || (typeof cell === 'string' && cleanName(cell) === '');

/** Returns the text of a cell. Throws if it differs from what a spreadsheet program shows, or cannot be stored. */
export function readText(cell: SheetCell, header: Detail): string {
  if (typeof cell !== 'string') throw invalid(header, `${cell.unsupported}Cell`);
  if (cell.includes('\0') || !cell.isWellFormed()) throw invalid(header, 'text');
  return cell;
}

/** Reads a text that a schema describes. */
function schemaText(clean: (text: string) => string, schema: object): ReadCell<string> {
  const validate = createValueValidator(schema);
  return (cell, header) => {
    const text = clean(readText(cell, header));
    const error = validate(text, header);
    if (error) throw error;
    return text;
  };
}

/** Reads a name. Only the spaces around it are removed. */
export const nameCell = (schema: object): ReadCell<string> => schemaText(cleanName, schema);

/** Reads a user name, a phone number or an email address. Full-width characters become the ordinary ones. */
export function codeCell(schema: object): ReadCell<string> {
  const read = schemaText(cleanCode, schema);
  return (cell, header) => {
    if (SCIENTIFIC.test(cleanCode(textOf(cell)))) throw invalid(header, 'scientific');
    return read(cell, header);
  };
}

/** Ids of other systems stay as they are, except for spaces around them. */
export function idCell(schema: object): ReadCell<string> {
  const read = schemaText(cleanName, schema);
  return (cell, header) => {
    if (SCIENTIFIC.test(textOf(cell).trim())) throw invalid(header, 'scientific');
    return read(cell, header);
  };
}

/** Reads the text of a path, or of several. Its names are read later: spaces at its ends may belong to a stored name. */
export const pathCell: ReadCell<string> = readText;

export function integerCell(schema: object): ReadCell<number> {
  const validate = createValueValidator(schema);
  return (cell, header) => {
    const text = cleanCode(readText(cell, header));
    const value = /^[+-]?\d{1,15}$/.test(text) ? Number(text) : text;
    const error = validate(value, header);
    if (error) throw error;
    return value as number;
  };
}

/** Reads one of the words for the values of a field, in either language. */
export const wordCell =
  <Value extends string>(words: Words<Value>): ReadCell<Value> =>
  (cell, header) => {
    const value = valueOfWord(words, cleanCode(readText(cell, header)));
    if (value !== undefined) return value;
    const list = (language: 'zh' | 'en', separator: string) =>
      Object.values<Words[string]>(words)
        .map((word) => word[language])
        .join(separator);
    throw apiError('INVALID_FIELD', {
      field: header,
      problem: { zh: `只能是：${list('zh', '、')}`, en: `must be one of: ${list('en', ', ')}` },
    });
  };
