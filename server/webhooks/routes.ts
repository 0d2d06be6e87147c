import { prepareAndWrite, readAs, writeAs } from '../auth/caller.ts';
import type { App, Dependencies } from '../context.ts';
import { ok } from '../http/envelope.ts';
import { conditionalReadHeaders, conditionalWriteHeaders, ifMatchOf, okWithEtag, writeHeaders } from '../http/etag.ts';
import { IdPath } from '../http/fields.ts';
import { responses } from '../http/openapi.ts';
import { pathId } from '../http/validation.ts';
import type { LedgerResources } from '../ledger/resources.ts';
import { assignPositions } from '../ledger/subtree-feed.ts';
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
const shared = { tags: ['Webhooks'] };

/** Registers the routes and starts the dispatcher. Returns a function that stops it. */
export function webhookRoutes(app: App, deps: Dependencies, resources: LedgerResources): () => void {
  const { db } = deps;
  const resolveTarget = createTargetResolver(deps.config.webhookNetworks, deps.resolve);

  app.post(
    path,
    {
      config: { requires: 'webhook:write' },
      schema: {
        ...shared,
        operationId: 'addWebhook',
        summary: 'Register a webhook',
        description: 'Receives changes made from now on. Only this response has the secret.',
        headers: writeHeaders,
        body: WebhookInput,
        response: responses('authenticated', {
          data: WebhookSecret,
          location: true,
          writes: 'unconditional',
          errors: ['WEBHOOK_ADDRESS_REFUSED', 'TOO_MANY_WEBHOOKS', 'OTHER_TENANT'],
        }),
      },
    },
    async (request, reply) => {
      const webhook = await prepareAndWrite(
        db,
        request,
        async () => {
          await assertAllowedAddress(resolveTarget, request.body.url);
          if (request.body.below) await assignPositions(db);
        },
        (tx, caller) => addWebhook(tx, caller, request.body),
      );
      reply.header('location', `${path}/${webhook.id}`);
      return ok(webhook);
    },
  );

  app.get(
    `${path}/list`,
    {
      config: { requires: 'webhook:write' },
      schema: {
        ...shared,
        operationId: 'listWebhooks',
        summary: 'List webhooks',
        description: 'All webhooks of the caller’s own tenant, at most 20.',
        response: responses('authenticated', { data: WebhookPage }),
      },
    },
    async (request) => ok(await readAs(db, request, listWebhooks)),
  );

  app.get(
    `${path}/:id`,
    {
      config: { requires: 'webhook:write' },
      schema: {
        ...shared,
        operationId: 'readWebhook',
        summary: 'Read a webhook',
        description: 'The response never contains the secret.',
        headers: conditionalReadHeaders,
        params: IdPath,
        response: responses('authenticated', {
          data: Webhook,
          etag: true,
          errors: ['WEBHOOK_NOT_FOUND'],
        }),
      },
    },
    async (request, reply) => {
      const id = pathId(request.params.id);
      return okWithEtag(reply, await readAs(db, request, (tx, caller) => readWebhook(tx, caller, id)));
    },
  );

  app.put(
    path,
    {
      config: { requires: 'webhook:write' },
      schema: {
        ...shared,
        operationId: 'updateWebhook',
        summary: 'Replace a webhook',
        description: 'Keeps the secret and the position in the feed. Retries pending deliveries now.',
        headers: conditionalWriteHeaders,
        body: WebhookUpdate,
        response: responses('authenticated', {
          writes: 'conditional',
          errors: ['WEBHOOK_NOT_FOUND', 'WEBHOOK_ADDRESS_REFUSED', 'WEBHOOK_BELOW_FIXED'],
        }),
      },
    },
    async (request) => {
      await prepareAndWrite(
        db,
        request,
        () => assertAllowedAddress(resolveTarget, request.body.url),
        (tx, caller) => updateWebhook(tx, caller, request.body, ifMatchOf(request)),
      );
      return ok(null);
    },
  );

  app.delete(
    `${path}/:id`,
    {
      config: { requires: 'webhook:write' },
      schema: {
        ...shared,
        operationId: 'deleteWebhook',
        summary: 'Delete a webhook',
        description: 'Pending deliveries are discarded and the secret is erased.',
        headers: conditionalWriteHeaders,
        params: IdPath,
        response: responses('authenticated', { writes: 'conditional', errors: ['WEBHOOK_NOT_FOUND'] }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      await writeAs(db, request, (tx, caller) => removeWebhook(tx, caller, id, ifMatchOf(request)));
      return ok(null);
    },
  );

  app.post(
    `${path}/:id/rotate-secret`,
    {
      config: { requires: 'webhook:write' },
      schema: {
        ...shared,
        operationId: 'rotateWebhookSecret',
        summary: 'Generate a new secret for a webhook',
        description: 'For 24 hours messages carry signatures with the new and the previous secret.',
        headers: writeHeaders,
        params: IdPath,
        response: responses('authenticated', {
          data: WebhookSecret,
          writes: 'unconditional',
          errors: ['WEBHOOK_NOT_FOUND'],
        }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      return ok(await writeAs(db, request, (tx, caller) => rotateSecret(tx, caller, id)));
    },
  );

  app.post(
    `${path}/:id/test`,
    {
      config: { requires: 'webhook:write' },
      schema: {
        ...shared,
        operationId: 'testWebhook',
        summary: 'Send a test message to a webhook',
        description: 'Sends a message of type `webhook.test`; see the deliveries.',
        headers: writeHeaders,
        params: IdPath,
        response: responses('authenticated', {
          data: TestDelivery,
          writes: 'unconditional',
          errors: ['WEBHOOK_NOT_FOUND', 'WEBHOOK_DISABLED'],
        }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      return ok(await writeAs(db, request, (tx, caller) => testWebhook(tx, caller, id)));
    },
  );

  app.get(
    `${path}/:id/deliveries`,
    {
      config: { requires: 'webhook:write' },
      schema: {
        ...shared,
        operationId: 'listDeliveries',
        summary: 'List the deliveries of a webhook',
        description: 'Latest first. Kept for 30 days.',
        params: IdPath,
        querystring: DeliveryFilter,
        response: responses('authenticated', { data: DeliveryPage, errors: ['WEBHOOK_NOT_FOUND'] }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      return ok(await readAs(db, request, (tx, caller) => listDeliveries(tx, caller, id, request.query)));
    },
  );

  app.post(
    `${path}/:id/deliveries/:deliveryId/resend`,
    {
      config: { requires: 'webhook:write' },
      schema: {
        ...shared,
        operationId: 'resendDelivery',
        summary: 'Resend a delivery',
        description:
          'Sends it now with the same `webhook-id`. Unless it is pending, it is retried for three more days.',
        headers: writeHeaders,
        params: DeliveryPath,
        response: responses('authenticated', {
          writes: 'unconditional',
          errors: ['WEBHOOK_NOT_FOUND', 'DELIVERY_NOT_FOUND', 'WEBHOOK_DISABLED', 'DELIVERY_TOO_OLD'],
        }),
      },
    },
    async (request) => {
      const [id, deliveryId] = [pathId(request.params.id), pathId(request.params.deliveryId)];
      await writeAs(db, request, (tx, caller) => resendDelivery(tx, caller, id, deliveryId));
      return ok(null);
    },
  );

  return startDispatcher(app, { db, resources, metrics: deps.metrics }, resolveTarget);
}
