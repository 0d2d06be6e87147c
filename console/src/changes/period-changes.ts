import { useQuery } from '@tanstack/react-query';
import { createContext } from 'react';
import { type AuditEntry, api, type User } from '../api.ts';
import { queryKeys } from '../query-keys.ts';
import type { Operator } from '../ui/operator.tsx';
import { diffRecords } from '../ui/record-diff.ts';

/** The service returns at most this many changes in one response. */
const MAX_CHANGES = 500;

/** The changes of one kind of record in a period, latest first. */
export function usePeriodChanges(resource: 'department' | 'user', from: string, to: string | null) {
  const filter = { resource, from, ...(to ? { to } : {}), below: false, limit: MAX_CHANGES };
  const { data, isPending, error, refetch } = useQuery({
    queryKey: queryKeys.changes.list(filter),
    queryFn: ({ signal }) => api.listChanges(filter, signal),
  });
  return { rows: data?.data.rows ?? [], truncated: data?.data.next != null, isPending, error, refetch };
}

/** The operator of the last change of each record, by the id of the record. */
export const OperatorsContext = createContext<ReadonlyMap<string, Operator>>(new Map());

export function operatorsOf(rows: readonly AuditEntry[]): Map<string, Operator> {
  const operators = new Map<string, Operator>();
  for (const row of rows) if (!operators.has(row.resourceId)) operators.set(row.resourceId, row);
  return operators;
}

export interface PersonChange {
  id: string;
  kind: 'created' | 'deleted' | 'moved' | 'updated';
  operator: Operator;
  before: User | null;
  after: User | null;
}

/**
 * What became of each user: from the state before the first change to the state after the last one. `labels` has the fields
 * that are compared. Users who differ in none of them, for example after a deletion that was reverted, are left out.
 */
export function diffPeople(rows: readonly AuditEntry[], labels: Record<string, string>): PersonChange[] {
  const people = new Map<string, PersonChange>();
  for (const row of rows) {
    const { resourceId, action, before, after } = row;
    // A new password does not change the record.
    if (action === 'password changed') continue;
    const known = people.get(resourceId);
    const [first, last] = [before as User | null, known ? known.after : (after as User | null)];
    people.set(resourceId, {
      id: resourceId,
      kind: kindOf(first, last),
      operator: known?.operator ?? row,
      before: first,
      after: last,
    });
  }
  return [...people.values()].filter(
    ({ kind, before, after }) =>
      (before || after) && (kind !== 'updated' || diffRecords(labels, before, after).length > 0),
  );
}

function kindOf(before: User | null, after: User | null): PersonChange['kind'] {
  if (!before) return 'created';
  if (!after) return 'deleted';
  return before.deptId === after.deptId ? 'updated' : 'moved';
}
