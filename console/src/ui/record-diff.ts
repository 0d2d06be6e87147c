export interface FieldChange {
  field: string;
  before: unknown;
  after: unknown;
}

type FlatRecord = Record<string, unknown>;

/** Lifts the fields of nested objects to the top level. Their names are unique within a record. */
function flatten(record: object | null): FlatRecord {
  const fields: FlatRecord = {};
  for (const [field, value] of Object.entries(record ?? {})) {
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) Object.assign(fields, flatten(value));
    else fields[field] = value;
  }
  return fields;
}

const isEmpty = (value: unknown) =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

const isEqual = (a: unknown, b: unknown) => (isEmpty(a) && isEmpty(b)) || JSON.stringify(a) === JSON.stringify(b);

/** Whether two request bodies, which have the same fields in the same order, would write the same record. */
export function isSameInput<T extends object>(a: T, b: T): boolean {
  return (Object.keys(a) as (keyof T)[]).every((field) => isEqual(a[field], b[field]));
}

/** Compares the labelled fields of two records, in the order of the labels. A missing record has no values. */
export function diffRecords(
  labels: Record<string, string>,
  before: object | null,
  after: object | null,
): FieldChange[] {
  const [flatBefore, flatAfter] = [flatten(before), flatten(after)];
  return Object.keys(labels)
    .map((field) => ({ field, before: flatBefore[field], after: flatAfter[field] }))
    .filter((change) => !isEqual(change.before, change.after));
}
