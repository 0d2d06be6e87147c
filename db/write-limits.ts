import { KeyedSemaphore } from './semaphore.ts';

/** Limits the concurrent writes of one pool and shares them fairly. */
export interface WriteLimits {
  /** How many writes may be in flight. */
  readonly total: number;
  /** How many of them one tenant gets while no other tenant writes. */
  readonly perTenant: number;
  /** How many of them may change the same record. */
  readonly perRecord: number;
  /** Runs a write when its tenant may start another one. `record` is the record that it changes, if it changes a single one. */
  run<T>(tenantId: string, record: string | undefined, write: () => Promise<T>): Promise<T>;
}

interface TenantQueue {
  running: number;
  waiting: (() => void)[];
}

/**
 * Of ten connections, writes may use eight: they wait for each other's locks, and reads must go on. The limits follow the
 * size of the pool; one connection is always left for reads, unless the pool has only one.
 */
export function createWriteLimits(connections: number): WriteLimits {
  const total = Math.max(1, Math.floor(connections * 0.8));
  const perTenant = Math.ceil(total / 2);
  const perRecord = Math.ceil(total / 4);
  let inFlight = 0;
  const queues = new Map<string, TenantQueue>();
  // Writes of one record wait for each other's locks anyway; many of them must not occupy the tenant's slots.
  const writesOfOneRecord = new KeyedSemaphore(perRecord);

  /**
   * A tenant may start another write while more slots are free than it occupies: a tenant that is alone gets half of them,
   * and one that arrives while others have many writes still finds a free slot. So the locks of a few tenants never block
   * all others.
   */
  const mayStart = ({ running }: TenantQueue) => total - inFlight > running;

  /** Starts waiting writes: those of one tenant in their order, the tenants round-robin. */
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

  async function runFairly<T>(tenantId: string, write: () => Promise<T>): Promise<T> {
    const queue = queues.get(tenantId) ?? { running: 0, waiting: [] };
    queues.set(tenantId, queue);
    await new Promise<void>((resume) => {
      queue.waiting.push(resume);
      startNext();
    });
    try {
      return await write();
    } finally {
      queue.running--;
      inFlight--;
      startNext();
    }
  }

  return {
    total,
    perTenant,
    perRecord,
    run: (tenantId, record, write) => {
      const runWrite = () => runFairly(tenantId, write);
      return record === undefined ? runWrite() : writesOfOneRecord.run(`${tenantId} ${record}`, runWrite);
    },
  };
}
