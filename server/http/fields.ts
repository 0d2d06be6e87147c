import Type, { type Static, type TSchema } from 'typebox';

/** Field types that several resources share. `x-problem` names the message of field-problems.ts for invalid values. */

const LARGEST_LONG = 9223372036854775807n;

/** A Long in a request: a number that JSON does not round, or a string of digits. */
export const Long = Type.Unsafe<number | string>({
  type: ['integer', 'string'],
  format: 'int64',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  pattern: '^[0-9]{1,19}$',
  'x-problem': 'long',
});
/** A Long in a response: at most 2^53-1. */
export const LongOut = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

export const isLong = (digits: string) => /^\d{1,19}$/.test(digits) && BigInt(digits) <= LARGEST_LONG;

/** Normalizes an id to digits without leading zeros, the form in which the service passes ids around. */
export const idOf = (id: number | string): string => BigInt(id).toString();

/** Converts an id for a response: to a number, unless JSON would round it. */
export const jsonId = (id: string) => (BigInt(id) <= Number.MAX_SAFE_INTEGER ? Number(id) : id);
export const jsonIds = (ids: readonly string[]) => ids.map(jsonId);

export const Int = (limits: { minimum?: number; maximum?: number } = {}) =>
  Type.Integer({ minimum: -2147483648, maximum: 2147483647, ...limits });

export const Text = (maxLength: number, description?: string) =>
  Type.String({ maxLength, ...(description ? { description } : {}) });

/** Requires one @ with text on both sides, or an empty string for no address. Only sending an email could verify more. */
export const Email = Type.String({ maxLength: 254, pattern: '^$|^[^\\s@]+@[^\\s@]+$', 'x-problem': 'email' });

export const Status = Type.Unsafe<'0' | '1'>({
  type: 'string',
  enum: ['0', '1'],
  description: '0 = normal, 1 = disabled',
});

export const CalendarDate = Type.String({
  format: 'date',
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
  'x-problem': 'date',
});

export function isCalendarDate(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) && date.getUTCFullYear() > 0;
}

/** A time in the configured time zone, as responses have it. */
export const LocalTime = Type.String({
  format: 'local-time',
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2} ([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$',
  'x-problem': 'localTime',
  description: 'YYYY-MM-DD HH:MM:SS, in the configured time zone',
});

export const hasCalendarDate = (text: string): boolean => isCalendarDate(text.slice(0, 10));

export const TenantCode = Type.String({ pattern: '^[0-9]{6,18}$', 'x-problem': 'tenantCode' });

/** Selects the tenant in which an administrator acts. */
export const TenantQuery = Type.Object({
  tenantId: Type.Optional(
    Type.String({
      ...TenantCode,
      description: "The caller's tenant (default) or one of its descendants",
    }),
  ),
});

/** How many characters a new password has. */
export const PASSWORD_LENGTH = { min: 8, max: 128 };
export const hasPasswordLength = (text: string): boolean =>
  [...text].length >= PASSWORD_LENGTH.min && [...text].length <= PASSWORD_LENGTH.max;

/**
 * `format: 'password'` marks secrets: the fingerprint of a request with an Idempotency-Key contains only a slow hash of them
 * (server/idempotency).
 */
export const EnteredPassword = Type.String({ maxLength: PASSWORD_LENGTH.max, format: 'password' });
export const Password = Type.String({ ...EnteredPassword, minLength: PASSWORD_LENGTH.min });

/** A field that a request may omit. `null` counts as omitted. */
export const optional = <T extends TSchema>(schema: T) => Type.Optional(orNull(schema));

export const orNull = <T extends TSchema>(schema: T) => {
  const { type, enum: values } = schema as { type?: string | string[]; enum?: unknown[] };
  return Type.Unsafe<Static<T> | null>({
    ...schema,
    type: [type, 'null'].flat(),
    ...(values ? { enum: [...values, null] } : {}),
  });
};

/** The users who created and last updated a record, and the times. */
export const auditFields = {
  createBy: Type.String({ description: 'User name, or `key 1001: name`' }),
  createTime: Type.String({ description: 'YYYY-MM-DD HH:MM:SS, in the configured time zone' }),
  updateBy: Type.String({ description: 'Empty until the first update' }),
  updateTime: orNull(Type.String({ description: 'null until the first update' })),
};

export const MAX_IDS = 500;
// pathId and pathIds (validation.ts) check the format: their errors are more specific than that of a pattern.
export const IdPath = Type.Object({ id: Type.String({ description: '1 to 19 digits' }) });
export const IdsPath = Type.Object({
  id: Type.String({ description: `Up to ${MAX_IDS} ids, separated by commas` }),
});

export const paging = {
  pageNum: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000, default: 1 })),
  pageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 20 })),
};

interface Paging {
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
