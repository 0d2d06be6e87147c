import { createBatcher } from '../../db/batcher.ts';
import type { Database } from '../../db/connect.ts';
import type { Timing } from '../timing.ts';
import { version } from '../version.ts';
import type { Snapshot } from './metrics.ts';
import { readServiceFigures, type ServiceFigures } from './queries.ts';

export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Returns all metrics in Prometheus's text format. */
export type Scrape = () => Promise<string>;

interface ScrapeOptions {
  db: Database;
  timing: Timing;
  /** Returns the number of processes that serve requests. */
  workers: () => number;
  /** The number that is configured. */
  configuredWorkers: number;
  /** Returns the metrics of all processes of this node. */
  collect: () => Promise<Snapshot[]>;
}

/**
 * Creates the function that answers /metrics: it adds up the metrics of this node's processes, and adds figures about the
 * database, which are the same for all processes and so must not be added up. Concurrent scrapes share one result, because a
 * flood of them must not occupy the service or the database.
 */
export async function createScrape({
  db,
  timing,
  workers,
  configuredWorkers,
  collect,
}: ScrapeOptions): Promise<Scrape> {
  const { Gauge, Registry } = await import('prom-client');
  const readFigures = createFigureReader(db, timing);
  const scrape = createBatcher<undefined, string>(
    async (_key, batch) => {
      const [snapshots, figures] = await Promise.all([collect(), readFigures()]);
      const registry = new Registry();
      const add = (name: string, help: string, value: number) =>
        new Gauge({ name, help, registers: [registry] }).set(value);
      new Gauge({
        name: 'banyan_info',
        help: 'Version of the service.',
        labelNames: ['version'],
        registers: [registry],
      }).set({ version }, 1);
      add('banyan_workers', 'Processes that serve requests.', workers());
      add('banyan_workers_configured', 'Processes that should serve requests: BANYAN_WORKERS.', configuredWorkers);
      add('banyan_db_up', 'Whether the figures about the database could be read: 1 or 0.', figures ? 1 : 0);
      for (const [name, help, column] of FIGURES) if (figures) add(name, help, figures[column]);
      const text = await render([...snapshots, await registry.getMetricsAsJSON()]);
      for (const { resolve } of batch) resolve(text);
    },
    { maxInFlight: 1, maxBatchSize: Number.MAX_SAFE_INTEGER },
  );
  return () => scrape('', undefined);
}

const FIGURES: [name: string, help: string, column: keyof ServiceFigures][] = [
  ['banyan_ledger_unsealed_changes', 'Changes that are not sealed yet.', 'unsealed'],
  ['banyan_ledger_oldest_unsealed_seconds', 'Age of the oldest change that is not sealed yet.', 'unsealedSeconds'],
  ['banyan_webhook_deliveries_waiting', 'Deliveries to webhooks that are pending.', 'deliveries'],
  ['banyan_webhook_oldest_delivery_seconds', 'Age of the oldest pending delivery.', 'deliverySeconds'],
  ['banyan_webhooks_failing', 'Webhooks with pending deliveries whose last attempt failed.', 'failingWebhooks'],
  ['banyan_quotas', 'Counters of quotas.', 'quotas'],
  ['banyan_quota_reservations_open', 'Reservations that are neither confirmed, released nor expired.', 'reservations'],
];

/** Adds up metrics of several processes and renders them. */
async function render(snapshots: Snapshot[]): Promise<string> {
  const { AggregatorRegistry } = await import('prom-client');
  return AggregatorRegistry.aggregate(snapshots).metrics();
}

/**
 * Adds the last counters of a process that has exited to those of processes that exited earlier. Without them the sums of a
 * node would fall, and Prometheus would take that for a restart and count everything again.
 */
export async function addExited(exited: Snapshot, last: Snapshot): Promise<Snapshot> {
  const { AggregatorRegistry } = await import('prom-client');
  const counters = last.filter(({ type }) => ['counter', 'histogram'].includes(String(type)));
  return (await AggregatorRegistry.aggregate([exited, counters]).getMetricsAsJSON()) as Snapshot;
}

/** Reads figures about the database at most every `metricsDatabaseMs`. Returns undefined if it does not answer in time. */
function createFigureReader(db: Database, { metricsDatabaseMs, metricsWaitMs }: Timing) {
  let reading: Promise<ServiceFigures | undefined> | undefined;
  let last: ServiceFigures | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  const read = async () => {
    last = await db.use(readServiceFigures).catch(() => undefined);
    readAt = performance.now();
    reading = undefined;
    return last;
  };
  return (): Promise<ServiceFigures | undefined> => {
    if (!reading && performance.now() - readAt < metricsDatabaseMs) return Promise.resolve(last);
    reading ??= read();
    return within(metricsWaitMs, reading);
  };
}

/** Returns undefined if the promise takes longer. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
