import Type, { type Static } from 'typebox';
import { extending } from '../http/components.ts';
import { Long, LongOut, orNull, Status, TenantQuery, Text } from '../http/fields.ts';

export const RESOURCES = ['department', 'tenant', 'user', 'login', 'webhook', 'key', 'quota', 'notice'] as const;
export type Resource = (typeof RESOURCES)[number];

const TIME_FORMAT = 'ISO 8601, such as 2026-05-01T08:00:00Z; without an offset, in the configured time zone';

export const DateTime = Type.String({
  maxLength: 40,
  pattern:
    '^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?$',
  'x-problem': 'time',
  'x-component': 'Time',
  description: TIME_FORMAT,
});

const RecordState = orNull(
  Type.Object({}, { additionalProperties: true, description: 'The record as reads return it; null: it did not exist' }),
);

/**
 * The records in changes, as the OpenAPI document shows them. Some only name a component whose schema another domain
 * defines, because the ledger imports none of the domains that it records.
 */
const shownRecords: Record<Resource, object> = {
  department: { 'x-ref': 'Department' },
  tenant: { 'x-ref': 'Tenant' },
  user: { 'x-ref': 'User' },
  login: Type.Object(
    { userName: orNull(Type.String()), reason: orNull(Type.String({ description: 'Why it failed' })) },
    { 'x-component': 'LoginRecord' },
  ),
  webhook: Type.Object(
    {
      id: LongOut,
      name: Type.String(),
      url: Type.String(),
      kinds: Type.Array(Type.String()),
      below: Type.Optional(Type.Boolean()),
      status: Status,
    },
    { 'x-component': 'WebhookRecord' },
  ),
  key: { 'x-ref': 'KeyRecord' },
  quota: Type.Object(
    {
      quota: Type.String(),
      total: orNull(Type.Integer({ description: 'null: the total is in `quotaBo` of the tenant' })),
      period: Type.String(),
      pooled: Type.Boolean(),
    },
    { 'x-component': 'QuotaRecord' },
  ),
  notice: Type.Object(
    {
      tenantId: Type.String({ description: 'The tenant that is warned' }),
      quota: orNull(Type.String({ description: 'null: the service period ends' })),
      percent: orNull(Type.Integer({ description: '80 or 100, of `total`' })),
      total: orNull(Type.Integer()),
      used: orNull(Type.Integer()),
      endTime: orNull(Type.String({ description: 'The last day of service' })),
      days: orNull(Type.Integer({ description: 'At most this many days are left: 30, 7 or 1' })),
    },
    { 'x-component': 'Notice' },
  ),
};

const change = {
  id: LongOut,
  time: Type.String({ format: 'date-time', description: 'ISO 8601 with microseconds' }),
  by: Type.String({
    description: 'User name, or `key 1001: name` for an API key; empty: no longer visible, or a notice',
  }),
  requestId: orNull(Type.String({ description: '`x-request-id` of the request' })),
  tenantId: Type.Optional(Type.String({ description: 'With `below`: the tenant of the change' })),
  resource: Type.Unsafe<Resource>({ type: 'string', enum: [...RESOURCES] }),
  resourceId: Type.String({
    description:
      'Id of the record as a string of digits; for a tenant its internal id, for a login the userId (0: unknown)',
  }),
  action: Type.String({
    description:
      'created, updated, moved, deleted or restored; user: `password changed`, without `before` and `after`; ' +
      'webhook, key: `secret changed`; login: `passed`, `refused`, `ended`',
    examples: ['created'],
  }),
  before: RecordState,
  after: RecordState,
};

/** Returns the component name of a resource, such as `DepartmentChange`. */
const variantName = (resource: Resource) => `${resource[0]?.toUpperCase()}${resource.slice(1)}Change`;

const { resource: _resource, before: _before, after: _after, ...common } = change;

/** The document has a schema for each kind of record, so that generated types can narrow `before` and `after` by `resource`. */
const variants = RESOURCES.map((resource) => {
  const state = { anyOf: [shownRecords[resource], { type: 'null' }] };
  const own = { resource: { type: 'string', const: resource }, before: state, after: state };
  return {
    'x-component': variantName(resource),
    allOf: [
      Type.Object(common, { 'x-component': 'ChangeBase' }),
      { type: 'object', required: Object.keys(own), properties: own },
    ],
  };
});

export const Change = Type.Object(change, {
  'x-openapi': {
    'x-component': 'Change',
    description: '`before` and `after` are the record as reads return it; null: it did not exist',
    discriminator: {
      propertyName: 'resource',
      mapping: Object.fromEntries(
        RESOURCES.map((resource) => [resource, `#/components/schemas/${variantName(resource)}`]),
      ),
    },
    oneOf: variants,
  },
});

