import type { FastifyRequest } from 'fastify';

/** An answer comes within this time, whatever happens below. */
export const DEADLINE_MS = 10_000;
/** Or within this, where one request may write a hundred thousand rows. */
const LONG_MS = 60_000;

export const deadlineOf = ({ routeOptions }: FastifyRequest): number =>
  routeOptions.config?.writesMany ? LONG_MS : DEADLINE_MS;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A whole branch, in one request. */
    writesMany?: boolean;
  }
}
