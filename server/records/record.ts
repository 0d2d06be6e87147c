import Type, { type Static, type TSchema } from 'typebox';
import { type Fragment, raw, type Tx } from '../../db/driver.ts';
import { optional, orNull } from '../http/fields.ts';

/** A field of a record that callers may set. Columns, schemas and SQL are derived from this definition. */
export interface Field<Schema extends TSchema = TSchema, Default = unknown> {
  column: string;
  /** Names that the column had earlier: the ledger still holds rows that use them. */
  formerColumns?: string[];
  /** PostgreSQL's type. */
  type: 'text' | 'int' | 'bigint' | 'date';
  /** The values that callers may send. */
  schema: Schema;
  /** The value if the field is omitted, or did not exist yet when a row was recorded. */
  default: Default;
  /** A replacement that omits the field leaves it as it is, so that callers who do not know the field cannot erase it. */
  keptIfOmitted?: true;
}

export type Fields = Record<string, Field>;

/** The value of a field as the service stores and returns it. */
type ValueOf<F extends Field> = Static<F['schema']> | (null extends F['default'] ? null : never);
export type ValuesOf<F extends Fields> = { [Name in keyof F]: ValueOf<F[Name]> };

/** The values of a replacement; undefined: the field stays as it is. */
export type Replacement<F extends Fields> = {
  [Name in keyof F]: ValueOf<F[Name]> | (F[Name] extends { keptIfOmitted: true } ? undefined : never);
};

/** A row as the ledger stores it: values by column name. */
export type StoredRow = Record<string, unknown>;

/** Derives everything else about a record from its fields. */
export function defineRecord<const F extends Fields>(fields: F) {
  const entries = Object.entries(fields) as [keyof F & string, F[keyof F]][];
  const names = entries.map(([name]) => name);
  /** Called for each record, so it is a plain loop. */
  const mapValues = (map: (field: F[keyof F], name: keyof F & string) => unknown): ValuesOf<F> => {
    const values: Record<string, unknown> = {};
    for (const [name, field] of entries) values[name] = map(field, name);
    return values as ValuesOf<F>;
  };
  return {
    fields,
    names,
    /** The request schemas: every field may be omitted. */
    input: mapFields(fields, ({ schema }) => optional(schema)) as {
      [Name in keyof F]: ReturnType<typeof optional<F[Name]['schema']>>;
    },
    /** The response schemas. */
    output: mapFields(fields, (field) => outputSchema(field)) as {
      [Name in keyof F]: ReturnType<typeof Type.Unsafe<ValueOf<F[Name]>>>;
    },
    /** Fills in the defaults of fields that are omitted or null. */
    withDefaults: (input: { [Name in keyof F]?: Static<F[Name]['schema']> | null | undefined }): ValuesOf<F> =>
      mapValues((field, name) => input[name] ?? field.default),
    /** Like `withDefaults`, for a replacement: a field with `keptIfOmitted` that the input omits is undefined. */
    replacement: (input: { [Name in keyof F]?: Static<F[Name]['schema']> | null | undefined }): Replacement<F> =>
      mapValues((field, name) =>
        field.keptIfOmitted && input[name] === undefined ? undefined : (input[name] ?? field.default),
      ) as Replacement<F>,
    /** Picks these fields from a record that also has others. */
    pick: (values: ValuesOf<F>): ValuesOf<F> => mapValues((_, name) => values[name]),
    isEqual: (a: ValuesOf<F>, b: ValuesOf<F>): boolean => names.every((name) => a[name] === b[name]),
    /**
     * Reads the fields from a row that the ledger recorded, whichever version of the schema wrote it. A field that did not
     * exist then has its default, or its value in `current`: a revert must not reset fields that the row does not contain.
     */
    fromStored: (row: StoredRow, current?: ValuesOf<F>): ValuesOf<F> =>
      mapValues((field, name) => {
        const column = storedColumn(row, field);
        return (column === undefined ? current?.[name] : row[column]) ?? field.default;
      }),
    /** The fields that a row recorded by the ledger contains. */
    storedFields: (row: StoredRow): Partial<ValuesOf<F>> =>
      Object.fromEntries(
        entries.flatMap(([name, field]) => {
          const column = storedColumn(row, field);
          return column === undefined ? [] : [[name, row[column]]];
        }),
      ) as Partial<ValuesOf<F>>,
    /** `d.dept_name as "deptName", …`; `shown` has other expressions for some of the fields. */
    columns: (alias: string, shown: { [Name in keyof F]?: string } = {}): string =>
      entries
        .map(([name, { column, type }]) => {
          const value = shown[name] ?? columnExpression(alias, column, type);
          return `${value} as "${name}"`;
        })
        .join(', '),
    /** `dept_name, …` */
    columnNames: entries.map(([, { column }]) => column).join(', '),
    /** `dept_name = …, …` for an update. A value that is left out stays as it is; `written` has expressions for some fields. */
    assignments: (tx: Tx, values: Replacement<F>, written: { [Name in keyof F]?: Fragment } = {}): Fragment =>
      entries
        .filter(([name]) => values[name] !== undefined)
        .map(
          ([name, { column, type }]) =>
            tx`${raw(tx, column)} = ${written[name] ?? tx`${values[name] as never}::${raw(tx, type)}`}`,
        )
        .reduce((all, each) => tx`${all}, ${each}`),
    /** The values in the order of `columnNames`. */
    values: (tx: Tx, values: ValuesOf<F>): Fragment =>
      entries
        .map(([name, { type }]) => tx`${values[name] as never}::${raw(tx, type)}`)
        .reduce((all, each) => tx`${all}, ${each}`),
    /** `dept_name = n.dept_name, …` for an update from other rows. */
    assignmentsFrom: (alias: string): string =>
      entries.map(([, { column }]) => `${column} = ${alias}.${column}`).join(', '),
    /** `dept_name text, …` for `json_to_recordset`. */
    columnDefinitions: entries.map(([, { column, type }]) => `${column} ${type}`).join(', '),
    /** The values by column name, as `json_to_recordset` reads them. */
    byColumn: (values: ValuesOf<F>): StoredRow =>
      Object.fromEntries(entries.map(([name, { column }]) => [column, values[name]])),
    /** An SQL expression for a field of a row that the ledger recorded. */
    storedText: (name: keyof F, row: string): string => {
      const { column, formerColumns = [] } = fields[name] as Field;
      const values = [column, ...formerColumns].map((each) => `${row} ->> '${each}'`);
      return values.length > 1 ? `coalesce(${values.join(', ')})` : `(${values[0]})`;
    },
  };
}

