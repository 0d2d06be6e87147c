import { bigintOf, type Tx } from '../../db/driver.ts';
import type { Delivery, DeliveryState, Webhook } from './schema.ts';

export interface WebhookFields {
  name: string;
  url: string;
  kinds: string[];
  below: boolean;
  status: '0' | '1';
}

const timestamp = (tx: Tx, column: string) =>
  tx`to_char(${tx(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const columns = (tx: Tx) => tx`
  w.webhook_id as id, w.name, w.url, w.kinds, w.below, w.status, w.gone, w.waiting, w.failures,
  ${timestamp(tx, 'w.next_due')} as "nextDue",
  case when w.old_secret_until > now() then ${timestamp(tx, 'w.old_secret_until')} end as "oldSecretUntil",
  w.create_by as "createBy", to_char(w.create_time, 'YYYY-MM-DD HH24:MI:SS') as "createTime",
  w.update_by as "updateBy", to_char(w.update_time, 'YYYY-MM-DD HH24:MI:SS') as "updateTime"`;

export const insertWebhook = async (
  tx: Tx,
  tenantId: string,
  { name, url, kinds, below, status }: WebhookFields,
  { secret, seq, by }: { secret: Buffer; seq: number; by: string },
): Promise<number> => {
  const [row] = await tx<[{ id: number }]>`
    insert into webhooks (tenant_id, name, url, kinds, below, status, secret, seq, create_by)
    values (${tenantId}, ${name}, ${url}, ${kinds}::text[], ${below}, ${status}, ${secret}, ${seq}, ${by})
    returning webhook_id as id`;
  return row.id;
};

export const countWebhooks = async (tx: Tx, tenantId: string): Promise<number> => {
  const [row] = await tx<[{ count: number }]>`
    select count(*) from webhooks where tenant_id = ${tenantId} and del_flag = '0'`;
  return row.count;
};

export const listWebhooks = (tx: Tx, tenantId: string) => tx<Webhook[]>`
  select ${columns(tx)} from webhooks w where w.tenant_id = ${tenantId} and w.del_flag = '0' order by w.webhook_id`;

export const readWebhook = async (tx: Tx, tenantId: string, id: string) => {
  const [row] = await tx<Webhook[]>`
    select ${columns(tx)} from webhooks w
    where w.tenant_id = ${tenantId} and w.webhook_id = ${bigintOf(id)} and w.del_flag = '0'`;
  return row;
};

/** Locks the row of a webhook. Every change of a webhook or its deliveries takes this lock first. */
export const lockWebhook = async (tx: Tx, tenantId: string, id: string) => {
  const [row] = await tx<Webhook[]>`
    select ${columns(tx)} from webhooks w
    where w.tenant_id = ${tenantId} and w.webhook_id = ${bigintOf(id)} and w.del_flag = '0' for no key update`;
  return row;
};

/**
 * Replaces the fields, ends a pause and makes scheduled retries due now: the update may have fixed what failed. The webhook is
 * due in any case, because changes may have been sealed while it was disabled.
 */
export const updateWebhook = (
  tx: Tx,
  tenantId: string,
  id: number,
  { name, url, kinds, status }: Omit<WebhookFields, 'below'>,
  by: string,
) => tx`
  with due as (
    update webhook_deliveries set next_try = now()
    where tenant_id = ${tenantId} and webhook_id = ${id} and state = 'waiting' and next_try < 'infinity'
  )
  update webhooks set name = ${name}, url = ${url}, kinds = ${kinds}::text[], status = ${status}, gone = false,
    failures = 0, paused_until = null, next_due = now(),
    update_by = ${by}, update_time = now()
  where tenant_id = ${tenantId} and webhook_id = ${id}`;

export const replaceSecret = (
  tx: Tx,
  tenantId: string,
  id: number,
  { secret, hours, by }: { secret: Buffer; hours: number; by: string },
) => tx`
  update webhooks set old_secret = secret, old_secret_until = now() + ${hours} * interval '1 hour', secret = ${secret},
    update_by = ${by}, update_time = now()
  where tenant_id = ${tenantId} and webhook_id = ${id}`;

/** Marks a webhook as deleted. The dispatcher removes its deliveries and its row later. */
export const markDeleted = (tx: Tx, tenantId: string, id: number, by: string) => tx`
  update webhooks set del_flag = '2', status = '1', secret = '', old_secret = null, old_secret_until = null,
    update_by = ${by}, update_time = now()
  where tenant_id = ${tenantId} and webhook_id = ${id}`;

export const listDeliveries = (
  tx: Tx,
  tenantId: string,
  id: number,
  { state, earlierThan, limit }: { state: DeliveryState | null; earlierThan: string | null; limit: number },
) => tx<Delivery[]>`
  select d.delivery_id as id, 'msg_' || d.delivery_id as "messageId", d.type, coalesce(d.ledger, d.tenant_id) as "tenantId", d.change_id as "changeId",
    d.resource_id::text as "resourceId", d.state, d.attempts, ${timestamp(tx, 'd.time')} as time,
    case when d.next_try < 'infinity' then ${timestamp(tx, 'd.next_try')} end as "nextTry",
    ${timestamp(tx, 'd.last_time')} as "lastTime", d.last_ms as "lastMs", d.last_status as "lastStatus",
    d.last_answer as "lastAnswer", d.last_error as "lastError"
  from webhook_deliveries d
  where d.tenant_id = ${tenantId} and d.webhook_id = ${id}
    ${state === null ? tx`` : tx`and d.state = ${state}`}
    ${earlierThan === null ? tx`` : tx`and d.delivery_id < ${earlierThan}`}
  order by d.delivery_id desc limit ${limit}`;

/** The time of the first attempt: `infinity` while another delivery of the same record is pending. */
const firstAttempt = (tx: Tx, tenantId: string, id: number, resource: string, resourceId: string) => tx`
  case when exists (
    select from webhook_deliveries e
    where e.tenant_id = ${tenantId} and e.webhook_id = ${id} and e.state = 'waiting'
      and e.resource = ${resource} and e.resource_id = ${resourceId}
  ) then 'infinity' else now() end`;

export const findDelivery = async (tx: Tx, tenantId: string, id: number, deliveryId: string) => {
  const [row] = await tx<
    { resource: string; resourceId: string; state: DeliveryState; ledger: string; changeId: number | null }[]
  >`
    select resource, resource_id::text as "resourceId", state, coalesce(ledger, tenant_id) as ledger, change_id as "changeId" from webhook_deliveries
    where tenant_id = ${tenantId} and webhook_id = ${id} and delivery_id = ${bigintOf(deliveryId)}`;
  return row;
};

export const requeueDelivery = (
  tx: Tx,
  tenantId: string,
  id: number,
  deliveryId: string,
  { resource, resourceId, retryDays }: { resource: string; resourceId: string; retryDays: number },
) => tx`
  update webhook_deliveries set state = 'waiting', attempts = 0, retry_until = now() + ${retryDays} * interval '1 day',
    next_try = ${firstAttempt(tx, tenantId, id, resource, resourceId)}
  where tenant_id = ${tenantId} and webhook_id = ${id} and delivery_id = ${deliveryId} and state <> 'waiting'`;

/** Makes the next attempt of a pending delivery due now, unless it is behind another of the same record. */
export const retryNow = (tx: Tx, tenantId: string, id: number, deliveryId: string) => tx`
  update webhook_deliveries set next_try = now()
  where tenant_id = ${tenantId} and webhook_id = ${id} and delivery_id = ${deliveryId} and next_try < 'infinity'`;

export const insertTestDelivery = async (tx: Tx, tenantId: string, id: number, retryDays: number): Promise<number> => {
  const [row] = await tx<[{ id: number }]>`
    insert into webhook_deliveries (tenant_id, webhook_id, delivery_id, type, resource, resource_id, retry_until, next_try)
    values (${tenantId}, ${id}, nextval('delivery_serial'), 'webhook.test', 'webhook', ${id},
      now() + ${retryDays} * interval '1 day', ${firstAttempt(tx, tenantId, id, 'webhook', String(id))})
    returning delivery_id as id`;
  return row.id;
};

/** Makes a webhook due now, and ends a pause after failures. */
export const markDue = (tx: Tx, tenantId: string, id: number) => tx`
  update webhooks set next_due = now(), paused_until = null,
    waiting = (select count(*) from webhook_deliveries
      where tenant_id = ${tenantId} and webhook_id = ${id} and state = 'waiting')
  where tenant_id = ${tenantId} and webhook_id = ${id}`;
