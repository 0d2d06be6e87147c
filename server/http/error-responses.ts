import { alternativeTexts, type ErrorCode, errorCatalog } from './errors.ts';

/** `authenticated` operations require an access token or an API key. */
export type OperationKind = 'authenticated' | 'public';

/** The error responses of an operation with one status, as routes declare them. `describeErrors` renders them. */
export interface DeclaredErrors {
  /** `default`: errors that do not depend on the operation, of any status that the operation does not list. */
  status: number | 'default';
  kind: OperationKind;
  /** All codes that a response with this status may have. */
  codes: ErrorCode[];
  /** The codes that the operation itself declares. */
  own: ErrorCode[];
  /** The codes that have their alternative text in this operation. */
  alternative: ErrorCode[];
}

const codesOf = <Code extends string>(catalog: Record<Code, unknown>) => Object.keys(catalog) as Code[];

/** A code with its English text, as Markdown. */
const explain = (code: string, [, , text]: readonly [unknown, string, string]) =>
  `\`${code}\` ${text.replace(/[<_]/g, '\\$&')}`;

/** The schemas of all error responses. They leave out the texts of the codes, which docs/interface.md lists. */
export const errorSchemas = {
  ErrorCode: {
    type: 'string',
    description: 'Later versions may add codes: handle unknown ones by their status.',
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

/**
 * Describes an error response: its codes, and the body. The headers that all responses or all
 * errors have, `X-Request-Id` and `Content-Language`, are described once, in the introduction.
 */
export const describeErrors = (declared: DeclaredErrors) => ({
  ...(declared.status === 'default' ? describeDefault(declared) : { description: describeCodes(declared) }),
  content: {
    'application/json': {
      schema: {
        allOf: [
          { 'x-ref': 'Error' },
          {
            properties: { data: { properties: { reason: { enum: declared.codes } } } },
          },
        ],
      },
    },
    // Every error is available in this format; listing it once keeps the document small.
    ...(declared.status === 'default' ? { 'application/problem+json': { schema: { 'x-ref': 'Problem' } } } : {}),
  },
});

const describeDefault = ({ kind }: DeclaredErrors) => ({
  description: 'Errors that do not depend on the operation',
  headers: showHeaders({
    'Retry-After': header('With 429 and 503: seconds to wait before a retry'),
    ...(kind === 'authenticated' ? { 'WWW-Authenticate': header('With 401: Bearer') } : {}),
  }),
});

/** Lists the codes of the operation. A code that has another text in this operation is explained here. */
function describeCodes({ own, alternative }: DeclaredErrors): string {
  const explained = codesOf(alternativeTexts).filter((code) => own.includes(code) && alternative.includes(code));
  return [
    own.map((code) => `\`${code}\``).join(', '),
    ...explained.map((code) => explain(code, alternativeTexts[code])),
  ].join('\n\n');
}

/** Headers as the document shows them. */
const showHeaders = (headers: Record<string, ReturnType<typeof header>>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, { description, ...schema }]) => [name, { schema, description }]),
  );

const DEFAULT_NAMES: Record<OperationKind, string> = {
  authenticated: 'Failure',
  public: 'PublicFailure',
};

/** Names a shared response after its codes. A code has one status, so responses of different statuses have different names. */
export const errorResponseName = ({ status, kind, own }: DeclaredErrors): string =>
  status === 'default' ? DEFAULT_NAMES[kind] : own.map(toPascalCase).join('');

const toPascalCase = (code: string) =>
  code.toLowerCase().replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
