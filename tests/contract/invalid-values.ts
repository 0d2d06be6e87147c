import type { Schema } from '../support/openapi.ts';

/** Values that a schema forbids, as JSON text, because JavaScript would round or overflow some of the numbers. */

export interface Field {
  /** The name as errors state it: `quotaBo.merchant`, `deptIds[0]`. */
  name: string;
  schema: Schema;
  required: boolean;
}

/** Every field of a body, with those of nested objects and the first element of each list, but not the fields of an element. */
export function fieldsOf(schema: Schema, prefix = ''): Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, inner]) => {
    const name = `${prefix}${key}`;
    const required = schema.required?.includes(key) ?? false;
    const elements = inner.items ? [{ name: `${name}[0]`, schema: inner.items, required: false }] : [];
    return [{ name, schema: inner, required }, ...elements, ...fieldsOf(inner, `${name}.`)];
  });
}

const samples = {
  string: '"text"',
  integer: '7',
  number: '7.5',
  boolean: 'true',
  object: '{"a":1}',
  array: '["a"]',
};

const NUL = '"a\\u0000b"';
const unpairedSurrogates = ['"\\ud83c"', '"a\\udf33b"'];
const invalidDates = [
  '2026-02-30',
  '2025-02-29',
  '2026-13-01',
  '2026-00-10',
  '2026-04-31',
  '0000-01-01',
  '2026-1-1',
  '20260101',
  '26-01-01',
  '2026-01-01T00:00:00Z',
  '2026-01-01 ',
  '+02026-01-01',
  'today',
  '',
];
// Negative numbers, fractions, numbers above 2^53-1, strings above 2^63-1, and strings that are not plain digits.
const invalidLongs = ['-1', '1.5', '9007199254740992', '9223372036854775808', '1e400'];
const invalidLongTexts = [
  '9223372036854775808',
  '99999999999999999999',
  '-1',
  '+1',
  '1.0',
  '1e3',
  '',
  ' 1',
  '1 ',
  '0x10',
  '１',
  'abc',
];

export function invalidValues(schema: Schema): string[] {
  const types = [schema.type ?? []].flat();
  const accepted = (type: string) => types.includes(type) || (type === 'integer' && types.includes('number'));
  const values = Object.entries(samples)
    .filter(([type]) => !accepted(type))
    .map(([, sample]) => sample);
  const texts = (list: string[]) => values.push(...list.map((text) => JSON.stringify(text)));
  if (types.includes('string')) {
    values.push(NUL, ...unpairedSurrogates);
    if (schema.maxLength !== undefined) texts(['a'.repeat(schema.maxLength + 1)]);
    if (schema.minLength) texts(['a'.repeat(schema.minLength - 1)]);
    if (schema.enum) texts(['2', 'x', '', '00', '０']);
    if (schema.pattern && schema.format !== 'int64') texts(['no such form!', '１２３４５６', 'a@b@c', '1,,2']);
    if (schema.format === 'date') texts(invalidDates);
  }
  if (schema.format === 'int64') {
    values.push(...invalidLongs);
    texts(invalidLongTexts);
  } else if (types.includes('integer')) {
    values.push('1.5', '9007199254740993', '9223372036854775808', '1e400', '-1e400');
    if (schema.minimum !== undefined) values.push(String(schema.minimum - 1));
    if (schema.maximum !== undefined) values.push(String(schema.maximum + 1));
  }
  if (schema.maxItems !== undefined) {
    // Repeat the first value of an enum: a list longer than maxItems is invalid anyway.
    const item = schema.items?.enum ? JSON.stringify(schema.items.enum[0]) : '1';
    values.push(`[${Array(schema.maxItems + 1).fill(item)}]`);
  }
  if (schema.minItems) values.push('[]');
  return values;
}

/** Returns `base` as JSON text with the field `name` set to `json`. */
export function withField(base: Record<string, unknown>, name: string, json: string): string {
  const mark = '\u2400here\u2400';
  const [key = '', inner] = name.split(/\.|(?=\[)/);
  const value = inner === undefined ? mark : inner === '[0]' ? [mark] : { [inner]: mark };
  return JSON.stringify({ ...base, [key]: value }).replace(`"${mark}"`, () => json);
}
