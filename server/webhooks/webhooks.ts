import type { Tx } from '../../db/sql.ts';
import type { Caller } from '../auth/caller.ts';
import { changesOf, lastPlace } from '../changes/changes.ts';
import { idOf, type Rows } from '../http/fields.ts';
import { etagOf, type IfMatch, refuseChanged, type Tagged } from '../http/preconditions.ts';
import { refuse } from '../http/refusals.ts';
import { lockTenant } from '../tenants/reach.ts';
import { AddressRefused, type LookUp } from './addresses.ts';
import {
  countWebhooks,
  findDelivery,
  hasten,
  insertTest,
  insertWebhook,
  listDeliveries as listDeliveryRows,
  listWebhooks as listRows,
  lockWebhook,
  markDeleted,
  markDue,
  readWebhook as readRow,
  replaceSecret,
  sendAgain,
  updateWebhook as updateRow,
  type WebhookFields,
} from './queries.ts';
import type { Delivery, DeliveryFilter, Webhook, WebhookInput, WebhookUpdate, WithSecret } from './schema.ts';
import { newSecret, shownSecret } from './sending.ts';

const MOST = 20;
const OLD_SECRET_HOURS = 24;
/** How long a delivery is tried. */
export const DAYS = 3;

/** Where it leads is looked at before it is written down, and again with each delivery. */
export async function refuseInner(lookUp: LookUp, url: string): Promise<void> {
  await lookUp(url).catch((error) => {
    throw error instanceof AddressRefused ? refuse('WEBHOOK_ADDRESS_REFUSED', { field: 'url' }) : error;
  });
}

/** It is told of what comes from now on. */
export async function addWebhook(tx: Tx, caller: Caller, input: WebhookInput): Promise<WithSecret> {
  const { tenantId, userName: by } = caller;
  await lockTenant(tx, tenantId);
  if ((await countWebhooks(tx, tenantId)) >= MOST) throw refuse('TOO_MANY_WEBHOOKS', { limit: MOST });
  const secret = newSecret();
  const seq = await lastPlace(tx, tenantId);
  const id = await insertWebhook(tx, tenantId, fieldsOf(input), { secret, seq, by });
  return { id, secret: shownSecret(secret) };
}

export async function listWebhooks(tx: Tx, { tenantId }: Caller): Promise<Rows<Webhook>> {
  const rows = await listRows(tx, tenantId);
  return { rows, total: rows.length };
}

export async function readWebhook(tx: Tx, { tenantId }: Caller, id: string): Promise<Tagged<Webhook>> {
  const webhook = await readRow(tx, tenantId, id);
  if (!webhook) throw refuse('WEBHOOK_NOT_FOUND');
  return { data: webhook, etag: tagOf(webhook) };
}

export async function updateWebhook(tx: Tx, caller: Caller, input: WebhookUpdate, ifMatch: IfMatch): Promise<void> {
  const { id } = await findLocked(tx, caller, idOf(input.id), ifMatch);
  await updateRow(tx, caller.tenantId, id, fieldsOf(input), caller.userName);
}

export async function removeWebhook(tx: Tx, caller: Caller, webhookId: string, ifMatch: IfMatch): Promise<void> {
  const { id } = await findLocked(tx, caller, webhookId, ifMatch);
  await markDeleted(tx, caller.tenantId, id, caller.userName);
}

/** The one before signs too for a day, so that the receiver can change over in between. */
export async function rotateSecret(tx: Tx, caller: Caller, webhookId: string): Promise<WithSecret> {
  const { id } = await findLocked(tx, caller, webhookId);
  const secret = newSecret();
  await replaceSecret(tx, caller.tenantId, id, { secret, hours: OLD_SECRET_HOURS, by: caller.userName });
  return { id, secret: shownSecret(secret) };
}

export async function listDeliveries(tx: Tx, caller: Caller, webhookId: string, filter: DeliveryFilter) {
  const { data: webhook } = await readWebhook(tx, caller, webhookId);
  const { limit = 50, state = null, cursor } = filter;
  const rows: Delivery[] = await listDeliveryRows(tx, caller.tenantId, webhook.id, {
    state,
    earlierThan: cursor || null,
    limit: limit + 1,
  });
  const page = rows.slice(0, limit);
  return { rows: page, next: rows.length > limit ? String(page.at(-1)?.id) : null };
}

/** The same message, with the same id. */
export async function resendDelivery(tx: Tx, caller: Caller, webhookId: string, deliveryId: string): Promise<void> {
  const { tenantId } = caller;
  const webhook = await findLocked(tx, caller, webhookId);
  const delivery = await findDelivery(tx, tenantId, webhook.id, deliveryId);
  if (!delivery) throw refuse('DELIVERY_NOT_FOUND');
  refuseDisabled(webhook);
  const { state, changeId } = delivery;
  if (state === 'waiting') await hasten(tx, tenantId, webhook.id, deliveryId);
  else {
    const kept = changeId === null || (await changesOf(tx, tenantId, [changeId])).length > 0;
    if (!kept) throw refuse('DELIVERY_TOO_OLD');
    await sendAgain(tx, tenantId, webhook.id, deliveryId, { ...delivery, days: DAYS });
  }
  await markDue(tx, tenantId, webhook.id);
}

export async function testWebhook(tx: Tx, caller: Caller, webhookId: string): Promise<{ deliveryId: number }> {
  const webhook = await findLocked(tx, caller, webhookId);
  refuseDisabled(webhook);
  const deliveryId = await insertTest(tx, caller.tenantId, webhook.id, DAYS);
  await markDue(tx, caller.tenantId, webhook.id);
  return { deliveryId };
}

async function findLocked(tx: Tx, { tenantId }: Caller, id: string, ifMatch?: IfMatch): Promise<Webhook> {
  const webhook = await lockWebhook(tx, tenantId, id);
  if (!webhook) throw refuse('WEBHOOK_NOT_FOUND');
  refuseChanged(ifMatch, tagOf(webhook));
  return webhook;
}

function refuseDisabled({ status }: Webhook): void {
  if (status !== '0') throw refuse('WEBHOOK_DISABLED');
}

/** Of what people decide, not of how the deliveries go on. */
const tagOf = ({ waiting: _w, failures: _f, nextDue: _d, oldSecretUntil: _o, ...record }: Webhook) => etagOf(record);

const fieldsOf = ({ name, url, kinds, status }: WebhookInput): WebhookFields => ({
  name: name ?? '',
  url: new URL(url).href,
  kinds: [...new Set(kinds ?? ['*'])],
  status: status ?? '0',
});
