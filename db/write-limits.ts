import type { ActiveTenants } from './active-tenants.ts';
import { createFairLimit } from './fair-limit.ts';
import { KeyedSemaphore } from './semaphore.ts';

/** Limits the concurrent writes of one pool and shares them fairly. */
export interface WriteLimits {
  /** How many writes may be in flight. */
  readonly total: number;
  /** How many of them one tenant gets while no other tenant is active. */
  readonly perTenant: number;
  /** How many of them may change the same record. */
  readonly perRecord: number;
  /** Runs a write when its tenant may start another one. `record` is the record that it changes, if it changes a single one. */
  run<T>(tenantId: string, record: string | undefined, write: () => Promise<T>): Promise<T>;
  /** Returns how many writes wait, for their tenant or for the record that they change. */
  countWaiting(): number;
}

/**
 * Of ten connections, writes may use eight: they wait for each other's locks, and reads must go on. The limits follow the
 * size of the pool; one connection is always left for reads, unless the pool has only one.
 */
export function createWriteLimits(connections: number, activeTenants: ActiveTenants): WriteLimits {
  const total = Math.max(1, Math.floor(connections * 0.8));
  const perTenant = Math.ceil(total / 2);
  const perRecord = Math.ceil(total / 4);
  const writes = createFairLimit(total, activeTenants);
  // Writes of one record wait for each other's locks anyway; many of them must not occupy the tenant's slots.
  const writesOfOneRecord = new KeyedSemaphore(perRecord);

  return {
    total,
    perTenant,
    perRecord,
    run: (tenantId, record, write) => {
      const runWrite = () => writes.run(tenantId, write);
      return record === undefined ? runWrite() : writesOfOneRecord.run(`${tenantId} ${record}`, runWrite);
    },
    countWaiting: () => writes.countWaiting() + writesOfOneRecord.countWaiting(),
  };
}
