/**
 * How long things may take, and how often the service looks for work. `buildApp` accepts other values: tests lift the
 * deadlines that are not their subject, and shorten those that are.
 */
export const defaultTiming = {
  /** A response begins within this time, whatever happens below. */
  responseMs: 10_000,
  /** The same for requests that may write a hundred thousand rows. */
  bulkResponseMs: 60_000,
  /** A client has this long to send its headers and its body. */
  requestMs: 10_000,
  /** How often Node looks for clients that exceed `requestMs`. */
  requestCheckMs: 2_000,
  /** A streamed response is cut off when its client reads nothing for this long: behind it a transaction is open. */
  streamStallMs: 60_000,
  /** A streamed response is cut off after this time, however slowly its client reads. */
  streamTotalMs: 300_000,
  /** A request waits this long for its turn among the large trees; shorter than `responseMs`. */
  streamQueueMs: 8_000,
  /** A login waits this long for other attempts on the same account to be decided. */
  loginQueueMs: 7_000,
  /** A read of the past waits this long for transactions that began before that moment. */
  historyWaitMs: 5_000,
  /** How often subscribers of the change feed are checked for new changes, by one statement for all of them. */
  feedPollMs: 250,
  /** An event stream sends a comment after this silence, so that no proxy takes the connection for dead. */
  streamHeartbeatMs: 15_000,
  /** How often the ledger is sealed. */
  sealMs: 1_000,
  /** How often the database is asked for webhook messages that are due. */
  webhookPollMs: 500,
  /** A webhook's receiver has this long to respond. */
  webhookResponseMs: 10_000,
  /** At a stop, a caller without a request in flight has this long to send another; then the connection is closed. */
  lastRequestsMs: 500,
  /** At a stop, requests in flight have this long. What is open then belongs to a caller that does not finish it. */
  lastAnswersMs: 9_000,
  /** A node has a webhook to itself for this long, longer than an attempt and its transaction take. Beyond it is dead. */
  webhookLeaseMs: 30_000,
};

export type Timing = Readonly<typeof defaultTiming>;

declare module 'fastify' {
  interface FastifyInstance {
    timing: Timing;
  }
}
