import type { Tx } from '../../db/sql.ts';
import type { Resource } from '../changes/schema.ts';
import { refuse } from '../http/refusals.ts';
import { type Noted, type NotedRecords, readLater } from './queries.ts';

/** What reverting a batch is to do to one resource: from what the batch made of it to what it was before. */
export interface Goal<T = object> {
  resource: Resource;
  id: string;
  /** null: it is not there; then there is nothing to be made of it. */
  from: T | null;
  to: T | null;
  /** The contents of `from`. */
  contents: string | null;
  batch: number;
  /** Its changes in the batch. */
  first: number;
  last: number;
}

/** A request may change a thing more than once: what counts is how it was before the first, and after the last. */
export function goalsOf<T>(rows: readonly NotedRecords[], resource: Resource): Goal<T>[] {
  const goals = new Map<string, Goal<T>>();
  for (const { id, resourceId, before, after, became, ...row } of rows) {
    if (row.resource !== resource) continue;
    const known = goals.get(resourceId) ?? {
      resource,
      id: resourceId,
      batch: row.batch,
      to: before as T | null,
      first: id,
    };
    goals.set(resourceId, { ...known, from: after as T | null, contents: became, last: id });
  }
  return [...goals.values()].filter(({ from, to }) => from || to);
}

/** Of one resource so many later changes are looked at, and so many named. */
const LOOKED_AT = 100;
const NAMED = 20;

/** Once all of it is locked: what it is now must be what the batch made of it, whoever has been there in between. */
export async function refuseContradicted(tx: Tx, tenantId: string, goals: readonly Goal<unknown>[]): Promise<void> {
  const [{ resource, batch }] = goals as [Goal];
  const seen = new Map(goals.map(({ id, last }) => [id, last]));
  const later = new Map<string, Noted[]>();
  for (const change of await readLater(tx, tenantId, { resource, batch, seen }, LOOKED_AT)) {
    const known = later.get(change.resourceId);
    if (known) known.push(change);
    else later.set(change.resourceId, [change]);
  }
  const against = goals.flatMap((goal) => contradicting(goal, later.get(goal.id) ?? []));
  if (against.length === 0) return;
  const changeIds = against.map(({ id }) => id).sort((a, b) => a - b);
  const resources = [...new Set(against.map(({ resourceId }) => `${resource} ${resourceId}`))];
  throw refuse('CHANGE_CONTRADICTED', {
    changeIds: changeIds.slice(0, NAMED),
    resources: resources.slice(0, NAMED),
  });
}

/**
 * The later changes that stand. Two that undo each other do not. For what is there it is enough that it is again as it
 * was; what is deleted may have come back, changed, and gone again, and would come back as it was long before.
 */
function contradicting({ contents }: Goal<unknown>, later: readonly Noted[]): Noted[] {
  if (contents !== null && later.at(-1)?.became === contents) return [];
  const standing: Noted[] = [];
  for (const change of later) {
    const last = standing.at(-1);
    if (last && last.was === change.became && last.became === change.was) standing.pop();
    else standing.push(change);
  }
  return standing;
}
