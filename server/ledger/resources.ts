import type { Tx } from '../../db/driver.ts';
import type { Caller } from '../auth/caller.ts';
import type { StoredRow } from '../records/record.ts';
import type { ChangeRow } from './queries.ts';
import type { Resource } from './schema.ts';
import { hideActor, type Reader, readVisibility, type Visibility } from './visibility.ts';

/** A row of a record as a change stores it, before or after. */
export interface RecordedRow {
  tenantId: string;
  changeId: number;
  /** Time of the change, in UTC, exact to the microsecond. */
  time: string;
  resourceId: string;
  row: StoredRow;
}

/** How a revert changes one record: from the state in which the batch left it to the state before the batch. */
export interface RecordRevert {
  resource: Resource;
  id: string;
  /** null: the record did not exist. */
  from: StoredRow | null;
  to: StoredRow | null;
  batch: number;
  /** Ids of the first and the last change of the record in the batch. */
  first: number;
  last: number;
}

/** How one kind of record is shown and reverted. Each domain defines its own, so the ledger depends on none of them. */
export interface LedgerResource {
  resource: Resource;
  /** Maps stored rows to records as the API returns them, in the same order. */
  show(tx: Tx, rows: RecordedRow[], visibility: Visibility): Promise<object[]> | object[];
  /** Returns the fields that a conflict check compares: not `update_by` or `update_time`, which every write sets. */
  contents?(row: StoredRow): Record<string, unknown>;
  /** Reverts changes of a batch in a ledger. It must call `assertNoConflicts` to check for conflicts with later changes. */
  revert?(tx: Tx, caller: Caller, ledgerTenantId: string, reverts: RecordRevert[]): Promise<void>;
  /** Whether reverting records of this kind also reverts the other changes of the batch. */
  revertsWholeBatch?: boolean;
}

export type LedgerResources = ReadonlyMap<Resource, LedgerResource>;

export const ledgerResources = (...resources: LedgerResource[]): LedgerResources =>
  new Map(resources.map((each) => [each.resource, each]));

/** The columns of a change that `showChanges` needs. */
type StoredChange = Omit<ChangeRow, 'requestId' | 'action'>;

interface Sides {
  before: object | null;
  after: object | null;
}

/** Maps changes to what the API shows to a reader, with one call for each kind of record. */
export async function showChanges<T extends StoredChange>(
  tx: Tx,
  resources: LedgerResources,
  reader: Reader,
  changes: readonly T[],
): Promise<(Omit<T, 'before' | 'after'> & Sides)[]> {
  const visibility = await readVisibility(tx, reader, changes);
  const shown = changes.map((change): Omit<T, 'before' | 'after'> & Sides => ({
    ...hideActor(change, visibility),
    before: null,
    after: null,
  }));
  for (const [resource, { show }] of resources) {
    const targets: { index: number; side: 'before' | 'after' }[] = [];
    const rows: RecordedRow[] = [];
    for (const [index, change] of changes.entries()) {
      if (change.resource !== resource) continue;
      for (const side of ['before', 'after'] as const) {
        const row = change[side];
        if (!row) continue;
        const { tenantId, id: changeId, time, resourceId } = change;
        rows.push({ tenantId, changeId, time, resourceId, row });
        targets.push({ index, side });
      }
    }
    if (rows.length === 0) continue;
    const records = await show(tx, rows, visibility);
    for (const [n, { index, side }] of targets.entries()) {
      (shown[index] as (typeof shown)[number])[side] = records[n] as object;
    }
  }
  return shown;
}
