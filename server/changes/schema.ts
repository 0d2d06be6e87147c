import Type, { type Static } from 'typebox';
import { Long, LongOut, orNull, TenantCode, Text } from '../http/fields.ts';

export const RESOURCES = ['department', 'tenant', 'user', 'login', 'webhook'] as const;
export type Resource = (typeof RESOURCES)[number];

const Record = orNull(
  Type.Object({}, { additionalProperties: true, description: 'The record as a read shows it; null: there was none' }),
);

export const Change = Type.Object({
  id: LongOut,
  time: Type.String({ format: 'date-time', description: 'ISO 8601, to the microsecond' }),
  by: Type.String({ description: 'User name of who did it' }),
  requestId: orNull(Type.String({ description: '`x-request-id` of the request that did it' })),
  resource: Type.Unsafe<Resource>({ type: 'string', enum: [...RESOURCES] }),
  resourceId: Type.String({ description: 'Digits: deptId, userId, or the internal id of a tenant' }),
  action: Type.String({
    description:
      'created, updated, moved, deleted, restored; of a user also `password changed`, which carries no record',
    examples: ['created'],
  }),
  before: Record,
  after: Record,
});

export const ChangePage = Type.Object({
  rows: Type.Array(Change),
  next: Type.String({ description: 'Send it as `after` of the following call, whether there were rows or not' }),
});

/** A place in a tenant's ledger: how many changes come before. */
export const Cursor = Type.String({ pattern: '^[0-9]{1,18}$', 'x-problem': 'cursor' });

/** The same for who goes through pages: empty asks for the first. */
export const PageCursor = { ...Cursor, pattern: '^[0-9]{0,18}$' };

const InTenant = Type.Optional(
  Type.String({ ...TenantCode, description: "The caller's own, or one below it; absent: his own" }),
);

export const FeedFilter = Type.Object({
  after: Type.Optional(
    Type.String({ ...Cursor, description: '`next` of the call before; absent or 0: from the beginning' }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 100 })),
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 60,
      default: 0,
      description: 'Seconds to wait for a change when there is none',
    }),
  ),
  tenantId: InTenant,
});
export type FeedFilter = Static<typeof FeedFilter>;

export const StreamFilter = Type.Object({ after: FeedFilter.properties.after, tenantId: InTenant });
export type StreamFilter = Static<typeof StreamFilter>;

export const StreamHeaders = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({ maxLength: 18, description: 'As a browser sends it when it connects again; goes before `after`' }),
  ),
});

export const AuditEntry = Type.Object({
  ...Change.properties,
  tenantId: Type.String({ description: 'In whose ledger it stands' }),
  byUserId: orNull(LongOut),
  byTenantId: orNull(Type.String({ description: 'The tenant of who did it: the same, or one above' })),
  address: orNull(Type.String()),
  batch: LongOut,
});

/** A moment, in one of the two forms people write it. */
export const Moment = Type.String({
  maxLength: 40,
  pattern:
    '^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?$',
  'x-problem': 'moment',
  description: 'ISO 8601, such as 2026-05-01T08:00:00Z; without an offset it is in the configured time zone',
});

export const AuditFilter = Type.Object({
  resource: Type.Optional(Type.Unsafe<Resource>({ type: 'string', enum: [...RESOURCES] })),
  resourceId: Type.Optional(Type.String({ ...Long, type: 'string' })),
  action: Type.Optional(Text(50)),
  by: Type.Optional(Text(50, 'User name, whole')),
  requestId: Type.Optional(Text(64)),
  from: Type.Optional(Moment),
  to: Type.Optional(Moment),
  tenantId: InTenant,
  below: Type.Optional(
    Type.Boolean({ default: true, description: 'Also of the tenants below; up to 1,000 of them, else name one' }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 50 })),
  cursor: Type.Optional(Type.String({ ...PageCursor, description: '`next` of the page before' })),
});
export type AuditFilter = Static<typeof AuditFilter>;

export const AuditPage = Type.Object({
  rows: Type.Array(AuditEntry),
  next: orNull(Type.String({ description: 'Cursor of the next page, which holds what was earlier; null at the end' })),
});
