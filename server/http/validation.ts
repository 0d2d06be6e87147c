import { isUtf8 } from 'node:buffer';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { FastifyInstance, FastifyRequest, FastifySchemaValidationError } from 'fastify';
import { isNetwork } from './address.ts';
import { type ApiError, apiError, type Detail, type Language } from './errors.ts';
import { isCalendarDate, isLocalTime, isLong, MAX_IDS } from './fields.ts';

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
      'local-time': isLocalTime,
      network: isNetwork,
      uuid: true,
      password: true,
    },
  });
}

// Shared by all services in the process, so that each schema is compiled once.
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
 * Rejects query parameters that the operation does not have: a mistyped filter would return everything. The
 * operations that follow RuoYi's API ignore unknown parameters, because existing clients send some.
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
    /** Unknown query parameters are ignored: existing RuoYi clients and caches add some. */
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

/** Finds the first text that PostgreSQL cannot store: one with NUL or an unpaired surrogate. */
function findInvalidText(input: unknown): string | undefined {
  if (typeof input === 'object' && isEmpty(input)) return undefined;
  // Iterate instead of recursing: a body of one megabyte can be nested half a million levels deep.
  const pending: [path: string, value: unknown][] = [['', input]];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const [path, value] = next;
    if (typeof value === 'string') {
      if (value.includes('\0') || !value.isWellFormed()) return path || 'body';
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        const name = path.length < 200 ? joinPath(path, key, Array.isArray(value)) : path;
        pending.push([name, inner]);
      }
    }
  }
  return undefined;
}

/** `quotaBo.merchant`, `departments[17].email` */
const joinPath = (path: string, key: string, isIndex: boolean) =>
  isIndex ? `${path}[${key}]` : path ? `${path}.${key}` : key;

/** In a CSV file such a number is a text, in an xlsx file a number. */
const scientific = {
  zh: '是科学计数法，部分数字已丢失，请将单元格格式改为文本后重新填写',
  en: 'is in scientific notation and has lost digits. Format the cell as text and enter it again',
};

