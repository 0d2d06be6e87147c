import type { Database } from '../../db/connect.ts';
import type { Tx } from '../../db/driver.ts';
import { writeInTenant } from '../../db/tenant-scope.ts';
import { traceparentOf } from '../http/trace-context.ts';
import { RETRY_DAYS } from '../ledger/archive.ts';
import { type ChangeRow, changesAfter, changesByIds } from '../ledger/feed.ts';
import type { LedgerResources } from '../ledger/resources.ts';
import { subtreeChangesAfter, subtreeChangesByIds } from '../ledger/subtree-feed.ts';
import {
  type AttemptResult,
  acquireLeaseOf,
  type DueDelivery,
  deleteDeliveries,
  deleteWebhook,
  insertDeliveries,
  type LeasedWebhook,
  lockLeasedWebhook,
  readDueDeliveries,
  recordAttempts,
  releaseLease,
  retryAllNow,
  saveState,
  unblockNextDeliveries,
  type WebhookKey,
  type WebhookState,
} from './dispatch-queries.ts';
import type { Message, Outcome } from './sending.ts';

/**
 * A webhook is processed in rounds. The transaction of a round records the results of the previous messages and returns
 * the next ones, which are sent after its commit.
 */

/** The maximum number of pending deliveries of a webhook. Further changes wait in the ledger, beyond its position. */
export const MAX_BACKLOG = 1_000;
const CHANGES_PER_ROUND = 500;
/** The maximum number of messages in flight to one receiver. A receiver that failed last time gets one at a time. */
const MAX_IN_FLIGHT = 4;
const PURGE_BATCH_SIZE = 2_000;
const RETENTION_DAYS = 30;
/** Seconds from one attempt to the next. */
const BACKOFF_SECONDS = [5, 30, 120, 600, 1_800, 3_600, 10_800, 21_600];
/** A webhook is paused after this many failures in a row, so that a dead receiver costs little despite its backlog. */
const FAILURES_BEFORE_PAUSE = 3;
const MAX_PAUSE_SECONDS = 600;

export interface Job {
  deliveryId: number;
  /** undefined: the change is no longer stored, or its tenant has left the subtree, so there is nothing to send. */
  message: Message | undefined;
}
export interface Attempt {
  deliveryId: number;
  outcome: Outcome;
}

export interface Round {
  jobs: Job[];
  /** The state from which the next round continues. */
  progress: Pick<LeasedWebhook, 'seq' | 'waiting' | 'below'>;
}

/**
 * Runs a transaction of the dispatcher. Its writes share the pool as if they were those of one more tenant. Otherwise
 * they would wait behind the requests of the webhook's tenant while they hold one of the dispatcher's few transactions.
 */
const write = <T>(db: Database, { tenantId }: WebhookKey, work: (tx: Tx) => Promise<T>): Promise<T> =>
  writeInTenant(db, tenantId, work, { share: 'webhooks' });

/** Acquires the lease of a webhook. Returns undefined if another process has it. */
export const acquireLease = (
  db: Database,
  key: WebhookKey,
  leaseId: string,
  leaseMs: number,
): Promise<LeasedWebhook | undefined> => write(db, key, (tx) => acquireLeaseOf(tx, key, leaseId, leaseMs / 1000));

/**
 * Runs the transaction of one round. Returns undefined if nothing is due or another process has taken over; this process
 * then no longer holds the lease. With `finish`, it records the attempts, sends nothing more and releases the lease.
 */
export function nextRound(
  { db, resources }: { db: Database; resources: LedgerResources },
  key: WebhookKey,
  leaseId: string,
  {
    progress,
    attempts,
    finish,
    leaseMs,
    scanMs,
  }: { progress: Round['progress']; attempts: Attempt[]; finish: boolean; leaseMs: number; scanMs: number },
): Promise<Round | undefined> {
  return write(db, key, async (tx) => {
    const { tenantId } = key;
    // Read changes before locking the webhook: the lock on the head of the ledger comes first in the lock order.
    const room = Math.min(CHANGES_PER_ROUND, MAX_BACKLOG - progress.waiting);
    const readAfter = progress.below ? subtreeChangesAfter : changesAfter;
    const range = { after: progress.seq, limit: room, scanMs };
    // Without rows the position may advance only a part of the way. Then the webhook stays due, and the next poll continues.
    const changes = !finish && room > 0 ? await readAfter(tx, tenantId, range) : undefined;
    const webhook = await lockLeasedWebhook(tx, key, leaseId);
    if (!webhook) return undefined;
    const results = attempts.map(resultOf);
    // Record results even without the lease: the messages have been sent.
    await recordResults(tx, key, webhook, results);
    if (!webhook.ownsLease) return undefined;
    if (webhook.deleted) {
      // Release the lease, so that the next poll purges the webhook without waiting for the lease to expire.
      await releaseLease(tx, key, leaseId, RETENTION_DAYS);
      return undefined;
    }
    const state = stateAfter(webhook, results);
    if (changes && webhook.status === '0' && webhook.inService) {
      await enqueueChanges(tx, key, webhook, changes.rows);
      state.seq = changes.next;
    }
    const { waiting, paused } = await saveState(tx, key, state, {
      leaseSeconds: leaseMs / 1000,
      maxBacklog: MAX_BACKLOG,
    });
    const idle = finish || paused || state.gone || webhook.status !== '0' || !webhook.inService;
    const due = idle ? [] : await readDueDeliveries(tx, key, state.failures > 0 ? 1 : MAX_IN_FLIGHT);
    if (due.length === 0 && (idle || changes?.rows.length !== room)) {
      await releaseLease(tx, key, leaseId, RETENTION_DAYS);
      return undefined;
    }
    return {
      jobs: await buildJobs(tx, resources, tenantId, webhook, due),
      progress: { seq: state.seq, waiting, below: webhook.below },
    };
  });
}

