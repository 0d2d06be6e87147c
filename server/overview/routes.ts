import type { App, Parts } from '../app.ts';
import { readAs } from '../auth/caller.ts';
import { ok } from '../http/envelope.ts';
import { answers, guarded } from '../http/openapi.ts';
import { readOverview } from './overview.ts';
import { Overview } from './schema.ts';

export function overviewRoutes(app: App, { db }: Parts): void {
  app.get(
    '/system/overview-api',
    {
      schema: {
        ...guarded,
        tags: ['Tenants'],
        operationId: 'readOverview',
        summary: "How the caller's tenant stands, and which below need attention",
        description:
          'Any user. `endingSoon`: own tenant and those below that end within 60 days or ended within the last 30; ' +
          '`full`: tenants below that have used 80 % of their accounts. Up to 20 each, for members none.',
        response: answers('guarded', { data: Overview }),
      },
    },
    async (request) => ok(await readAs(db, request, 'user', readOverview)),
  );
}
