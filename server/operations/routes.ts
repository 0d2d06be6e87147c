import Type from 'typebox';
import type { App, Parts } from '../app.ts';
import { ok } from '../http/envelope.ts';
import { answers } from '../http/openapi.ts';
import { version } from '../version.ts';

const shared = { tags: ['Operations'], security: [] };
const State = (state: string) => Type.Object({ status: Type.Literal(state) });

/** For whoever runs the service: open, and telling nothing that others may not know. */
export function operationRoutes(app: App, { db }: Parts): void {
  app.get(
    '/health/live',
    {
      schema: {
        ...shared,
        operationId: 'isLive',
        summary: 'The process answers',
        response: answers('public', { data: State('live') }),
      },
    },
    async () => ok({ status: 'live' as const }),
  );

  app.get(
    '/health/ready',
    {
      schema: {
        ...shared,
        operationId: 'isReady',
        summary: 'The service can work: the database answers',
        response: answers('open', { data: State('ready') }),
      },
    },
    async () => {
      await db.use((sql) => sql`select 1`);
      return ok({ status: 'ready' as const });
    },
  );

  app.get(
    '/version',
    {
      schema: {
        ...shared,
        operationId: 'readVersion',
        summary: 'Version of the service',
        response: answers('public', { data: Type.Object({ name: Type.Literal('banyan'), version: Type.String() }) }),
      },
    },
    async () => ok({ name: 'banyan' as const, version }),
  );
}
