import type { ImportErrors } from './errors.ts';

/** What an import does with a row. A `moved` row may change other fields too. */
type Action = 'created' | 'changed' | 'moved' | 'unchanged';

export interface RowOutcome {
  action: Action;
  /** The names of the fields that change; empty for a new record. */
  changes: string[];
}

/** What an import would do, for all of its rows. */
export interface Plan {
  /** By the index of the row; undefined: the row has errors. */
  outcomes: readonly (RowOutcome | undefined)[];
  errors: ImportErrors;
}

export function countActions({ outcomes }: Plan): Record<Action, number> {
  const counts = { created: 0, changed: 0, moved: 0, unchanged: 0 };
  for (const outcome of outcomes) if (outcome) counts[outcome.action]++;
  return counts;
}
