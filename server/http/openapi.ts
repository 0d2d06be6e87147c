import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type, { type TSchema } from 'typebox';
import { version } from '../version.ts';
import { type Components, extractSchemas, RepeatedObjects } from './components.ts';
import {
  DEFAULT_STATUSES,
  type DeclaredErrors,
  describeErrors,
  errorResponseName,
  errorSchemas,
  header,
  replayedHeader,
  statusName,
} from './error-responses.ts';
import { type alternativeTexts, type ErrorCode, errorCatalog } from './errors.ts';
import { createContent, sendContent } from './static-content.ts';

/** The content types of spreadsheet files, by format. */
export const FILE_TYPES = {
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  csv: 'text/csv; charset=utf-8',
};

/** Serves /openapi.json, generated from the schemas that validate requests, and Swagger UI at /docs without a CDN. */
export async function registerOpenApi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    transformObject: (document) =>
      'openapiObject' in document ? useComponents(document.openapiObject as unknown as GeneratedDocument) : {},
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Banyan',
        version,
        summary: 'Organization service: departments, tenants, users',
        description: introduction,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/', description: 'This service' }],
      tags: [
        { name: 'Departments', description: 'The department tree of a tenant' },
        { name: 'Tenants', description: 'The tree of tenants and their service periods' },
        { name: 'Users', description: 'User accounts and the departments that they belong to' },
        { name: 'Changes', description: 'The audit log: who changed what and when; change feed and revert' },
        { name: 'API keys', description: 'Keys with which programs call the service' },
        { name: 'Quotas', description: 'What tenants may use, what they have used and reserved' },
        { name: 'Webhooks', description: 'Endpoints that are notified of changes' },
        { name: 'Authentication', description: 'Login, token refresh, logout, sessions and the caller’s own account' },
        {
          name: 'OAuth',
          description: 'Keys, metadata and tokens for other software, in the form of the OAuth standards',
        },
        { name: 'Operations', description: 'Health checks and version, for operators' },
      ],
      components: {
        securitySchemes: {
          accessToken: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'JWT',
            description: 'From POST /auth/login, or an API key',
          },
        },
      },
    },
  });
  // Rendered at the first request, not at the start, and then sent from memory.
  let content: ReturnType<typeof createContent> | undefined;
  const render = () => {
    content ??= createContent('application/json; charset=utf-8', Buffer.from(JSON.stringify(app.swagger())));
    return content;
  };
  const send = async (request: FastifyRequest, reply: FastifyReply) => {
    sendContent(await render(), request, reply, 'no-cache');
    return reply;
  };
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    // The page reads the document from its own path: send the same bytes there.
    uiHooks: {
      preHandler: async (request, reply) => {
        if (request.routeOptions.url === '/docs/json') await send(request, reply);
      },
    },
    staticCSP: true,
    // Load nothing from other origins. Omit upgrade-insecure-requests: trial installations often use plain http.
    transformStaticCSP: () =>
      "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'",
    uiConfig: {
      layout: 'BaseLayout',
      docExpansion: 'list',
      tryItOutEnabled: true,
      // Keep the token in the page's memory only: the next user of the browser must not find it.
      persistAuthorization: false,
      displayRequestDuration: true,
    },
    theme: { title: 'Banyan 榕树: API reference' },
  });
  app.get('/openapi.json', { schema: { hide: true } }, send);
}

interface GeneratedDocument {
  paths: Record<string, Record<string, GeneratedOperation>>;
  components: { securitySchemes: unknown };
}
interface GeneratedOperation {
  parameters?: { name: string; required?: boolean }[];
  requestBody?: { description?: string; content: Record<string, { schema: { description?: string } }> };
  responses: Record<string, Generated>;
}
interface Generated {
  headers?: Record<string, unknown>;
  content?: Record<string, { schema: GeneratedSchema }>;
}
interface GeneratedSchema {
  'x-errors'?: DeclaredErrors;
  'x-success'?: true;
  description?: string;
  properties?: { data: unknown };
}

