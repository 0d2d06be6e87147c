import Type from 'typebox';
import type { App, Dependencies } from '../context.ts';
import { ok } from '../http/envelope.ts';
import { responses } from '../http/openapi.ts';
import { version } from '../version.ts';

const shared = { tags: ['Operations'], security: [] };
const HealthStatus = (status: string) => Type.Object({ status: Type.Literal(status) });

/** Health checks are exempt from load shedding. */
const healthCheck = { isHealthCheck: true };

/** Routes for operators. They need no token, so they reveal nothing confidential. */
export function healthRoutes(app: App, { db }: Dependencies): void {
  app.get(
    '/health/live',
    {
      config: healthCheck,
      schema: {
        ...shared,
        operationId: 'isLive',
        summary: 'Liveness: the process responds',
        response: responses('static', { data: HealthStatus('live') }),
      },
    },
    async () => ok({ status: 'live' as const }),
  );

  app.get(
    '/health/ready',
    {
      config: healthCheck,
      schema: {
        ...shared,
        operationId: 'isReady',
        summary: 'Readiness: the database responds',
        response: responses('public', { data: HealthStatus('ready') }),
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
        summary: 'Read the version of the service',
        response: responses('static', { data: Type.Object({ name: Type.Literal('banyan'), version: Type.String() }) }),
      },
    },
    async () => ok({ name: 'banyan' as const, version }),
  );
}
