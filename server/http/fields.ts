import Type, { type Static, type TSchema } from 'typebox';

/** Field types that several resources share. `x-problem` names the sentence that refuses them (validation.ts). */

const LARGEST_LONG = 9223372036854775807n;

/** A Long on its way in: a number that JSON does not round, or its digits as text. */
export const Long = Type.Unsafe<number | string>({
  type: ['integer', 'string'],
  format: 'int64',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  pattern: '^[0-9]{1,19}$',
  'x-problem': 'long',
});
/** A Long on its way out: never above 2^53-1. */
export const LongOut = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

export const isLong = (digits: string) => /^\d{1,19}$/.test(digits) && BigInt(digits) <= LARGEST_LONG;

/** The one form in which ids travel through the service: digits without leading zeros. */
export const idOf = (long: number | string): string => BigInt(long).toString();

/** An id as a refusal names it: a number, as everywhere, unless JSON would round it. */
export const shownId = (id: string) => (BigInt(id) <= Number.MAX_SAFE_INTEGER ? Number(id) : id);
export const shownIds = (ids: readonly string[]) => ids.map(shownId);

export const Int = (limits: { minimum?: number; maximum?: number } = {}) =>
  Type.Integer({ minimum: -2147483648, maximum: 2147483647, ...limits });

export const Text = (maxLength: number, description?: string) =>
  Type.String({ maxLength, ...(description ? { description } : {}) });

/** Not a proof that mail arrives: something on both sides of one @. Empty is as good as none. */
export const Email = Type.String({ maxLength: 254, pattern: '^$|^[^\\s@]+@[^\\s@]+$', 'x-problem': 'email' });

export const Status = Type.Unsafe<'0' | '1'>({
  type: 'string',
  enum: ['0', '1'],
  description: '0 = normal, 1 = disabled',
});

/** A calendar date that exists. */
export const CalendarDate = Type.String({
  format: 'date',
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
  'x-problem': 'date',
});

export function isCalendarDate(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) && date.getUTCFullYear() > 0;
}

export const TenantCode = Type.String({ pattern: '^[0-9]{6,18}$', 'x-problem': 'tenantCode' });

export const Password = Type.String({ minLength: 8, maxLength: 128 });

/** A field that may be left out on the way in. `null` counts as left out. */
export const optional = <T extends TSchema>(schema: T) => Type.Optional(orNull(schema));

export const orNull = <T extends TSchema>(schema: T) => {
  const { type, enum: values } = schema as { type?: string | string[]; enum?: unknown[] };
  return Type.Unsafe<Static<T> | null>({
    ...schema,
    type: [type, 'null'].flat(),
    ...(values ? { enum: [...values, null] } : {}),
  });
};

/** When and by whom a record was made and last changed, as every read shows it. */
export const stamps = {
  createBy: Type.String({ description: 'User name of the creator' }),
  createTime: Type.String({ description: 'YYYY-MM-DD HH:MM:SS, in the configured time zone' }),
  updateBy: Type.String({ description: 'User name of the last updater; empty until the first update' }),
  updateTime: orNull(Type.String({ description: 'null until the first update' })),
};

export const MAX_IDS = 500;
// Their form is checked by pathId and pathIds (validation.ts), whose refusals say more than a pattern could.
export const IdPath = Type.Object({ id: Type.String({ description: 'Digits, up to 19' }) });
export const IdsPath = Type.Object({
  id: Type.String({ description: `Up to ${MAX_IDS} ids, separated by commas`, examples: ['100', '100,101'] }),
});

export const paging = {
  pageNum: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000, default: 1 })),
  pageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 20 })),
};

export interface Paging {
  pageNum?: number;
  pageSize?: number;
}

export const pageOf = ({ pageNum = 1, pageSize = 20 }: Paging) => ({
  limit: pageSize,
  offset: (pageNum - 1) * pageSize,
});

export const Page = <T extends TSchema>(row: T) =>
  Type.Object({ rows: Type.Array(row), total: Type.Integer({ minimum: 0 }) });

export interface Rows<T> {
  rows: T[];
  total: number;
}
