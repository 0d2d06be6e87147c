import { isUtf8 } from 'node:buffer';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { FastifyInstance, FastifySchemaValidationError } from 'fastify';
import { isCalendarDate, isLong, MAX_IDS } from './fields.ts';
import { type Language, type Refusal, refuse } from './refusals.ts';

/** Checks what comes in, before any rule sees it: JSON, text, schema. */
export function checkInput(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    // Clients send the header with nothing behind it, on DELETE for one. Where a body is needed, it is missed below.
    if (body.length === 0) return done(null, request.body);
    if ((request.headers['content-encoding'] ?? 'identity') !== 'identity') return done(refuse('NOT_JSON'), undefined);
    if (!isUtf8(body)) return done(refuse('INVALID_UTF8'), undefined);
    const text = body.toString('utf8');
    // Fastify says of both faults that it is no JSON.
    return parse(request, text, (error, value) =>
      error ? done(refuse(isJson(text) ? 'FORBIDDEN_KEY' : 'INVALID_JSON'), undefined) : done(null, value),
    );
  });

  // A path or a query is text too. Broken escapes would silently become other characters.
  app.addHook('onRequest', (request, _reply, done) => {
    done(isDecodable(request.url) ? undefined : refuse('INVALID_UTF8'));
  });
  app.addHook('preValidation', (request, _reply, done) => {
    const expected = request.routeOptions.schema?.body as { 'x-optional'?: boolean } | undefined;
    if (request.body === undefined && expected?.['x-optional']) request.body = {};
    const { body } = request;
    if (body === undefined && expected) return done(refuse('BODY_REQUIRED'));
    const asked = request.query as Record<string, unknown>;
    const twice = findTwice(asked, request.routeOptions.schema?.querystring);
    if (twice) return done(invalid(twice, 'twice'));
    const query = withoutEmpty(asked);
    request.query = query;
    const field = findBrokenText(request.params) ?? findBrokenText(query) ?? findBrokenText(body);
    done(field ? refuse('INVALID_FIELD', { field, problem: problems.text }) : undefined);
  });

  app.setValidatorCompiler(({ schema, httpPart }) => {
    // Made when it is first needed: all of them together would be a good part of the start.
    let compiled: ValidateFunction | undefined;
    const validate = (input: unknown) => {
      compiled ??= (httpPart === 'body' ? strict : lenient).compile(schema);
      const right = compiled(input);
      validate.errors = compiled.errors;
      return right;
    };
    validate.errors = null as ValidateFunction['errors'];
    return validate as never;
  });
}

function makeAjv(coerceTypes: boolean): Ajv {
  return new Ajv({
    coerceTypes,
    strict: false,
    verbose: true, // errors carry their schema, which may name its sentence
    formats: { int64: { type: 'string', validate: isLong }, date: isCalendarDate, uuid: true },
  });
}

// One of each for the process: a schema is compiled once, however many services run in it.
const strict = makeAjv(false);
/** Paths and queries are all text: there "20" is a number. */
const lenient = makeAjv(true);

/** Of a text that the parser refused: whether it is JSON all the same, with a key that is not allowed. */
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

/** Which parameter came more than once: the schema would only say of the list it became that it is no text. */
const findTwice = (query: Record<string, unknown>, expected: unknown) => {
  const { properties = {} } = (expected ?? {}) as { properties?: object };
  // Others are ignored, however often they come.
  return Object.keys(query).find((name) => Array.isArray(query[name]) && Object.hasOwn(properties, name));
};

/** Front ends send `?status=` for a filter that isn't set. An empty cursor is one: it asks for the first page. */
const withoutEmpty = (query: Record<string, unknown>) =>
  isEmpty(query)
    ? query
    : Object.fromEntries(Object.entries(query).filter(([name, value]) => value !== '' || name === 'cursor'));

function isEmpty(input: unknown): boolean {
  for (const _ in input as object) return false;
  return true;
}

/** The first text that PostgreSQL could not store unchanged: NUL, or half of a surrogate pair. */
function findBrokenText(input: unknown): string | undefined {
  if (typeof input === 'object' && isEmpty(input)) return undefined;
  // Not recursive: a body may be nested as deep as a megabyte of brackets.
  const pending: [path: string, value: unknown][] = [['', input]];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const [path, value] = next;
    if (typeof value === 'string') {
      if (value.includes('\0') || !value.isWellFormed()) return path || 'body';
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        const name = path.length < 200 ? fieldWithin(path, key, Array.isArray(value)) : path;
        pending.push([name, inner]);
      }
    }
  }
  return undefined;
}

