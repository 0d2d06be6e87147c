import { isUtf8 } from 'node:buffer';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { FastifyInstance, FastifyRequest, FastifySchemaValidationError } from 'fastify';
import { isNetwork } from './address.ts';
import { type ApiError, apiError, type Detail, type Language } from './errors.ts';
import { problems } from './field-problems.ts';
import { hasCalendarDate, isCalendarDate, isLong, MAX_IDS } from './fields.ts';

/** The media types of a JSON merge patch (RFC 7396). Callers who cannot set the first one may send plain JSON. */
export const PATCH_TYPES = ['application/merge-patch+json', 'application/json'];

/** Validates requests before any handler runs: JSON syntax, text encoding and schemas. */
export function validateInput(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(PATCH_TYPES, { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    if (request.method !== 'PATCH' && !isJsonType(request.headers['content-type']))
      return done(apiError('NOT_JSON'), undefined);
    // Some clients send the header without a body, for example on DELETE. Required bodies are checked in preValidation.
    if (body.length === 0) return done(null, request.body);
    if ((request.headers['content-encoding'] ?? 'identity') !== 'identity')
      return done(apiError('NOT_JSON'), undefined);
    if (!isUtf8(body)) return done(apiError('INVALID_UTF8'), undefined);
    const text = body.toString('utf8');
    // Fastify reports a forbidden key as invalid JSON too.
    return parse(request, text, (error, value) =>
      error ? done(apiError(isJson(text) ? 'FORBIDDEN_KEY' : 'INVALID_JSON'), undefined) : done(null, value),
    );
  });

  // Paths and queries must be valid UTF-8 too: the router would silently replace invalid escapes by other characters.
  app.addHook('onRequest', (request, _reply, done) => {
    done(isDecodable(request.url) ? undefined : apiError('INVALID_UTF8'));
  });
  app.addHook('preValidation', (request, _reply, done) => {
    const unknown = findUnknownParameters(request);
    if (unknown) return done(unknown);
    const expected = request.routeOptions.schema?.body as { 'x-optional'?: boolean } | undefined;
    if (request.body === undefined && expected?.['x-optional']) request.body = {};
    const { body } = request;
    if (body === undefined && expected) return done(apiError('BODY_REQUIRED'));
    const sent = request.query as Record<string, unknown>;
    const duplicate = findDuplicate(sent, request.routeOptions.schema?.querystring);
    if (duplicate) return done(invalid(duplicate, 'duplicate'));
    const query = omitEmpty(sent, request.method);
    request.query = query;
    const field = findInvalidText(request.params) ?? findInvalidText(query) ?? findInvalidText(body);
    done(field ? apiError('INVALID_FIELD', { field, problem: problems.text }) : undefined);
  });

  app.setValidatorCompiler(({ schema, httpPart }) => {
    // Compile lazily: compiling all schemas would take a large part of the startup time.
    let compiled: ValidateFunction | undefined;
    const validate = (input: unknown) => {
      compiled ??= (httpPart === 'body' ? withoutCoercion : withCoercion).compile(schema);
      const valid = compiled(input);
      validate.errors = compiled.errors;
      return valid;
    };
    validate.errors = null as ValidateFunction['errors'];
    return validate as never;
  });
}

function createAjv(coerceTypes: boolean): Ajv {
  return new Ajv({
    coerceTypes,
    strict: false,
    verbose: true, // Errors then contain their schema, whose `x-problem` may name the message.
    formats: {
      int64: { type: 'string', validate: isLong },
      date: isCalendarDate,
      'local-time': hasCalendarDate,
      network: isNetwork,
      uuid: true,
      password: true,
    },
  });
}

// Shared by all apps of the process (tests build several), so that each schema is compiled once.
const withoutCoercion = createAjv(false);
/** For paths and queries, where everything is text: "20" is accepted as a number. */
const withCoercion = createAjv(true);

const isJsonType = (type = '') => /^\s*application\/json\s*(;|$)/i.test(type);

/** Whether a text that the parser rejected is valid JSON; then it contains a forbidden key. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text.replace(/^\ufeff/, ''));
    return true;
  } catch {
    return false;
  }
}

function isDecodable(url: string): boolean {
  if (!url.includes('%')) return true;
  try {
    decodeURIComponent(url);
    return true;
  } catch {
    return false;
  }
}

/**
 * Rejects query parameters that the operation does not have: a mistyped filter would return everything. Operations with
 * `ignoresUnknownParameters` ignore unknown parameters, because existing clients send some.
 */
