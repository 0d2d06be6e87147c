import type { App, Parts } from '../app.ts';
import { readAs, writeAfter, writeAs } from '../auth/caller.ts';
import { momentOf } from '../history/moment.ts';
import { readTenantAt } from '../history/records.ts';
import { AsOf } from '../history/schema.ts';
import { created, ok } from '../http/envelope.ts';
import { IdPath } from '../http/fields.ts';
import { answers, guarded } from '../http/openapi.ts';
import { changeHeaders, etagOf, ifMatchOf, okTagged, writeHeaders } from '../http/preconditions.ts';
import { refuse } from '../http/refusals.ts';
import { pathId } from '../http/validation.ts';
import {
  MAX_TREE,
  Tenant,
  TenantFilter,
  TenantInput,
  TenantNode,
  TenantPage,
  TenantUpdate,
  TreeFilter,
} from './schema.ts';
import { createTenant, listTenants, readTenant, readTenantTree, removeTenant, updateTenant } from './tenants.ts';

const path = '/system/tenant-api';
const shared = { ...guarded, tags: ['Tenants'] };

export function tenantRoutes(app: App, parts: Parts): void {
  const { db } = parts;
  app.post(
    path,
    {
      schema: {
        ...shared,
        operationId: 'createTenant',
        summary: 'Create a child tenant',
        description:
          'Administrators, below their own tenant. With `username` and `password`, its first administrator is made too.',
        headers: writeHeaders,
        body: TenantInput,
        response: answers('guarded', {
          writes: 'new',
          location: true,
          reasons: ['NOT_ALLOWED', 'TENANT_PARENT_NOT_FOUND', 'TENANT_PARENT_FORBIDDEN', 'ACCOUNT_LIMIT'],
          otherwise: ['ACCOUNT_LIMIT'],
          body: true,
        }),
      },
    },
    async (request, reply) => {
      const { username, password } = request.body;
      if (username != null && password == null) throw refuse('FIELD_REQUIRED', { field: 'password' });
      if (username == null && password != null) throw refuse('FIELD_REQUIRED', { field: 'username' });
      const id = await writeAfter(
        db,
        request,
        'administrator',
        async () => (password == null ? undefined : parts.passwords.hash(password)),
        (tx, caller, passwordHash) => createTenant(tx, caller, request.body, passwordHash),
      );
      return created(reply, `${path}/${id}`);
    },
  );

  app.get(
    `${path}/list`,
    {
      schema: {
        ...shared,
        operationId: 'listTenants',
        summary: "List the caller's tenant and those below",
        description: 'Administrators. Sorted by id, which is the order of creation.',
        querystring: TenantFilter,
        response: answers('guarded', { data: TenantPage, reasons: ['NOT_ALLOWED'] }),
      },
    },
    async (request) =>
      ok(await readAs(db, request, 'administrator', (tx, caller) => listTenants(tx, caller, request.query))),
  );

  app.get(
    `${path}/tree`,
    {
      schema: {
        ...shared,
        operationId: 'readTenantTree',
        summary: "Read the tree of the caller's tenant and those below",
        description: `Administrators. Up to ${MAX_TREE} tenants, children in the order of ids.`,
        querystring: TreeFilter,
        response: answers('guarded', {
          data: TenantNode,
          reasons: ['NOT_ALLOWED', 'TENANT_NOT_FOUND', 'TENANT_TREE_TOO_LARGE'],
        }),
      },
    },
    async (request) =>
      ok(await readAs(db, request, 'administrator', (tx, caller) => readTenantTree(tx, caller, request.query))),
  );

  app.get(
    `${path}/:id`,
    {
      schema: {
        ...shared,
        operationId: 'readTenant',
        summary: 'Read a tenant by its internal id',
        description: 'Administrators: their own tenant and those below.',
        params: IdPath,
        querystring: AsOf,
        response: answers('guarded', {
          data: Tenant,
          etag: true,
          reasons: ['NOT_ALLOWED', 'TENANT_NOT_FOUND', 'HISTORY_NOT_KEPT'],
        }),
      },
    },
    async (request, reply) => {
      const id = pathId(request.params.id);
      const { asOf } = request.query;
      if (asOf !== undefined) {
        const moment = await momentOf(parts, asOf);
        const past = await readAs(db, request, 'administrator', (tx, caller) => readTenantAt(tx, caller, id, moment));
        return okTagged(reply, { data: past, etag: etagOf(past) });
      }
      return okTagged(reply, await readAs(db, request, 'administrator', (tx, caller) => readTenant(tx, caller, id)));
    },
  );

  app.put(
    path,
    {
      schema: {
        ...shared,
        operationId: 'updateTenant',
        summary: 'Replace a tenant, and move it',
        description: 'Administrators of a tenant above it.',
        headers: changeHeaders,
        body: TenantUpdate,
        response: answers('guarded', {
          writes: 'change',
          reasons: [
            'NOT_ALLOWED',
            'OWN_TENANT',
            'TENANT_NOT_FOUND',
            'TENANT_PARENT_NOT_FOUND',
            'TENANT_PARENT_FORBIDDEN',
            'TENANT_CYCLE',
          ],
          body: true,
        }),
      },
    },
    async (request) => {
      await writeAs(db, request, 'administrator', (tx, caller) =>
        updateTenant(tx, caller, request.body, ifMatchOf(request)),
      );
      return ok(null);
    },
  );

  app.delete(
    `${path}/:id`,
    {
      schema: {
        ...shared,
        operationId: 'deleteTenant',
        summary: 'Delete a tenant',
        description: 'Administrators of a tenant above it. Nobody of it gets in any more; its records are kept.',
        headers: changeHeaders,
        params: IdPath,
        response: answers('guarded', {
          writes: 'change',
          reasons: ['NOT_ALLOWED', 'OWN_TENANT', 'TENANT_NOT_FOUND', 'TENANT_HAS_CHILDREN'],
        }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      await writeAs(db, request, 'administrator', (tx, caller) => removeTenant(tx, caller, id, ifMatchOf(request)));
      return ok(null);
    },
  );
}
