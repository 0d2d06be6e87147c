import { readAs, writeAfter, writeAs } from '../auth/caller.ts';
import type { App, Dependencies } from '../context.ts';
import { ok } from '../http/envelope.ts';
import { conditionalReadHeaders, conditionalWriteHeaders, ifMatchOf, okWithEtag, writeHeaders } from '../http/etag.ts';
import { IdPath } from '../http/fields.ts';
import { authenticated, responses } from '../http/openapi.ts';
import { pathId } from '../http/validation.ts';
import type { LedgerResources } from '../ledger/resources.ts';
import { createTargetResolver } from './addresses.ts';
import { startDispatcher } from './dispatcher.ts';
import {
  DeliveryFilter,
  DeliveryPage,
  DeliveryPath,
  TestDelivery,
  Webhook,
  WebhookInput,
  WebhookPage,
  WebhookSecret,
  WebhookUpdate,
} from './schema.ts';
import {
  addWebhook,
  assertAllowedAddress,
  listDeliveries,
  listWebhooks,
  readWebhook,
  removeWebhook,
  resendDelivery,
  rotateSecret,
  testWebhook,
  updateWebhook,
} from './webhooks.ts';

const path = '/system/webhook-api';
const shared = { ...authenticated, tags: ['Webhooks'] };

