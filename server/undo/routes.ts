import type { App, Parts } from '../app.ts';
import { writeAs } from '../auth/caller.ts';
import { ok } from '../http/envelope.ts';
import { IdPath } from '../http/fields.ts';
import { answers, guarded } from '../http/openapi.ts';
import { writeHeaders } from '../http/preconditions.ts';
import { pathId } from '../http/validation.ts';
import { InTenant } from '../users/schema.ts';
import { restoreDepartment, restoreTenant, restoreUser } from './restore.ts';
import { revertChange } from './revert.ts';
import { RestoreInput } from './schema.ts';

export function undoRoutes(app: App, { db }: Parts): void {
  app.post(
    '/system/dept-api/:id/restore',
    {
      config: { writesMany: () => true },
      schema: {
        ...guarded,
        tags: ['Departments'],
        operationId: 'restoreDepartment',
        summary: 'Restore a deleted department with its branch',
        description:
          'Administrators. With all that was deleted by the same request and lies below it; to where it was, or below ' +
          'the parent that is named.',
        headers: writeHeaders,
        params: IdPath,
        body: RestoreInput,
        response: answers('guarded', {
          writes: 'new',
          reasons: [
            'NOT_ALLOWED',
            'DEPT_NOT_FOUND',
            'DEPT_NOT_DELETED',
            'PARENT_GONE',
            'PARENT_NOT_FOUND',
            'PARENT_DISABLED',
            'DEPT_CYCLE',
          ],
        }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      await writeAs(db, request, 'administrator', (tx, caller) => restoreDepartment(tx, caller, id, request.body));
      return ok(null);
    },
  );

  app.post(
    '/system/user-api/:id/restore',
    {
      schema: {
        ...guarded,
        tags: ['Users'],
        operationId: 'restoreUser',
        summary: 'Restore a deleted user',
        description:
          'Administrators: of their own tenant, or with `tenantId` of one below. He has the password he had, and those ' +
          'of his departments that are still there; his sessions stay ended.',
        headers: writeHeaders,
        params: IdPath,
        querystring: InTenant,
        response: answers('guarded', {
          writes: 'new',
          reasons: [
            'NOT_ALLOWED',
            'OTHER_TENANT',
            'USER_NOT_FOUND',
            'USER_NOT_DELETED',
            'USER_NAME_TAKEN',
            'ACCOUNT_LIMIT',
          ],
        }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      await writeAs(db, request, 'administrator', (tx, caller) => restoreUser(tx, caller, id, request.query.tenantId));
      return ok(null);
    },
  );

  app.post(
    '/system/tenant-api/:id/restore',
    {
      schema: {
        ...guarded,
        tags: ['Tenants'],
        operationId: 'restoreTenant',
        summary: 'Restore a deleted tenant',
        description: 'Administrators of a tenant above. To where it was; its departments and users are as they were.',
        headers: writeHeaders,
        params: IdPath,
        response: answers('guarded', {
          writes: 'new',
          reasons: ['NOT_ALLOWED', 'TENANT_NOT_FOUND', 'TENANT_NOT_DELETED', 'TENANT_PARENT_GONE'],
        }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      await writeAs(db, request, 'administrator', (tx, caller) => restoreTenant(tx, caller, id));
      return ok(null);
    },
  );

  app.post(
    '/system/change-api/:id/revert',
    {
      config: { writesMany: () => true },
      schema: {
        ...guarded,
        tags: ['Changes'],
        operationId: 'revertChange',
        summary: 'Revert a change',
        description:
          'Administrators. Reverses all that one request did, by the id of any of its changes: all of it or nothing. ' +
          'Refused when something later contradicts it, and names that. A revert is a change, and can be reverted.',
        headers: writeHeaders,
        params: IdPath,
        querystring: InTenant,
        response: answers('guarded', {
          writes: 'new',
          reasons: [
            'NOT_ALLOWED',
            'OTHER_TENANT',
            'CHANGE_NOT_FOUND',
            'CHANGE_CONTRADICTED',
            'CHANGE_IRREVERSIBLE',
            'CHANGE_TOO_OLD',
            'PARENT_GONE',
            'PARENT_DISABLED',
            'DEPT_CYCLE',
            'DEPT_HAS_CHILDREN',
            'DEPT_HAS_USERS',
            'USER_DEPT_GONE',
            'USER_NAME_TAKEN',
            'ACCOUNT_LIMIT',
            'LAST_ADMINISTRATOR',
            'OWN_USER',
            'OWN_TENANT',
            'TENANT_NOT_FOUND',
            'TENANT_HAS_CHILDREN',
            'TENANT_CYCLE',
            'TENANT_PARENT_GONE',
            'TENANT_PARENT_FORBIDDEN',
          ],
        }),
      },
    },
    async (request) => {
      const id = pathId(request.params.id);
      await writeAs(db, request, 'administrator', (tx, caller) => revertChange(tx, caller, id, request.query.tenantId));
      return ok(null);
    },
  );
}
