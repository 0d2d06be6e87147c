import { fairnessKeyOf, prepareAndWrite, readAs, writeAs } from '../auth/caller.ts';
import { hashNewPassword } from '../auth/password-policy.ts';
import type { App, Dependencies } from '../context.ts';
import { created, ok } from '../http/envelope.ts';
import { apiError } from '../http/errors.ts';
import {
  conditionalReadHeaders,
  conditionalWriteHeaders,
  etagOf,
  ifMatchOf,
  okWithEtag,
  writeHeaders,
} from '../http/etag.ts';
import { IdPath } from '../http/fields.ts';
import { responses } from '../http/openapi.ts';
import { PATCH_TYPES, pathId } from '../http/validation.ts';
import { resolvePointInTime } from '../ledger/point-in-time.ts';
import { AsOf } from '../ledger/schema.ts';
import { createSheetSender } from '../spreadsheets/sending.ts';
import { readSheetPage, tenantSheet } from './export.ts';
import { readTenantAt } from './history.ts';
import {
  MAX_TREE_SIZE,
  Tenant,
  TenantExportFilter,
  TenantFilter,
  TenantInput,
  TenantNode,
  TenantPage,
  TenantPatch,
  TenantUpdate,
  TreeFilter,
} from './schema.ts';
import {
  createTenant,
  listTenants,
  patchTenant,
  readTenant,
  readTenantTree,
  removeTenant,
  restoreTenant,
  updateTenant,
} from './tenants.ts';

const path = '/system/tenant-api';
const shared = { tags: ['Tenants'] };

