import Type from 'typebox';
import { readInRequestedTenant } from '../access/requested-tenant.ts';
import { fairnessKeyOf, prepareAndWrite, readAs, writeAs } from '../auth/caller.ts';
import { hashNewPassword } from '../auth/password-policy.ts';
import type { App, Dependencies } from '../context.ts';
import { created, ok } from '../http/envelope.ts';
import {
  conditionalReadHeaders,
  conditionalWriteHeaders,
  etagOf,
  ifMatchOf,
  okWithEtag,
  writeHeaders,
} from '../http/etag.ts';
import { IdPath, IdsPath, TenantQuery } from '../http/fields.ts';
import { responses } from '../http/openapi.ts';
import { invalid, PATCH_TYPES, pathId, pathIds } from '../http/validation.ts';
import { resolvePointInTime } from '../ledger/point-in-time.ts';
import { asOf } from '../ledger/schema.ts';
import { ExternalIdPath } from '../records/external-id.ts';
import { bulkUserRoutes } from './bulk-routes.ts';
import { userExportRoutes } from './export-routes.ts';
import { readUserAt, restoreUser } from './history.ts';
import { listDepartmentUsers, listUsers } from './list.ts';
import { readLeaders, readUser, readUserByExternalId } from './reads.ts';
import { DeptUserFilter, Leader, User, UserFilter, UserInput, UserPage, UserPatch, UserUpdate } from './schema.ts';
import { userSessionRoutes } from './session-routes.ts';
import { createStoredReader } from './stored-reader.ts';
import { createUser, patchUser, removeUsers, updateUser } from './users.ts';

const path = '/system/user-api';
const shared = { tags: ['Users'] };

/** Returns the body with the tenant, which may be given in the body or in the query. */
function withTenant<T extends { tenantId?: string | null }>({
  body,
  query,
}: {
  body: T;
  query: { tenantId?: string };
}): T {
  const tenantId = body.tenantId ?? query.tenantId ?? null;
  // Neither is silently ignored.
  if (query.tenantId !== undefined && query.tenantId !== tenantId) throw invalid('tenantId', 'otherTenant');
  return { ...body, tenantId };
}

