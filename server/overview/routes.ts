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
        summary: "Summarize the caller's tenant and its descendants",
        description:
          '`endingSoon`: tenants whose service ends within 60 days or ended in the last 30. `full`: descendants that use at ' +
          'least 80 % of their account limit. At most 20 of each; none for members.',
        response: responses('authenticated', { data: Overview }),
      },
    },
    async (request) => ok(await readAs(db, request, readOverview)),
  );
}
