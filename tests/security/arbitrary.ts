import fc from 'fast-check';
import { TENANT_QUOTAS } from '../../server/quotas/schema.ts';
import type { Operation, Schema } from '../support/openapi.ts';

/** Requests generated from the OpenAPI document: valid, almost valid, and hostile ones. */

export interface Generated {
  operation: Operation;
  path: string;
  headers: Record<string, string>;
  /** The body as it is sent, or undefined for none. */
  raw: string | undefined;
  /** The user whose token is sent: the administrator, a member, or nobody. */
  caller: 'admin' | 'member' | 'anonymous';
}

/** Strings that often break software: SQL, escapes, paths, markup, unusual Unicode, and almost-numbers. */
const hostileTexts = [
  "' or 1=1 --",
  "'; drop table users; --",
  '\\',
  '%',
  '_',
  '%00',
  '\u0000',
  '\ud800',
  '../../etc/passwd',
  '<script>alert(1)</script>',
  '#{7*7}',
  '{{7*7}}',
  '__proto__',
  'constructor',
  '$1',
  'null',
  'undefined',
  'NaN',
  'Infinity',
  '-0',
  '1e3',
  '0x10',
  '٣',
  '１２',
  '\u202e\u200b\ufeff',
  '🌳'.repeat(60),
  'a\r\nSet-Cookie: x=1',
  '000000',
  '9223372036854775807',
  '9223372036854775808',
  '2026-02-30',
  '9999-12-31',
  'x'.repeat(70_000),
];
const hostileValues: unknown[] = [
  ...[null, true, false, 0, -1, -0, 1.5, 1e308, 2 ** 31, 2 ** 53, -(2 ** 63), '', [], {}],
  [[[[]]]],
  { toString: 1, length: -1, constructor: null },
  Array(600).fill(1),
  Array(40).fill({ a: [] }),
];

const hostileText = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...hostileTexts) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
);
const hostile = fc.oneof(hostileText, fc.constantFrom(...hostileValues), fc.jsonValue({ maxDepth: 3 }));

/** Ids of existing records, so that not every request ends in a 404, and times before and after most of them were created. */
export type Ids = Record<
  'dept' | 'user' | 'tenant' | 'code' | 'key' | 'session' | 'source' | 'externalId' | 'time',
  string[]
>;

function idsFor(name: string, ids: Ids): string[] | undefined {
  if (/^(dept|parent)Ids?$/.test(name)) return ids.dept;
  if (/^userIds?$/.test(name)) return ids.user;
  if (/^keyIds?$/.test(name)) return ids.key;
  if (name === 'id') return ids.tenant;
  if (name === 'quota') return [...TENANT_QUOTAS];
  return /^tenant(Id|Parent)$/.test(name) ? ids.code : undefined;
}

const texts = new Map<string, fc.Arbitrary<string>>();

/** Text that matches the schema. Arbitraries of text are slow to create, and do not depend on the ids: each is created once. */
function validText({ pattern, minLength = 0, maxLength }: Schema): fc.Arbitrary<string> {
  const key = JSON.stringify([pattern, minLength, maxLength]);
  const known = texts.get(key);
  if (known) return known;
  const created = pattern
    ? fc.stringMatching(new RegExp(pattern), { maxLength: Math.min(maxLength ?? 19, 40) })
    : fc.string({ unit: 'grapheme', minLength, maxLength: Math.max(minLength, Math.min(maxLength ?? 60, 20)) });
  texts.set(key, created);
  return created;
}

function validValue(schema: Schema, name: string, ids: Ids): fc.Arbitrary<unknown> {
  const types = [schema.type ?? 'object'].flat();
  const isTime = schema.pattern?.includes('[T ]');
  const known = isTime ? ids.time : idsFor(name, ids);
  if (known && !types.includes('array')) return fc.constantFrom(...known);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (types.includes('object')) return fc.oneof(objectOf(schema, ids, 0.05), shortestOf(schema, ids));
  if (types.includes('array')) {
    const { minItems = 0, maxItems = 3, items = {} } = schema;
    return fc.array(validValue(items, name, ids), { minLength: minItems, maxLength: Math.min(maxItems, 3) });
  }
  if (schema.format === 'date') {
    const [min, max] = [new Date('1990-01-01'), new Date('2100-12-31')];
    return fc.date({ min, max, noInvalidDate: true }).map((date) => date.toISOString().slice(0, 10));
  }
  if (schema.pattern || types.includes('string')) return validText(schema);
  if (types.includes('boolean')) return fc.boolean();
  return fc.integer({ min: schema.minimum ?? -5, max: Math.min(schema.maximum ?? 5, 2 ** 31 - 1) });
}

