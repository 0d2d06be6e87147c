import Type, { type Static } from 'typebox';
import { extending } from '../http/components.ts';
import { auditFields, Long, LongOut, optional, orNull, Status, Text } from '../http/fields.ts';

const RESOURCES = ['department', 'tenant', 'user', 'quota', 'notice'];
const ACTIONS = ['created', 'updated', 'moved', 'deleted', 'restored', 'password_changed'];

const Below = Type.Boolean({
  default: false,
  description: 'Also the changes of all descendant tenants; fixed at creation',
});

const Kind = Type.String({
  pattern: `^(\\*|(${RESOURCES.join('|')})\\.(\\*|${ACTIONS.join('|')}))$`,
  'x-problem': 'kind',
  examples: ['department.created', 'department.*', '*'],
});

const fields = {
  name: optional(Text(100, 'Purpose of the webhook; default: empty')),
  url: Type.String({
    minLength: 1,
    maxLength: 2000,
    description: '`https://…` with a public address; `BANYAN_WEBHOOK_NETWORKS` allows further networks',
  }),
  kinds: optional(
    Type.Array(Kind, {
      minItems: 1,
      maxItems: 50,
      description: 'Event types to send, as in `type` of a message; default: `*`',
    }),
  ),
  below: optional(Below),
  status: optional(Status),
};

export const WebhookInput = Type.Object(fields, { 'x-component': 'WebhookInput' });
export type WebhookInput = Static<typeof WebhookInput>;

export const WebhookUpdate = Type.Object(
  { id: Long, ...fields },
  extending('WebhookInput', 'WebhookUpdate', Type.Object({ id: Long })),
);
export type WebhookUpdate = Static<typeof WebhookUpdate>;

const Timestamp = Type.String({ format: 'date-time', description: 'ISO 8601' });

export const Webhook = Type.Object(
  {
    id: LongOut,
    name: Type.String(),
    url: Type.String(),
    kinds: Type.Array(Type.String()),
    below: Below,
    status: Status,
    gone: Type.Boolean({ description: 'Disabled because the receiver responded with 410 Gone' }),
    waiting: Type.Integer({ minimum: 0, description: 'Pending deliveries' }),
    failures: Type.Integer({ minimum: 0, description: 'Failed attempts since the last success' }),
    nextDue: orNull(Type.String({ ...Timestamp, description: 'Time of the next attempt; null: nothing is pending' })),
    oldSecretUntil: orNull(
      Type.String({ ...Timestamp, description: 'Until then messages are also signed with the previous secret' }),
    ),
    ...auditFields,
  },
  { 'x-component': 'Webhook' },
);
export type Webhook = Static<typeof Webhook>;

export const WebhookPage = Type.Object({ rows: Type.Array(Webhook), total: Type.Integer({ minimum: 0 }) });

/** Returned only when the secret is generated. */
export const WebhookSecret = Type.Object(
  {
    id: LongOut,
    secret: Type.String({ description: '`whsec_` and 32 bytes in base64, shown only once', examples: ['whsec_MfKQ…'] }),
  },
  { 'x-component': 'WebhookSecret' },
);
export type WebhookSecret = Static<typeof WebhookSecret>;

/** `waiting` is a pending delivery; the names are part of the API. */
const DELIVERY_STATES = ['waiting', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];
const StateField = Type.Unsafe<DeliveryState>({ type: 'string', enum: [...DELIVERY_STATES] });

export const Delivery = Type.Object(
  {
    id: LongOut,
    messageId: Type.String({ description: 'Header `webhook-id`, the same for every attempt' }),
    type: Type.String({ examples: ['department.created'] }),
    tenantId: Type.String({ description: 'Tenant of the change' }),
    changeId: orNull(Type.Integer({ description: '`id` of the change; null for a test message' })),
    resourceId: Type.String(),
    state: StateField,
    attempts: Type.Integer({ minimum: 0, description: 'Attempts since it was created or last resent' }),
    time: Timestamp,
    nextTry: orNull(
      Type.String({
        ...Timestamp,
        description: 'null: delivered, failed, or behind another one of the same record',
      }),
    ),
    lastTime: orNull(Type.String({ ...Timestamp, description: 'Time of the last attempt' })),
    lastMs: orNull(Type.Integer({ description: 'Its duration in milliseconds' })),
    lastStatus: orNull(Type.Integer({ description: 'HTTP status of the response; null: there was none' })),
    lastAnswer: orNull(Type.String({ description: 'The first 1,000 bytes of the response body' })),
    lastError: orNull(Type.String({ description: 'Why there was no response' })),
  },
  { 'x-component': 'WebhookDelivery' },
);
export type Delivery = Static<typeof Delivery>;

export const DeliveryFilter = Type.Object({
  state: Type.Optional(StateField),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 50 })),
  cursor: Type.Optional(
    Type.String({ pattern: '^[0-9]{0,18}$', 'x-problem': 'cursor', description: '`next` of the previous page' }),
  ),
});
export type DeliveryFilter = Static<typeof DeliveryFilter>;

export const DeliveryPage = Type.Object({
  rows: Type.Array(Delivery),
  next: orNull(Type.String({ description: 'Cursor of the next page, with earlier deliveries; null on the last page' })),
});

export const DeliveryPath = Type.Object({
  id: Type.String({ description: 'Digits, up to 19' }),
  deliveryId: Type.String({ description: 'Digits, up to 19' }),
});

export const TestDelivery = Type.Object({ deliveryId: LongOut });
