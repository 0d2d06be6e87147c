import Type, { type TSchema } from 'typebox';
import { isCalendarDate, isLong, orNull } from './fields.ts';
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

/** Which rows of a list make up a page: those after a cursor, or those at an offset. */
export interface PageRange {
  after?: CursorPosition;
  limit: number;
  offset?: number;
}

/** The order of a list. Rows with equal keys are sorted by id, in the same direction. */
export interface SortOrder<Sort extends string> {
  sort: Sort;
  descending: boolean;
}

/** The parameter `sort`. The first field is the default. */
export const sortBy = <Sort extends string>(sorts: readonly Sort[]) =>
  Type.Optional(
    Type.Unsafe<Sort | `-${Sort}`>({
      type: 'string',
      enum: sorts.flatMap((sort) => [sort, `-${sort}`]),
      default: sorts[0],
      description: '`-`: descending. Ties: by id, in the same direction',
    }),
  );

export function parseSort<Sort extends string>(text: Sort | `-${Sort}`): SortOrder<Sort> {
  const descending = text.startsWith('-');
  return { sort: (descending ? text.slice(1) : text) as Sort, descending };
}

/** The sort order of a list, as a cursor contains it. */
export const formatSort = ({ sort, descending }: SortOrder<string>) => (descending ? `-${sort}` : sort);

export const cursor = Type.Optional(
  Type.String({
    maxLength: 2000,
    description: 'Empty: the first page; then `next` of the page before. Returns `{rows, next}`, without `total`',
  }),
);

/** A page with `total`, or with `next` if the request had a cursor. */
export const PageOrCursorPage = <T extends TSchema>(row: T) =>
  Type.Object({
    rows: Type.Array(row),
    total: Type.Optional(Type.Integer({ minimum: 0, description: 'Number of matches; absent with a cursor' })),
    next: Type.Optional(orNull(Type.String({ description: 'Cursor of the next page; null on the last page' }))),
  });

export interface CursorPage<T> {
  rows: T[];
  next: string | null;
}

/** Builds a page from up to `limit` + 1 rows; the extra one shows that there is a next page. */
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

/** Whether a sort key from a cursor is a text that can be a parameter of a statement. */
export const isTextKey = (key: string) => key.length <= 200 && key.isWellFormed() && !key.includes('\0');

/** Whether a sort key from a cursor is a time with microseconds (`exactTime` in db/driver.ts). */
export const isTimeKey = (key: string) =>
  isCalendarDate(key.slice(0, 10)) && /^T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z$/.test(key.slice(10));

function parseCursor(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
