import { once } from 'node:events';
import type { Database } from '../../db/connect.ts';
import type { Timing } from '../timing.ts';
import { readNews } from './queries.ts';

/** Those who wait for news of a ledger, without a connection and without work while there are none. */
export interface Followers {
  /** Until there is more than `seq` in a tenant's ledger, `ms` are over, or the signal says so. */
  news(tenantId: string, seq: number, ms: number, signal: AbortSignal): Promise<void>;
  /** Lets all go: this process stops. */
  close(): void;
  readonly closed: boolean;
}

interface Waiting {
  tenantId: string;
  seq: number;
  wake: () => void;
}

export function makeFollowers(db: Database, { feedPollMs }: Timing): Followers {
  const waiting = new Set<Waiting>();
  let clock: NodeJS.Timeout | undefined;
  let closed = false;

  async function look() {
    // One place for each tenant, the earliest: who is further on asks once in vain.
    const followed = new Map<string, number>();
    for (const { tenantId, seq } of waiting) followed.set(tenantId, Math.min(seq, followed.get(tenantId) ?? seq));
    // A database that is away is no news; who asks next is told.
    const news = new Set(await db.use((sql) => readNews(sql, followed)).catch(() => []));
    for (const { tenantId, wake } of waiting) if (news.has(tenantId)) wake();
    clock = undefined;
    lookLater();
  }

  function lookLater() {
    if (!closed && waiting.size > 0) clock ??= setTimeout(look, feedPollMs);
  }

  return {
    async news(tenantId, seq, ms, signal) {
      if (closed || signal.aborted) return;
      const done = new AbortController();
      const one = { tenantId, seq, wake: () => done.abort() };
      const timer = setTimeout(one.wake, ms);
      signal.addEventListener('abort', one.wake, { signal: done.signal });
      waiting.add(one);
      lookLater();
      await once(done.signal, 'abort');
      clearTimeout(timer);
      waiting.delete(one);
    },
    close() {
      closed = true;
      clearTimeout(clock);
      for (const { wake } of waiting) wake();
    },
    get closed() {
      return closed;
    },
  };
}
