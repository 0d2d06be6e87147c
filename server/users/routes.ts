import type { FastifyRequest } from 'fastify';
import type { App, Parts } from '../app.ts';
import { readAs, writeAs } from '../auth/caller.ts';
import { hashPassword } from '../auth/passwords.ts';
import { created, ok } from '../http/envelope.ts';
import { IdPath, IdsPath } from '../http/fields.ts';
import { answers, guarded } from '../http/openapi.ts';
import { pathId, pathIds } from '../http/validation.ts';
import { InTenant, User, UserFilter, UserInput, UserPage, UserUpdate } from './schema.ts';
import { createUser, listUsers, readUser, removeUsers, updateUser } from './users.ts';

const path = '/system/user-api';
const shared = { ...guarded, tags: ['Users'] };

export function userRoutes(app: App, { db }: Parts): void {
  /** Before the transaction, which would hold its locks meanwhile, and only for who may. */
  const hashFor = async (request: FastifyRequest, password: string) => {
    await readAs(db, request, 'administrator', async () => {});
    return hashPassword(password);
  };

  app.post(
    path,
    {
      schema: {
        ...shared,
        operationId: 'createUser',
        summary: 'Create a user',
        description: 'Administrators: in their own tenant, or with `tenantId` in one below.',
        body: UserInput,
        response: answers('guarded', {
          location: true,
          reasons: [
            'NOT_ALLOWED',
            'OTHER_TENANT',
            'USER_DEPT_NOT_FOUND',
            'USER_NAME_TAKEN',
            'ACCOUNT_LIMIT',
            'TOO_BUSY',
          ],
          body: true,
        }),
      },
    },
    async (request, reply) => {
      const passwordHash = await hashFor(request, request.body.password);
      const id = await writeAs(db, request, 'administrator', (tx, caller) =>
        createUser(tx, caller, request.body, passwordHash),
      );
      return created(reply, `${path}/${id}`);
    },
  );

  app.get(
    `${path}/list`,
    {
      schema: {
        ...shared,
        operationId: 'listUsers',
        summary: 'List users',
        description: 'Administrators. Sorted by id.',
        querystring: UserFilter,
        response: answers('guarded', { data: UserPage, reasons: ['NOT_ALLOWED', 'OTHER_TENANT'] }),
      },
    },
    async (request) =>
      ok(await readAs(db, request, 'administrator', (tx, caller) => listUsers(tx, caller, request.query))),
  );

  app.get(
    `${path}/:id`,
    {
      schema: {
        ...shared,
        operationId: 'readUser',
        summary: 'Read a user',
        description: 'Administrators, and the user himself.',
        params: IdPath,
        querystring: InTenant,
        response: answers('guarded', { data: User, reasons: ['NOT_ALLOWED', 'OTHER_TENANT', 'USER_NOT_FOUND'] }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      return ok(await readAs(db, request, 'user', (tx, caller) => readUser(tx, caller, id, request.query.tenantId)));
    },
  );

  app.put(
    path,
    {
      schema: {
        ...shared,
        operationId: 'updateUser',
        summary: 'Replace a user',
        description: 'Administrators. A new password, or being disabled, ends the sessions of the user.',
        body: UserUpdate,
        response: answers('guarded', {
          reasons: [
            'NOT_ALLOWED',
            'OTHER_TENANT',
            'USER_NOT_FOUND',
            'USER_DEPT_NOT_FOUND',
            'USER_NAME_TAKEN',
            'LAST_ADMINISTRATOR',
            'TOO_BUSY',
          ], // prettier-ignore
          body: true,
        }),
      },
    },
    async (request) => {
      const { password } = request.body;
      const passwordHash = password == null ? undefined : await hashFor(request, password);
      await writeAs(db, request, 'administrator', (tx, caller) => updateUser(tx, caller, request.body, passwordHash));
      return ok(null);
    },
  );

  app.delete(
    `${path}/:id`,
    {
      schema: {
        ...shared,
        operationId: 'deleteUsers',
        summary: 'Delete users',
        description: 'Administrators. One id, or several separated by commas: then all of them or none.',
        params: IdsPath,
        querystring: InTenant,
        response: answers('guarded', {
          reasons: ['NOT_ALLOWED', 'OTHER_TENANT', 'TOO_MANY_IDS', 'USER_NOT_FOUND', 'OWN_USER', 'LAST_ADMINISTRATOR'],
        }),
      },
    },
    async (request) => {
      const ids = pathIds(request.params.id);
      await writeAs(db, request, 'administrator', (tx, caller) => removeUsers(tx, caller, ids, request.query.tenantId));
      return ok(null);
    },
  );
}
