import type { AuditEntry } from '../api.ts';

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