/** A value that almost matches: one beyond a limit, of another type, or null. */
function almostValidValue(schema: Schema, name: string, ids: Ids): fc.Arbitrary<unknown> {
  const edges: unknown[] = [null, '', 0];
  if (schema.maxLength) edges.push('字'.repeat(schema.maxLength), '字'.repeat(schema.maxLength + 1));
  if (schema.minLength) edges.push('x'.repeat(schema.minLength - 1));
  if (schema.maximum !== undefined) edges.push(schema.maximum, schema.maximum + 1, String(schema.maximum));
  if (schema.minimum !== undefined) edges.push(schema.minimum, schema.minimum - 1);
  if (schema.items) edges.push(Array(501).fill('1'), [null]);
  return fc.oneof(fc.constantFrom(...edges), validValue(schema, name, ids).map(asText));
}
const asText = (value: unknown) => (typeof value === 'object' ? value : `${value} `);

const valueFor = (schema: Schema, name: string, ids: Ids, invalidShare: number): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: Math.round(100 * (1 - invalidShare)), arbitrary: fc.noShrink(validValue(schema, name, ids)) },
    { weight: Math.round(60 * invalidShare), arbitrary: almostValidValue(schema, name, ids) },
    { weight: Math.round(40 * invalidShare), arbitrary: hostile },
  );

function objectOf(schema: Schema, ids: Ids, invalidShare: number): fc.Arbitrary<Record<string, unknown>> {
  const { properties = {}, required = [] } = schema;
  const model = Object.fromEntries(
    Object.entries(properties).map(([key, inner]) => [key, valueFor(inner, key, ids, invalidShare)]),
  );
  const strict = fc.record(model, { requiredKeys: required as never[] });
  return invalidShare < 0.04
    ? strict
    : fc.oneof({ weight: 9, arbitrary: strict }, { weight: 1, arbitrary: fc.record(model, { requiredKeys: [] }) });
}

/** An object with the required properties only: a random combination of all properties is rarely valid. */
const shortestOf = ({ properties = {}, required = [] }: Schema, ids: Ids): fc.Arbitrary<Record<string, unknown>> =>
  fc.record(Object.fromEntries(required.map((key) => [key, validValue(properties[key] ?? {}, key, ids)])));

/** A body as text: the documented example or generated JSON, sometimes truncated, with repeated keys or with a forbidden key. */
const bodyOf = (schema: Schema, example: unknown, ids: Ids): fc.Arbitrary<string | undefined> =>
  fc.oneof(
    { weight: 5, arbitrary: fc.constant(JSON.stringify(example)) },
    { weight: 30, arbitrary: objectOf(schema, ids, 0.01).map((value) => JSON.stringify(value)) },
    { weight: 10, arbitrary: shortestOf(schema, ids).map((value) => JSON.stringify(value)) },
    { weight: 30, arbitrary: objectOf(schema, ids, 0.15).map((value) => JSON.stringify(value)) },
    { weight: 4, arbitrary: hostile.map((value) => JSON.stringify(value)) },
    { weight: 2, arbitrary: objectOf(schema, ids, 0.1).map((value) => JSON.stringify(value).slice(0, -1)) },
    {
      weight: 2,
      arbitrary: fc.constantFrom('', '{', '[]', '{"__proto__":{"a":1}}', '{"constructor":{"prototype":1}}'),
    },
    { weight: 1, arbitrary: fc.constantFrom('{"deptName":"a","deptName":"b"}', '\ufeff{}', '{"a":1e999}', undefined) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 20_000 }).map((depth) => '['.repeat(depth)) },
  );

/** Header values, limited to the bytes that HTTP allows. */
const headerText = hostileText.map((text) => text.replace(/[^\x20-\x7e\x80-\xff]/g, '').slice(0, 2_000));
const someHeader = (name: string, ...values: string[]) =>
  fc.oneof(
    { weight: 60, arbitrary: fc.constant<[string, string][]>([]) },
    { weight: 2, arbitrary: fc.constantFrom(...values).map((value): [string, string][] => [[name, value]]) },
    { weight: 1, arbitrary: headerText.map((value): [string, string][] => [[name, value]]) },
  );
