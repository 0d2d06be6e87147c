/** What differs between two records of the ledger. */

type Plain = Record<string, unknown>;

export interface Differing {
  field: string;
  before: unknown;
  after: unknown;
}

/** Fields of fields stand beside the others: their names are all different. */
function flat(record: object | null): Plain {
  const fields: Plain = {};
  for (const [field, value] of Object.entries(record ?? {})) {
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) Object.assign(fields, flat(value));
    else fields[field] = value;
  }
  return fields;
}

const isEmpty = (value: unknown) =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

const same = (one: unknown, other: unknown) =>
  (isEmpty(one) && isEmpty(other)) || JSON.stringify(one) === JSON.stringify(other);

/** Of the fields that have a word, in the order of the words. Where there was no record, all that was given. */
export function differing(words: Record<string, string>, before: object | null, after: object | null): Differing[] {
  const [was, is] = [flat(before), flat(after)];
  return Object.keys(words)
    .map((field) => ({ field, before: was[field], after: is[field] }))
    .filter((one) => !same(one.before, one.after));
}
