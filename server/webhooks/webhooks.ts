import type { Tx } from '../../db/driver.ts';
import { lockTenant } from '../access/tenant-scope.ts';
import type { Caller } from '../auth/caller.ts';
import { apiError } from '../http/errors.ts';
import { assertSettingsEtag, etagOfParts, type IfMatch, type Tagged } from '../http/etag.ts';
import { idOf, type Rows } from '../http/fields.ts';
import { RETRY_DAYS } from '../ledger/archive.ts';
import { isChangeStored, lastPosition } from '../ledger/feed.ts';
import { assertCanActInDescendants, isSubtreeChangeStored, lastSubtreePosition } from '../ledger/subtree-feed.ts';
import { AddressError, type ResolveTarget } from './addresses.ts';
import {
  countWebhooks,
  findDelivery,
  insertTestDelivery,
  insertWebhook,
  listDeliveries as listDeliveryRows,
  listWebhooks as listRows,
  lockWebhook,
  markDeleted,
  markDue,
  readWebhook as readRow,
  replaceSecret,
  requeueDelivery,
  retryNow,
  updateWebhook as updateRow,
  type WebhookFields,
} from './queries.ts';
import type { Delivery, DeliveryFilter, Webhook, WebhookInput, WebhookSecret, WebhookUpdate } from './schema.ts';
import { formatSecret, generateSecret } from './sending.ts';

const MAX_WEBHOOKS = 20;
const OLD_SECRET_HOURS = 24;

/** Rejects a URL that must not be called. Each delivery attempt checks again. */
export async function assertAllowedAddress(resolveTarget: ResolveTarget, url: string): Promise<void> {
  await resolveTarget(url).catch((error) => {
    throw error instanceof AddressError ? apiError('WEBHOOK_ADDRESS_REFUSED', { field: 'url' }) : error;
  });
}

/** Registers a webhook for all changes from now on. For one with `below`, all earlier changes must have positions by now. */
export async function addWebhook(tx: Tx, caller: Caller, input: WebhookInput): Promise<WebhookSecret> {
  const { tenantId, userName: by } = caller;
  if (input.below) assertCanActInDescendants(caller);
  await lockTenant(tx, tenantId);
  if ((await countWebhooks(tx, tenantId)) >= MAX_WEBHOOKS) throw apiError('TOO_MANY_WEBHOOKS', { limit: MAX_WEBHOOKS });
  const secret = generateSecret();
  const seq = input.below ? await lastSubtreePosition(tx) : await lastPosition(tx, tenantId);
  const id = await insertWebhook(tx, tenantId, fieldsOf(input), { secret, seq, by });
  return { id, secret: formatSecret(secret) };
}

export async function listWebhooks(tx: Tx, { tenantId }: Caller): Promise<Rows<Webhook>> {
  const rows = await listRows(tx, tenantId);
  return { rows, total: rows.length };
}

export async function readWebhook(tx: Tx, { tenantId }: Caller, id: string): Promise<Tagged<Webhook>> {
  const webhook = await readRow(tx, tenantId, id);
  if (!webhook) throw apiError('WEBHOOK_NOT_FOUND');
  return { data: webhook, etag: webhookEtag(webhook) };
}

export async function updateWebhook(tx: Tx, caller: Caller, input: WebhookUpdate, ifMatch: IfMatch): Promise<void> {
  const { id, below } = await findAndLock(tx, caller, idOf(input.id), ifMatch);
  // Its position belongs to one of the two feeds and means nothing in the other.
  if ((input.below ?? below) !== below) throw apiError('WEBHOOK_BELOW_FIXED', { field: 'below' });
  await updateRow(tx, caller.tenantId, id, fieldsOf(input), caller.userName);
}

export async function removeWebhook(tx: Tx, caller: Caller, webhookId: string, ifMatch: IfMatch): Promise<void> {
  const { id } = await findAndLock(tx, caller, webhookId, ifMatch);
  await markDeleted(tx, caller.tenantId, id, caller.userName);
}

/** Replaces the secret. For a day messages are also signed with the previous one: the receiver has that time to switch. */
export async function rotateSecret(tx: Tx, caller: Caller, webhookId: string): Promise<WebhookSecret> {
  const { id } = await findAndLock(tx, caller, webhookId);
  const secret = generateSecret();
  await replaceSecret(tx, caller.tenantId, id, { secret, hours: OLD_SECRET_HOURS, by: caller.userName });
  return { id, secret: formatSecret(secret) };
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

/** Sends the same message with the same id again. */
export async function resendDelivery(tx: Tx, caller: Caller, webhookId: string, deliveryId: string): Promise<void> {
  const { tenantId } = caller;
  const webhook = await findAndLock(tx, caller, webhookId);
  const delivery = await findDelivery(tx, tenantId, webhook.id, deliveryId);
  if (!delivery) throw apiError('DELIVERY_NOT_FOUND');
  assertEnabled(webhook);
  const { state, ledger, changeId } = delivery;
  if (state === 'waiting') await retryNow(tx, tenantId, webhook.id, deliveryId);
  else {
    const isAvailable =
      changeId === null ||
      (webhook.below
        ? await isSubtreeChangeStored(tx, tenantId, { ledger, id: changeId })
        : await isChangeStored(tx, tenantId, changeId));
    if (!isAvailable) throw apiError('DELIVERY_TOO_OLD');
    await requeueDelivery(tx, tenantId, webhook.id, deliveryId, { ...delivery, retryDays: RETRY_DAYS });
  }
  await markDue(tx, tenantId, webhook.id);
}

export async function testWebhook(tx: Tx, caller: Caller, webhookId: string): Promise<{ deliveryId: number }> {
  const webhook = await findAndLock(tx, caller, webhookId);
  assertEnabled(webhook);
  const deliveryId = await insertTestDelivery(tx, caller.tenantId, webhook.id, RETRY_DAYS);
  await markDue(tx, caller.tenantId, webhook.id);
  return { deliveryId };
}

async function findAndLock(tx: Tx, { tenantId }: Caller, id: string, ifMatch?: IfMatch): Promise<Webhook> {
  const webhook = await lockWebhook(tx, tenantId, id);
  if (!webhook) throw apiError('WEBHOOK_NOT_FOUND');
  assertSettingsEtag(ifMatch, webhookEtag(webhook));
  return webhook;
}

function assertEnabled({ status }: Webhook): void {
  if (status !== '0') throw apiError('WEBHOOK_DISABLED');
}

const webhookEtag = ({ waiting, failures, nextDue, oldSecretUntil, ...settings }: Webhook): string =>
  etagOfParts(settings, [waiting, failures, nextDue, oldSecretUntil]);

const fieldsOf = ({ name, url, kinds, below, status }: WebhookInput): WebhookFields => ({
  name: name ?? '',
  url: new URL(url).href,
  kinds: [...new Set(kinds ?? ['*'])],
  below: below ?? false,
  status: status ?? '0',
});
