import Type from 'typebox';
import { readInRequestedTenant } from '../access/requested-tenant.ts';
import type { App, Dependencies } from '../context.ts';
import { ok } from '../http/envelope.ts';
import { responses } from '../http/openapi.ts';
import { SearchFilter, SearchHit } from './schema.ts';
import { createSearch } from './search.ts';

export function searchRoutes(app: App, { db }: Dependencies): void {
  const search = createSearch();
  app.get(
    '/system/search-api',
    {
      config: { requires: 'dept:read' },
      schema: {
        tags: ['Departments'],
        operationId: 'search',
        summary: 'Search departments, users and tenants',
        querystring: SearchFilter,
        response: responses('authenticated', { data: Type.Array(SearchHit), errors: ['OTHER_TENANT'] }),
      },
    },
    async (request) => ok(await readInRequestedTenant(db, request, (tx, caller) => search(tx, caller, request.query))),
  );
}
