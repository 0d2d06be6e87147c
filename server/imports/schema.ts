import Type, { type Static } from 'typebox';
import { LongOut, orNull, TenantQuery } from '../http/fields.ts';

export const ImportQuery = Type.Object({
  ...TenantQuery.properties,
  mode: Type.Unsafe<'preview' | 'apply'>({
    type: 'string',
    enum: ['preview', 'apply'],
    description: '`preview` writes nothing',
  }),
  report: Type.Optional(
    Type.Unsafe<'xlsx' | 'csv'>({
      type: 'string',
      enum: ['xlsx', 'csv'],
      description: 'With `preview`: returns the file with a column for the errors',
    }),
  ),
});

/** The body is read by the operation itself, once the caller is known. */
export const ImportBody = Type.Object(
  { file: Type.Optional(Type.String({ contentMediaType: 'application/octet-stream', description: 'xlsx or csv' })) },
  { 'x-optional': true },
);

const counts = {
  rows: Type.Integer({ description: 'Rows with content, without the header' }),
  created: Type.Integer(),
  changed: Type.Integer(),
  moved: Type.Integer(),
  unchanged: Type.Integer(),
};

const RowError = Type.Object(
  {
    row: Type.Integer({ description: 'Number of the row in the file, from 1' }),
    column: orNull(
      Type.String({ description: 'Letter of the column; null: the whole row, or a column that is missing' }),
    ),
    field: orNull(Type.String()),
    reason: Type.String(),
    msg: Type.String(),
  },
  { 'x-component': 'ImportRowError' },
);
export type RowError = Static<typeof RowError>;

export const ImportPreview = Type.Object(
  {
    ...counts,
    invalid: Type.Integer({ description: 'Rows with errors' }),
    errors: Type.Integer({ description: 'Errors of all rows' }),
    columns: Type.Array(Type.Object({ field: Type.String(), column: Type.String(), header: Type.String() }), {
      description: 'The columns that were recognized',
    }),
    hasHeader: Type.Boolean(),
    table: Type.Array(
      Type.Object({
        row: Type.Integer(),
        action: orNull(
          Type.Unsafe<'created' | 'changed' | 'moved' | 'unchanged'>({
            type: 'string',
            enum: ['created', 'changed', 'moved', 'unchanged'],
          }),
        ),
        changes: Type.Array(Type.String(), { description: 'Names of the fields that change' }),
        cells: Type.Record(Type.String(), Type.String(), { description: 'Texts by field' }),
        errors: Type.Array(RowError),
      }),
      { description: 'Up to 500 rows in file order, preferring those with errors' },
    ),
  },
  { 'x-component': 'ImportPreview' },
);
export type ImportPreview = Static<typeof ImportPreview>;

export const ImportResult = Type.Object(
  {
    ...counts,
    changeId: orNull(LongOut),
    passwords: Type.Optional(
      Type.Array(Type.Object({ row: Type.Integer(), userName: Type.String(), password: Type.String() }), {
        description: 'Initial passwords of new users, shown only here; they must be changed at the first login',
      }),
    ),
  },
  { 'x-component': 'ImportResult' },
);
export type ImportResult = Static<typeof ImportResult>;