/** Renders the declared errors, and moves everything that operations share to `components`. */
function useComponents(generated: GeneratedDocument): object {
  for (const operation of operationsOf(generated)) {
    // The description of the request body repeats that of the schema.
    for (const { schema } of Object.values(operation.requestBody?.content ?? {})) delete schema.description;
    for (const [status, response] of Object.entries(operation.responses)) {
      const json = response.content?.['application/json'];
      const declared = json?.schema['x-errors'];
      if (declared) {
        operation.responses[status] = { ...describeErrors(declared, COMMON_CODES), 'x-errors': declared } as Generated;
        continue;
      }
      if (Object.keys(response.headers ?? {}).length === 0) delete response.headers;
      if (json?.schema['x-success']) json.schema = describeSuccess(json.schema.properties?.data) as GeneratedSchema;
      // The description of the response repeats that of the schema.
      else if (json) delete json.schema.description;
    }
  }
  const components: Components = { schemas: {}, responses: {}, headers: {}, parameters: {} };
  const document = extractSchemas(
    { ...generated, shared: { ...errorSchemas, Success } },
    components.schemas,
  ) as GeneratedDocument & { shared?: object };
  Object.assign(components.schemas, document.shared);
  delete document.shared;
  const [headers, parameters, shared] = [new RepeatedObjects(), new RepeatedObjects(), new RepeatedObjects()];
  for (const { parameters: sent = [], responses } of operationsOf(document)) {
    for (const [n, parameter] of sent.entries()) {
      // false is the default.
      if (!parameter.required) delete parameter.required;
      parameters.add(toComponentName(parameter.name), sent, String(n));
    }
    for (const { headers: returned = {} } of Object.values(responses)) {
      for (const name of Object.keys(returned)) headers.add(name, returned, name);
    }
  }
  headers.moveTo(components, 'headers');
  parameters.moveTo(components, 'parameters');
  const errors: { responses: Record<string, Generated>; status: string; declared: DeclaredErrors }[] = [];
  for (const { responses } of operationsOf(document)) {
    for (const [status, response] of Object.entries(responses)) {
      const { 'x-errors': declared, ...shown } = response as Generated & { 'x-errors'?: DeclaredErrors };
      responses[status] = shown;
      if (declared) errors.push({ responses, status, declared });
      const success = status === '304' ? 'NotModified' : (oauthErrorName(status, shown) ?? successName(shown));
      const name = declared ? errorResponseName(declared, COMMON_CODES) : success;
      if (name) shared.add(name, responses, status, declared ? MIN_USES_OF_ERRORS : 2);
    }
  }
  shared.moveTo(components, 'responses');
  for (const { responses, status, declared } of errors) {
    const { description, headers } = responses[status] as Generated & { description?: string };
    if (description === undefined || (headers && declared.status !== 'default')) continue;
    const name = declared.status === 'default' ? 'FailureOther' : `${statusName(declared.status)}Other`;
    components.responses[name] ??= declared.status === 'default' ? { ...anyFailure, headers } : anyError;
    responses[status] = { $ref: `#/components/responses/${name}`, description } as Generated;
  }
  return { ...document, components: { ...document.components, ...components } };
}

/**
 * Errors that fewer operations share have a response of their status that allows all codes, with the codes of the operation in
 * its description. This keeps the document small.
 */