export function userRoutes(app: App, deps: Dependencies): void {
  const { db } = deps;
  const show = createStoredReader(deps.config.timeZone);
  app.post(
    path,
    {
      config: { requires: 'user:write' },
      schema: {
        ...shared,
        operationId: 'createUser',
        summary: 'Create a user',
        headers: writeHeaders,
        querystring: TenantQuery,
        body: UserInput,
        response: responses('authenticated', {
          writes: 'unconditional',
          location: true,
          errors: [
            'OTHER_TENANT',
            'USER_DEPT_NOT_FOUND',
            'USER_NAME_RESERVED',
            'USER_NAME_TAKEN',
            'EXTERNAL_ID_TAKEN',
            'PASSWORD_TOO_COMMON',
            'PASSWORD_HAS_NAME',
            'ACCOUNT_LIMIT',
            'QUOTA_EXHAUSTED',
          ],
        }),
      },
    },
    async (request, reply) => {
      const id = await prepareAndWrite(
        db,
        request,
        () => hashNewPassword((each) => deps.passwords.hash(each, fairnessKeyOf(request)), request.body.password),
        (tx, caller, password) => createUser(tx, caller, withTenant(request), password),
      );
      return created(reply, `${path}/${id}`);
    },
  );

  app.get(
    `${path}/list`,
    {
      config: { requires: 'user:read' },
      schema: {
        ...shared,
        operationId: 'listUsers',
        summary: 'List users',
        querystring: UserFilter,
        response: responses('authenticated', { data: UserPage, errors: ['OTHER_TENANT'] }),
      },
    },
    async (request) =>
      ok(await readInRequestedTenant(db, request, (tx, caller) => listUsers(tx, caller, request.query))),
  );

  app.get(
    `${path}/external/:source/:externalId`,
    {
      config: { requires: 'user:read' },
      schema: {
        ...shared,
        operationId: 'readUserByExternalId',
        summary: 'Read a user by their external id',
        headers: conditionalReadHeaders,
        params: ExternalIdPath,
        querystring: TenantQuery,
        response: responses('authenticated', { data: User, etag: true, errors: ['OTHER_TENANT', 'USER_NOT_FOUND'] }),
      },
    },
    async (request, reply) => {
      return okWithEtag(
        reply,
        await readInRequestedTenant(db, request, (tx, caller) => readUserByExternalId(tx, caller, request.params)),
      );
    },
  );

  app.get(
    `${path}/:id`,
    {
      config: { requires: 'user:read', allowsSelf: true },
      schema: {
        ...shared,
        operationId: 'readUser',
        summary: 'Read a user',
        headers: conditionalReadHeaders,
        params: IdPath,
        querystring: Type.Object({ ...TenantQuery.properties, asOf }),
        response: responses('authenticated', {
          data: User,
          etag: true,
          errors: ['OTHER_TENANT', 'USER_NOT_FOUND', 'HISTORY_NOT_KEPT'],
        }),
      },
    },
    async (request, reply) => {
      const id = pathId(request.params.id);
      const { tenantId, asOf } = request.query;
      if (asOf !== undefined) {
        const time = await resolvePointInTime(deps, request, asOf);
        const past = await readAs(db, request, (tx, caller) => readUserAt(tx, show, caller, id, { tenantId, time }));
        return okWithEtag(reply, { data: past, etag: etagOf(past) });
      }
      return okWithEtag(reply, await readAs(db, request, (tx, caller) => readUser(tx, caller, id, tenantId)));
    },
  );

  app.get(
    `${path}/:id/leaders`,
    {
      config: { requires: 'user:read', allowsSelf: true },
      schema: {
        ...shared,
        operationId: 'readLeaders',
        summary: 'Read the leaders of a user',
        description: 'Leaders of the main department and of those above it, the nearest first, without the user.',
        params: IdPath,
        querystring: TenantQuery,
        response: responses('authenticated', { data: Type.Array(Leader), errors: ['OTHER_TENANT', 'USER_NOT_FOUND'] }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      return ok(await readAs(db, request, (tx, caller) => readLeaders(tx, caller, id, request.query.tenantId)));
    },
  );

  app.get(
    '/system/dept-api/:id/users',
    {
      config: { requires: 'user:read' },
      schema: {
        ...shared,
        operationId: 'listDepartmentUsers',
        summary: 'List the users of a department',
        description: 'Users with the department as `deptId` or in `deptIds`, sorted by id.',
        params: IdPath,
        querystring: DeptUserFilter,
        response: responses('authenticated', {
          data: UserPage,
          errors: ['OTHER_TENANT', 'DEPT_NOT_FOUND'],
        }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      return ok(
        await readInRequestedTenant(db, request, (tx, caller) => listDepartmentUsers(tx, caller, id, request.query)),
      );
    },
  );

  app.put(
    path,
    {
      config: { requires: 'user:write' },
      schema: {
        ...shared,
        operationId: 'updateUser',
        summary: 'Replace a user',
        description: 'Changing the password or disabling the user ends their sessions.',
        headers: conditionalWriteHeaders,
        querystring: TenantQuery,
        body: UserUpdate,
        response: responses('authenticated', {
          writes: 'conditional',
          errors: [
            'OTHER_TENANT',
            'USER_NOT_FOUND',
            'USER_DEPT_NOT_FOUND',
            'USER_NAME_RESERVED',
            'USER_NAME_TAKEN',
            'EXTERNAL_ID_TAKEN',
            'PASSWORD_TOO_COMMON',
            'PASSWORD_HAS_NAME',
            'LAST_ADMINISTRATOR',
          ],
        }),
      },
    },
    async (request) => {
      const { password: text } = request.body;
      await prepareAndWrite(
        db,
        request,
        async () =>
          text == null ? undefined : hashNewPassword((each) => deps.passwords.hash(each, fairnessKeyOf(request)), text),
        (tx, caller, password) =>
          updateUser(tx, caller, withTenant(request), { password, ifMatch: ifMatchOf(request) }),
      );
      return ok(null);
    },
  );

  app.patch(
    `${path}/:id`,
    {
      config: { requires: 'user:write' },
      schema: {
        ...shared,
        operationId: 'patchUser',
        summary: 'Change some fields of a user',
        description: 'A JSON merge patch (RFC 7396). Changing the password or disabling the user ends their sessions.',
        consumes: PATCH_TYPES,
        headers: conditionalWriteHeaders,
        params: IdPath,
        querystring: TenantQuery,
        body: UserPatch,
        response: responses('authenticated', {
          writes: 'conditional',
          errors: [
            'OTHER_TENANT',
            'USER_NOT_FOUND',
            'USER_DEPT_NOT_FOUND',
            'USER_NAME_RESERVED',
            'USER_NAME_TAKEN',
            'EXTERNAL_ID_TAKEN',
            'PASSWORD_TOO_COMMON',
            'PASSWORD_HAS_NAME',
            'LAST_ADMINISTRATOR',
          ],
        }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      const { password: text } = request.body;
      await prepareAndWrite(
        db,
        request,
        async () =>
          text == null ? undefined : hashNewPassword((each) => deps.passwords.hash(each, fairnessKeyOf(request)), text),
        (tx, caller, password) =>
          patchUser(tx, caller, id, withTenant(request), { password, ifMatch: ifMatchOf(request) }),
      );
      return ok(null);
    },
  );

  app.delete(
    `${path}/:id`,
    {
      config: { requires: 'user:write' },
      schema: {
        ...shared,
        operationId: 'deleteUsers',
        summary: 'Delete users',
        description: 'Deletes all or none.',
        headers: conditionalWriteHeaders,
        params: IdsPath,
        querystring: TenantQuery,
        response: responses('authenticated', {
          writes: 'conditional',
          errors: ['OTHER_TENANT', 'TOO_MANY_IDS', 'USER_NOT_FOUND', 'OWN_USER', 'LAST_ADMINISTRATOR'],
        }),
      },
    },
    async (request) => {
      const ids = pathIds(request.params.id);
      await writeAs(db, request, (tx, caller) =>
        removeUsers(tx, caller, ids, request.query.tenantId, ifMatchOf(request, ids)),
      );
      return ok(null);
    },
  );

  app.post(
    `${path}/:id/restore`,
    {
      config: { requires: 'user:write' },
      schema: {
        ...shared,
        operationId: 'restoreUser',
        summary: 'Restore a deleted user',
        description: 'Keeps the password and the departments that still exist; sessions stay ended.',
        headers: writeHeaders,
        params: IdPath,
        querystring: TenantQuery,
        response: responses('authenticated', {
          writes: 'unconditional',
          errors: [
            'OTHER_TENANT',
            'USER_NOT_FOUND',
            'USER_NOT_DELETED',
            'USER_NAME_TAKEN',
            'EXTERNAL_ID_TAKEN',
            'ACCOUNT_LIMIT',
            'QUOTA_EXHAUSTED',
          ],
        }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      await writeAs(db, request, (tx, caller) => restoreUser(tx, caller, id, request.query.tenantId));
      return ok(null);
    },
  );

  userSessionRoutes(app, deps);
  bulkUserRoutes(app, deps);
  userExportRoutes(app, deps);
}
