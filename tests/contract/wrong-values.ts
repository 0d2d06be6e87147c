import type { Schema } from '../support/document.ts';

/** Values that a schema forbids, as JSON text: numbers that JavaScript would round or overflow are among them. */

export interface Field {
  /** As a refusal names it: `quotaBo.merchant`, `deptIds[0]`. */
  name: string;
  schema: Schema;
  required: boolean;
}

/** Every field of a body, the inner ones too. */
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
const halfPairs = ['"\\ud83c"', '"a\\udf33b"'];
const noDates = [
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
// Below zero, fractions, beyond 2^53 as a number and beyond 2^63 as text, and what only looks like digits.
const noLongs = ['-1', '1.5', '9007199254740992', '9223372036854775808', '1e400'];
const noLongTexts = [
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

export function wrongValues(schema: Schema): string[] {
  const types = [schema.type ?? []].flat();
  const accepted = (type: string) => types.includes(type) || (type === 'integer' && types.includes('number'));
  const values = Object.entries(samples)
    .filter(([type]) => !accepted(type))
    .map(([, sample]) => sample);
  const texts = (list: string[]) => values.push(...list.map((text) => JSON.stringify(text)));
  if (types.includes('string')) {
    values.push(NUL, ...halfPairs);
    if (schema.maxLength !== undefined) texts(['a'.repeat(schema.maxLength + 1)]);
    if (schema.minLength) texts(['a'.repeat(schema.minLength - 1)]);
    if (schema.enum) texts(['2', 'x', '', '00', '０']);
    if (schema.pattern && schema.format !== 'int64') texts(['no such form!', '１２３４５６', 'a@b@c', '1,,2']);
    if (schema.format === 'date') texts(noDates);
  }
  if (schema.format === 'int64') {
    values.push(...noLongs);
    texts(noLongTexts);
  } else if (types.includes('integer')) {
    values.push('1.5', '9007199254740993', '9223372036854775808', '1e400', '-1e400');
    if (schema.minimum !== undefined) values.push(String(schema.minimum - 1));
    if (schema.maximum !== undefined) values.push(String(schema.maximum + 1));
  }
  if (schema.maxItems !== undefined) {
    // More roles than there are must be repeated ones; either way it is too many.
    const item = schema.items?.enum ? JSON.stringify(schema.items.enum[0]) : '1';
    values.push(`[${Array(schema.maxItems + 1).fill(item)}]`);
  }
  if (schema.minItems) values.push('[]');
  return values;
}

/** `base` as JSON text, with `json` at the place that `name` tells. */
export function withField(base: Record<string, unknown>, name: string, json: string): string {
  const mark = '\u2400here\u2400';
  const [key = '', inner] = name.split(/\.|(?=\[)/);
  const value = inner === undefined ? mark : inner === '[0]' ? [mark] : { [inner]: mark };
  return JSON.stringify({ ...base, [key]: value }).replace(`"${mark}"`, () => json);
}
