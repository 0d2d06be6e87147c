import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { App, Dependencies } from '../context.ts';
import { ok, sendError, toApiError } from '../http/envelope.ts';
import { responses } from '../http/openapi.ts';
import { version } from '../version.ts';
import { createWritableCheck } from './writable.ts';

const shared = { tags: ['Operations'], security: [] };
const HealthStatus = (status: string) => Type.Object({ status: Type.Literal(status) });

/** Health checks are exempt from load shedding. */
const healthCheck = { needsNoSlot: true };

/** Routes for operators. They need no token, so they reveal nothing confidential. */
export function healthRoutes(app: App, { db, config }: Dependencies): void {
  const assertWritable = createWritableCheck(db);
  // Load balancers look at the HTTP status only, so BANYAN_ERROR_STATUS does not apply here.
  const errorHandler = (error: unknown, request: FastifyRequest, reply: FastifyReply) =>
    sendError(toApiError(error, request), request, reply, { ...config, errorStatus: 'http' });

  app.get(
    '/health/live',
    {
      config: healthCheck,
      errorHandler,
      schema: {
        ...shared,
        operationId: 'isLive',
        summary: 'Liveness: the process responds',
        response: responses('public', { data: HealthStatus('live') }),
      },
    },
    async () => ok({ status: 'live' as const }),
  );

  app.get(
    '/health/ready',
    {
      config: healthCheck,
      errorHandler,
      schema: {
        ...shared,
        operationId: 'isReady',
        summary: 'Readiness: the database responds and takes writes',
        response: responses('public', { data: HealthStatus('ready') }),
      },
    },
    async () => {
      await assertWritable();
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
        response: responses('public', { data: Type.Object({ name: Type.Literal('banyan'), version: Type.String() }) }),
      },
    },
    async () => ok({ name: 'banyan' as const, version }),
  );
}
