import type { ActiveTenants } from './active-tenants.ts';

/** Limits how many tasks run at the same time, and shares them fairly among tenants. */
export interface FairLimit {
  run<T>(tenantId: string, task: () => Promise<T>): Promise<T>;
  countWaiting(): number;
}

interface TenantQueue {
  running: number;
  /** When the tenant's last task was started. */
  startedAt: number;
  waiting: (() => void)[];
}

/** After this time a task, such as an import, no longer keeps the tenant's next one from starting. */
const LONG_TASK_MS = 100;

export function createFairLimit(total: number, activeTenants: ActiveTenants, now = () => performance.now()): FairLimit {
  let inFlight = 0;
  const queues = new Map<string, TenantQueue>();
  let timer: NodeJS.Timeout | undefined;
  /** What one tenant gets while others are active. */
  const eighth = Math.max(1, Math.floor(total / 8));
  /** The same if its last task has been running for long. */
  const quarter = Math.max(1, Math.floor(total / 4));

  /**
   * A tenant may start another task while more slots are free than it occupies: a tenant that is alone gets half of them,
   * and one that arrives while others have many tasks still finds a free slot. So a few tenants never block all others.
   * While other tenants are active, it gets an eighth: its tasks share the processors of the database with theirs.
   */
  function mayStart(tenantId: string, { running, startedAt }: TenantQueue): boolean {
    if (total - inFlight <= running) return false;
    if (running < eighth) return true;
    const othersActiveMs = activeTenants.othersActiveMs(tenantId);
    if (othersActiveMs <= 0) return true;
    if (running < quarter && now() - startedAt > LONG_TASK_MS) return true;
    if (!timer) timer = setTimeout(startWaiting, Math.min(othersActiveMs, LONG_TASK_MS) + 1).unref();
    return false;
  }

  function startWaiting() {
    timer = undefined;
    // A tenant that is alone from now on may start several tasks, and one whose last task takes long another one.
    while (startNext());
  }

  /** Starts the oldest waiting task of each tenant that may start one. Returns whether there was any. */
  function startNext(): boolean {
    let started = false;
    for (const [tenantId, queue] of [...queues]) {
      if (queue.running === 0 && queue.waiting.length === 0) queues.delete(tenantId);
      if (queue.waiting.length === 0 || !mayStart(tenantId, queue)) continue;
      queues.delete(tenantId);
      queues.set(tenantId, queue);
      queue.running++;
      queue.startedAt = now();
      inFlight++;
      queue.waiting.shift()?.();
      started = true;
    }
    return started;
  }

  return {
    async run(tenantId, task) {
      const queue = queues.get(tenantId) ?? { running: 0, startedAt: 0, waiting: [] };
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
    countWaiting() {
      let count = 0;
      for (const { waiting } of queues.values()) count += waiting.length;
      return count;
    },
  };
}
