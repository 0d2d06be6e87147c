import type { FastifyRequest } from 'fastify';
import { readAs, type Work, writeAs } from '../auth/caller.ts';
import type { App, Dependencies } from '../context.ts';
import { ok } from '../http/envelope.ts';
import { conditionalReadHeaders, conditionalWriteHeaders, ifMatchOf, okWithEtag, writeHeaders } from '../http/etag.ts';
import { IdPath } from '../http/fields.ts';
import { responses } from '../http/openapi.ts';
import { pathId } from '../http/validation.ts';
import { addKey, listKeys, type NewSecret, readKey, removeKey, rotateKey, updateKey } from './rules.ts';
import { Key, KeyFilter, KeyInput, KeyPage, KeyRotation, KeySecret, KeyUpdate } from './schema.ts';

const path = '/system/key-api';
const shared = { tags: ['API keys'] };
const config = { requires: 'key:write' } as const;

export function keyRoutes(app: App, { db }: Dependencies): void {
  /**
   * Runs a write that generates a secret. With an Idempotency-Key only the id is stored, so the response to a repeated
   * request has no secret. A caller who lost the first response rotates the key.
   */
  async function writeSecret(request: FastifyRequest, work: Work<NewSecret>): Promise<KeySecret> {
    let secret: string | null = null;
    const keyId = await writeAs(db, request, async (tx, caller) => {
      const { keyId, key } = await work(tx, caller);
      secret = key;
      return keyId;
    });
    // An attempt that was rolled back may have generated a secret before a stored outcome was found.
    return { keyId, key: request.replayed ? null : secret };
  }

  app.post(
    path,
    {
      config,
      schema: {
        ...shared,
        operationId: 'addKey',
        summary: 'Create an API key',
        description: 'Only this response contains the key.',
        headers: writeHeaders,
        body: KeyInput,
        response: responses('authenticated', {
          data: KeySecret,
          location: true,
          writes: 'unconditional',
          errors: ['PERMISSION_NOT_HELD', 'TOO_MANY_KEYS'],
        }),
      },
    },
    async (request, reply) => {
      const secret = await writeSecret(request, (tx, caller) => addKey(tx, caller, request.body));
      reply.header('location', `${path}/${secret.keyId}`);
      return ok(secret);
    },
  );

  app.get(
    `${path}/list`,
    {
      config,
      schema: {
        ...shared,
        operationId: 'listKeys',
        summary: 'List API keys',
        description: 'The keys of the caller’s own tenant, sorted by id.',
        querystring: KeyFilter,
        response: responses('authenticated', { data: KeyPage }),
      },
    },
    async (request) => ok(await readAs(db, request, (tx, caller) => listKeys(tx, caller, request.query))),
  );

  app.get(
    `${path}/:id`,
    {
      config,
      schema: {
        ...shared,
        operationId: 'readKey',
        summary: 'Read an API key',
        description: 'The response never contains the key itself.',
        headers: conditionalReadHeaders,
        params: IdPath,
        response: responses('authenticated', { data: Key, etag: true, errors: ['KEY_NOT_FOUND'] }),
      },
    },
    async (request, reply) => {
      const id = pathId(request.params.id);
      return okWithEtag(reply, await readAs(db, request, (tx, caller) => readKey(tx, caller, id)));
    },
  );

  app.put(
    path,
    {
      config,
      schema: {
        ...shared,
        operationId: 'updateKey',
        summary: 'Replace the settings of an API key',
        description: 'The key itself and `below` do not change.',
        headers: conditionalWriteHeaders,
        body: KeyUpdate,
        response: responses('authenticated', {
          writes: 'conditional',
          errors: ['KEY_NOT_FOUND', 'PERMISSION_NOT_HELD'],
        }),
      },
    },
    async (request) => {
      await writeAs(db, request, (tx, caller) => updateKey(tx, caller, request.body, ifMatchOf(request)));
      return ok(null);
    },
  );

  app.post(
    `${path}/:id/rotate`,
    {
      config,
      schema: {
        ...shared,
        operationId: 'rotateKey',
        summary: 'Rotate the secret of an API key',
        description: 'Previous secrets stay valid for at most `graceSeconds`.',
        headers: writeHeaders,
        params: IdPath,
        body: KeyRotation,
        response: responses('authenticated', {
          data: KeySecret,
          writes: 'unconditional',
          errors: ['KEY_NOT_FOUND', 'PERMISSION_NOT_HELD'],
        }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      return ok(await writeSecret(request, (tx, caller) => rotateKey(tx, caller, id, request.body ?? {})));
    },
  );

  app.delete(
    `${path}/:id`,
    {
      config,
      schema: {
        ...shared,
        operationId: 'deleteKey',
        summary: 'Delete an API key',
        description: 'The key is rejected from the next request on.',
        headers: conditionalWriteHeaders,
        params: IdPath,
        response: responses('authenticated', { writes: 'conditional', errors: ['KEY_NOT_FOUND'] }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      await writeAs(db, request, (tx, caller) => removeKey(tx, caller, id, ifMatchOf(request)));
      return ok(null);
    },
  );
}
