import Type, { type TSchema } from 'typebox';
import { isLong, orNull } from './fields.ts';
import { invalid } from './validation.ts';

/**
 * Keyset pagination: every page costs the same, however deep. A cursor encodes the position of the last row of a page: its
 * sort key and its id. It is opaque to callers.
 */
export interface CursorPosition {
  /** The sort order that the position belongs to. */
  sort: string;
  key: string;
  id: string;
}

export const cursor = Type.Optional(
  Type.String({
    maxLength: 2000,
    description:
      'Empty for the first page, then `next` of the previous page. The response is `{rows, next}`, without `total`',
  }),
);

/** A page with `total`, or with `next` if the request had a cursor. */
export const PageOrCursorPage = <T extends TSchema>(row: T) =>
  Type.Object({
    rows: Type.Array(row),
    total: Type.Optional(Type.Integer({ minimum: 0, description: 'Number of matching rows; absent with a cursor' })),
    next: Type.Optional(orNull(Type.String({ description: 'Cursor of the next page; null on the last page' }))),
  });

export interface CursorPage<T> {
  rows: T[];
  next: string | null;
}

/** Builds a page from rows that were read with one more than `limit`, which shows whether there is a next page. */
export function toCursorPage<T>(rows: T[], limit: number, positionOf: (row: T) => CursorPosition): CursorPage<T> {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { rows: page, next: last && rows.length > limit ? encodeCursor(positionOf(last)) : null };
}

const encodeCursor = ({ sort, key, id }: CursorPosition) =>
  Buffer.from(JSON.stringify([sort, key, id])).toString('base64url');

/** Decodes a cursor. Throws if it belongs to another sort order or was not issued by the service. */
export function decodeCursor(text: string, sort: string, isKey: (key: string) => boolean): CursorPosition {
  const [cursorSort, key, id, ...rest] = parseCursor(text);
  const isValid = cursorSort === sort && typeof key === 'string' && isKey(key) && typeof id === 'string' && isLong(id);
  const position = { sort, key: String(key), id: String(id) };
  // Compare the encoding too: decoding base64url silently skips invalid characters.
  if (!isValid || rest.length > 0 || encodeCursor(position) !== text) throw invalid('cursor', 'cursor');
  return position;
}

function parseCursor(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
