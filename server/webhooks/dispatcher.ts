import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { Database } from '../../db/connect.ts';
import { Semaphore } from '../../db/semaphore.ts';
import type { App } from '../context.ts';
import type { LedgerResources } from '../ledger/resources.ts';
import type { ResolveTarget } from './addresses.ts';
import { findDueWebhooks, type WebhookKey } from './dispatch-queries.ts';
import { type Attempt, acquireLease, type Job, MAX_BACKLOG, nextRound, purgeWebhook, type Round } from './rounds.ts';
import { CHANGE_NOT_STORED, send } from './sending.ts';

/** How many webhooks a process works on concurrently, and how many of these may be failing. */
const MAX_WEBHOOKS = 64;
const MAX_FAILING = 16;
/** Concurrent transactions. The pool has ten connections, and most of them are for requests. */
const MAX_TRANSACTIONS = 2;
/** How long a shutdown waits for the responses to messages in flight. */
const SHUTDOWN_GRACE_MS = 3_000;

/**
 * Delivers changes to webhooks while the service runs. Every node has a dispatcher; leases keep two nodes from working
 * on the same webhook. Returns a function that stops it: no new message is sent, and deliveries without a prompt
 * response are left to another node or the next start.
 */
export function startDispatcher(
  app: App,
  { db, resources }: { db: Database; resources: LedgerResources },
  resolveTarget: ResolveTarget,
): () => void {
  const { webhookPollMs, webhookResponseMs, webhookLeaseMs: leaseMs } = app.timing;
  const stopping = new AbortController();
  const abortSending = new AbortController();
  // Every message in flight adds a listener.
  setMaxListeners(0, abortSending.signal);
  const active = new Map<string, { failing: boolean; done: Promise<void> }>();
  const transactions = new Semaphore(MAX_TRANSACTIONS);

  async function poll() {
    const failing = [...active.values()].filter((worker) => worker.failing).length;
    const found = await db.use((sql) => findDueWebhooks(sql, MAX_BACKLOG, MAX_WEBHOOKS));
    let roomForFailing = MAX_FAILING - failing;
    for (const webhook of found) {
      const key = `${webhook.tenantId} ${webhook.id}`;
      if (stopping.signal.aborted || active.size >= MAX_WEBHOOKS) return;
      if (active.has(key) || (webhook.failing && roomForFailing-- <= 0)) continue;
      // After an error, such as a lost connection, the lease expires and the webhook is found again.
      const done = processWebhook(webhook).catch((error) =>
        app.log.warn({ err: error, webhook: webhook.id }, 'webhook delivery interrupted'),
      );
      active.set(key, { failing: webhook.failing, done: done.finally(() => active.delete(key)) });
    }
  }

  async function processWebhook(webhook: WebhookKey): Promise<void> {
    const leaseId = randomUUID();
    const claimed = await transactions.run(() => acquireLease(db, webhook, leaseId, leaseMs));
    if (!claimed) return;
    if (claimed.deleted) return transactions.run(() => purgeWebhook(db, webhook, leaseId));
    let progress: Round['progress'] = claimed;
    let attempts: Attempt[] = [];
    for (;;) {
      const { aborted: finish } = stopping.signal;
      const round = await transactions.run(() =>
        nextRound({ db, resources }, webhook, leaseId, { progress, attempts, finish, leaseMs }),
      );
      if (!round) return;
      progress = round.progress;
      attempts = await sendAll(round.jobs);
    }
  }

  /** Sends the messages. Returns the attempts with a known outcome: a shutdown may abort some. */
  async function sendAll(jobs: Job[]): Promise<Attempt[]> {
    const sent = jobs.map(async ({ deliveryId, message }) => ({
      deliveryId,
      outcome: message ? await send(resolveTarget, message, webhookResponseMs, abortSending.signal) : CHANGE_NOT_STORED,
    }));
    const settled = await Promise.allSettled(sent);
    return settled.flatMap((attempt) => (attempt.status === 'fulfilled' ? attempt.value : []));
  }

  const polling = (async () => {
    while (!stopping.signal.aborted) {
      // If the database is unavailable, the next poll tries again.
      await poll().catch(() => {});
      await setTimeout(webhookPollMs, undefined, { ref: false, signal: stopping.signal }).catch(() => {});
    }
  })();
  app.addHook('onClose', async () => {
    stopping.abort();
    await polling;
    const all = Promise.all([...active.values()].map(({ done }) => done));
    await Promise.race([all, setTimeout(SHUTDOWN_GRACE_MS, undefined, { ref: false })]);
    abortSending.abort();
    await all;
  });
  return () => stopping.abort();
}