export const ChangePage = Type.Object({
  rows: Type.Array(Change),
  next: Type.String({ description: 'Send it as `after` of the next call, even if there were no rows' }),
});

/** A position in the ledger of a tenant or, with `below`, in the order of the changes of all tenants. Reads begin after it. */
export const Cursor = Type.String({ pattern: '^[0-9]{1,18}$', 'x-problem': 'cursor' });

/** The id of the last change of the previous page; empty for the first page. */
export const PageCursor = { ...Cursor, pattern: '^[0-9]{0,18}$' };

/** A query parameter that makes a read return the state at a time in the past. */
export const asOf = Type.Optional(
  Type.String({
    ...DateTime,
    description: `The state at this time, not in the future. ${TIME_FORMAT}`,
  }),
);
export const AsOf = Type.Object({ asOf });

const tenantId = TenantQuery.properties.tenantId;

const below = Type.Optional(
  Type.Boolean({
    default: false,
    description: 'Includes all descendant tenants. Do not mix its cursors with others',
  }),
);

export const FeedFilter = Type.Object({
  after: Type.Optional(
    Type.String({
      ...Cursor,
      pattern: '^([0-9]{1,18}|latest)$',
      description: '`next` of the previous call; omitted or 0: from the beginning; `latest`: only changes from now on',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 100 })),
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 60,
      default: 0,
      description: 'Seconds to wait for a change if there is none yet',
    }),
  ),
  tenantId,
  below,
});
export type FeedFilter = Static<typeof FeedFilter>;

export const StreamFilter = Type.Object({ after: FeedFilter.properties.after, tenantId, below });
export type StreamFilter = Static<typeof StreamFilter>;

/** The media type has no schema for its events in OpenAPI 3.1, so the description names the schema of their data. */
export const Events = Type.String({
  description:
    'Events `change` with the cursor as `id` and a `Change` in `data`; `refused` with `{reason}` when the stream ends, such ' +
    'as `TOKEN_EXPIRED` or `TOO_BUSY` (reconnect with the last `id`); comments as heartbeats',
  examples: ['id: 17\nevent: change\ndata: {"id":17,"resource":"department","action":"created"}\n\n'],
});

export const StreamHeaders = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({ maxLength: 18, description: 'Sent by browsers when they reconnect; overrides `after`' }),
  ),
});

const audited = Type.Object({
  tenantId: Type.String({ description: 'The tenant whose ledger contains the change' }),
  byUserId: orNull(LongOut),
  byKeyId: orNull(LongOut),
  byTenantId: orNull(
    Type.String({
      description:
        'Tenant of that caller: the same or an ancestor; null: no longer visible, the service or the operator',
    }),
  ),
  address: orNull(Type.String({ description: 'Address of the client; null: unknown or hidden' })),
  batch: LongOut,
  counts: Type.Optional(
    Type.Array(Type.Object({ resource: change.resource, action: Type.String(), count: Type.Integer() }), {
      description: 'With `grouped`: all changes of the request',
    }),
  ),
});

export const AuditEntry = Type.Object({ ...change, ...audited.properties }, extending('Change', 'AuditEntry', audited));

export const AuditFilter = Type.Object({
  resource: Type.Optional(Type.Unsafe<Resource>({ type: 'string', enum: [...RESOURCES] })),
  resourceId: Type.Optional(Type.String({ ...Long, type: 'string' })),
  action: Type.Optional(Text(50)),
  by: Type.Optional(Text(150, 'Exact user name')),
  byPart: Type.Optional(Text(50, 'Part of the user name, case-insensitive')),
  requestId: Type.Optional(Text(64)),
  from: Type.Optional(Type.String({ ...DateTime, description: 'From this time on; see `asOf`' })),
  to: Type.Optional(Type.String({ ...DateTime, description: 'Before this time; see `asOf`' })),
  tenantId,
  below: Type.Optional(
    Type.Boolean({
      default: true,
      description: 'Also changes of descendants (at most 1,000). Default for API keys without `below`: false',
    }),
  ),
  latest: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Only the last change of each record: with `action=deleted`, those that are deleted now',
    }),
  ),
  grouped: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'One row for each request: the last of its changes that match, and `counts`',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 50 })),
  cursor: Type.Optional(
    Type.String({ ...PageCursor, description: '`next` of the previous page; empty for the first page' }),
  ),
});
export type AuditFilter = Static<typeof AuditFilter>;

export const AuditPage = Type.Object({
  rows: Type.Array(AuditEntry),
  next: orNull(Type.String({ description: 'Cursor of the next page, with earlier changes; null on the last page' })),
});
