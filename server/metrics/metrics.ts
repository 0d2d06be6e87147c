import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CollectFunction, Counter, Gauge, MetricObjectWithValues, MetricValue } from 'prom-client';
import type { Database } from '../../db/connect.ts';
import { loggedStatusOf } from '../http/access-log.ts';
import type { Connections } from '../http/connections.ts';
import type { LoadShedder } from '../http/load-shedding.ts';

/** The metrics of one process, as it sends them to the process that adds them up. */
export type Snapshot = MetricObjectWithValues<MetricValue<string>>[];

/**
 * Counts what one process does, for /metrics. It exists only if metrics are switched on. No label contains a tenant, a user, an id
 * or anything else that a caller chooses, so the number of series is limited.
 */
export interface Metrics {
  observeResponse(request: FastifyRequest, reply: FastifyReply): void;
  /** Returns a function that counts a batch of this operation and its size. */
  batchObserver(operation: BatchedOperation): (size: number) => void;
  countLogin(outcome: LoginOutcome): void;
  countWebhookAttempt(outcome: 'delivered' | 'failed'): void;
  /** Returns a function that counts scheduled backups. Only the process that takes them calls it. */
  backupCounter(): CountBackup;
  /** Adds figures that are read only when metrics are collected, so they cost nothing in between. */
  watchProcess(parts: ProcessParts): void;
  /** The same for the cache of paths. */
  watchPathCache(cache: PathCacheUsage): void;
  snapshot(): Promise<Snapshot>;
}

export type BatchedOperation = 'department_read' | 'department_create' | 'quota_use';
export type CountBackup = (outcome: 'complete' | 'failed') => void;
export type LoginOutcome = 'success' | 'failed' | 'inactive' | 'throttled' | 'busy' | 'error';

interface ProcessParts {
  db: Database;
  loadShedder: LoadShedder;
  connections: Connections;
  passwords: { countWaiting(): { logins: number; hashing: number } };
}

interface PathCacheUsage {
  lookups: { hits: number; misses: number };
  size(): { bytes: number; tenants: number };
}

const LATENCY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const BATCH_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 200, 500];
/** The label of a path that is not an operation, such as a file of the console. */
const UNMATCHED = 'unmatched';
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

