import Type, { type Static } from 'typebox';
import { extending } from '../http/components.ts';
import { CalendarDate, Int, optional, orNull, Password, paging, Status, TenantCode, Text } from '../http/fields.ts';
import { cursor, PageOrCursorPage } from '../http/pagination.ts';
import { format } from '../spreadsheets/schema.ts';
import { HIDDEN_QUOTAS, QUOTAS, RULES, tenant } from './record.ts';

export { HIDDEN_QUOTAS, QUOTAS, RULES };

/** The maximum length of long texts. */
export const LONG_TEXT = 65_536;

/** Maps each key to the same schema. */
const mapKeys = <K extends string, V>(keys: readonly K[], value: V) =>
  Object.fromEntries(keys.map((key) => [key, value])) as Record<K, V>;

const fields = Type.Object(
  {
    tenantParent: optional(TenantCode),
    ...tenant.input,
    packageBo: optional(
      Type.Object({
        menuIds: optional(
          Type.String({
            // LONG_TEXT does not count spaces: reads add one after each comma, and clients may send their value back.
            maxLength: 2 * LONG_TEXT,
            pattern: '^ *([0-9]+ *(, *[0-9]+ *)*)?$',
            examples: ['1, 2, 3'],
            'x-problem': 'menuIds',
          }),
        ),
      }),
    ),
    quotaBo: optional(
      Type.Object(mapKeys([...QUOTAS, ...HIDDEN_QUOTAS], optional(Int({ minimum: 0 }))), {
        'x-component': 'TenantQuotasInput',
      }),
    ),
    ruleBo: optional(Type.Object(mapKeys(RULES, optional(Text(LONG_TEXT))), { 'x-component': 'TenantRulesInput' })),
  },
  { 'x-component': 'TenantFields' },
);

const firstAdministrator = Type.Object({
  username: optional(Type.String({ minLength: 1, maxLength: 50, description: 'The first administrator' })),
  password: optional(Password),
  mustChangePassword: optional(
    Type.Boolean({
      default: false,
      description: 'The first administrator must change this password at the first login',
    }),
  ),
});

export const TenantInput = Type.Object(
  { ...fields.properties, ...firstAdministrator.properties },
  {
    ...extending(fields, 'TenantInput', firstAdministrator),
    examples: [{ tenantName: '上海分公司', startTime: '2026-01-01', endTime: '2030-12-31', accountCount: 50 }],
  },
);
export type TenantInput = Static<typeof TenantInput>;

const internalId = Type.Object({ id: Type.String({ pattern: '^[0-9]{1,19}$', 'x-problem': 'id' }) });

export const TenantUpdate = Type.Object(
  { ...internalId.properties, ...fields.properties },
  {
    ...extending(fields, 'TenantUpdate', internalId),
    description:
      'Full replacement: omitted fields get their defaults. Only `tenantParent` and the quotas that reads do not ' +
      `return (\`${HIDDEN_QUOTAS.join('`, `')}\`) keep their values.`,
  },
);
export type TenantUpdate = Static<typeof TenantUpdate>;

/** A merge patch; `id`, if sent, is that of the path. */
export const TenantPatch = Type.Object(
  { id: optional(internalId.properties.id), ...fields.properties },
  { 'x-openapi': fields },
);
export type TenantPatch = Static<typeof TenantPatch>;

const base = Type.Object(
  {
    id: Type.String({ description: 'Internal id, as used in URLs' }),
    tenantId: Type.String({ description: 'Tenant code' }),
    ...tenant.output,
    packageBo: Type.Object({ menuIds: Type.String() }),
    quotaBo: Type.Object(mapKeys(QUOTAS, Int()), { 'x-component': 'TenantQuotas' }),
  },
  { 'x-component': 'TenantBase' },
);
const tenantParent = orNull(Type.String({ description: 'Parent code; null: none, or not visible' }));
const ruleBo = Type.Object(mapKeys(RULES, orNull(Type.String())), { 'x-component': 'TenantRules' });

const inTree = Type.Object({ tenantParent, ruleBo });
export const Tenant = Type.Object({ ...base.properties, ...inTree.properties }, extending(base, 'Tenant', inTree));
export type Tenant = Static<typeof Tenant>;

/** The caller's own tenant in `/auth/me`, which members may call too: they must not see its parent. */
const own = Type.Object({ ruleBo });
export const OwnTenant = Type.Object({ ...base.properties, ...own.properties }, extending(base, 'OwnTenant', own));

/** Lists leave out `ruleBo` unless it is asked for: each of its values may have 65,536 characters. */
const listed = Type.Object({
  tenantParent,
  ruleBo: Type.Optional(ruleBo),
  parentName: Type.Optional(orNull(Type.String())),
  users: Type.Optional(Type.Integer()),
});
export const ListedTenant = Type.Object(
  { ...base.properties, ...listed.properties },
  extending(base, 'ListedTenant', listed),
);
export type ListedTenant = Static<typeof ListedTenant>;

export const TenantFilter = Type.Object({
  fields: Type.Optional(
    Type.Unsafe<'ruleBo' | 'summary'>({
      type: 'string',
      enum: ['ruleBo', 'summary'],
      description: 'Adds `ruleBo`, or `parentName` and the number of `users`, to each row',
    }),
  ),
  tenantName: Type.Optional(Text(100, 'Part of the name, case-insensitive')),
  tenantId: Type.Optional(Text(18)),
  status: Type.Optional(Status),
  tenantParent: Type.Optional(Text(18)),
  keyword: Type.Optional(Text(100, 'Part of the name or company name, case-insensitive, or the beginning of the code')),
  endsBefore: Type.Optional(
    Type.String({ ...CalendarDate, description: 'Only tenants whose last day is before this date' }),
  ),
  sort: Type.Optional(
    Type.Unsafe<'id' | 'endTime'>({
      type: 'string',
      enum: ['id', 'endTime'],
      default: 'id',
      description: '`endTime`: the earliest end date first, tenants without one last',
    }),
  ),
  ...paging,
  cursor,
});
export type TenantFilter = Static<typeof TenantFilter>;

export const TenantExportFilter = Type.Object({
  ...Type.Omit(TenantFilter, ['fields', 'sort', 'pageNum', 'pageSize', 'cursor']).properties,
  format,
});
export type TenantExportFilter = Static<typeof TenantExportFilter>;

export const TenantPage = PageOrCursorPage(ListedTenant);

/** The maximum number of tenants in one tree, and of levels below its root. */
export const MAX_TREE_SIZE = 10_000;
export const MAX_DEPTH = 100;

export const TreeFilter = Type.Object({
  rootId: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,19}$',
      'x-problem': 'id',
      description: "Internal id of the root; default: the caller's tenant",
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
  startTime: orNull(Type.String()),
  endTime: orNull(Type.String()),
  hasChildren: Type.Boolean({ description: 'Also true when `depth` leaves the children out' }),
};
export const TenantNode = Type.Object(
  {
    ...node,
    children: Type.Array(
      Type.Unsafe<TenantNode>({ type: 'object', additionalProperties: true, 'x-ref': 'TenantNode' }),
    ),
  },
  { 'x-component': 'TenantNode' },
);
export type TenantNode = Static<ReturnType<typeof Type.Object<typeof node>>> & { children: TenantNode[] };
