import type { FastifyRequest } from 'fastify';

/** An answer comes within this time, whatever happens below. */
export const DEADLINE_MS = 10_000;
/** Or within this, where one request may write a hundred thousand rows. */
const LONG_MS = 60_000;

export const deadlineOf = (request: FastifyRequest): number =>
  request.routeOptions.config?.writesMany?.(request) ? LONG_MS : DEADLINE_MS;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a request may write a whole branch. */
    writesMany?: (request: FastifyRequest) => boolean;
  }
}
