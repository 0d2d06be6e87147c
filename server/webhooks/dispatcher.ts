import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { Database } from '../../db/connect.ts';
import type { App } from '../app.ts';
import type { LookUp } from './addresses.ts';
import { findWork, type Work } from './dispatch-queries.ts';
import { type Attempt, BACKLOG, begin, drop, type Job, nextRound, type Round } from './rounds.ts';
import { NOTHING_TO_SEND, send } from './sending.ts';

/** Webhooks that are worked on here at once; and of these, such as failed last time. */
const WEBHOOKS = 64;
const FAILING = 16;
/** Transactions at once, of the ten connections: callers come first. */
const TRANSACTIONS = 2;
/** What is under way when the service stops has this long to be answered. */
const LAST_ANSWERS_MS = 3_000;

/**
 * While the service runs, what changes is sent to the webhooks, from every node: each works on those that nobody else
 * does. Tells how to stop: nothing new is begun, and what has no answer soon is left to another node, or to the next start.
 */
export function keepDelivering(app: App, db: Database, lookUp: LookUp): () => void {
  const { webhookPollMs, webhookResponseMs, webhookLeaseMs: leaseMs } = app.timing;
  const stopping = new AbortController();
  const cutOff = new AbortController();
  // Every message on its way listens.
  setMaxListeners(0, cutOff.signal);
  const working = new Map<string, { failing: boolean; done: Promise<void> }>();
  const inTurn = turns(TRANSACTIONS);

  async function look() {
    const failing = [...working.values()].filter((one) => one.failing).length;
    const found = await db.use((sql) => findWork(sql, BACKLOG, WEBHOOKS));
    let room = FAILING - failing;
    for (const work of found) {
      const key = `${work.tenantId} ${work.id}`;
      if (stopping.signal.aborted || working.size >= WEBHOOKS) return;
      if (working.has(key) || (work.failing && room-- <= 0)) continue;
      // Away for a moment: its lease ends, and somebody takes it up again.
      const done = workOn(work).catch((error) => app.log.warn({ err: error, webhook: work.id }, 'not delivered'));
      working.set(key, { failing: work.failing, done: done.finally(() => working.delete(key)) });
    }
  }

  async function workOn(work: Work): Promise<void> {
    const by = randomUUID();
    const claimed = await inTurn(() => begin(db, work, by, leaseMs));
    if (!claimed) return;
    if (claimed.deleted) return inTurn(() => drop(db, work, by));
    let place: Round['place'] = claimed;
    let attempts: Attempt[] = [];
    for (;;) {
      const { aborted: last } = stopping.signal;
      const round = await inTurn(() => nextRound(db, work, by, { place, attempts, last, leaseMs }));
      if (!round) return;
      place = round.place;
      attempts = await sendAll(round.jobs);
    }
  }

  /** Tells of those that came to something. */
  async function sendAll(jobs: Job[]): Promise<Attempt[]> {
    const sent = jobs.map(async ({ deliveryId, message }) => ({
      deliveryId,
      outcome: message ? await send(lookUp, message, webhookResponseMs, cutOff.signal) : NOTHING_TO_SEND,
    }));
    return (await Promise.allSettled(sent)).flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  }

  const looking = (async () => {
    while (!stopping.signal.aborted) {
      // A database that is away is asked again.
      await look().catch(() => {});
      await setTimeout(webhookPollMs, undefined, { ref: false, signal: stopping.signal }).catch(() => {});
    }
  })();
  app.addHook('onClose', async () => {
    stopping.abort();
    await looking;
    const all = Promise.all([...working.values()].map(({ done }) => done));
    await Promise.race([all, setTimeout(LAST_ANSWERS_MS, undefined, { ref: false })]);
    cutOff.abort();
    await all;
  });
  return () => stopping.abort();
}

/** Some at a time; the others wait, in their order. */
function turns(atOnce: number) {
  let free = atOnce;
  const waiting: (() => void)[] = [];
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (free > 0) free--;
    else await new Promise<void>((resume) => waiting.push(resume));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
