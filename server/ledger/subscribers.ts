import { once } from 'node:events';
import type { Database } from '../../db/connect.ts';
import type { Timing } from '../timing.ts';
import { tenantsWithNewChanges } from './queries.ts';
import { subtreesWithNewChanges } from './subtree-queries.ts';

/**
 * Long-polling clients and event streams that wait for new changes. They hold neither a database connection nor a request slot.
 */
export interface Subscribers {
  /** Waits until there are changes beyond a position, `ms` have passed, or the signal aborts. */
  waitForChanges(source: FeedSource, position: number, ms: number, signal: AbortSignal): Promise<void>;
  /** Wakes all subscribers, because this process is shutting down. */
  close(): void;
  readonly closed: boolean;
}

/**
 * A feed: the ledger of a tenant or, with `below`, the changes of the tenant and its descendants, in the order of all changes.
 */
export interface FeedSource {
  tenantId: string;
  below: boolean;
}

interface Subscriber extends FeedSource {
  position: number;
  wake: () => void;
}

/**
 * Checks for all subscribers of this process every `feedPollMs`, with one query for the ledgers that they read and another for
 * the subtrees.
 */
export function createSubscribers(db: Database, { feedPollMs }: Timing): Subscribers {
  const waiting = new Set<Subscriber>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  async function poll() {
    // While the database is unavailable, no subscriber is woken; the next request reports the error.
    await Promise.all([pollLedgers(), pollSubtrees()]).catch(() => {});
    timer = undefined;
    schedule();
  }

  async function pollLedgers() {
    const subscribers = [...waiting].filter(({ below }) => !below);
    if (subscribers.length === 0) return;
    const changed = new Set(await db.use((sql) => tenantsWithNewChanges(sql, earliestPositions(subscribers))));
    for (const { tenantId, wake } of subscribers) if (changed.has(tenantId)) wake();
  }

  async function pollSubtrees() {
    const subscribers = [...waiting].filter(({ below }) => below);
    if (subscribers.length === 0) return;
    const { last, changed } = await db.use((sql) => subtreesWithNewChanges(sql, earliestPositions(subscribers)));
    for (const subscriber of subscribers) {
      if (changed.includes(subscriber.tenantId)) subscriber.wake();
      // Other tenants' changes up to here need not be considered again, however long this one has no changes.
      else subscriber.position = Math.max(subscriber.position, last);
    }
  }

  function schedule() {
    if (!closed && waiting.size > 0) timer ??= setTimeout(poll, feedPollMs);
  }

  return {
    async waitForChanges({ tenantId, below }, position, ms, signal) {
      if (closed || signal.aborted) return;
      const done = new AbortController();
      const subscriber = { tenantId, below, position, wake: () => done.abort() };
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

/** The earliest position of each tenant. A subscriber that is ahead of it may read once without a result. */
function earliestPositions(subscribers: readonly Subscriber[]): Map<string, number> {
  const positions = new Map<string, number>();
  for (const { tenantId, position } of subscribers) {
    positions.set(tenantId, Math.min(position, positions.get(tenantId) ?? position));
  }
  return positions;
}