/** `quotaBo.merchant`, `departments[17].email` */
const fieldWithin = (path: string, key: string, ofArray: boolean) =>
  ofArray ? `${path}[${key}]` : path ? `${path}.${key}` : key;

const problems = {
  text: { zh: '包含 NUL 或不成对的代理字符', en: 'holds NUL or half a surrogate pair' },
  long: {
    zh: '必须是不超过 9007199254740991 的非负整数，或其数字文本',
    en: 'must be a whole number from 0 to 9007199254740991, or its digits as text',
  },
  id: { zh: '必须是最多 19 位数字', en: 'must be digits, up to 19' },
  uuid: { zh: '必须是 UUID', en: 'must be a UUID' },
  ids: { zh: '必须是以逗号分隔的编号，每个最多 19 位数字', en: 'must be ids of up to 19 digits, separated by commas' },
  menuIdsLength: {
    zh: '不能超过 65536 个字符（空格不计）',
    en: 'must not have more than 65536 characters, spaces not counted',
  },
  menuIds: { zh: '必须是以逗号分隔的数字', en: 'must be numbers separated by commas' },
  date: { zh: '必须是 YYYY-MM-DD 格式的真实日期', en: 'must be a date that exists, as YYYY-MM-DD' },
  order: { zh: '不能早于 startTime', en: 'must not be before startTime' },
  email: { zh: '不是有效的邮箱地址', en: 'is not an e-mail address' },
  twice: { zh: '出现了不止一次，请只传一次', en: 'was given more than once: send it once' },
  single: { zh: '只能用于单个编号', en: 'goes with a single id only' },
  repeated: { zh: '重复', en: 'is a repetition' },
  unknownRef: { zh: '在列表中没有对应的 ref', en: 'is no ref of the list' },
  refCycle: { zh: '使部门成为自己的上级', en: 'makes the department its own ancestor' },
  entryParent: {
    zh: '不能用于单个条目：请用 parentRef，或与 departments 并列的 parentId',
    en: 'does not go with an entry: use parentRef, or parentId beside departments',
  },
  tenantCode: { zh: '必须是 6 到 18 位数字', en: 'must be 6 to 18 digits' },
  cursor: {
    zh: '不是该列表按此排序给出的游标，请从空游标重新开始',
    en: 'is no cursor of this list in this order: begin again with an empty one',
  },
  moment: {
    zh: '必须是时间，如 2026-05-01T08:00:00Z 或 2026-05-01 08:00:00',
    en: 'must be a moment, such as 2026-05-01T08:00:00Z or 2026-05-01 08:00:00',
  },
  kind: {
    zh: '必须形如 department.created、department.* 或 *',
    en: 'must look like department.created, department.* or *',
  },
  future: { zh: '不能是将来的时间', en: 'must not be in the future' },
  beforeFrom: { zh: '不能早于 from', en: 'must not be before from' },
  onlyNow: { zh: '不能与 asOf 同时使用', en: 'does not go with asOf' },
  form: { zh: '格式不正确', en: 'has the wrong form' },
} satisfies Record<string, Record<Language, string>>;

/** For what a schema can't say. */
export const invalid = (field: string, problem: keyof typeof problems): Refusal =>
  refuse('INVALID_FIELD', { field, problem: problems[problem] });

/** An id in a path. */
export function pathId(text: string): string {
  if (!/^\d{1,19}$/.test(text)) throw invalid('id', 'id');
  return BigInt(text).toString();
}

/** Ids in a path, separated by commas; repeated ones count once. */
export function pathIds(text: string): string[] {
  const ids = text.split(',');
  if (ids.some((id) => !/^\d{1,19}$/.test(id))) throw invalid('ids', 'ids');
  const distinct = [...new Set(ids.map((id) => BigInt(id).toString()))];
  if (distinct.length > MAX_IDS) throw refuse('TOO_MANY_IDS', { limit: MAX_IDS });
  return distinct;
}

/** What the schema refused, as a sentence that names the field. */
export function explain(errors: FastifySchemaValidationError[], part: string): Refusal {
  const error = errors[0] as unknown as ErrorObject;
  // No field of ours is named by a number: those are places in a list.
  const path = error.instancePath
    .split('/')
    .slice(1)
    .reduce((above, key) => fieldWithin(above, key, /^\d+$/.test(key)), '');
  if (error.keyword === 'required') {
    const missing = String(error.params.missingProperty);
    return refuse('FIELD_REQUIRED', { field: path ? `${path}.${missing}` : missing });
  }
  // null counts as not sent, and only what is required does not take it.
  if (path && error.data === null) return refuse('FIELD_REQUIRED', { field: path });
  return refuse('INVALID_FIELD', { field: path || part, problem: problemOf(error) });
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
      return problems.form;
  }
}
