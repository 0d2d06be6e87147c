import type { Database } from '../../db/connect.ts';
import type { Tx } from '../../db/sql.ts';
import { writeInTenant } from '../../db/tenancy.ts';
import { changesAfter, changesOf, type FeedPage } from '../changes/changes.ts';
import {
  claim,
  type Due,
  dropDeliveries,
  dropWebhook,
  type Held,
  hastenAll,
  hold,
  insertDeliveries,
  keepStanding,
  pick,
  promote,
  record,
  release,
  type Told,
  type Work,
} from './dispatch-queries.ts';
import type { Message, Outcome } from './sending.ts';
import { DAYS } from './webhooks.ts';

/** The work on one webhook, in rounds: a transaction that notes what came of the last messages and tells the next. */

/** Deliveries that wait at most; what is beyond stays in the ledger, where the webhook has its place. */
export const BACKLOG = 1_000;
const PAGE = 500;
/** Messages on their way to one receiver; to one that failed last time, one. */
const AT_ONCE = 4;
const DROPPED_AT_ONCE = 2_000;
const KEPT_DAYS = 30;
/** Seconds from one attempt to the next. */
const DELAYS = [5, 30, 120, 600, 1_800, 3_600, 10_800, 21_600];
/** After so many failures in a row nothing is sent for a while, whatever waits; so that it costs little to be tried. */
const PATIENCE = 3;
const LONGEST_REST = 600;

export interface Job {
  deliveryId: number;
  /** undefined: there is nothing left to tell. */
  message: Message | undefined;
}
export interface Attempt {
  deliveryId: number;
  outcome: Outcome;
}

export interface Round {
  jobs: Job[];
  /** What the next round needs to know. */
  place: Pick<Held, 'seq' | 'waiting'>;
}

/** undefined: somebody else is at work on it. */
export const begin = (db: Database, work: Work, by: string, leaseMs: number): Promise<Held | undefined> =>
  writeInTenant(db, work.tenantId, (tx) => claim(tx, work, by, leaseMs / 1000));

/** undefined: nothing is left to do for now, and the lease has ended. `last`: just note what came of the attempts. */
export function nextRound(
  db: Database,
  work: Work,
  by: string,
  { place, attempts, last, leaseMs }: { place: Round['place']; attempts: Attempt[]; last: boolean; leaseMs: number },
): Promise<Round | undefined> {
  return writeInTenant(db, work.tenantId, async (tx) => {
    const { tenantId } = work;
    // Before the webhook's row is locked: the end of the ledger is what everybody locks first.
    const room = Math.min(PAGE, BACKLOG - place.waiting);
    const news = !last && room > 0 ? await changesAfter(tx, tenantId, place.seq, room) : undefined;
    const webhook = await hold(tx, work, by);
    if (!webhook) return undefined;
    const told = attempts.map(toldOf);
    await note(tx, work, webhook, told);
    if (!webhook.mine) return undefined;
    if (webhook.deleted) {
      // Deleted meanwhile: whoever finds it next drops it, and need not wait for the lease to run out.
      await release(tx, work, by, KEPT_DAYS);
      return undefined;
    }
    const standing = standingAfter(webhook, told);
    if (news && webhook.status === '0' && webhook.inService) {
      await insertAll(tx, work, webhook, news.rows);
      standing.seq = news.next;
    }
    const { waiting, resting } = await keepStanding(tx, work, standing, leaseMs / 1000);
    const idle = last || resting || standing.gone || webhook.status !== '0' || !webhook.inService;
    const due = idle ? [] : await pick(tx, work, standing.failures > 0 ? 1 : AT_ONCE);
    if (due.length === 0 && (idle || news?.rows.length !== room)) {
      await release(tx, work, by, KEPT_DAYS);
      return undefined;
    }
    return { jobs: await jobsOf(tx, tenantId, webhook, due), place: { seq: standing.seq, waiting } };
  });
}

/** Of a webhook that was deleted, until nothing is left. */
export async function drop(db: Database, work: Work, by: string): Promise<void> {
  const some = () => writeInTenant(db, work.tenantId, (tx) => dropDeliveries(tx, work, DROPPED_AT_ONCE));
  while ((await some()) === DROPPED_AT_ONCE);
  await writeInTenant(db, work.tenantId, (tx) => dropWebhook(tx, work, by));
}

const toldOf = ({ deliveryId, outcome }: Attempt): Told => ({
  ...outcome,
  deliveryId,
  delivered: outcome.status !== null && outcome.status >= 200 && outcome.status < 300,
});

async function note(tx: Tx, work: Work, { failures }: Held, told: Told[]): Promise<void> {
  if (told.length === 0) return;
  await record(tx, work, told, DELAYS);
  await promote(tx, work, told);
  if (failures >= PATIENCE && told.some(({ delivered }) => delivered)) await hastenAll(tx, work);
}

function standingAfter({ seq, failures: before }: Held, told: Told[]) {
  const failures = told.some(({ delivered }) => delivered) ? 0 : before + told.length;
  const delay = DELAYS[Math.min(failures - PATIENCE, DELAYS.length - 1)] ?? 0;
  const rest = told.length > 0 ? Math.min(delay, LONGEST_REST) : 0;
  return { seq, failures, rest, gone: told.some(({ status }) => status === 410) };
}

async function insertAll(tx: Tx, work: Work, { kinds }: Held, changes: FeedPage['rows']): Promise<void> {
  const seen = new Set<string>();
  const made = changes.flatMap(({ id: changeId, resource, resourceId, action }) => {
    const type = `${resource}.${action.replaceAll(' ', '_')}`;
    if (![type, `${resource}.*`, '*'].some((kind) => kinds.includes(kind))) return [];
    const first = !seen.has(`${resource} ${resourceId}`);
    seen.add(`${resource} ${resourceId}`);
    return [{ changeId, type, resource, resourceId, first }];
  });
  if (made.length > 0) await insertDeliveries(tx, work, made, DAYS);
}

async function jobsOf(tx: Tx, tenantId: string, { url, secrets }: Held, due: Due[]): Promise<Job[]> {
  const ids = due.flatMap(({ changeId }) => changeId ?? []);
  const changes = new Map((ids.length > 0 ? await changesOf(tx, tenantId, ids) : []).map((row) => [row.id, row]));
  return due.map(({ deliveryId, changeId, type, time }) => {
    const change = changeId === null ? undefined : changes.get(changeId);
    // Its archive was emptied in the moment in which it was asked for again. Only a test tells of nothing.
    if (!change && changeId !== null) return { deliveryId, message: undefined };
    const body = JSON.stringify({ type, timestamp: change?.time ?? time, data: change ?? null });
    return { deliveryId, message: { id: `msg_${deliveryId}`, url, body, secrets } };
  });
}
