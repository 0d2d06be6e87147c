import { once } from 'node:events';
import type { Database } from '../../db/connect.ts';
import type { Timing } from '../timing.ts';
import { tenantsWithNewChanges } from './queries.ts';

/** Long-polling clients and event streams that wait for new changes. They hold neither a connection nor a request slot. */
export interface Subscribers {
  /** Waits until a tenant's ledger has changes beyond `position`, `ms` have passed, or the signal aborts. */
  waitForChanges(tenantId: string, position: number, ms: number, signal: AbortSignal): Promise<void>;
  /** Wakes all subscribers, because this process is shutting down. */
  close(): void;
  readonly closed: boolean;
}

interface Subscriber {
  tenantId: string;
  position: number;
  wake: () => void;
}

/** Runs one query every `feedPollMs` that checks the tenants of all subscribers of this process. */
export function createSubscribers(db: Database, { feedPollMs }: Timing): Subscribers {
  const waiting = new Set<Subscriber>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  async function poll() {
    // Check the earliest position of each tenant. A subscriber that is ahead of it may read once without a result.
    const positions = new Map<string, number>();
    for (const { tenantId, position } of waiting) {
      positions.set(tenantId, Math.min(position, positions.get(tenantId) ?? position));
    }
    // While the database is unavailable, no subscriber is woken; the next request reports the error.
    const changed = new Set(await db.use((sql) => tenantsWithNewChanges(sql, positions)).catch(() => []));
    for (const { tenantId, wake } of waiting) if (changed.has(tenantId)) wake();
    timer = undefined;
    schedule();
  }

  function schedule() {
    if (!closed && waiting.size > 0) timer ??= setTimeout(poll, feedPollMs);
  }

  return {
    async waitForChanges(tenantId, position, ms, signal) {
      if (closed || signal.aborted) return;
      const done = new AbortController();
      const subscriber = { tenantId, position, wake: () => done.abort() };
      const timeout = setTimeout(subscriber.wake, ms);
      signal.addEventListener('abort', subscriber.wake, { signal: done.signal });
      waiting.add(subscriber);
      schedule();
      await once(done.signal, 'abort');
      clearTimeout(timeout);
      waiting.delete(subscriber);
    },
    close() {
      closed = true;
      clearTimeout(timer);
      for (const { wake } of waiting) wake();
    },
    get closed() {
      return closed;
    },
  };
}
