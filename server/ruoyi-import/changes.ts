import type { Planned } from './record-plan.ts';

/**
 * Returns the keys whose values differ from those that the last run imported; without a last run, all keys. A value that the
 * last run did not read and that is empty now has not changed: it must not clear what was entered in Banyan.
 */
export function changedKeys(values: object, importedValues: object | undefined): string[] {
  if (!importedValues) return Object.keys(values);
  const imported = new Map<string, unknown>(Object.entries(importedValues));
  return Object.entries(values)
    .filter(([key, value]) => (imported.has(key) ? imported.get(key) !== value : value !== null))
    .map(([key]) => key);
}

/** A record that exists in Banyan, deleted or not. */
export interface Existing {
  id: string;
  externalId: string;
  isDeleted: boolean;
}

export interface Difference<P> {
  missing: P[];
  /** What was imported differs from what is planned. */
  changed: { planned: P; id: string; keys: string[] }[];
  deletedHere: P[];
  /** External ids of records in Banyan that are not planned. */
  vanished: string[];
}

/** Compares a plan with what Banyan has and with what the last run imported. */
export function compare<P extends Planned<object>>(
  planned: readonly P[],
  existing: readonly Existing[],
  importedValues: ReadonlyMap<string, object>,
): Difference<P> {
  const byId = indexExisting(existing);
  const result: Difference<P> = { missing: [], changed: [], deletedHere: [], vanished: [] };
  for (const each of planned) {
    const found = byId.get(each.id);
    if (!found) result.missing.push(each);
    else if (found.isDeleted) result.deletedHere.push(each);
    else {
      const keys = changedKeys(each.values, importedValues.get(each.id));
      if (keys.length > 0) result.changed.push({ planned: each, id: found.id, keys });
    }
  }
  const ids = new Set(planned.map(({ id }) => id));
  result.vanished = [...byId.values()]
    .filter(({ externalId, isDeleted }) => !isDeleted && !ids.has(externalId))
    .map(({ externalId }) => externalId);
  return result;
}

/**
 * Leaves out a reference to a record that Banyan does not have, such as a leader who was not created because a quota of accounts
 * is exhausted. It is then not stored as imported either, so a later run sets it.
 */
export function withoutUnknown<K extends string, P extends Planned<{ [key in K]?: string | null }>>(
  planned: readonly P[],
  key: K,
  isKnown: (id: string) => boolean,
): P[] {
  return planned.map((each) => {
    const reference = each.values[key];
    if (reference === undefined || reference === null || isKnown(reference)) return each;
    const { [key]: _, ...values } = each.values;
    return { ...each, values };
  });
}

/** Indexes records by external id. Several deleted ones may share an id with one that exists, which takes precedence. */
export function indexExisting<E extends Existing>(existing: readonly E[]): Map<string, E> {
  const byId = new Map<string, E>();
  for (const each of existing) if (!each.isDeleted || !byId.has(each.externalId)) byId.set(each.externalId, each);
  return byId;
}
