import Type, { type Static } from 'typebox';
import { cursor, PageOrNext } from '../http/cursor.ts';
import { CalendarDate, Int, optional, orNull, Password, paging, Status, TenantCode, Text } from '../http/fields.ts';

export const LONG_TEXT = 65_536;

export const RULES = ['modelZr', 'modelPf', 'modelEd', 'catalogZr', 'catalogPf', 'catalogEd', 'catalogRw'] as const;
export const QUOTAS = [
  'enterpriseQuery',
  'annualReportQuery',
  'chainReport',
  'businessReport',
  'riskReport',
  'merchant',
] as const;
/** Kept, and shown by no read. */
export const HIDDEN_QUOTAS = ['riskReportUsed', 'zr', 'credit', 'pf'] as const;

/** An object with the same schema under each key. */
const each = <K extends string, V>(keys: readonly K[], value: V) =>
  Object.fromEntries(keys.map((key) => [key, value])) as Record<K, V>;

const input = {
  tenantName: optional(Text(100)),
  tenantParent: optional(TenantCode),
  startTime: optional(CalendarDate),
  endTime: optional(CalendarDate),
  contactUserName: optional(Text(50)),
  contactPhone: optional(Text(32)),
  companyName: optional(Text(100)),
  status: optional(Status),
  accountCount: optional(Int({ minimum: -1 })),
  packageBo: optional(
    Type.Object({
      menuIds: optional(
        Type.String({
          // Spaces come on top of the 64 Ki: a read adds one after each comma, and what was read can be sent back.
          maxLength: 2 * LONG_TEXT,
          pattern: '^ *([0-9]+ *(, *[0-9]+ *)*)?$',
          examples: ['1, 2, 3'],
          'x-problem': 'menuIds',
        }),
      ),
    }),
  ),
  quotaBo: optional(Type.Object(each([...QUOTAS, ...HIDDEN_QUOTAS], optional(Int({ minimum: 0 }))))),
  ruleBo: optional(Type.Object(each(RULES, optional(Text(LONG_TEXT))))),
};

export const TenantInput = Type.Object(
  {
    ...input,
    username: optional(Type.String({ minLength: 1, maxLength: 50, description: 'The first administrator' })),
    password: optional(Password),
  },
  { examples: [{ tenantName: '上海分公司', startTime: '2026-01-01', endTime: '2030-12-31', accountCount: 50 }] },
);
export type TenantInput = Static<typeof TenantInput>;

export const TenantUpdate = Type.Object(
  { id: Type.String({ pattern: '^[0-9]{1,19}$', 'x-problem': 'id' }), ...input },
  { description: 'Full replacement: what is left out is cleared. Only the parent stays without `tenantParent`.' },
);
export type TenantUpdate = Static<typeof TenantUpdate>;

export const Tenant = Type.Object({
  id: Type.String({ description: 'Internal id: the one in paths' }),
  tenantId: Type.String({ description: 'Business code' }),
  tenantName: orNull(Type.String()),
  tenantParent: orNull(Type.String({ description: 'Code of the parent; null only for 000000' })),
  startTime: orNull(Type.String()),
  endTime: orNull(Type.String({ description: 'Last day of service, included' })),
  contactUserName: orNull(Type.String()),
  contactPhone: orNull(Type.String()),
  companyName: orNull(Type.String()),
  status: Status,
  accountCount: Int({ minimum: -1 }),
  packageBo: Type.Object({ menuIds: Type.String() }),
  quotaBo: Type.Object(each(QUOTAS, Int())),
  ruleBo: Type.Object(each(RULES, orNull(Type.String()))),
});
export type Tenant = Static<typeof Tenant>;

export const TenantFilter = Type.Object({
  tenantName: Type.Optional(Text(100, 'Part of the name, letter case ignored')),
  tenantId: Type.Optional(Text(18)),
  status: Type.Optional(Status),
  tenantParent: Type.Optional(Text(18)),
  keyword: Type.Optional(
    Text(100, 'Part of the name or of the company, letter case ignored, or the beginning of the code'),
  ),
  endsBefore: Type.Optional(Type.String({ ...CalendarDate, description: 'Whose last day is before this one' })),
  sort: Type.Optional(
    Type.Unsafe<'id' | 'endTime'>({
      type: 'string',
      enum: ['id', 'endTime'],
      default: 'id',
      description: '`endTime`: what ends first comes first, what never ends last',
    }),
  ),
  ...paging,
  cursor,
});
export type TenantFilter = Static<typeof TenantFilter>;

export const TenantPage = PageOrNext(Tenant);

/** So many tenants in one tree, and so many levels below its root. */
export const MAX_TREE = 10_000;
export const MAX_DEPTH = 100;

export const TreeFilter = Type.Object({
  rootId: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,19}$',
      'x-problem': 'id',
      description: 'Internal id of the root; absent: the caller’s tenant',
    }),
  ),
  depth: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_DEPTH, default: MAX_DEPTH, description: 'Levels below the root' }),
  ),
});
export type TreeFilter = Static<typeof TreeFilter>;

const node = {
  id: Type.String(),
  tenantId: Type.String(),
  tenantName: orNull(Type.String()),
  status: Status,
  endTime: orNull(Type.String()),
  hasChildren: Type.Boolean({ description: 'Also where `depth` ends the tree' }),
};
export const TenantNode = Type.Object({
  ...node,
  children: Type.Array(Type.Unsafe<TenantNode>({ type: 'object', additionalProperties: true }), {
    description: 'Nodes like this one',
  }),
});
export type TenantNode = Static<ReturnType<typeof Type.Object<typeof node>>> & { children: TenantNode[] };
