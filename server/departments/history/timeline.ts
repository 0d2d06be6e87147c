import type { Tx } from '../../../db/driver.ts';
import { forceIndexScans } from '../../../db/planner.ts';
import type { Caller } from '../../auth/caller.ts';
import { apiError } from '../../http/errors.ts';
import { readRecordChanges } from '../../ledger/feed.ts';
import { type LedgerResources, showChanges } from '../../ledger/resources.ts';
import { everExisted } from './queries.ts';
import type { TimelineEntry, TimelineFilter } from './schema.ts';

/** Reads a page of the changes of a department, which may have been deleted. */
export async function readDepartmentTimeline(
  tx: Tx,
  resources: LedgerResources,
  { tenantId, ownTenantId }: Caller,
  deptId: string,
  { sort = '-time', limit = 50, cursor }: TimelineFilter,
): Promise<{ rows: TimelineEntry[]; next: string | null }> {
  await forceIndexScans(tx);
  if (!(await everExisted(tx, tenantId, deptId))) throw apiError('DEPT_NOT_FOUND');
  const rows = await readRecordChanges(
    tx,
    tenantId,
    { resource: 'department', id: deptId },
    { oldestFirst: sort === 'time', beyond: cursor || undefined, limit: limit + 1 },
  );
  const page = rows.slice(0, limit);
  const shown = await showChanges(tx, resources, { readerTenant: ownTenantId, tenantId }, page);
  return {
    rows: shown.map(({ id, time, by, action, before, after }) => ({
      id,
      time,
      by,
      action,
      before,
      after,
      changed: changedFields(before, after),
    })),
    next: rows.length > limit ? String(page.at(-1)?.id) : null,
  };
}

/** These fields change with every write, so they are not listed. */
const UPDATE_FIELDS = ['updateBy', 'updateTime'];

function changedFields(before: object | null, after: object | null): string[] {
  if (!before || !after) return [];
  const old = new Map(Object.entries(before));
  return Object.entries(after).flatMap(([field, value]) =>
    old.get(field) === value || UPDATE_FIELDS.includes(field) ? [] : field,
  );
}
