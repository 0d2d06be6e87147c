import type { Tx } from '../../db/driver.ts';
import { apiError } from '../http/errors.ts';
import type { StoredRow } from '../records/record.ts';
import { type ChangeRow, readLater } from './queries.ts';
import type { Goal, LedgerResource } from './resources.ts';

/** How many later changes of one record are read, and how many an error names. */
const MAX_READ = 100;
const MAX_NAMED = 20;

/**
 * Throws unless each record is still in the state in which the batch left it. The records must be locked, so that no other
 * transaction changes them after the check.
 */
export async function assertNotContradicted(
  tx: Tx,
  tenantId: string,
  { resource, contents = (row) => row }: Pick<LedgerResource, 'resource' | 'contents'>,
  goals: readonly Goal[],
): Promise<void> {
  const [{ batch }] = goals as [Goal];
  const seen = new Map(goals.map(({ id, last }) => [id, last]));
  const later = new Map<string, Version[]>();
  const contentsOf = (row: StoredRow | null) => row && contents(row);
  for (const change of await readLater(tx, tenantId, { resource, batch, seen }, MAX_READ)) {
    const version = { ...change, from: contentsOf(change.before), to: contentsOf(change.after) };
    const known = later.get(change.resourceId);
    if (known) known.push(version);
    else later.set(change.resourceId, [version]);
  }
  const contradicting = goals.flatMap((goal) => standingChanges(contentsOf(goal.from), later.get(goal.id) ?? []));
  if (contradicting.length === 0) return;
  const changeIds = contradicting.map(({ id }) => id).sort((a, b) => a - b);
  const resources = [...new Set(contradicting.map(({ resourceId }) => `${resource} ${resourceId}`))];
  throw apiError('CHANGE_CONTRADICTED', {
    changeIds: changeIds.slice(0, MAX_NAMED),
    resources: resources.slice(0, MAX_NAMED),
  });
}

interface Version extends ChangeRow {
  /** Contents before and after; null: the record did not exist. */
  from: Contents;
  to: Contents;
}

type Contents = Record<string, unknown> | null;

/** Compares the fields that both versions have: the schema may have changed between them. */
function isSame(a: Contents | undefined, b: Contents | undefined): boolean {
  if (!a || !b) return a === b;
  return Object.keys(a).every((name) => !(name in b) || JSON.stringify(a[name]) === JSON.stringify(b[name]));
}

/**
 * Returns the later changes that still have an effect: two consecutive changes that undo each other have none. For a record
 * that exists after the batch, it is enough that it has the same contents again. One that the batch deleted may have been
 * restored, changed and deleted again, and a revert would bring back an old version; so its later changes are compared.
 */
function standingChanges(contents: Contents, later: readonly Version[]): Version[] {
  if (contents !== null && isSame(later.at(-1)?.to, contents)) return [];
  const standing: Version[] = [];
  for (const change of later) {
    const last = standing.at(-1);
    if (last && isSame(last.from, change.to) && isSame(last.to, change.from)) standing.pop();
    else standing.push(change);
  }
  return standing;
}
