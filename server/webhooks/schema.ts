import Type, { type Static } from 'typebox';
import { Long, LongOut, optional, orNull, Status, stamps, Text } from '../http/fields.ts';

const RESOURCES = ['department', 'tenant', 'user'];
const ACTIONS = ['created', 'updated', 'moved', 'deleted', 'restored', 'password_changed'];

const Kind = Type.String({
  pattern: `^(\\*|(${RESOURCES.join('|')})\\.(\\*|${ACTIONS.join('|')}))$`,
  'x-problem': 'kind',
  examples: ['department.created', 'department.*', '*'],
});

const fields = {
  name: optional(Text(100, 'What it is for; empty unless said')),
  url: Type.String({
    minLength: 1,
    maxLength: 2000,
    description: '`https://…`, outside the network; what else is allowed, `BANYAN_WEBHOOK_NETWORKS` says',
  }),
  kinds: optional(
    Type.Array(Kind, { minItems: 1, maxItems: 50, description: 'Of which changes it is told; `*` unless said' }),
  ),
  status: optional(Status),
};

export const WebhookInput = Type.Object(fields);
export type WebhookInput = Static<typeof WebhookInput>;

export const WebhookUpdate = Type.Object({ id: Long, ...fields });
export type WebhookUpdate = Static<typeof WebhookUpdate>;

const Moment = Type.String({ format: 'date-time', description: 'ISO 8601' });

export const Webhook = Type.Object({
  id: LongOut,
  name: Type.String(),
  url: Type.String(),
  kinds: Type.Array(Type.String()),
  status: Status,
  gone: Type.Boolean({ description: 'Disabled because the receiver answered 410' }),
  waiting: Type.Integer({ minimum: 0, description: 'Deliveries that are neither delivered nor given up' }),
  failures: Type.Integer({ minimum: 0, description: 'Since a delivery last succeeded' }),
  nextDue: orNull(Type.String({ ...Moment, description: 'When something is sent next; null: nothing waits' })),
  oldSecretUntil: orNull(Type.String({ ...Moment, description: 'Until then the former secret signs too' })),
  ...stamps,
});
export type Webhook = Static<typeof Webhook>;

export const WebhookPage = Type.Object({ rows: Type.Array(Webhook), total: Type.Integer({ minimum: 0 }) });

/** The only answers that ever hold it. */
export const WithSecret = Type.Object({
  id: LongOut,
  secret: Type.String({ description: 'Shown this once: `whsec_` and 32 bytes in base64', examples: ['whsec_MfKQ…'] }),
});
export type WithSecret = Static<typeof WithSecret>;

export const STATES = ['waiting', 'delivered', 'failed'] as const;
export type State = (typeof STATES)[number];
const StateField = Type.Unsafe<State>({ type: 'string', enum: [...STATES] });

export const Delivery = Type.Object({
  id: LongOut,
  messageId: Type.String({ description: 'Header `webhook-id`, the same with every attempt' }),
  type: Type.String({ examples: ['department.created'] }),
  changeId: orNull(Type.Integer({ description: '`id` of the change; null for a test' })),
  resourceId: Type.String(),
  state: StateField,
  attempts: Type.Integer({ minimum: 0, description: 'Since it was made, or last asked to be sent again' }),
  time: Moment,
  nextTry: orNull(
    Type.String({ ...Moment, description: 'null: delivered, given up, or behind an earlier one of the same record' }),
  ),
  lastTime: orNull(Type.String({ ...Moment, description: 'Of the last attempt; null: there was none yet' })),
  lastMs: orNull(Type.Integer({ description: 'How long it took' })),
  lastStatus: orNull(Type.Integer({ description: 'HTTP status of the answer; null: there was none' })),
  lastAnswer: orNull(Type.String({ description: 'The first 1,000 bytes of the answer' })),
  lastError: orNull(Type.String({ description: 'Why there was no answer' })),
});
export type Delivery = Static<typeof Delivery>;

export const DeliveryFilter = Type.Object({
  state: Type.Optional(StateField),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 50 })),
  cursor: Type.Optional(
    Type.String({ pattern: '^[0-9]{0,18}$', 'x-problem': 'cursor', description: '`next` of the page before' }),
  ),
});
export type DeliveryFilter = Static<typeof DeliveryFilter>;

export const DeliveryPage = Type.Object({
  rows: Type.Array(Delivery),
  next: orNull(Type.String({ description: 'Cursor of the next page, which holds what was earlier; null at the end' })),
});

export const DeliveryPath = Type.Object({
  id: Type.String({ description: 'Digits, up to 19' }),
  deliveryId: Type.String({ description: 'Digits, up to 19' }),
});

export const NewDelivery = Type.Object({ deliveryId: LongOut });