/** Registers the routes and starts the dispatcher. Returns a function that stops it. */
export function webhookRoutes(app: App, deps: Dependencies, resources: LedgerResources): () => void {
  const { db } = deps;
  const resolveTarget = createTargetResolver(deps.config.webhookNetworks, deps.resolve);

  app.post(
    path,
    {
      schema: {
        ...shared,
        operationId: 'addWebhook',
        summary: 'Register a webhook',
        description: 'Administrators. It receives changes made from now on. Only this response contains the secret.',
        headers: writeHeaders,
        body: WebhookInput,
        response: responses('authenticated', {
          data: WebhookSecret,
          location: true,
          writes: 'unconditional',
          errors: ['NOT_ALLOWED', 'WEBHOOK_ADDRESS_REFUSED', 'TOO_MANY_WEBHOOKS'],
          body: true,
        }),
      },
    },
    async (request, reply) => {
      const webhook = await writeAfter(
        db,
        request,
        'administrator',
        () => assertAllowedAddress(resolveTarget, request.body.url),
        (tx, caller) => addWebhook(tx, caller, request.body),
      );
      reply.header('location', `${path}/${webhook.id}`);
      return ok(webhook);
    },
  );

  app.get(
    `${path}/list`,
    {
      schema: {
        ...shared,
        operationId: 'listWebhooks',
        summary: 'List webhooks',
        description: 'Administrators. All webhooks of their own tenant, at most 20.',
        response: responses('authenticated', { data: WebhookPage, errors: ['NOT_ALLOWED'] }),
      },
    },
    async (request) => ok(await readAs(db, request, 'administrator', listWebhooks)),
  );

  app.get(
    `${path}/:id`,
    {
      schema: {
        ...shared,
        operationId: 'readWebhook',
        summary: 'Read a webhook',
        description: 'Administrators. The response never contains the secret.',
        headers: conditionalReadHeaders,
        params: IdPath,
        response: responses('authenticated', {
          data: Webhook,
          etag: true,
          errors: ['NOT_ALLOWED', 'WEBHOOK_NOT_FOUND'],
        }),
      },
    },
    async (request, reply) => {
      const id = pathId(request.params.id);
      return okWithEtag(reply, await readAs(db, request, 'administrator', (tx, caller) => readWebhook(tx, caller, id)));
    },
  );

  app.put(
    path,
    {
      schema: {
        ...shared,
        operationId: 'updateWebhook',
        summary: 'Replace a webhook',
        description:
          'Administrators. Keeps the secret and the position in the feed. Pending deliveries are retried now.',
        headers: conditionalWriteHeaders,
        body: WebhookUpdate,
        response: responses('authenticated', {
          writes: 'conditional',
          errors: ['NOT_ALLOWED', 'WEBHOOK_NOT_FOUND', 'WEBHOOK_ADDRESS_REFUSED'],
          body: true,
        }),
      },
    },
    async (request) => {
      await writeAfter(
        db,
        request,
        'administrator',
        () => assertAllowedAddress(resolveTarget, request.body.url),
        (tx, caller) => updateWebhook(tx, caller, request.body, ifMatchOf(request)),
      );
      return ok(null);
    },
  );

  app.delete(
    `${path}/:id`,
    {
      schema: {
        ...shared,
        operationId: 'deleteWebhook',
        summary: 'Delete a webhook',
        description: 'Administrators. Pending deliveries are discarded and the secret is erased.',
        headers: conditionalWriteHeaders,
        params: IdPath,
        response: responses('authenticated', { writes: 'conditional', errors: ['NOT_ALLOWED', 'WEBHOOK_NOT_FOUND'] }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      await writeAs(db, request, 'administrator', (tx, caller) => removeWebhook(tx, caller, id, ifMatchOf(request)));
      return ok(null);
    },
  );

  app.post(
    `${path}/:id/rotate-secret`,
    {
      schema: {
        ...shared,
        operationId: 'rotateWebhookSecret',
        summary: 'Generate a new secret for a webhook',
        description:
          'Administrators. For 24 hours messages carry two signatures, with the new and with the previous secret.',
        headers: writeHeaders,
        params: IdPath,
        response: responses('authenticated', {
          data: WebhookSecret,
          writes: 'unconditional',
          errors: ['NOT_ALLOWED', 'WEBHOOK_NOT_FOUND'],
        }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      return ok(await writeAs(db, request, 'administrator', (tx, caller) => rotateSecret(tx, caller, id)));
    },
  );

  app.post(
    `${path}/:id/test`,
    {
      schema: {
        ...shared,
        operationId: 'testWebhook',
        summary: 'Send a test message to a webhook',
        description: 'Administrators. Sends a message of type `webhook.test`. The list of deliveries shows the result.',
        headers: writeHeaders,
        params: IdPath,
        response: responses('authenticated', {
          data: TestDelivery,
          writes: 'unconditional',
          errors: ['NOT_ALLOWED', 'WEBHOOK_NOT_FOUND', 'WEBHOOK_DISABLED'],
        }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      return ok(await writeAs(db, request, 'administrator', (tx, caller) => testWebhook(tx, caller, id)));
    },
  );

  app.get(
    `${path}/:id/deliveries`,
    {
      schema: {
        ...shared,
        operationId: 'listDeliveries',
        summary: 'List the deliveries of a webhook',
        description: 'Administrators. Latest first, each with the last response. Deliveries are kept for 30 days.',
        params: IdPath,
        querystring: DeliveryFilter,
        response: responses('authenticated', { data: DeliveryPage, errors: ['NOT_ALLOWED', 'WEBHOOK_NOT_FOUND'] }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      return ok(
        await readAs(db, request, 'administrator', (tx, caller) => listDeliveries(tx, caller, id, request.query)),
      );
    },
  );

  app.post(
    `${path}/:id/deliveries/:deliveryId/resend`,
    {
      schema: {
        ...shared,
        operationId: 'resendDelivery',
        summary: 'Resend a delivery',
        description:
          'Administrators. Sends the same message with the same `webhook-id` immediately, ' +
          'and retries it for three more days.',
        headers: writeHeaders,
        params: DeliveryPath,
        response: responses('authenticated', {
          writes: 'unconditional',
          errors: ['NOT_ALLOWED', 'WEBHOOK_NOT_FOUND', 'DELIVERY_NOT_FOUND', 'WEBHOOK_DISABLED', 'DELIVERY_TOO_OLD'],
        }),
      },
    },
    async (request) => {
      const [id, deliveryId] = [pathId(request.params.id), pathId(request.params.deliveryId)];
      await writeAs(db, request, 'administrator', (tx, caller) => resendDelivery(tx, caller, id, deliveryId));
      return ok(null);
    },
  );

  return startDispatcher(app, { db, resources }, resolveTarget);
}