function findUnknownParameters({ query, routeOptions: { schema, config } }: FastifyRequest): ApiError | undefined {
  if (isEmpty(query)) return undefined;
  if (config.ignoresUnknownParameters) return undefined;
  const { operationId, querystring } = (schema ?? {}) as { operationId?: string; querystring?: object };
  // The pages and files of the API reference are not operations.
  if (operationId === undefined) return undefined;
  const { properties = {} } = (querystring ?? {}) as { properties?: object };
  const sent = query as Record<string, unknown>;
  const unknown = Object.keys(sent).filter((name) => name && !Object.hasOwn(properties, name));
  if (unknown.length === 0) return undefined;
  const supported = Object.keys(properties);
  return apiError('UNKNOWN_PARAMETER', {
    parameters: unknown.slice(0, 10).map((name) => name.slice(0, 50).toWellFormed().replaceAll('\0', '\ufffd')),
    ...(supported.length > 0 ? { supported } : { operation: operationId }),
  });
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Unknown query parameters are ignored: existing RuoYi clients send some, and other clients add one to bypass a cache. */
    ignoresUnknownParameters?: boolean;
  }
}

/** Finds a query parameter that was sent more than once. The schema would only report that an array is not a string. */
const findDuplicate = (query: Record<string, unknown>, expected: unknown) => {
  const { properties = {} } = (expected ?? {}) as { properties?: object };
  // Unknown parameters that are not rejected are ignored, repeated or not.
  return Object.keys(query).find((name) => Array.isArray(query[name]) && Object.hasOwn(properties, name));
};

/**
 * Front ends send `?status=` for a filter that is not set. An empty cursor is kept: it requests the first page. So is the empty
 * tenant of a write, which is rejected: a program without a value for it must not write to its own tenant.
 */
function omitEmpty(query: Record<string, unknown>, method: string): Record<string, unknown> {
  if (isEmpty(query)) return query;
  const isKept = (name: string) => name === 'cursor' || (name === 'tenantId' && method !== 'GET' && method !== 'HEAD');
  return Object.fromEntries(Object.entries(query).filter(([name, value]) => value !== '' || isKept(name)));
}

function isEmpty(input: unknown): boolean {
  for (const _ in input as object) return false;
  return true;
}

/** An object or array whose values are being searched. */
interface Searched {
  values: Readonly<Record<string | number, unknown>>;
  /** undefined: an array. */
  keys: readonly string[] | undefined;
  length: number;
  next: number;
}

/**
 * Finds the first text that PostgreSQL cannot store: one with NUL or an unpaired surrogate. It must not take much memory: a body
 * can contain millions of values. Nor does it recurse: a body of one megabyte can be nested half a million levels deep.
 */
function findInvalidText(input: unknown): string | undefined {
  if (typeof input === 'object' && isEmpty(input)) return undefined;
  const path: Searched[] = [searched([input])];
  for (let inner = path.at(-1); inner; inner = path.at(-1)) {
    if (inner.next === inner.length) {
      path.pop();
      continue;
    }
    const n = inner.next++;
    const value = inner.values[inner.keys?.[n] ?? n];
    if (typeof value === 'string') {
      if (value.includes('\0') || !value.isWellFormed()) return nameOf(path) || 'body';
    } else if (typeof value === 'object' && value !== null && !isEmpty(value)) path.push(searched(value));
  }
  return undefined;
}

function searched(value: object): Searched {
  const keys = Array.isArray(value) ? undefined : Object.keys(value);
  return { values: value as Searched['values'], keys, length: keys?.length ?? (value as unknown[]).length, next: 0 };
}

/** Names the value that was visited last, by the first 200 characters or so of its path. */
function nameOf(path: readonly Searched[]): string {
  let name = '';
  for (const { keys, next } of path.slice(1)) {
    if (name.length >= 200) break;
    name = joinPath(name, keys?.[next - 1] ?? String(next - 1), keys === undefined);
  }
  return name;
}

/** `quotaBo.merchant`, `departments[17].email` */
const joinPath = (path: string, key: string, isIndex: boolean) =>
  isIndex ? `${path}[${key}]` : path ? `${path}.${key}` : key;

/** The error for a rule that a schema cannot express. */
export const invalid = (field: Detail, problem: keyof typeof problems): ApiError =>
  apiError('INVALID_FIELD', { field, problem: problems[problem] });

export function pathId(text: string): string {
  if (!/^\d{1,19}$/.test(text)) throw invalid('id', 'id');
  return BigInt(text).toString();
}

