import { createBatcher } from '../../db/batcher.ts';
import type { Database } from '../../db/connect.ts';
import { apiError } from '../http/errors.ts';
import { type CountBackup, createMetrics, type Snapshot } from '../metrics/metrics.ts';
import { addExited, createScrape, type Scrape, within } from '../metrics/scraping.ts';
import type { Timing } from '../timing.ts';
import type { ParentMessage, WorkerMessage } from './workers.ts';

/** Metrics of a service with several workers. Each worker counts for itself, and their parent adds them up. */

interface Worker {
  readonly exited: Promise<unknown>;
  send(message: ParentMessage): void;
  onMessage(listener: (message: WorkerMessage) => void): void;
}

/** The parent's side. `ready` has the workers that currently serve requests. */
export async function startWorkerMetrics(
  db: Database,
  timing: Timing,
  { ready, configured }: { ready: readonly Worker[]; configured: number },
): Promise<{ scrape: Scrape; backupCounter: () => CountBackup; watch(worker: Worker): void }> {
  const own = await createMetrics();
  const last = new Map<Worker, Snapshot>();
  const onAnswer = new Map<Worker, (number: number) => void>();
  let exited: Promise<Snapshot> = Promise.resolve([]);
  let round = 0;

  /** Asks a worker for its metrics. If it does not answer in time, its last ones are used. */
  async function ask(worker: Worker, number: number): Promise<void> {
    const answered = new Promise<void>((resolve) => {
      onAnswer.set(worker, (answer) => answer === number && resolve());
    });
    worker.send({ collect: number });
    await within(timing.metricsWaitMs, Promise.race([answered, worker.exited]));
  }

  async function collect(): Promise<Snapshot[]> {
    const number = ++round;
    await Promise.all(ready.map((worker) => ask(worker, number)));
    // Read both at once: a worker that exits from now on is counted in exactly one of them.
    const [current, before] = [[...last.values()], exited];
    return [...(await Promise.all([own.snapshot(), before])), ...current];
  }

  const scrape = await createScrape({
    db,
    timing,
    workers: () => ready.length,
    configuredWorkers: configured,
    collect,
  });
  return {
    scrape,
    backupCounter: own.backupCounter,
    watch(worker) {
      let hasExited = false;
      worker.onMessage(async (message) => {
        if (message === 'scrape') worker.send({ scraped: await scrape().catch(() => null) });
        // A message may arrive after the exit: it must not count the worker a second time.
        if (typeof message !== 'object' || hasExited) return;
        last.set(worker, message.snapshot);
        onAnswer.get(worker)?.(message.collected);
      });
      void worker.exited.then(() => {
        hasExited = true;
        onAnswer.delete(worker);
        const snapshot = last.get(worker) ?? [];
        last.delete(worker);
        // Add one after another: two workers may exit at the same moment.
        exited = exited.then((before) => addExited(before, snapshot));
      });
    },
  };
}

/** A worker's side: it asks its parent for the metrics of all workers. */
export function createRemoteScrape(request: () => void): {
  scrape: Scrape;
  receiveScrape: (text: string | null) => void;
} {
  let receive: (text: string | null) => void = () => {};
  // One request at a time, so that an answer belongs to the request before it.
  const scrape = createBatcher<undefined, string>(
    async (_key, batch) => {
      const text = await new Promise<string | null>((resolve) => {
        receive = resolve;
        request();
      });
      if (text === null) throw apiError('TOO_BUSY');
      for (const { resolve } of batch) resolve(text);
    },
    { maxInFlight: 1, maxBatchSize: Number.MAX_SAFE_INTEGER },
  );
  return { scrape: () => scrape('', undefined), receiveScrape: (text) => receive(text) };
}