const problems = {
  text: { zh: '不能包含 NUL 或不成对的代理字符', en: 'must not contain NUL or unpaired surrogates' },
  long: {
    zh: '必须是 0 到 9007199254740991 之间的整数，或对应的数字字符串',
    en: 'must be an integer from 0 to 9007199254740991, as a number or a string of digits',
  },
  otherId: { zh: '必须与路径中的编号一致', en: 'must be the id in the path' },
  id: { zh: '必须是不超过 19 位的数字', en: 'must consist of 1 to 19 digits' },
  uuid: { zh: '必须是 UUID', en: 'must be a UUID' },
  ids: {
    zh: '必须是以逗号分隔的编号，每个编号不超过 19 位数字',
    en: 'must be a comma-separated list of ids of 1 to 19 digits',
  },
  menuIdsLength: {
    zh: '不能超过 65536 个字符（不含空格）',
    en: 'must not have more than 65536 characters, not counting spaces',
  },
  menuIds: { zh: '必须是以逗号分隔的数字', en: 'must be a comma-separated list of numbers' },
  date: { zh: '必须是 YYYY-MM-DD 格式的有效日期', en: 'must be a valid date in the format YYYY-MM-DD' },
  beforeStartTime: { zh: '不能早于 startTime', en: 'must not be before startTime' },
  email: { zh: '必须是有效的邮箱地址', en: 'must be a valid email address' },
  duplicate: { zh: '重复传递，请只传一次', en: 'must be sent only once' },
  single: { zh: '只能用于单个编号', en: 'can only be used with a single id' },
  deleted: { zh: '不能是将被删除的部门', en: 'must not be one of the departments to be deleted' },
  onlyWithMove: { zh: '只能与 users=move 同时使用', en: 'can only be used with users=move' },
  onlyWithPreview: { zh: '只能与 mode=preview 同时使用', en: 'can only be used with mode=preview' },
  repeated: { zh: '不能重复', en: 'must be unique' },
  row: { zh: '必须是对象', en: 'must be of type object' },
  passwordHash: {
    zh: '必须是 argon2id（PHC 格式，m ≤ 65536，m × t ≤ 262144，p ≤ 16）或 bcrypt（cost ≤ 12）的哈希',
    en: 'must be a hash of argon2id (PHC format, m ≤ 65536, m × t ≤ 262144, p ≤ 16) or of bcrypt (cost ≤ 12)',
  },
  notWithPassword: { zh: '不能与 password 同时使用', en: 'cannot be combined with password' },
  notWithDeptId: { zh: '不能与 deptId 同时使用', en: 'cannot be combined with deptId' },
  unknownRef: { zh: '必须是列表中某个条目的 ref', en: 'must be the ref of an entry in the list' },
  refCycle: { zh: '不能使部门成为自己的上级', en: 'must not make the department its own ancestor' },
  entryParent: {
    zh: '不能用于单个条目，请使用 parentRef，或与 departments 同级的 parentId',
    en: 'is not supported in an entry: use parentRef, or parentId next to departments',
  },
  tenantCode: { zh: '必须是 6 到 18 位数字', en: 'must consist of 6 to 18 digits' },
  cursor: {
    zh: '不是该列表和排序方式的有效游标，请使用空游标重新开始',
    en: 'is not a cursor of this list with this sort order: start again with an empty cursor',
  },
  time: {
    zh: '必须是有效的时间，如 2026-05-01T08:00:00Z 或 2026-05-01 08:00:00',
    en: 'must be a time, such as 2026-05-01T08:00:00Z or 2026-05-01 08:00:00',
  },
  localTime: {
    zh: '必须是 YYYY-MM-DD HH:MM:SS 格式的有效时间',
    en: 'must be a valid time in the format YYYY-MM-DD HH:MM:SS',
  },
  network: {
    zh: '必须是 IPv4 或 IPv6 地址或网段，如 10.0.0.0/8',
    en: 'must be an IPv4 or IPv6 address or network, such as 10.0.0.0/8',
  },
  permission: {
    zh: '必须是可授予 API 密钥的权限，如 dept:read',
    en: 'must be a permission that API keys can have, such as dept:read',
  },
  quotaName: {
    zh: '必须以小写字母开头，只能包含字母和数字，最长 50 个字符',
    en: 'must begin with a lower-case letter and contain only letters and digits, at most 50',
  },
  moreThanReserved: { zh: '不能超过预留的数量', en: 'must not be more than was reserved' },
  totalInRecord: { zh: '必须介于 0 和 2147483647 之间', en: 'must be between 0 and 2147483647' },
  accountsPeriod: { zh: '必须为 none：用户数不按周期重置', en: 'must be none: users are not counted per period' },
  accountsUsed: { zh: '不能设置：用户数由系统统计', en: 'cannot be set: the service counts the users' },
  kind: {
    zh: '格式应为 department.created、department.* 或 *',
    en: 'must have the form department.created, department.* or *',
  },
  future: { zh: '不能是将来的时间', en: 'must not be in the future' },
  beforeFrom: { zh: '不能早于 from', en: 'must not be before from' },
  notWithAsOf: { zh: '不能与 asOf 同时使用', en: 'cannot be combined with asOf' },
  userName: {
    zh: '只能包含字母、数字和 . _ - @ 等符号，不能包含空格、换行、表情或不可见字符，且不能混用不同的书写方向',
    en: 'may contain letters, digits and symbols such as . _ - @, but no spaces, line breaks, emoji or invisible characters, and must have one writing direction',
  },
  mixedScripts: {
    zh: '不能混用外形相似的字母（例如拉丁字母与西里尔字母），请只使用其中一种',
    en: 'must not mix alphabets whose letters look alike, such as Latin and Cyrillic: use only one of them',
  },
  dateCell: {
    zh: '是日期，请将单元格格式改为文本后重新填写',
    en: 'is a date. Format the cell as text and enter it again',
  },
  formulaCell: {
    zh: '是没有计算结果的公式，请改为公式的值',
    en: 'is a formula without a stored result. Enter its value instead',
  },
  errorCell: { zh: '是公式错误，请改为正确的值', en: 'is a formula error. Enter the value instead' },
  scientific,
  scientificCell: scientific,
  emptyPathName: {
    zh: '中有空的部门名称，请检查“/”；名称中的“/”写作“\\/”',
    en: 'contains an empty name. Check the slashes; write a slash within a name as \\/',
  },
  departmentKey: {
    zh: '不能为空，或填写来源系统和外部编号',
    en: 'must not be empty, unless source and external id are given',
  },
  withExternalId: { zh: '必须与外部编号同时填写', en: 'must be given together with the external id' },
  format: { zh: '格式不正确', en: 'has an invalid format' },
} satisfies Record<string, Record<Language, string>>;

/** The error for a rule that a schema cannot express. */
export const invalid = (field: Detail, problem: keyof typeof problems): ApiError =>
  apiError('INVALID_FIELD', { field, problem: problems[problem] });

/** Reads an id from a path. */
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
 * Returns a function that checks one row of a long list, and finds one error in each of its fields. A schema would report only
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
      const allowed = (params.allowedValues as unknown[]).filter((value) => value !== null).join(', ');
      return { zh: `只能是：${allowed}`, en: `must be one of: ${allowed}` };
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
