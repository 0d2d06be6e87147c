import type { Tx } from '../../db/driver.ts';
import { apiError } from '../http/errors.ts';
import { createSlices } from '../http/slices.ts';
import type { StoredRow } from '../records/record.ts';
import { type ChangeRow, readLaterChanges } from './queries.ts';
import type { LedgerResource, RecordRevert } from './resources.ts';

/** How many later changes of one record are read, and how many an error lists. */
const MAX_READ = 100;
const MAX_LISTED = 20;

/**
 * Throws unless each record is still in the state in which the batch left it. The records must be locked, so that no other
 * transaction changes them after the check.
 */
export async function assertNoConflicts(
  tx: Tx,
  tenantId: string,
  { resource, contents = (row) => row }: Pick<LedgerResource, 'resource' | 'contents'>,
  reverts: readonly RecordRevert[],
): Promise<void> {
  const [{ batch }] = reverts as [RecordRevert];
  const lastChangeIds = new Map(reverts.map(({ id, last }) => [id, last]));
  const later = new Map<string, Version[]>();
  const contentsOf = (row: StoredRow | null) => row && contents(row);
  for (const change of await readLaterChanges(tx, tenantId, { resource, batch, lastChangeIds }, MAX_READ)) {
    const version = { ...change, from: contentsOf(change.before), to: contentsOf(change.after) };
    const versions = later.get(change.resourceId);
    if (versions) versions.push(version);
    else later.set(change.resourceId, [version]);
  }
  const conflicting: Version[] = [];
  const pause = createSlices();
  for (const { id, from } of reverts) {
    const versions = later.get(id);
    if (versions) conflicting.push(...effectiveChanges(contentsOf(from), versions));
    await pause();
  }
  if (conflicting.length === 0) return;
  const changeIds = conflicting.map(({ id }) => id).sort((a, b) => a - b);
  const resources = [...new Set(conflicting.map(({ resourceId }) => `${resource} ${resourceId}`))];
  throw apiError('CHANGE_CONTRADICTED', {
    changeIds: changeIds.slice(0, MAX_LISTED),
    resources: resources.slice(0, MAX_LISTED),
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
 * Returns the later changes that still have an effect: two consecutive changes that undo each other have no effect. For a
 * record that exists after the batch, it is enough that it has the same contents again. One that the batch deleted may have been
 * restored, changed and deleted again, and a revert would bring back an old version; so its later changes are compared.
 */
function effectiveChanges(contents: Contents, later: readonly Version[]): Version[] {
  if (contents !== null && isSame(later.at(-1)?.to, contents)) return [];
  const effective: Version[] = [];
  for (const change of later) {
    const last = effective.at(-1);
    if (last && isSame(last.from, change.to) && isSame(last.to, change.from)) effective.pop();
    else effective.push(change);
  }
  return effective;
}