/** Reads comma-separated ids from a path. Duplicates are removed. */
export function pathIds(text: string): string[] {
  const ids = text.split(',');
  if (ids.some((id) => !/^\d{1,19}$/.test(id))) throw invalid('ids', 'ids');
  const distinct = [...new Set(ids.map((id) => BigInt(id).toString()))];
  if (distinct.length > MAX_IDS) throw apiError('TOO_MANY_IDS', { limit: MAX_IDS });
  return distinct;
}

/**
 * Returns a function that checks one row of a long list, and finds at most one error in each field. A schema would report only
 * the first error of the whole list, or any number of them.
 */
export function createRowValidator({ properties, required = [] }: RowSchema) {
  const fields = Object.entries(properties).map(([name, schema]) => {
    let compiled: ValidateFunction | undefined;
    const find = (value: unknown): readonly ErrorObject[] => {
      compiled ??= withoutCoercion.compile(schema);
      return compiled(value) ? [] : (compiled.errors ?? []);
    };
    return { name, find, isRequired: required.includes(name) };
  });
  return (row: unknown, path: string): ApiError[] => {
    if (typeof row !== 'object' || row === null || Array.isArray(row)) return [invalid(path, 'row')];
    return fields.flatMap(({ name, find, isRequired }) => {
      const field = `${path}.${name}`;
      const value = Object.hasOwn(row, name) ? (row as Record<string, unknown>)[name] : undefined;
      if (value === undefined) return isRequired ? [apiError('FIELD_REQUIRED', { field })] : [];
      const errors = find(value);
      return errors.length > 0 ? [toValidationError(errors, field, field)] : [];
    });
  };
}

/** Returns a function that checks a single value, and returns its error. */
export function createValueValidator(schema: object) {
  let compiled: ValidateFunction | undefined;
  return (value: unknown, field: Detail): ApiError | undefined => {
    compiled ??= withoutCoercion.compile(schema);
    if (compiled(value)) return undefined;
    return apiError('INVALID_FIELD', { field, problem: problemOf(compiled.errors?.[0] as ErrorObject) });
  };
}

interface RowSchema {
  properties: Record<string, object>;
  required?: readonly string[];
}

/** Converts a schema violation to an error that names the field. */
export function toValidationError(
  errors: readonly (FastifySchemaValidationError | ErrorObject)[],
  part: string,
  within = '',
): ApiError {
  const error = errors[0] as unknown as ErrorObject;
  // No field has a numeric name, so a number is the index of an array.
  const path = error.instancePath
    .split('/')
    .slice(1)
    .reduce((parent, key) => joinPath(parent, key, /^\d+$/.test(key)), within);
  if (error.keyword === 'required') {
    const missing = String(error.params.missingProperty);
    return apiError('FIELD_REQUIRED', { field: path ? `${path}.${missing}` : missing });
  }
  // null counts as missing, and only required fields reject it.
  if (path && error.data === null) return apiError('FIELD_REQUIRED', { field: path });
  return apiError('INVALID_FIELD', { field: path || part, problem: problemOf(error) });
}

function problemOf({ keyword, params, parentSchema }: ErrorObject): Record<Language, string> {
  switch (keyword) {
    case 'maxLength':
      return { zh: `不能超过 ${params.limit} 个字符`, en: `must not have more than ${params.limit} characters` };
    case 'minLength':
      return { zh: `至少需要 ${params.limit} 个字符`, en: `must have at least ${params.limit} characters` };
    case 'maxItems':
      return { zh: `最多 ${params.limit} 项`, en: `must not have more than ${params.limit} items` };
    case 'minItems':
      return { zh: `至少 ${params.limit} 项`, en: `must have at least ${params.limit} items` };
    case 'enum': {
      const allowed = (params.allowedValues as unknown[]).filter((value) => value !== null);
      return { zh: `只能是：${allowed.join('、')}`, en: `must be one of: ${allowed.join(', ')}` };
    }
  }
  const own = (parentSchema as { 'x-problem'?: keyof typeof problems } | undefined)?.['x-problem'];
  if (own) return problems[own];
  switch (keyword) {
    case 'type': {
      const type = String([params.type].flat().find((name) => name !== 'null'));
      const zh = { string: '文本', integer: '整数', object: '对象', array: '数组', boolean: '布尔值' }[type];
      return { zh: `必须是${zh ?? type}`, en: `must be of type ${type}` };
    }
    case 'minimum':
      return { zh: `必须 ≥ ${params.limit}`, en: `must be ≥ ${params.limit}` };
    case 'maximum':
      return { zh: `必须 ≤ ${params.limit}`, en: `must be ≤ ${params.limit}` };
    default:
      return problems.format;
  }
}
