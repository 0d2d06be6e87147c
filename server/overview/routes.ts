import { readAs } from '../auth/caller.ts';
import type { App, Parts } from '../context.ts';
import { ok } from '../http/envelope.ts';
import { authenticated, responses } from '../http/openapi.ts';
import { readOverview } from './overview.ts';
import { Overview } from './schema.ts';

export function overviewRoutes(app: App, { db }: Parts): void {
  app.get(
    '/system/overview-api',
    {
      schema: {
        ...authenticated,
        tags: ['Tenants'],
        operationId: 'readOverview',
        summary: "Summarize the caller's tenant, and list descendants that need attention",
        description:
          'Any user. `endingSoon`: own tenant and descendants that end within 60 days or ended within the last 30; ' +
          '`full`: descendants that use at least 80 % of their accounts. At most 20 each; empty for members.',
        response: responses('guarded', { data: Overview }),
      },
    },
    async (request) => ok(await readAs(db, request, 'user', readOverview)),
  );
}