export async function createMetrics(): Promise<Metrics> {
  // Load the library dynamically: a service without metrics does not need it.
  const { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } = await import('prom-client');
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  // These gauges have the suffix of a counter, and list all handles of the process only to count them.
  for (const name of ['handles', 'requests', 'resources']) {
    registry.removeSingleMetric(`nodejs_active_${name}`);
    registry.removeSingleMetric(`nodejs_active_${name}_total`);
  }
  const durations = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Time from the arrival of the headers of a request to the end of its response.',
    labelNames: ['http_request_method', 'http_route', 'http_response_status_code'],
    buckets: LATENCY_BUCKETS,
    registers,
  });
  const batches = new Histogram({
    name: 'banyan_batch_size',
    help: 'Requests that share one statement or transaction, by operation.',
    labelNames: ['operation'],
    buckets: BATCH_BUCKETS,
    registers,
  });
  const logins = new Counter({
    name: 'banyan_logins_total',
    help: 'Logins with a password, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  const attempts = new Counter({
    name: 'banyan_webhook_attempts_total',
    help: 'Messages sent to webhooks, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  const backups = new Counter({
    name: 'banyan_backups_total',
    help: 'Scheduled backups, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  /** The histogram looks a series up by its labels each time. A request with the same labels uses the series found before. */
  const series = new Map<string, ReturnType<typeof durations.labels>>();

  /** Adds a gauge or a counter whose values are read when metrics are collected. */
  const watch = (type: typeof Gauge | typeof Counter, name: string, help: string, read: () => Values, label?: string) =>
    new type({
      name,
      help,
      registers,
      labelNames: label ? [label] : [],
      collect: collector(read, label) as CollectFunction<Gauge<string>> & CollectFunction<Counter<string>>,
    });

  return {
    observeResponse(request, reply) {
      const method = METHODS.has(request.method) ? request.method : '_OTHER';
      const route = request.routeOptions.url ?? UNMATCHED;
      const status = loggedStatusOf(reply);
      const key = `${method}${status}${route}`;
      let found = series.get(key);
      if (!found) {
        found = durations.labels(method, route, String(status));
        series.set(key, found);
      }
      found.observe(reply.elapsedTime / 1000);
    },
    batchObserver: (operation) => batches.labels(operation).observe,
    countLogin: (outcome) => logins.inc({ outcome }),
    countWebhookAttempt: (outcome) => attempts.inc({ outcome }),
    backupCounter() {
      // Start at 0: Prometheus does not see an increase if a series begins with its first failure.
      for (const outcome of ['complete', 'failed']) backups.inc({ outcome }, 0);
      return (outcome) => backups.inc({ outcome });
    },
    watchProcess({ db, loadShedder, connections, passwords }) {
      const load = () => loadShedder.usage();
      const pool = () => db.usage();
      watch(Gauge, 'banyan_request_slots_in_use', 'Requests in flight.', () => load().slots.held);
      watch(
        Gauge,
        'banyan_request_slots_limit',
        'Requests in flight beyond which load is shed.',
        () => load().slots.limit,
      );
      watch(
        Counter,
        'banyan_requests_shed_total',
        'Requests rejected with TOO_BUSY because there was no room.',
        () => load().shed,
        'reason',
      );
      watch(
        Gauge,
        'banyan_subscriptions',
        'Long-polling clients and event streams.',
        () => load().subscriptions,
        'kind',
      );
      watch(Gauge, 'banyan_http_connections', 'Open connections of clients.', () => connections.usage().open);
      watch(
        Gauge,
        'banyan_queue_length',
        'Work that waits for its turn, by queue.',
        () => ({
          ...passwords.countWaiting(),
          reads: db.reads.countWaiting(),
          writes: db.writes.countWaiting(),
          pipelined: connections.usage().waiting,
          rejections: load().waitingRejections,
        }),
        'queue',
      );
      watch(Gauge, 'banyan_db_connections_max', 'Connections that the pool may open.', () => db.size);
      watch(Gauge, 'banyan_db_connections_open', 'Connections of the pool.', () => pool().open);
      watch(Gauge, 'banyan_db_connections_in_use', 'Connections of the pool in use.', () => pool().inUse);
      watch(Gauge, 'banyan_db_connections_waiting', 'Work that waits for a connection.', () => pool().waiting);
      watch(Counter, 'banyan_db_connections_opened_total', 'Connections opened so far, attempts included.', () =>
        db.connectionsOpened(),
      );
    },
    watchPathCache({ lookups, size }) {
      watch(Counter, 'banyan_path_cache_hits_total', 'Paths found in the cache.', () => lookups.hits);
      watch(Counter, 'banyan_path_cache_misses_total', 'Paths read from the database.', () => lookups.misses);
      watch(Gauge, 'banyan_path_cache_bytes', 'Approximate size of the cached paths.', () => size().bytes);
      watch(Gauge, 'banyan_path_cache_tenants', 'Tenants with cached paths.', () => size().tenants);
    },
    async snapshot() {
      const metrics = await registry.getMetricsAsJSON();
      // Copies: the values of counters and gauges are the objects in which the library counts.
      return metrics.map((metric) => ({
        ...metric,
        aggregator: aggregatorOf(metric),
        values: metric.values.map((value) => ({ ...value, value: roundForSums(value.value) })),
      }));
    },
  };
}

type Values = number | Record<string, number>;

/** Returns a function that sets a metric to the values that it reads. A counter can only be reset and then increased. */
const collector = (read: () => Values, label = '') =>
  function (this: Gauge<string> & Counter<string>): void {
    this.reset();
    const values = read();
    if (typeof values === 'number') this.inc(values);
    else for (const [name, value] of Object.entries(values)) this.inc({ [label]: name }, value);
  };

/**
 * Rounds to multiples of 2^-20, about a millionth, which add up without rounding errors up to 2^33. Otherwise the sum of several
 * processes would depend on their order, and could fall by a rounding error when one of them exits.
 */
const roundForSums = (value: number): number => Math.round(value * 2 ** 20) / 2 ** 20;

/** How the values of several processes become one: a delay of one worker must not disappear in an average. */
function aggregatorOf({ name, aggregator }: Snapshot[number]): Snapshot[number]['aggregator'] {
  if (name === 'nodejs_eventloop_lag_min_seconds' || name === 'process_start_time_seconds') return 'min';
  return name.startsWith('nodejs_eventloop_lag_') ? 'max' : aggregator;
}