/** Removes a deleted webhook and its deliveries, in batches. */
export async function purgeWebhook(db: Database, key: WebhookKey, leaseId: string): Promise<void> {
  const purgeBatch = () => write(db, key, (tx) => deleteDeliveries(tx, key, PURGE_BATCH_SIZE));
  while ((await purgeBatch()) === PURGE_BATCH_SIZE);
  await write(db, key, (tx) => deleteWebhook(tx, key, leaseId));
}

export const isDelivered = ({ status }: Outcome): boolean => status !== null && status >= 200 && status < 300;

const resultOf = ({ deliveryId, outcome }: Attempt): AttemptResult => ({
  ...outcome,
  deliveryId,
  delivered: isDelivered(outcome),
});

async function recordResults(
  tx: Tx,
  key: WebhookKey,
  { failures }: LeasedWebhook,
  results: AttemptResult[],
): Promise<void> {
  if (results.length === 0) return;
  await recordAttempts(tx, key, results, BACKOFF_SECONDS);
  await unblockNextDeliveries(tx, key, results);
  const recovered = failures >= FAILURES_BEFORE_PAUSE && results.some(({ delivered }) => delivered);
  if (recovered) await retryAllNow(tx, key);
}

function stateAfter({ seq, failures: before }: LeasedWebhook, attempts: AttemptResult[]): WebhookState {
  const results = attempts.filter(({ sent }) => sent);
  const failures = results.some(({ delivered }) => delivered) ? 0 : before + results.length;
  const backoff = BACKOFF_SECONDS[Math.min(failures - FAILURES_BEFORE_PAUSE, BACKOFF_SECONDS.length - 1)] ?? 0;
  const pauseSeconds = results.length > 0 ? Math.min(backoff, MAX_PAUSE_SECONDS) : 0;
  return { seq, failures, pauseSeconds, gone: results.some(({ status }) => status === 410) };
}

/** Creates deliveries for the changes that match the webhook's kinds. */
async function enqueueChanges(tx: Tx, key: WebhookKey, { kinds }: LeasedWebhook, changes: ChangeRow[]): Promise<void> {
  const seen = new Set<string>();
  const deliveries = changes.flatMap(({ id: changeId, tenantId: ledger, resource, resourceId, action }) => {
    const type = `${resource}.${action.replaceAll(' ', '_')}`;
    if (![type, `${resource}.*`, '*'].some((kind) => kinds.includes(kind))) return [];
    const first = !seen.has(`${resource} ${resourceId}`);
    seen.add(`${resource} ${resourceId}`);
    return [{ ledger, changeId, type, resource, resourceId, first }];
  });
  if (deliveries.length > 0) await insertDeliveries(tx, key, deliveries, RETRY_DAYS);
}

async function buildJobs(
  tx: Tx,
  resources: LedgerResources,
  tenantId: string,
  { url, secrets, below }: LeasedWebhook,
  due: DueDelivery[],
): Promise<Job[]> {
  const wanted = due.flatMap(({ ledger, changeId: id }) => (id === null ? [] : { ledger, id }));
  const readWanted = () =>
    below
      ? subtreeChangesByIds(tx, resources, tenantId, wanted)
      : changesByIds(
          tx,
          resources,
          tenantId,
          wanted.map(({ id }) => id),
        );
  const changes = new Map((wanted.length > 0 ? await readWanted() : []).map((row) => [row.id, row]));
  return due.map(({ deliveryId, changeId, type, time }) => {
    const change = changeId === null ? undefined : changes.get(changeId);
    // The archive may have been emptied since the delivery was resent, or the change's tenant has left the subtree. Test messages
    // never have a change.
    if (!change && changeId !== null) return { deliveryId, message: undefined };
    const body = JSON.stringify({ type, timestamp: change?.time ?? time, data: change ?? null });
    const traceparent = traceparentOf(change?.requestId);
    return { deliveryId, message: { id: `msg_${deliveryId}`, url, body, secrets, traceparent } };
  });
}
