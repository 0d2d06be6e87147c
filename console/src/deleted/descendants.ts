import { type AuditEntry, type AuditFilter, api } from '../api.ts';

/**
 * A deleted subtree is shown as one row, that of its topmost department. This department usually comes last in the list, so all
 * changes of its request have to be read.
 */

const PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 500;

export interface DeletionsPage {
  changes: AuditEntry[];
  /** The cursor of the next page. */
  next: string | null;
}

/** Reads a page of deletions. If it ends within the departments of one request, it is extended to the last of them. */
export async function readDeletions(filter: AuditFilter, cursor: string, signal: AbortSignal): Promise<DeletionsPage> {
  const changes: AuditEntry[] = [];
  let next: string | null = cursor;
  do {
    const limit = changes.length === 0 ? PAGE_SIZE : MAX_PAGE_SIZE;
    const { data } = await api.listChanges({ ...filter, limit, ...(next ? { cursor: next } : {}) }, signal);
    changes.push(...data.rows);
    next = data.next;
  } while (next && filter.resource === 'department' && changes.at(-1)?.batch === changes.at(-2)?.batch);
  return { changes, next };
}

/** Returns the changes of all pages, except departments whose request may continue on a page that is not loaded yet. */
export function joinPages(pages: readonly DeletionsPage[]): AuditEntry[] {
  const changes = pages.flatMap(({ changes }) => changes);
  const last = changes.at(-1);
  if (!pages.at(-1)?.next || last?.resource !== 'department') return changes;
  return changes.filter(({ batch }) => batch !== last.batch);
}

interface Row {
  change: AuditEntry;
  /** The departments below that were deleted by the same request, and are restored with it. */
  descendantCount: number;
}

const parentOf = ({ before }: AuditEntry) => String((before as { parentId?: number | string } | null)?.parentId ?? 0);

/** Leaves out departments that were deleted together with one above them: they are restored together as well. */
export function withoutDescendants(changes: readonly AuditEntry[]): Row[] {
  const keyOf = (batch: number | string, id: string) => `${batch}/${id}`;
  const byKey = new Map(changes.map((change) => [keyOf(change.batch, change.resourceId), change]));
  const parentIn = (change: AuditEntry) =>
    change.resource === 'department' ? byKey.get(keyOf(change.batch, parentOf(change))) : undefined;
  const rows = new Map<AuditEntry, Row>();
  for (const change of changes) if (!parentIn(change)) rows.set(change, { change, descendantCount: 0 });
  for (const change of changes) {
    let top = change;
    for (let parent = parentIn(change); parent; parent = parentIn(parent)) top = parent;
    const row = rows.get(top);
    if (row && top !== change) row.descendantCount++;
  }
  return [...rows.values()];
}
