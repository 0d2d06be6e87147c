/**
 * Batches concurrent requests of one tenant into one database round trip.
 *
 * A request is sent at once when fewer than `maxInFlight` batches are running; otherwise it joins the next batch. There is
 * no timer, so an idle service adds no latency, and no cache, so a result is never older than its request. Requests of
 * different tenants never share a batch.
 */
export function createBatcher<Request, Result>(
  run: (tenantId: string, batch: PendingItem<Request, Result>[]) => Promise<void>,
  options: {
    maxInFlight: number;
    maxBatchSize: number | ((tenantId: string) => number);
    /** Is called with the size of each batch, for metrics. */
    onBatch?: ((size: number) => void) | undefined;
  },
): (tenantId: string, request: Request) => Promise<Result> {
  const queues = new Map<string, Queue<Request, Result>>();

  async function send(tenantId: string, queue: Queue<Request, Result>) {
    queue.scheduled = false;
    const { maxBatchSize } = options;
    const size = typeof maxBatchSize === 'number' ? maxBatchSize : maxBatchSize(tenantId);
    const batch = queue.pending.splice(0, size);
    queue.inFlight++;
    options.onBatch?.(batch.length);
    schedule(tenantId, queue);
    try {
      await run(tenantId, batch);
    } catch (error) {
      // Items that were resolved before the failure keep their result.
      for (const { reject } of batch) reject(error);
    }
    queue.inFlight--;
    if (queue.inFlight === 0 && queue.pending.length === 0) queues.delete(tenantId);
    else schedule(tenantId, queue);
  }

  /** Sends a batch after all requests that have arrived by now are read from their connections. */
  function schedule(tenantId: string, queue: Queue<Request, Result>) {
    if (queue.scheduled || queue.pending.length === 0 || queue.inFlight >= options.maxInFlight) return;
    queue.scheduled = true;
    setImmediate(send, tenantId, queue);
  }

  return (tenantId, request) =>
    new Promise((resolve, reject) => {
      let queue = queues.get(tenantId);
      if (!queue) {
        queue = { pending: [], inFlight: 0, scheduled: false };
        queues.set(tenantId, queue);
      }
      queue.pending.push({ request, resolve, reject });
      schedule(tenantId, queue);
    });
}

export interface PendingItem<Request, Result> {
  request: Request;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

interface Queue<Request, Result> {
  pending: PendingItem<Request, Result>[];
  inFlight: number;
  scheduled: boolean;
}
