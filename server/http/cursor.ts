import Type, { type TSchema } from 'typebox';
import { isLong, orNull } from './fields.ts';
import { invalid } from './validation.ts';

/**
 * Lists that are read on from where they were, at the same cost however far. A cursor is the place of the last row that
 * was shown: its key in the order of the list, and its id. Callers hand it back as it came.
 */
export interface Place {
  /** The order that it is a place of. */
  sort: string;
  key: string;
  id: string;
}

export const cursor = Type.Optional(
  Type.String({
    maxLength: 2000,
    description:
      'Empty for the first page, then `next` of the page before: the answer is `{rows, next}`, without `total`',
  }),
);

/** A page of either kind: with `total`, or with `next` when a cursor was sent. */
export const PageOrNext = <T extends TSchema>(row: T) =>
  Type.Object({
    rows: Type.Array(row),
    total: Type.Optional(Type.Integer({ minimum: 0, description: 'All that match; not with a cursor' })),
    next: Type.Optional(orNull(Type.String({ description: 'The next cursor; null: that was the last page' }))),
  });

export interface NextRows<T> {
  rows: T[];
  next: string | null;
}

/** Rows that were read with one more than is shown, which tells whether there is a next page. */
export function cutPage<T>(rows: T[], limit: number, placeOf: (row: T) => Place): NextRows<T> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return { rows: shown, next: last && rows.length > limit ? toCursor(placeOf(last)) : null };
}

const toCursor = ({ sort, key, id }: Place) => Buffer.from(JSON.stringify([sort, key, id])).toString('base64url');

/** A cursor of another order, or one that we did not make, is refused. */
export function placeIn(text: string, sort: string, isKey: (key: string) => boolean): Place {
  const [of, key, id, ...more] = decoded(text);
  const fits = of === sort && typeof key === 'string' && isKey(key) && typeof id === 'string' && isLong(id);
  const place = { sort, key: String(key), id: String(id) };
  // Spelled as we spell it: what was cut off or added to on its way is no place of ours.
  if (!fits || more.length > 0 || toCursor(place) !== text) throw invalid('cursor', 'cursor');
  return place;
}

function decoded(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