const MIN_USES_OF_ERRORS = 5;
const anyError = {
  description: 'The operation lists its codes',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
};
const anyFailure = {
  ...anyError,
  content: { ...anyError.content, 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
};

/** The envelope of all successes. Each response adds the schema of its `data`. */
const Success = {
  type: 'object',
  required: ['code', 'msg'],
  properties: { code: { type: 'integer', enum: [200] }, msg: { type: 'string', enum: ['操作成功'] } },
};
const describeSuccess = (data: unknown) => ({
  allOf: [{ 'x-ref': 'Success' }, { required: ['data'], properties: { data } }],
});

/** Names a success by the schemas of its data and by its headers. Those without either differ from all others. */
const successName = ({ headers = {}, content = {} }: Generated): string | undefined => {
  if ('text/csv' in content) return 'Spreadsheet';
  const text = JSON.stringify(content);
  const isDone = text.includes('"data":{"type":"null"}');
  const schemas = [...text.matchAll(/schemas\/(?!Success)(\w+)"/g)].map(([, name]) => name as string);
  if (!isDone && schemas.length === 0) return undefined;
  return [isDone ? 'Done' : 'Success', ...schemas, ...Object.keys(headers)].join('').replaceAll('-', '');
};

/** Names an error of the operations that the OAuth standards describe (server/oauth). */
const oauthErrorName = (status: string, { content = {} }: Generated): string | undefined =>
  JSON.stringify(content).includes('schemas/OAuthError"')
    ? `OAuthError${status.replace('default', 'Other')}`
    : undefined;

const operationsOf = ({ paths }: GeneratedDocument) => Object.values(paths).flatMap((path) => Object.values(path));

/** `idempotency-key` becomes `IdempotencyKey`. */
const toComponentName = (name: string) => name.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());

const introduction = `
Every response has the envelope \`{code, msg, data}\`, except those of OAuth operations and event streams.
A success has the code \`200\` and the message \`操作成功\`. An error has
its HTTP status as \`code\`, a message in \`msg\` (Chinese, or English if \`Accept-Language\` prefers it), and in \`data\` a
stable error code, \`reason\`, with its details. Send \`Accept: application/problem+json\` to receive any error as problem details (RFC
9457, schema \`Problem\`) instead. Every response has the header \`X-Request-Id\`; quote it when you report a problem. Errors also have
\`Content-Language\` (\`zh-CN\` or \`en\`). The response \`default\` of an operation lists errors that have the statuses 408, 413,
415, 429, 431, 500 and 503. Many operations share the codes of \`BadRequestJson\` and \`Forbidden\`; a response that allows any code
lists only the others.

Operations name the permission that they require. Administrators have all permissions; members have \`dept:read\`, and may do
what concerns only themselves.

To try operations on this page, run *POST /auth/login*, copy \`access_token\`, press *Authorize* and paste the token.

An unknown path returns 404 \`PATH_NOT_FOUND\`. A known path with an unsupported method returns 405 \`METHOD_NOT_ALLOWED\` with
the header \`Allow\`. Browsers, which accept \`text/html\`, get the console at \`/\` and at the paths of its screens, or 404
\`CONSOLE_NOT_BUILT\` if it has not been built.
`;

interface ResponseOptions {
  /** The schema of `data`; by default `data` is null. */
  data?: TSchema;
  /** The response is a stream of server-sent events with this schema; with `data`, only if the client asks for it. */
  events?: TSchema;
  /** The response is a spreadsheet file. */
  file?: boolean;
  /** The response has the path of the new record in `Location`. */
  location?: boolean;
  /** The errors of this operation, in addition to those that all operations have. */
  errors?: ErrorCode[];
  /** The errors that have their alternative text in this operation. */
  alternativeTexts?: (keyof typeof alternativeTexts)[];
  /** The response has the `ETag` of the record, and `If-None-Match` is accepted. */
  etag?: boolean;
  /** The response may set or clear the session cookie. */
  cookie?: boolean;
  /** An operation that writes accepts an Idempotency-Key; a `conditional` one accepts If-Match too. */
  writes?: 'unconditional' | 'conditional';
  /** The operation requires a body. */
  body?: boolean;
  /** The operation ignores unknown query parameters. */
  ignoresUnknownParameters?: boolean;
}

const commonErrors: ErrorCode[] = [
  'BAD_REQUEST',
  'ADDRESS_NOT_ENCODED',
  'INVALID_UTF8',
  'INVALID_FIELD',
  'HEADERS_TOO_LARGE',
  'INTERNAL',
  'TOO_BUSY',
];
const databaseErrors: ErrorCode[] = ['DATABASE_AWAY'];
/** Every write parses its body, even if it requires none. */
const bodyErrors: ErrorCode[] = ['INVALID_JSON', 'FORBIDDEN_KEY', 'BODY_TOO_LARGE', 'NOT_JSON', 'REQUEST_TIMEOUT'];
const requiredBodyErrors: ErrorCode[] = [...bodyErrors, 'BODY_REQUIRED', 'FIELD_REQUIRED'];
const tokenErrors: ErrorCode[] = [
  'NO_TOKEN',
  'INVALID_TOKEN',
  'TOKEN_EXPIRED',
  'SESSION_ENDED',
  'USER_DELETED',
  'TENANT_DELETED',
  'USER_DISABLED',
  'TENANT_DISABLED',
  'TENANT_NOT_STARTED',
  'TENANT_ENDED',
  'INVALID_KEY',
  'KEY_EXPIRED',
  'KEY_DISABLED',
  'KEY_ADDRESS_REFUSED',
  'TOO_MANY_REQUESTS',
];

const errorCodes = Object.keys(errorCatalog) as ErrorCode[];

/** Codes that most operations have. They do not become part of the name of a response. */
export const COMMON_CODES = new Set<ErrorCode>([
  ...commonErrors,
  ...databaseErrors,
  ...bodyErrors.filter((code) => !['INVALID_JSON', 'FORBIDDEN_KEY'].includes(code)),
  ...tokenErrors,
  'UNKNOWN_PARAMETER',
  'PASSWORD_CHANGE_REQUIRED',
  'NOT_ALLOWED',
  'KEY_REUSED',
  'CHANGED_MEANWHILE',
]);

/**
 * `authenticated` operations require an access token, and `session` operations too, but users who must change their password
 * may use them. `static` operations need neither a token nor the database.
 */
type OperationKind = 'authenticated' | 'session' | 'public' | 'static';

/** The responses of an operation, for the OpenAPI document and the serializer. */
export function responses(
  kind: OperationKind,
  {
    data,
    location,
    etag,
    cookie,
    writes,
    events,
    file = false,
    errors: own = [],
    alternativeTexts: alternative = [],
    body = false,
    ignoresUnknownParameters = false,
  }: ResponseOptions,
) {
  const all = [
    ...commonErrors,
    ...(ignoresUnknownParameters ? [] : (['UNKNOWN_PARAMETER'] as const)),
    ...(kind === 'static' ? [] : databaseErrors),
    ...(body ? requiredBodyErrors : []),
    ...(kind === 'authenticated' || kind === 'session' ? tokenErrors : []),
    ...(kind === 'authenticated' ? (['PASSWORD_CHANGE_REQUIRED', 'NOT_ALLOWED'] as const) : []),
    ...(writes ? ([...bodyErrors, 'KEY_REUSED'] as const) : []),
    ...(writes === 'conditional' ? (['CHANGED_MEANWHILE'] as const) : []),
    ...own,
  ];
  const byStatus = new Map<number | 'default', ErrorCode[]>();
  // In the order of the catalogue, so that operations with the same errors share a response.
  for (const code of errorCodes.filter((code) => all.includes(code))) {
    const status = DEFAULT_STATUSES.has(errorCatalog[code][0]) ? 'default' : errorCatalog[code][0];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return {
    200: {
      description: 'OK',
      headers: {
        ...(location ? { Location: header('Path of the new resource') } : {}),
        ...(etag ? { ETag: etagHeader } : {}),
        ...(cookie ? { 'Set-Cookie': header('Sets or clears the session cookie of browsers') } : {}),
        ...(writes ? { 'Idempotent-Replayed': replayedHeader } : {}),
        ...(file ? { 'Content-Disposition': header('The name of the file') } : {}),
      },
      ...(file ? { content: fileContent } : {}),
      ...(events
        ? {
            content: {
              ...(data ? { 'application/json': { schema: success(data) } } : {}),
              'text/event-stream': { schema: events },
            },
          }
        : file
          ? {}
          : success(data)),
    },
    ...(etag ? { 304: notModified } : {}),
    ...Object.fromEntries(
      [...byStatus].map(([status, codes]): [number | 'default', { 'x-errors': DeclaredErrors }] => [
        status,
        { 'x-errors': { status, codes, alternative } },
      ]),
    ),
  };
}

const fileContent = Object.fromEntries(
  Object.values(FILE_TYPES).map((type) => [type.split(';')[0], { schema: { type: 'string', format: 'binary' } }]),
);

const success = (data: TSchema = Type.Null()) =>
  Type.Object({ code: Type.Literal(200), msg: Type.Literal('操作成功'), data }, { 'x-success': true });

export const etagHeader = header('Version of the record, for If-Match and If-None-Match');
export const notModified = {
  type: 'null',
  description: 'Not modified: the version in `If-None-Match` is current',
  headers: { ETag: etagHeader },
};
