import Type, { type Static } from 'typebox';
import { extending } from '../http/components.ts';
import { CalendarDate, LongOut, optional, orNull, Page, paging, TenantQuery, Text } from '../http/fields.ts';
import { cursor, PageOrCursorPage } from '../http/pagination.ts';

/** The quotas that every tenant has. Their totals are in the `quotaBo` of the tenant. */
export const TENANT_QUOTAS = [
  'enterpriseQuery',
  'annualReportQuery',
  'chainReport',
  'businessReport',
  'riskReport',
  'merchant',
] as const;

/** The quota that limits the number of users. The service counts them itself. */
export const ACCOUNTS = 'accounts';

const PERIODS = ['none', 'day', 'month', 'year'] as const;
export type Period = (typeof PERIODS)[number];

/** The largest amount of one use. Sums of a counter stay within 2^53-1. */
const MAX_AMOUNT = 1_000_000_000;

export const QuotaName = Type.String({ pattern: '^[a-z][A-Za-z0-9]{0,49}$', 'x-problem': 'quotaName' });
const Total = Type.Integer({ minimum: -1, maximum: Number.MAX_SAFE_INTEGER, description: '-1: no limit' });
const Amount = Type.Integer({ minimum: 1, maximum: MAX_AMOUNT });
const Subject = Text(200, 'What it was used for');

const numbers = {
  quota: Type.String(),
  total: Total,
  used: LongOut,
  reserved: LongOut,
  left: Type.Integer({ minimum: -1, maximum: Number.MAX_SAFE_INTEGER, description: '-1: no limit' }),
};
export const QuotaNumbers = Type.Object(numbers, { 'x-component': 'QuotaNumbers' });
export type QuotaNumbers = Static<typeof QuotaNumbers>;

const settings = {
  period: Type.Unsafe<Period>({ type: 'string', enum: [...PERIODS] }),
  pooled: Type.Boolean({ description: 'Uses by descendant tenants count against it too' }),
};
const further = Type.Object({
  ...settings,
  resetTime: orNull(Type.String({ description: 'When `used` becomes 0 again; null: never' })),
});
export const Quota = Type.Object({ ...numbers, ...further.properties }, extending(QuotaNumbers, 'Quota', further));
export type Quota = Static<typeof Quota>;
export const Quotas = Type.Array(Quota);

const use = { quota: QuotaName, amount: optional(Amount), subject: optional(Subject) };
export const QuotaUseInput = Type.Object(use, { 'x-component': 'QuotaUseInput' });
export type QuotaUseInput = Static<typeof QuotaUseInput>;

const seconds = Type.Object({ seconds: Type.Integer({ minimum: 1, maximum: 86_400 }) });
export const QuotaReservationInput = Type.Object(
  { ...use, ...seconds.properties },
  extending(QuotaUseInput, 'QuotaReservationInput', seconds),
);
export type QuotaReservationInput = Static<typeof QuotaReservationInput>;

const useId = Type.Object({ useId: LongOut });
export const CountedUse = Type.Object(
  { ...useId.properties, ...numbers },
  extending(QuotaNumbers, 'CountedUse', useId),
);
export type CountedUse = Static<typeof CountedUse>;

const reservationId = Type.Object({ reservationId: LongOut });
export const Reservation = Type.Object(
  { ...reservationId.properties, ...numbers },
  extending(QuotaNumbers, 'Reservation', reservationId),
);
export type Reservation = Static<typeof Reservation>;

export const ReservationEnd = Type.Object(
  { amount: optional(Type.Integer({ ...Amount, description: 'Default: all of it' })) },
  { 'x-component': 'ReservationEnd', 'x-optional': true },
);
export type ReservationEnd = Static<typeof ReservationEnd>;

export const QuotaInput = Type.Object(
  {
    total: optional(Total),
    period: optional(settings.period),
    pooled: optional(settings.pooled),
    used: optional(Type.Integer({ ...LongOut, description: 'What was already used; only when the quota is created' })),
  },
  { 'x-component': 'QuotaInput', examples: [{ total: 10_000, period: 'month', pooled: true }] },
);
export type QuotaInput = Static<typeof QuotaInput>;

export const QuotaPath = Type.Object({ quota: QuotaName });
export const UsePath = Type.Object({ useId: Type.String({ description: '1 to 19 digits' }) });

export const QuotaUse = Type.Object(
  {
    useId: LongOut,
    quota: Type.String(),
    amount: LongOut,
    subject: orNull(Type.String()),
    time: Type.String(),
    userId: orNull(LongOut),
    keyId: orNull(LongOut),
    deptId: orNull(Type.Integer({ description: 'Main department of the user at that time' })),
    refundTime: orNull(Type.String({ description: 'null: not refunded' })),
    refundBy: orNull(Type.String()),
    archived: Type.Boolean({ description: 'Cannot be refunded' }),
  },
  { 'x-component': 'QuotaUse' },
);
export type QuotaUse = Static<typeof QuotaUse>;

const date = (description: string) => Type.Optional(Type.String({ ...CalendarDate, description }));
const range = {
  quota: Type.Optional(QuotaName),
  from: date('First day'),
  to: date('Last day'),
};

export const UseFilter = Type.Object({
  ...TenantQuery.properties,
  ...range,
  subject: Type.Optional(Subject),
  ...paging,
  cursor,
});
export type UseFilter = Static<typeof UseFilter>;
export const UsePage = PageOrCursorPage(QuotaUse);

const BY = ['user', 'key', 'subject', 'department', 'tenant'] as const;
export type UsageBy = (typeof BY)[number];

export const UsageFilter = Type.Object({
  ...TenantQuery.properties,
  ...range,
  per: Type.Optional(Type.Unsafe<'day' | 'month'>({ type: 'string', enum: ['day', 'month'], default: 'day' })),
  by: Type.Optional(Type.Unsafe<UsageBy>({ type: 'string', enum: [...BY] })),
});
export type UsageFilter = Static<typeof UsageFilter>;

/**
 * Sums of uses that were not refunded. Of the last five fields, a row has the one that `by` names; null: none, or a user or key
 * of an ancestor tenant that the reader must not see.
 */
export const Usage = Type.Array(
  Type.Object(
    {
      date: Type.String({ description: 'The day, or the month, such as 2026-05' }),
      quota: Type.String(),
      amount: Type.Integer({ minimum: 0 }),
      uses: Type.Integer({ minimum: 0 }),
      userId: Type.Optional(orNull(LongOut)),
      keyId: Type.Optional(orNull(LongOut)),
      subject: Type.Optional(orNull(Type.String())),
      deptId: Type.Optional(orNull(LongOut)),
      tenantId: Type.Optional(Type.String({ description: 'The tenant that used it: this one or a descendant' })),
    },
    { 'x-component': 'QuotaUsageSum' },
  ),
);
export type Usage = Static<typeof Usage>;

const below = Type.Object({
  id: Type.String({ description: 'Id of the tenant' }),
  tenantId: Type.String(),
  tenantName: orNull(Type.String()),
  recent: Type.Integer({ minimum: 0, description: 'Used in the last 30 days' }),
});
export const QuotaBelow = Type.Object(
  { ...Quota.properties, ...below.properties },
  extending(Quota, 'QuotaBelow', below),
);
export type QuotaBelow = Static<typeof QuotaBelow>;
export const QuotasBelow = Page(QuotaBelow);
