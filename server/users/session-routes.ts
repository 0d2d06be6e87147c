import Type from 'typebox';
import { readInRequestedTenant, writeInRequestedTenant } from '../access/requested-tenant.ts';
import { SessionPage } from '../auth/schema.ts';
import { sessionIdOf } from '../auth/sessions.ts';
import type { App, Dependencies } from '../context.ts';
import { ok } from '../http/envelope.ts';
import { writeHeaders } from '../http/etag.ts';
import { IdPath, TenantQuery } from '../http/fields.ts';
import { responses } from '../http/openapi.ts';
import { pathId } from '../http/validation.ts';
import { endUserSessions, listUserSessions } from './sessions.ts';

const path = '/system/user-api/:id/sessions';

export function userSessionRoutes(app: App, { db }: Dependencies): void {
  app.get(
    path,
    {
      config: { requires: 'user:read' },
      schema: {
        tags: ['Users'],
        operationId: 'listUserSessions',
        summary: 'List the sessions of a user',
        description: 'At most 100: the current session first, then the newest.',
        params: IdPath,
        querystring: TenantQuery,
        response: responses('authenticated', { data: SessionPage, errors: ['OTHER_TENANT', 'USER_NOT_FOUND'] }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      return ok(await readInRequestedTenant(db, request, (tx, caller) => listUserSessions(tx, caller, id)));
    },
  );

  app.delete(
    path,
    {
      config: { requires: 'user:write' },
      schema: {
        tags: ['Users'],
        operationId: 'endUserSessions',
        summary: 'End the sessions of a user',
        headers: writeHeaders,
        params: IdPath,
        querystring: Type.Object({
          ...TenantQuery.properties,
          sessionId: Type.Optional(Type.String({ description: 'Only this session' })),
        }),
        response: responses('authenticated', {
          writes: 'unconditional',
          errors: ['OTHER_TENANT', 'USER_NOT_FOUND', 'SESSION_NOT_FOUND'],
        }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      const { sessionId } = request.query;
      const session = sessionId === undefined ? undefined : sessionIdOf(sessionId, 'sessionId');
      await writeInRequestedTenant(db, request, (tx, caller) => endUserSessions(tx, caller, id, session));
      return ok(null);
    },
  );
}