/** Returns an SQL expression for a column, formatted as in responses. */
const columnExpression = (alias: string, column: string, type: Field['type']): string =>
  type === 'date' ? `to_char(${alias}.${column}, 'YYYY-MM-DD')` : `${alias}.${column}`;

const storedColumn = (row: StoredRow, { column, formerColumns }: Field): string | undefined =>
  column in row ? column : formerColumns?.find((each) => each in row);

function mapFields<T>(fields: Fields, map: (field: Field, name: string) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, map(field, name)]));
}

/** The response schema of a field: without limits on text, because they apply to requests only. */
function outputSchema({ schema, default: value }: Field): TSchema {
  const { type, enum: values, description } = schema as { type?: unknown; enum?: unknown[]; description?: string };
  const output = Type.Unsafe({
    type,
    ...(values ? { enum: values } : {}),
    ...(description ? { description } : {}),
    ...(type === 'integer' ? limitsOf(schema) : {}),
  } as TSchema);
  return value === null ? orNull(output) : output;
}

const limitsOf = (schema: TSchema) => {
  const { minimum, maximum } = schema as { minimum?: number; maximum?: number };
  return { minimum, maximum };
};

/** Returns a function that converts UTC times of the ledger to the format of responses. */
export function createTimeFormatter(timeZone: string): (stored: unknown) => string | null {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  // Formatting by Intl takes microseconds, so the offset of each quarter of an hour is computed once.
  const offsets = new Map<number, number>();
  const offsetAt = (time: number): number => {
    const quarter = Math.floor(time / QUARTER_MS);
    let offset = offsets.get(quarter);
    if (offset === undefined) {
      const second = Math.floor(time / 1000) * 1000;
      offset = Date.parse(`${format.format(second).replace(' ', 'T')}Z`) - second;
      if (offsets.size >= MAX_OFFSETS) offsets.clear();
      offsets.set(quarter, offset);
    }
    return offset;
  };
  return (stored) => {
    if (typeof stored !== 'string') return null;
    const time = Date.parse(stored);
    return new Date(time + offsetAt(time)).toISOString().slice(0, 19).replace('T', ' ');
  };
}

const QUARTER_MS = 900_000;
const MAX_OFFSETS = 10_000;
