import { alternativeTexts, type ErrorCode, errorCatalog } from './errors.ts';

/** The error responses of an operation with one status, as routes declare them. `describeErrors` renders them. */
export interface DeclaredErrors {
  /** `default`: the statuses in DEFAULT_STATUSES. */
  status: number | 'default';
  codes: ErrorCode[];
  /** The codes that have their alternative text in this operation. */
  alternative: ErrorCode[];
}

const codesOf = <Code extends string>(catalog: Record<Code, unknown>) => Object.keys(catalog) as Code[];

/** A code with its English text, as Markdown. */
const explain = (code: string, [, , text]: readonly [unknown, string, string]) =>
  `\`${code}\` ${text.replace(/[<_]/g, '\\$&')}`;

/** The schemas of all error responses. The texts of the codes are in every error, and in docs/interface.md. */
export const errorSchemas = {
  ErrorCode: {
    type: 'string',
    description: 'Stable; later versions may add codes, so handle those that you do not know by their status.',
    enum: Object.keys(errorCatalog),
  },
  Error: {
    type: 'object',
    required: ['code', 'msg', 'data'],
    properties: {
      code: { type: 'integer', description: 'The HTTP status' },
      msg: { type: 'string', description: 'For people, in the language of `Content-Language`' },
      data: {
        type: 'object',
        required: ['reason'],
        properties: { reason: { 'x-ref': 'ErrorCode' } },
        additionalProperties: true,
        description: 'The error code and its details',
      },
    },
  },
  Problem: {
    type: 'object',
    description: 'Problem details (RFC 9457) with the error code and its details',
    required: ['type', 'title', 'status', 'detail', 'instance', 'reason'],
    properties: {
      type: { type: 'string', examples: ['urn:banyan:reason:DEPT_NOT_FOUND'] },
      title: { type: 'string' },
      status: { type: 'integer' },
      detail: { type: 'string' },
      instance: { type: 'string', description: 'Id of the request' },
      reason: { 'x-ref': 'ErrorCode' },
    },
    additionalProperties: true,
  },
};

/** A header as a route declares it. */
export const header = (description: string) => ({ type: 'string', description });
export const replayedHeader = header(
  '`true`: this is the stored response to an earlier request with the same Idempotency-Key',
);

/** Errors of the connection, the service or a limit on requests, not of the operation. They share the response `default`. */
export const DEFAULT_STATUSES: ReadonlySet<number> = new Set([408, 413, 415, 429, 431, 500, 503]);

const statusHeaders: Partial<Record<number | 'default', Record<string, ReturnType<typeof header>>>> = {
  401: { 'WWW-Authenticate': header('Bearer') },
  default: { 'Retry-After': header('With 429 and 503: seconds to wait before a retry') },
};

/**
 * Describes an error response: its codes, and the body. The headers that all responses or all
 * errors have, `X-Request-Id` and `Content-Language`, are described once, in the introduction.
 */
export const describeErrors = ({ status, codes, alternative }: DeclaredErrors, common: ReadonlySet<ErrorCode>) => ({
  description: describeCodes(codes, alternative, common),
  ...(statusHeaders[status] ? { headers: showHeaders(statusHeaders[status]) } : {}),
  content: {
    'application/json': {
      schema: {
        allOf: [
          { 'x-ref': 'Error' },
          {
            properties: { data: { properties: { reason: { enum: codes } } } },
          },
        ],
      },
    },
    // All errors have this form; to list it once keeps the document small.
    ...(status === 'default' ? { 'application/problem+json': { schema: { 'x-ref': 'Problem' } } } : {}),
  },
});

/** Every operation with a body has some of these. */
export const BODY_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'INVALID_JSON',
  'FORBIDDEN_KEY',
  'BODY_REQUIRED',
  'FIELD_REQUIRED',
]);

/**
 * Lists the codes of this operation. Codes that most operations have are listed only if the response has no others. A code that
 * has another text in this operation is explained here.
 */
function describeCodes(codes: ErrorCode[], alternative: ErrorCode[], common: ReadonlySet<ErrorCode>): string {
  const own = codes.filter((code) => !common.has(code) && !BODY_CODES.has(code));
  const listed = (own.length > 0 ? own : codes).map((code) => `\`${code}\``).join(', ');
  const explained = codesOf(alternativeTexts).filter((code) => codes.includes(code) && alternative.includes(code));
  return [listed, ...explained.map((code) => explain(code, alternativeTexts[code]))].join('\n\n');
}

/** Headers as the document shows them. */
const showHeaders = (headers: Record<string, ReturnType<typeof header>>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, { description, ...schema }]) => [name, { schema, description }]),
  );

const STATUS_NAMES: Record<number, string> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  409: 'Conflict',
  412: 'Changed',
};

/** These occur only together with others that are in the name. */
const UNNAMED = new Set<ErrorCode>(['FORBIDDEN_KEY', 'FIELD_REQUIRED']);

/** Shorter names of codes that most writes have. */
const SHORT: Partial<Record<ErrorCode, string>> = { INVALID_JSON: 'Json', BODY_REQUIRED: 'Body' };

/** Names a response that operations share by its status and the codes that not all operations have. */
export function errorResponseName({ status, codes }: DeclaredErrors, common: ReadonlySet<ErrorCode>): string {
  if (status === 'default') {
    if (codes.includes('NOT_JSON')) return 'FailureWithBody';
    return codes.includes('DATABASE_AWAY') ? 'Failure' : 'FailureWithoutDatabase';
  }
  const own = codes.filter((code) => !common.has(code) && !UNNAMED.has(code));
  // The name of such a code says the status.
  if (status === 404) return own.map(toPascalCase).join('');
  return [
    STATUS_NAMES[status] ?? `Status${status}`,
    ...(status === 400 && !codes.includes('UNKNOWN_PARAMETER') ? ['AnyParameters'] : []),
    ...(status === 403 && codes.includes('USER_DISABLED') && !codes.includes('PASSWORD_CHANGE_REQUIRED')
      ? ['Session']
      : []),
    ...own.map((code) => SHORT[code] ?? toPascalCase(code)),
  ].join('');
}

const toPascalCase = (code: string) =>
  code.toLowerCase().replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