const headersOf = fc
  .tuple(
    someHeader('accept', 'application/problem+json', '*/*', 'application/problem+json;q=0'),
    someHeader('accept-language', 'en', 'zh;q=0.1,en', 'en;q=x', '*'),
    someHeader('content-language', 'en_US', 'zh_CN'),
    someHeader('idempotency-key', 'a', 'b', 'x'.repeat(255), 'x'.repeat(256)),
    someHeader('if-match', '*', '"x"', 'W/"x", "y"'),
    someHeader('x-request-id', 'mine', 'x'.repeat(65)),
    someHeader('content-type', 'application/json; charset=utf-8', 'text/plain', 'application/json; charset=latin1'),
    someHeader('content-encoding', 'identity', 'gzip'),
    someHeader('x-forwarded-for', '10.0.0.1', '::1, x'),
    someHeader('authorization', 'Bearer a.b.c', 'Basic eA==', 'Bearer '),
    someHeader('origin', 'https://evil.example', 'null'),
  )
  .map((pairs) => Object.fromEntries(pairs.flat()));

/** The known values of a parameter in a path. */
function idsInPath(path: string, name: string, ids: Ids): string[] {
  if (name === 'source' || name === 'externalId') return ids[name];
  if (name !== 'id') return idsFor(name, ids) ?? [];
  if (path.includes('/sessions/')) return ids.session;
  if (path.includes('key-api')) return ids.key;
  return path.includes('dept-api') ? ids.dept : path.includes('user-api') ? ids.user : ids.tenant;
}

/** Values of a parameter in a path: mostly known ones, alone or in a list, sometimes hostile ones. */
function pathValue(known: string[]): fc.Arbitrary<string> {
  const one = fc.constantFrom(...known, '7', '0', '00007');
  return fc.oneof(
    { weight: 6, arbitrary: one },
    { weight: 2, arbitrary: fc.array(one, { minLength: 1, maxLength: 4 }).map((list) => list.join()) },
    { weight: 1, arbitrary: hostileText.filter((text) => text !== '') },
  );
}

/** Values of a parameter in a query. A valid `wait` is 0: longer ones would only make a test of many requests wait. */
const queryValue = (schema: Schema, name: string, ids: Ids): fc.Arbitrary<unknown> =>
  name === 'wait' ? fc.constantFrom(0, -1, 61, 1.5, 'x', '') : valueFor(schema, name, ids, 0.2);

export function requestOf(operation: Operation, ids: Ids): fc.Arbitrary<Generated> {
  const { parameters = [], path, requestBody, body, security = [] } = operation;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
  const inPath = fc.tuple(...names.map((name) => pathValue(idsInPath(path, name, ids))));
  const queries = parameters.filter((parameter) => parameter.in === 'query');
  const query = fc
    .tuple(
      ...queries.map(({ name, schema }) =>
        fc.option(queryValue(schema, name, ids), { nil: undefined, freq: 2 }).map((value) => ({ name, value })),
      ),
    )
    .map((list) => list.filter(({ value }) => value !== undefined))
    .map((list) => list.map(({ name, value }) => `${name}=${encodeForUrl(textOf(value))}`).join('&'));
  return fc.record({
    operation: fc.constant(operation),
    path: fc
      .tuple(inPath, query)
      .map(
        ([[...values], text]) =>
          path.replace(/\{\w+\}/g, () => encodeForUrl(values.shift() ?? '')) + (text && `?${text}`),
      ),
    headers: headersOf,
    raw: body ? bodyOf(body, requestBody?.content['application/json']?.example, ids) : fc.constant(undefined),
    caller: security.length
      ? fc.oneof({ weight: 8, arbitrary: fc.constant('admin' as const) }, fc.constantFrom('member', 'anonymous'))
      : fc.constant('anonymous' as const),
  });
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
/** Encodes text for a URL; an unpaired surrogate becomes bytes that are not UTF-8. */
const encodeForUrl = (text: string) => (text.isWellFormed() ? encodeURIComponent(text) : '%ed%a0%80').slice(0, 20_000);
