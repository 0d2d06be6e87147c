/**
 * Deadlines and intervals. `buildApp` accepts other values: tests raise the deadlines that they do not test, and shorten
 * those that they do.
 */
export const defaultTiming = {
  /** A response begins within this time, even if the database does not respond. */
  responseMs: 10_000,
  /** The same for requests that may write a hundred thousand rows. */
  bulkResponseMs: 60_000,
  /** The same for an import, and for a revert, which may undo one: each of a hundred thousand users has a row in the ledger, too. */
  importResponseMs: 300_000,
  /** A client has this long to send a file. */
  uploadMs: 120_000,
  /** A client has this long to send its headers and its body. */
  requestMs: 10_000,
  /** How often Node checks for clients that exceed `requestMs`. */
  requestCheckMs: 2_000,
  /**
   * A connection is closed when its client reads nothing of a response for this long. A slow client seems to read nothing
   * for a while, because the operating system buffers megabytes.
   */
  stallMs: 30_000,
  /**
   * A connection that the service has ended is closed after this time, even if the client does not end it. While the rest
   * of a rejected body arrives, the connection is closed when nothing has arrived for this time, and in any case after
   * `requestMs`, or `uploadMs` if the body was a file.
   */
  lingerMs: 2_000,
  /** A streamed response is aborted after this time, even if its client is still reading. */
  streamTotalMs: 300_000,
  /** The same for an export, which holds no database connection while its client reads. */
  exportTotalMs: 3_600_000,
  /** A request for a tree, an export or an import waits this long in its queue; shorter than `responseMs`. */
  streamQueueMs: 8_000,
  /** A login waits this long for a slot, and for concurrent attempts on the same account or from its address to finish. */
  loginQueueMs: 7_000,
  /** A historical read waits this long for transactions that began before the requested time. */
  historyWaitMs: 5_000,
  /** How often the database is checked for new changes, for all subscribers of the change feed together. */
  feedPollMs: 250,
  /** A page of the change feed ends after this time, even if it has found no change yet; shorter than `responseMs`. */
  feedScanMs: 3_000,
  /** An idle event stream sends a comment this often, so that proxies do not close the connection. */
  streamHeartbeatMs: 15_000,
  /** How often the ledger is sealed. */
  sealMs: 1_000,
  /** How often expired sessions and counters of failed logins are deleted. */
  loginCleanupMs: 60_000,
  /** A process records the use of an API key at most this often. The database accepts one use a minute from all processes. */
  keyUseMs: 60_000,
  /** How often the service looks for tenants whose service period ends soon. */
  noticeMs: 60_000,
  /** Figures about the database in metrics are read again after this time. */
  metricsDatabaseMs: 5_000,
  /** A scrape of metrics waits this long for the database and for each worker. Prometheus's own limit is 10 seconds. */
  metricsWaitMs: 2_000,
  /** How often the database is checked for webhook messages that are due. */
  webhookPollMs: 500,
  /** A webhook's receiver has this long to respond. */
  webhookResponseMs: 10_000,
  /** A webhook with more messages hands its slot back after this time, so that others get a turn. */
  webhookTurnMs: 5_000,
  /** During shutdown, a connection without a request in flight is closed after this time. */
  shutdownIdleMs: 500,
  /** During shutdown, requests in flight have this long to complete; the process then exits without them. */
  shutdownMs: 9_000,
  /**
   * How long a lease on a webhook lasts: longer than an attempt and its transaction take. After that, another process may take
   * over.
   */
  webhookLeaseMs: 30_000,
};

export type Timing = Readonly<typeof defaultTiming>;

declare module 'fastify' {
  interface FastifyInstance {
    timing: Timing;
  }
}
