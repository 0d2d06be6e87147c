/** Limits how many tasks run at the same time, and shares them fairly among tenants. */
export interface FairLimit {
  run<T>(tenantId: string, task: () => Promise<T>): Promise<T>;
}

interface TenantQueue {
  running: number;
  waiting: (() => void)[];
}

export function createFairLimit(total: number): FairLimit {
  let inFlight = 0;
  const queues = new Map<string, TenantQueue>();

  /**
   * A tenant may start another task while more slots are free than it occupies: a tenant that is alone gets half of them,
   * and one that arrives while others have many tasks still finds a free slot. So a few tenants never block all others.
   */
  const mayStart = ({ running }: TenantQueue) => total - inFlight > running;

  /** Starts waiting tasks: those of one tenant in their order, the tenants round-robin. */
  function startNext() {
    for (const [tenantId, queue] of [...queues]) {
      if (queue.running === 0 && queue.waiting.length === 0) queues.delete(tenantId);
      if (queue.waiting.length === 0 || !mayStart(queue)) continue;
      queues.delete(tenantId);
      queues.set(tenantId, queue);
      queue.running++;
      inFlight++;
      queue.waiting.shift()?.();
    }
  }

  return {
    async run(tenantId, task) {
      const queue = queues.get(tenantId) ?? { running: 0, waiting: [] };
      queues.set(tenantId, queue);
      await new Promise<void>((resume) => {
        queue.waiting.push(resume);
        startNext();
      });
      try {
        return await task();
      } finally {
        queue.running--;
        inFlight--;
        startNext();
      }
    },
  };
}
