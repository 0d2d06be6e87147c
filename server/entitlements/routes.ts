import { readAs } from '../auth/caller.ts';
import type { App, Dependencies } from '../context.ts';
import { conditionalReadHeaders, okWithEtag } from '../http/etag.ts';
import { responses } from '../http/openapi.ts';
import { readEntitlements } from './entitlements.ts';
import { EntitlementFilter, Entitlements } from './schema.ts';

export function entitlementRoutes(app: App, { db }: Dependencies): void {
  app.get(
    '/system/entitlement-api',
    {
      config: { requires: 'tenant:read', allowsSelf: true },
      schema: {
        tags: ['Tenants'],
        operationId: 'readEntitlements',
        summary: 'Read what a tenant and a user may use: service, menus, rules, quotas, roles, departments',
        description: 'Another user also requires `user:read`.',
        querystring: EntitlementFilter,
        headers: conditionalReadHeaders,
        response: responses('authenticated', {
          data: Entitlements,
          etag: true,
          errors: ['OTHER_TENANT', 'USER_NOT_FOUND', 'PATHS_TOO_LONG'],
        }),
      },
    },
    async (request, reply) =>
      okWithEtag(reply, await readAs(db, request, (tx, caller) => readEntitlements(tx, caller, request.query))),
  );
}
