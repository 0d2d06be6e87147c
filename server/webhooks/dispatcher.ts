import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { Database } from '../../db/connect.ts';
import { errorCode } from '../../db/errors.ts';
import { KeyedSemaphore, Semaphore } from '../../db/semaphore.ts';
import { writeOutsideQueue } from '../../db/tenant-scope.ts';
import type { App } from '../context.ts';
import { FairSlots } from '../http/fair-slots.ts';
import type { LedgerResources } from '../ledger/resources.ts';
import { assignPositions, lastSubtreePosition } from '../ledger/subtree-feed.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { ResolveTarget } from './addresses.ts';
import { type DueWebhook, findDueWebhooks, markSubtreeWebhooksDue, type WebhookKey } from './dispatch-queries.ts';
import {
  type Attempt,
  acquireLease,
  isDelivered,
  type Job,
  MAX_BACKLOG,
  nextRound,
  purgeWebhook,
  type Round,
} from './rounds.ts';
import { CHANGE_UNAVAILABLE, send } from './sending.ts';

/** How many webhooks a process works on concurrently, and how many of these may be failing. */
const MAX_WEBHOOKS = 128;
const MAX_FAILING = 32;
/** How long a shutdown waits for the responses to messages in flight. */
const SHUTDOWN_GRACE_MS = 3_000;

/**
 * Delivers changes to webhooks while the service runs. Every process has a dispatcher; leases keep two of them from working
 * on the same webhook. Returns a function that stops it: no new message is sent, and deliveries without a prompt
 * response are left to another process or the next start.
 */
export function startDispatcher(
  app: App,
  { db, resources, metrics }: { db: Database; resources: LedgerResources; metrics: Metrics | undefined },
  resolveTarget: ResolveTarget,
): () => void {
  const { webhookPollMs, webhookResponseMs, webhookTurnMs, webhookLeaseMs: leaseMs, feedScanMs: scanMs } = app.timing;
  const stopping = new AbortController();
  const abortSending = new AbortController();
  // Every message in flight adds a listener.
  setMaxListeners(0, abortSending.signal);
  const active = new Map<string, Promise<void>>();
  const slots = new FairSlots(MAX_WEBHOOKS);
  const failingSlots = new FairSlots(MAX_FAILING);
  // Most of the pool's connections are for requests.
  const transactions = new Semaphore(Math.max(1, Math.floor(db.size / 5)));
  // Transactions of one tenant wait for the lock on the head of its ledger, so several at a time would only keep others waiting.
  const transactionsOfTenant = new KeyedSemaphore(1);
  const runTransaction = <T>({ tenantId }: WebhookKey, work: () => Promise<T>): Promise<T> =>
    transactionsOfTenant.run(tenantId, () => transactions.run(work));

  /** Webhooks with `below` have been made due for all changes up to this position, by this process or another. */
  let markedPosition = -1;

  /**
   * Starts work on webhooks that are due. A query returns a limited number. If these used up the slots of their subtrees, queries
   * again without those subtrees, to find the webhooks of others.
   */
  async function poll() {
    await markBelow();
    for (let started = true; started && !slots.isFull && !stopping.signal.aborted; ) {
      const limit = 2 * MAX_WEBHOOKS;
      const [full, fullFailing] = [slots.fullSubtrees(), failingSlots.fullSubtrees()];
      const found = await db.use((sql) => findDueWebhooks(sql, { maxBacklog: MAX_BACKLOG, limit, full, fullFailing }));
      started = false;
      for (const webhook of found) if (!stopping.signal.aborted && start(webhook)) started = true;
      if (found.length < limit) return;
    }
  }

  /** Makes webhooks with `below` due if their subtree has changed. While nothing has changed, it only compares two positions. */
  async function markBelow() {
    await assignPositions(db);
    const last = await db.use(lastSubtreePosition);
    if (last === markedPosition) return;
    await writeOutsideQueue(db, '', markSubtreeWebhooksDue);
    markedPosition = last;
  }

  /** Starts work on a webhook. Returns false if it is in progress already, or if its subtree has no free slot. */
  function start(webhook: DueWebhook): boolean {
    const key = `${webhook.tenantId} ${webhook.id}`;
    if (active.has(key)) return false;
    const release = slots.take(webhook.path);
    if (!release) return false;
    const releaseFailing = webhook.failing ? failingSlots.take(webhook.path) : () => {};
    if (!releaseFailing) {
      release();
      return false;
    }
    const done = processWebhook(webhook)
      // After an error, such as a lost connection, the lease expires and the webhook is found again.
      .catch((error) => app.log.warn({ err: error, webhook: webhook.id }, 'webhook delivery interrupted'))
      .finally(() => {
        release();
        releaseFailing();
        active.delete(key);
      });
    active.set(key, done);
    return true;
  }

  async function processWebhook(webhook: WebhookKey): Promise<void> {
    const leaseId = randomUUID();
    const startedAt = performance.now();
    const leased = await runTransaction(webhook, () => acquireLease(db, webhook, leaseId, leaseMs));
    if (!leased) return;
    if (leased.deleted) return runTransaction(webhook, () => purgeWebhook(db, webhook, leaseId));
    let progress: Round['progress'] = leased;
    let attempts: Attempt[] = [];
    for (;;) {
      const isTurnOver = attempts.length > 0 && performance.now() - startedAt >= webhookTurnMs;
      const finish = stopping.signal.aborted || isTurnOver;
      const round = await runTransaction(webhook, () =>
        nextRound({ db, resources }, webhook, leaseId, { progress, attempts, finish, leaseMs, scanMs }),
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
      outcome: message
        ? await send(resolveTarget, message, webhookResponseMs, abortSending.signal)
        : CHANGE_UNAVAILABLE,
    }));
    const settled = await Promise.allSettled(sent);
    const known = settled.flatMap((attempt) => (attempt.status === 'fulfilled' ? attempt.value : []));
    const sentOutcomes = known.flatMap(({ outcome }) => (outcome.sent ? outcome : []));
    for (const outcome of sentOutcomes) metrics?.countWebhookAttempt(isDelivered(outcome) ? 'delivered' : 'failed');
    return known;
  }

  const polling = (async () => {
    // Log a failure once and not at each poll: the database may be unavailable for a while. The next poll tries again.
    let failure: string | undefined;
    while (!stopping.signal.aborted) {
      try {
        await poll();
        if (failure !== undefined) app.log.info('webhook dispatching has resumed');
        failure = undefined;
      } catch (error) {
        const code = errorCode(error) || String(error);
        if (code !== failure) app.log.error({ err: error }, 'webhooks could not be dispatched');
        failure = code;
      }
      await setTimeout(webhookPollMs, undefined, { ref: false, signal: stopping.signal }).catch(() => {});
    }
  })();
  app.addHook('onClose', async () => {
    stopping.abort();
    await polling;
    const all = Promise.all(active.values());
    await Promise.race([all, setTimeout(SHUTDOWN_GRACE_MS, undefined, { ref: false })]);
    abortSending.abort();
    await all;
  });
  return () => stopping.abort();
}
