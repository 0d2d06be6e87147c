import type { App, Parts } from '../app.ts';
import { readAs, writeAfter, writeAs } from '../auth/caller.ts';
import { ok } from '../http/envelope.ts';
import { IdPath } from '../http/fields.ts';
import { answers, guarded } from '../http/openapi.ts';
import { changeHeaders, ifMatchOf, okTagged, writeHeaders } from '../http/preconditions.ts';
import { pathId } from '../http/validation.ts';
import type { LookUp } from './addresses.ts';
import {
  DeliveryFilter,
  DeliveryPage,
  DeliveryPath,
  NewDelivery,
  Webhook,
  WebhookInput,
  WebhookPage,
  WebhookUpdate,
  WithSecret,
} from './schema.ts';
import {
  addWebhook,
  listDeliveries,
  listWebhooks,
  readWebhook,
  refuseInner,
  removeWebhook,
  resendDelivery,
  rotateSecret,
  testWebhook,
  updateWebhook,
} from './webhooks.ts';

const path = '/system/webhook-api';
const shared = { ...guarded, tags: ['Webhooks'] };

export function webhookRoutes(app: App, { db }: Parts, lookUp: LookUp): void {
  app.post(
    path,
    {
      schema: {
        ...shared,
        operationId: 'addWebhook',
        summary: 'Register a webhook',
        description: 'Administrators. It is told of what comes from now on. The secret is in this answer and no other.',
        headers: writeHeaders,
        body: WebhookInput,
        response: answers('guarded', {
          data: WithSecret,
          location: true,
          writes: 'new',
          reasons: ['NOT_ALLOWED', 'WEBHOOK_ADDRESS_REFUSED', 'TOO_MANY_WEBHOOKS'],
          body: true,
        }),
      },
    },
    async (request, reply) => {
      const made = await writeAfter(
        db,
        request,
        'administrator',
        () => refuseInner(lookUp, request.body.url),
        (tx, caller) => addWebhook(tx, caller, request.body),
      );
      reply.header('location', `${path}/${made.id}`);
      return ok(made);
    },
  );

  app.get(
    `${path}/list`,
    {
      schema: {
        ...shared,
        operationId: 'listWebhooks',
        summary: 'List webhooks',
        description: 'Administrators. Those of their tenant, all of them: there are 20 at most.',
        response: answers('guarded', { data: WebhookPage, reasons: ['NOT_ALLOWED'] }),
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
        description: 'Administrators. Never its secret.',
        params: IdPath,
        response: answers('guarded', { data: Webhook, etag: true, reasons: ['NOT_ALLOWED', 'WEBHOOK_NOT_FOUND'] }),
      },
    },
    async (request, reply) => {
      const id = pathId(request.params.id);
      return okTagged(reply, await readAs(db, request, 'administrator', (tx, caller) => readWebhook(tx, caller, id)));
    },
  );

  app.put(
    path,
    {
      schema: {
        ...shared,
        operationId: 'updateWebhook',
        summary: 'Replace a webhook',
        description: 'Administrators. Secret and place in the changes stay. What waits is tried at once.',
        headers: changeHeaders,
        body: WebhookUpdate,
        response: answers('guarded', {
          writes: 'change',
          reasons: ['NOT_ALLOWED', 'WEBHOOK_NOT_FOUND', 'WEBHOOK_ADDRESS_REFUSED'],
          body: true,
        }),
      },
    },
    async (request) => {
      await writeAfter(
        db,
        request,
        'administrator',
        () => refuseInner(lookUp, request.body.url),
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
        description: 'Administrators. What waits is not sent any more; its secret is forgotten.',
        headers: changeHeaders,
        params: IdPath,
        response: answers('guarded', { writes: 'change', reasons: ['NOT_ALLOWED', 'WEBHOOK_NOT_FOUND'] }),
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
        summary: 'Make a new secret for a webhook',
        description:
          'Administrators. For 24 hours deliveries carry two signatures, by the new secret and by the one before.',
        headers: writeHeaders,
        params: IdPath,
        response: answers('guarded', {
          data: WithSecret,
          writes: 'new',
          reasons: ['NOT_ALLOWED', 'WEBHOOK_NOT_FOUND'],
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
        description: 'Administrators. Of type `webhook.test`; how it went is among the deliveries.',
        headers: writeHeaders,
        params: IdPath,
        response: answers('guarded', {
          data: NewDelivery,
          writes: 'new',
          reasons: ['NOT_ALLOWED', 'WEBHOOK_NOT_FOUND', 'WEBHOOK_DISABLED'],
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
        description: 'Administrators. Latest first, with the last answer of each; kept for 30 days.',
        params: IdPath,
        querystring: DeliveryFilter,
        response: answers('guarded', { data: DeliveryPage, reasons: ['NOT_ALLOWED', 'WEBHOOK_NOT_FOUND'] }),
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
        summary: 'Send a delivery again',
        description: 'Administrators. The same message with the same `webhook-id`, at once, and for three days more.',
        headers: writeHeaders,
        params: DeliveryPath,
        response: answers('guarded', {
          writes: 'new',
          reasons: ['NOT_ALLOWED', 'WEBHOOK_NOT_FOUND', 'DELIVERY_NOT_FOUND', 'WEBHOOK_DISABLED', 'DELIVERY_TOO_OLD'],
        }),
      },
    },
    async (request) => {
      const [id, deliveryId] = [pathId(request.params.id), pathId(request.params.deliveryId)];
      await writeAs(db, request, 'administrator', (tx, caller) => resendDelivery(tx, caller, id, deliveryId));
      return ok(null);
    },
  );
}
