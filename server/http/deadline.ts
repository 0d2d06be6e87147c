import type { FastifyRequest } from 'fastify';

/** Milliseconds from the arrival of a request to its response. */
export const deadlineOf = (request: FastifyRequest): number => {
  const { responseMs, bulkResponseMs } = request.server.timing;
  return request.routeOptions.config?.writesMany?.(request) ? bulkResponseMs : responseMs;
};

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a request may write a whole branch. */
    writesMany?: (request: FastifyRequest) => boolean;
  }
}
