import Type, { type Static } from 'typebox';
import { KEY_PERMISSIONS, type Permission } from '../auth/permissions.ts';
import { extending } from '../http/components.ts';
import { auditFields, Int, LocalTime, Long, LongOut, optional, orNull, paging, Status, Text } from '../http/fields.ts';
import { cursor, PageOrCursorPage } from '../http/pagination.ts';

const PermissionField = Type.Unsafe<Permission>({
  type: 'string',
  enum: [...KEY_PERMISSIONS],
  'x-problem': 'permission',
});

const fields = {
  keyName: Type.String({ minLength: 1, maxLength: 100 }),
  permissions: Type.Array(PermissionField, { minItems: 1, maxItems: 50, description: 'No more than the caller has' }),
  expiresTime: optional(LocalTime),
  addresses: optional(
    Type.Array(Type.String({ maxLength: 50, format: 'network', 'x-problem': 'network' }), {
      minItems: 1,
      maxItems: 100,
      description: 'Networks from which the key may be used; default: any',
      examples: [['10.0.0.0/8']],
    }),
  ),
  requestsPerMinute: optional(Int({ minimum: 1, maximum: 1_000_000 })),
};

const KeyFields = Type.Object(fields, { 'x-component': 'KeyFields' });
const onCreate = Type.Object({
  below: optional(Type.Boolean({ description: 'Whether it may act in descendant tenants; default: false' })),
});
const onUpdate = Type.Object({ keyId: Long, status: optional(Status) });

export const KeyInput = Type.Object({ ...fields, ...onCreate.properties }, extending(KeyFields, 'KeyInput', onCreate));
export type KeyInput = Static<typeof KeyInput>;

export const KeyUpdate = Type.Object(
  { ...fields, ...onUpdate.properties },
  extending(KeyFields, 'KeyUpdate', onUpdate),
);
export type KeyUpdate = Static<typeof KeyUpdate>;

/** What the ledger shows of a key. */
const recorded = {
  keyId: LongOut,
  keyName: Type.String(),
  permissions: Type.Array(Type.String()),
  below: Type.Boolean(),
  addresses: orNull(Type.Array(Type.String())),
  requestsPerMinute: orNull(Type.Integer()),
  status: Status,
  expiresTime: orNull(Type.String({ description: 'null: never' })),
};

export const KeyRecord = Type.Object(recorded, { 'x-component': 'KeyRecord' });
export type KeyRecord = Static<typeof KeyRecord>;

const further = Type.Object({
  prefix: Type.String({ description: 'The first characters of the key', examples: ['byk_3fA9xQ'] }),
  lastUsedTime: orNull(Type.String({ description: 'Accurate to the minute; null: never used' })),
  lastUsedAddress: orNull(Type.String()),
  ...auditFields,
});

export const Key = Type.Object({ ...recorded, ...further.properties }, extending(KeyRecord, 'Key', further));
export type Key = Static<typeof Key>;

/** Returned when a key is created or rotated. */
export const KeySecret = Type.Object(
  {
    keyId: LongOut,
    key: orNull(
      Type.String({
        description: 'Shown only once; null when a request is repeated with its Idempotency-Key',
        examples: ['byk_…'],
      }),
    ),
  },
  { 'x-component': 'KeySecret' },
);
export type KeySecret = Static<typeof KeySecret>;

export const KeyFilter = Type.Object({
  ...paging,
  cursor,
  keyName: Type.Optional(Text(100, 'Part of the name')),
  status: Type.Optional(Status),
});
export type KeyFilter = Static<typeof KeyFilter>;

export const KeyPage = PageOrCursorPage(Key);

export const KeyRotation = Type.Object(
  {
    graceSeconds: optional(
      Type.Integer({
        minimum: 0,
        maximum: 604_800,
        description: 'How long the former key stays valid; default: 86400, a day',
      }),
    ),
  },
  { 'x-component': 'KeyRotation', 'x-optional': true },
);
export type KeyRotation = Static<typeof KeyRotation>;
