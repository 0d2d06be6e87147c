import Type from 'typebox';
import type { App, Parts } from '../app.ts';
import { readAs, writeAfter, writeAs } from '../auth/caller.ts';
import { momentOf } from '../history/moment.ts';
import { readUserAt } from '../history/records.ts';
import { asOf } from '../history/schema.ts';
import { created, ok } from '../http/envelope.ts';
import { IdPath, IdsPath } from '../http/fields.ts';
import { answers, guarded } from '../http/openapi.ts';
import { changeHeaders, etagOf, ifMatchOf, okTagged, writeHeaders } from '../http/preconditions.ts';
import { pathId, pathIds } from '../http/validation.ts';
import { DeptUserFilter, InTenant, User, UserFilter, UserInput, UserPage, UserUpdate } from './schema.ts';
import { createUser, listDepartmentUsers, listUsers, readUser, removeUsers, updateUser } from './users.ts';

const path = '/system/user-api';
const shared = { ...guarded, tags: ['Users'] };

/** The tenant may be said in the body or in the query. */
const inTenant = <T extends { tenantId?: string | null }>(request: { body: T; query: { tenantId?: string } }): T => ({
  ...request.body,
  tenantId: request.body.tenantId ?? request.query.tenantId ?? null,
});

export function userRoutes(app: App, parts: Parts): void {
  const { db } = parts;
  app.post(
    path,
    {
      schema: {
        ...shared,
        operationId: 'createUser',
        summary: 'Create a user',
        description: 'Administrators: in their own tenant, or with `tenantId` in one below.',
        headers: writeHeaders,
        querystring: InTenant,
        body: UserInput,
        response: answers('guarded', {
          writes: 'new',
          location: true,
          reasons: ['NOT_ALLOWED', 'OTHER_TENANT', 'USER_DEPT_NOT_FOUND', 'USER_NAME_TAKEN', 'ACCOUNT_LIMIT'],
          body: true,
        }),
      },
    },
    async (request, reply) => {
      const id = await writeAfter(
        db,
        request,
        'administrator',
        () => parts.passwords.hash(request.body.password),
        (tx, caller, passwordHash) => createUser(tx, caller, inTenant(request), passwordHash),
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
        querystring: Type.Object({ ...InTenant.properties, asOf }),
        response: answers('guarded', {
          data: User,
          etag: true,
          reasons: ['NOT_ALLOWED', 'OTHER_TENANT', 'USER_NOT_FOUND', 'HISTORY_NOT_KEPT'],
        }),
      },
    },
    async (request, reply) => {
      const id = pathId(request.params.id);
      const { tenantId, asOf } = request.query;
      if (asOf !== undefined) {
        const moment = await momentOf(parts, asOf);
        const past = await readAs(db, request, 'user', (tx, caller) => readUserAt(tx, caller, id, tenantId, moment));
        return okTagged(reply, { data: past, etag: etagOf(past) });
      }
      return okTagged(reply, await readAs(db, request, 'user', (tx, caller) => readUser(tx, caller, id, tenantId)));
    },
  );

  app.get(
    '/system/dept-api/:id/users',
    {
      schema: {
        ...shared,
        operationId: 'listDepartmentUsers',
        summary: 'List the users of a department',
        description:
          'Administrators. Users with the department as `deptId` or in `deptIds`, with `below` those of the whole ' +
          'branch, each once. Sorted by id.',
        params: IdPath,
        querystring: DeptUserFilter,
        response: answers('guarded', { data: UserPage, reasons: ['NOT_ALLOWED', 'DEPT_NOT_FOUND'] }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      return ok(
        await readAs(db, request, 'administrator', (tx, caller) => listDepartmentUsers(tx, caller, id, request.query)),
      );
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
        headers: changeHeaders,
        querystring: InTenant,
        body: UserUpdate,
        response: answers('guarded', {
          writes: 'change',
          reasons: [
            'NOT_ALLOWED',
            'OTHER_TENANT',
            'USER_NOT_FOUND',
            'USER_DEPT_NOT_FOUND',
            'USER_NAME_TAKEN',
            'LAST_ADMINISTRATOR',
          ],
          body: true,
        }),
      },
    },
    async (request) => {
      const { password } = request.body;
      await writeAfter(
        db,
        request,
        'administrator',
        async () => (password == null ? undefined : parts.passwords.hash(password)),
        (tx, caller, passwordHash) => updateUser(tx, caller, inTenant(request), passwordHash, ifMatchOf(request)),
      );
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
        headers: changeHeaders,
        params: IdsPath,
        querystring: InTenant,
        response: answers('guarded', {
          writes: 'change',
          reasons: ['NOT_ALLOWED', 'OTHER_TENANT', 'TOO_MANY_IDS', 'USER_NOT_FOUND', 'OWN_USER', 'LAST_ADMINISTRATOR'],
        }),
      },
    },
    async (request) => {
      const ids = pathIds(request.params.id);
      await writeAs(db, request, 'administrator', (tx, caller) =>
        removeUsers(tx, caller, ids, request.query.tenantId, ifMatchOf(request, ids)),
      );
      return ok(null);
    },
  );
}
