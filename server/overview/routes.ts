import { readAs } from '../auth/caller.ts';
import type { App, Dependencies } from '../context.ts';
import { ok } from '../http/envelope.ts';
import { responses } from '../http/openapi.ts';
import { readOverview } from './overview.ts';
import { Overview } from './schema.ts';

export function overviewRoutes(app: App, { db }: Dependencies): void {
  app.get(
    '/system/overview-api',
    {
      config: { requires: 'dept:read' },
      schema: {
        tags: ['Tenants'],
        operationId: 'readOverview',
        summary: "Summarize the caller's tenant, and list descendants that need attention",
        description:
          "`endingSoon` lists the caller's tenant and its descendants whose service period ends within 60 days " +
          'or ended within the last 30 days. `full` lists descendants that use at least 80 % of their account limit. Each ' +
          'list has at most 20 entries and is empty for members.',
        response: responses('authenticated', { data: Overview }),
      },
    },
    async (request) => ok(await readAs(db, request, readOverview)),
  );
}
