import Type, { type Static } from 'typebox';
import { refOrNull } from '../../http/components.ts';
import { Long, LongOut, optional, orNull, TenantQuery } from '../../http/fields.ts';
import { Change, DateTime, PageCursor } from '../../ledger/schema.ts';

export const TimelineFilter = Type.Object({
  ...TenantQuery.properties,
  sort: Type.Optional(
    Type.Unsafe<'time' | '-time'>({
      type: 'string',
      enum: ['time', '-time'],
      default: '-time',
      description: '`-time`: newest first; `time`: oldest first',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 50 })),
  cursor: Type.Optional(
    Type.String({ ...PageCursor, description: '`next` of the previous page; empty for the first page' }),
  ),
});
export type TimelineFilter = Static<typeof TimelineFilter>;

const { id, time, by, action } = Change.properties;
const state = Type.Unsafe<object | null>({ ...Change.properties.before, 'x-openapi': refOrNull('Department') });

export const TimelineEntry = Type.Object(
  {
    id,
    time,
    by,
    action,
    before: state,
    after: state,
    changed: Type.Array(Type.String(), {
      description: 'Fields that differ between `before` and `after`, except `updateBy` and `updateTime`',
    }),
  },
  { 'x-component': 'DepartmentHistoryEntry' },
);
export type TimelineEntry = Static<typeof TimelineEntry>;

export const TimelinePage = Type.Object({
  rows: Type.Array(TimelineEntry),
  next: orNull(Type.String({ description: 'Cursor of the next page; null on the last page' })),
});

/** The maximum number of departments that one request compares. */
export const MAX_COMPARED = 10_000;

export const DiffFilter = Type.Object({
  ...TenantQuery.properties,
  from: Type.String({ ...DateTime, description: 'The earlier time; see `asOf`' }),
  to: Type.Optional(Type.String({ ...DateTime, description: 'The later time; see `asOf`. Omitted: now' })),
});
export type DiffFilter = Static<typeof DiffFilter>;

const Path = Type.Array(Type.String(), { description: 'Names from the top down to the parent' });

const DeptWithPath = Type.Object(
  { deptId: LongOut, deptName: Type.String(), parentId: LongOut, path: Path },
  { 'x-component': 'DepartmentWithPath' },
);
export type DeptWithPath = Static<typeof DeptWithPath>;

const Value = Type.Unsafe<string | number | null>({ type: ['string', 'integer', 'null'] });

export const Diff = Type.Object({
  created: Type.Array(DeptWithPath, { description: 'Only at `to`' }),
  deleted: Type.Array(DeptWithPath, { description: 'Only at `from`' }),
  moved: Type.Array(
    Type.Object({
      deptId: LongOut,
      deptName: Type.String({ description: 'As at `to`' }),
      fromParentId: LongOut,
      toParentId: LongOut,
      fromPath: Path,
      toPath: Path,
    }),
    { description: 'Descendants that moved with their ancestor are not listed' },
  ),
  renamed: Type.Array(Type.Object({ deptId: LongOut, from: Type.String(), to: Type.String() })),
  changed: Type.Array(
    Type.Object({
      deptId: LongOut,
      deptName: Type.String({ description: 'As at `to`' }),
      fields: Type.Array(Type.Object({ field: Type.String(), from: Value, to: Value })),
    }),
    { description: 'Departments that differ in other fields' },
  ),
});
export type Diff = Static<typeof Diff>;

export const RestoreInput = Type.Object(
  { parentId: optional(Long) },
  {
    'x-optional': true,
    description: 'The body may be omitted. `parentId`: a new parent instead of the previous one; 0 for the top level.',
  },
);
export type RestoreInput = Static<typeof RestoreInput>;
