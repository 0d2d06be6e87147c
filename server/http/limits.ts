import { getHeapStatistics } from 'node:v8';

/** Limits of one process. `buildApp` accepts other values: tests of a limit pass a small one. */
export const defaultLimits = {
  /** Requests in flight: as many as the process completes in half a second, but at least `min` and at most `max`. */
  requests: { min: 200, max: 1_000 },
  /** Long-polling clients and event streams. They take no request slot, but a connection and some memory. */
  subscriptions: 1_000,
  connections: 10_000,
  /** Pipelined requests that wait for earlier ones of their connections, over all connections. */
  pipelined: 10_000,
  /** Bytes of responses that clients have not read yet, beyond what the operating system buffers. */
  unsentBytes: 268_435_456,
  /**
   * Bytes of request bodies that are still arriving: the service holds them in memory, and many callers are not authenticated
   * yet.
   */
  arrivingBytes: 268_435_456,
  /**
   * Bytes of memory that the files of imports, their rows and what is to be written may take: at most half of the heap, the limit
   * of which depends on the memory of the machine or container.
   */
  importBytes: Math.min(2_147_483_648, getHeapStatistics().heap_size_limit / 2),
};

export type Limits = Readonly<typeof defaultLimits>;

/** The largest body of a bulk request: ten thousand records with all of their fields. Other requests have the default limit. */
export const BULK_BODY_LIMIT = 8_388_608;