export function tenantRoutes(app: App, deps: Dependencies): void {
  const { db } = deps;
  const maxLevels = deps.config.tenantLevels;
  const sendSheet = createSheetSender();
  app.post(
    path,
    {
      config: { requires: 'tenant:write', ignoresUnknownParameters: true },
      schema: {
        ...shared,
        operationId: 'createTenant',
        summary: 'Create a child tenant',
        description:
          'Creates a child of `tenantParent`, by default the caller’s own tenant. `username` and `password` also create its ' +
          'first administrator.',
        headers: writeHeaders,
        body: TenantInput,
        response: responses('authenticated', {
          writes: 'unconditional',
          location: true,
          errors: [
            'TENANT_PARENT_NOT_FOUND',
            'TENANT_PARENT_FORBIDDEN',
            'TOO_DEEP',
            'USER_NAME_RESERVED',
            'PASSWORD_TOO_COMMON',
            'PASSWORD_HAS_NAME',
            'ACCOUNT_LIMIT',
            'QUOTA_EXHAUSTED',
          ],
          alternativeTexts: ['ACCOUNT_LIMIT'],
        }),
      },
    },
    async (request, reply) => {
      const { username, password: text } = request.body;
      if (username != null && text == null) throw apiError('FIELD_REQUIRED', { field: 'password' });
      if (username == null && text != null) throw apiError('FIELD_REQUIRED', { field: 'username' });
      const id = await prepareAndWrite(
        db,
        request,
        async () =>
          text == null ? undefined : hashNewPassword((each) => deps.passwords.hash(each, fairnessKeyOf(request)), text),
        (tx, caller, password) => createTenant(tx, caller, request.body, { password, maxLevels }),
      );
      return created(reply, `${path}/${id}`);
    },
  );

  app.get(
    `${path}/list`,
    {
      config: { requires: 'tenant:read' },
      schema: {
        ...shared,
        operationId: 'listTenants',
        summary: "List the caller's tenant and its descendants",
        description: 'A page with a cursor ends early when it would exceed 10 MB; a numbered page is then rejected.',
        querystring: TenantFilter,
        response: responses('authenticated', { data: TenantPage, errors: ['ANSWER_TOO_LARGE'] }),
      },
    },
    async (request) => ok(await readAs(db, request, (tx, caller) => listTenants(tx, caller, request.query))),
  );

  app.get(
    `${path}/export`,
    {
      config: { requires: 'export' },
      schema: {
        ...shared,
        operationId: 'exportTenants',
        summary: "Export the caller's tenant and its descendants as a spreadsheet",
        description: 'Takes the filters of the list.',
        querystring: TenantExportFilter,
        response: responses('authenticated', { file: true }),
      },
    },
    (request, reply) =>
      sendSheet(request, reply, tenantSheet, (cursor) =>
        readAs(db, request, (tx, caller) => readSheetPage(tx, caller, request.query, cursor)),
      ),
  );

  app.get(
    `${path}/tree`,
    {
      config: { requires: 'tenant:read' },
      schema: {
        ...shared,
        operationId: 'readTenantTree',
        summary: "Read the caller's tenant and its descendants as a tree",
        description: `Up to ${MAX_TREE_SIZE} tenants, children sorted by id.`,
        querystring: TreeFilter,
        response: responses('authenticated', {
          data: TenantNode,
          errors: ['TENANT_NOT_FOUND', 'TENANT_TREE_TOO_LARGE'],
        }),
      },
    },
    async (request) => ok(await readAs(db, request, (tx, caller) => readTenantTree(tx, caller, request.query))),
  );

  app.get(
    `${path}/:id`,
    {
      config: { requires: 'tenant:read', ignoresUnknownParameters: true },
      schema: {
        ...shared,
        operationId: 'readTenant',
        summary: 'Read a tenant by its internal id',
        description: 'Only the caller’s own tenant and its descendants can be read.',
        headers: conditionalReadHeaders,
        params: IdPath,
        querystring: AsOf,
        response: responses('authenticated', {
          data: Tenant,
          etag: true,
          errors: ['TENANT_NOT_FOUND', 'HISTORY_NOT_KEPT'],
        }),
      },
    },
    async (request, reply) => {
      const id = pathId(request.params.id);
      const { asOf } = request.query;
      if (asOf !== undefined) {
        const time = await resolvePointInTime(deps, request, asOf);
        const past = await readAs(db, request, (tx, caller) => readTenantAt(tx, caller, id, time));
        return okWithEtag(reply, { data: past, etag: etagOf(past) });
      }
      return okWithEtag(reply, await readAs(db, request, (tx, caller) => readTenant(tx, caller, id)));
    },
  );

  app.put(
    path,
    {
      config: { requires: 'tenant:write', ignoresUnknownParameters: true },
      schema: {
        ...shared,
        operationId: 'updateTenant',
        summary: 'Replace a tenant, or move it',
        description: 'Only from an ancestor tenant.',
        headers: conditionalWriteHeaders,
        body: TenantUpdate,
        response: responses('authenticated', {
          writes: 'conditional',
          errors: [
            'OWN_TENANT',
            'TENANT_NOT_FOUND',
            'TENANT_PARENT_NOT_FOUND',
            'TENANT_PARENT_FORBIDDEN',
            'TENANT_CYCLE',
            'QUOTA_EXHAUSTED',
            'TOO_DEEP',
          ],
        }),
      },
    },
    async (request) => {
      await writeAs(db, request, (tx, caller) =>
        updateTenant(tx, caller, request.body, { ifMatch: ifMatchOf(request), maxLevels }),
      );
      return ok(null);
    },
  );

  app.patch(
    `${path}/:id`,
    {
      config: { requires: 'tenant:write' },
      schema: {
        ...shared,
        operationId: 'patchTenant',
        summary: 'Change some fields of a tenant',
        description: 'Only from an ancestor tenant. A JSON merge patch (RFC 7396).',
        consumes: PATCH_TYPES,
        headers: conditionalWriteHeaders,
        params: IdPath,
        body: TenantPatch,
        response: responses('authenticated', {
          writes: 'conditional',
          errors: [
            'OWN_TENANT',
            'TENANT_NOT_FOUND',
            'TENANT_PARENT_NOT_FOUND',
            'TENANT_PARENT_FORBIDDEN',
            'TENANT_CYCLE',
            'QUOTA_EXHAUSTED',
            'TOO_DEEP',
          ],
        }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      await writeAs(db, request, (tx, caller) =>
        patchTenant(tx, caller, id, request.body, { ifMatch: ifMatchOf(request), maxLevels }),
      );
      return ok(null);
    },
  );

  app.delete(
    `${path}/:id`,
    {
      config: { requires: 'tenant:write', ignoresUnknownParameters: true },
      schema: {
        ...shared,
        operationId: 'deleteTenant',
        summary: 'Delete a tenant',
        description:
          'Only from an ancestor tenant. The users of the deleted tenant can no longer log in; its records are kept.',
        headers: conditionalWriteHeaders,
        params: IdPath,
        response: responses('authenticated', {
          writes: 'conditional',
          errors: ['OWN_TENANT', 'TENANT_NOT_FOUND', 'TENANT_HAS_CHILDREN'],
        }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      await writeAs(db, request, (tx, caller) => removeTenant(tx, caller, id, ifMatchOf(request)));
      return ok(null);
    },
  );

  app.post(
    `${path}/:id/restore`,
    {
      config: { requires: 'tenant:write' },
      schema: {
        ...shared,
        operationId: 'restoreTenant',
        summary: 'Restore a deleted tenant',
        description:
          'Only from an ancestor tenant. The tenant returns to its previous parent, with its departments and users.',
        headers: writeHeaders,
        params: IdPath,
        response: responses('authenticated', {
          writes: 'unconditional',
          errors: ['TENANT_NOT_FOUND', 'TENANT_NOT_DELETED', 'TENANT_PARENT_GONE', 'TOO_DEEP', 'QUOTA_EXHAUSTED'],
        }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      await writeAs(db, request, (tx, caller) => restoreTenant(tx, caller, id, { maxLevels }));
      return ok(null);
    },
  );
}
