import Type, { type Static } from 'typebox';
import { Change, Moment, PageCursor } from '../changes/schema.ts';
import { LongOut, orNull } from '../http/fields.ts';

const FORM = 'ISO 8601, such as 2026-05-01T08:00:00Z; without an offset it is in the configured time zone';

/** A query that may ask for the past. */
export const asOf = Type.Optional(
  Type.String({
    ...Moment,
    description: `As it was at that moment, which must not be in the future. ${FORM}`,
  }),
);
export const AsOf = Type.Object({ asOf });

export const LifeFilter = Type.Object({
  sort: Type.Optional(
    Type.Unsafe<'time' | '-time'>({
      type: 'string',
      enum: ['time', '-time'],
      default: '-time',
      description: '`-time`: the latest first; `time`: the oldest first',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 50 })),
  cursor: Type.Optional(Type.String({ ...PageCursor, description: '`next` of the page before' })),
});
export type LifeFilter = Static<typeof LifeFilter>;

const { id, time, by, action, before, after } = Change.properties;

export const LifeEntry = Type.Object({
  id,
  time,
  by,
  action,
  before,
  after,
  changed: Type.Array(Type.String(), {
    description: 'Fields that differ between `before` and `after`, without `updateBy` and `updateTime`',
  }),
});
export type LifeEntry = Omit<Static<typeof LifeEntry>, 'before' | 'after'> & {
  before: object | null;
  after: object | null;
};

export const LifePage = Type.Object({
  rows: Type.Array(LifeEntry),
  next: orNull(Type.String({ description: 'Cursor of the next page; null at the end' })),
});

/** More departments than this are not compared at once. */
export const MAX_COMPARED = 10_000;

export const DiffFilter = Type.Object({
  from: Type.String({ ...Moment, description: `The earlier moment. ${FORM}` }),
  to: Type.Optional(Type.String({ ...Moment, description: 'The later moment; absent: now' })),
});
export type DiffFilter = Static<typeof DiffFilter>;

const Path = Type.Array(Type.String(), { description: 'Names from the top down to the parent' });

const Placed = Type.Object({ deptId: LongOut, deptName: Type.String(), parentId: LongOut, path: Path });
export type Placed = Static<typeof Placed>;

const Value = Type.Unsafe<string | number | null>({ type: ['string', 'integer', 'null'] });

export const Diff = Type.Object({
  created: Type.Array(Placed, { description: 'There at `to`, not at `from`; as at `to`' }),
  deleted: Type.Array(Placed, { description: 'There at `from`, not at `to`; as at `from`' }),
  moved: Type.Array(
    Type.Object({
      deptId: LongOut,
      deptName: Type.String({ description: 'As at `to`' }),
      fromParentId: LongOut,
      toParentId: LongOut,
      fromPath: Path,
      toPath: Path,
    }),
    { description: 'To another parent; what is below them came along and is not listed' },
  ),
  renamed: Type.Array(Type.Object({ deptId: LongOut, from: Type.String(), to: Type.String() })),
  changed: Type.Array(
    Type.Object({
      deptId: LongOut,
      deptName: Type.String({ description: 'As at `to`' }),
      fields: Type.Array(Type.Object({ field: Type.String(), from: Value, to: Value })),
    }),
    { description: 'In orderNum, leader, phone, email or status' },
  ),
});
export type Diff = Static<typeof Diff>;
