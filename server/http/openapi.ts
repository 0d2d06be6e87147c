import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import Type, { type TSchema } from 'typebox';
import { version } from '../version.ts';
import { alternativeTexts, type ErrorCode, errorCatalog } from './errors.ts';

/** Serves /openapi.json, generated from the schemas that validate requests, and Swagger UI at /docs without a CDN. */
export async function registerOpenApi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    transformObject: (document) => ('openapiObject' in document ? removeInternalKeywords(document.openapiObject) : {}),
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
        { name: 'Webhooks', description: 'Endpoints that are notified of changes' },
        { name: 'Authentication', description: 'Login, token refresh, logout, sessions and the caller’s own account' },
        { name: 'Operations', description: 'Health checks and version, for operators' },
      ],
      components: {
        securitySchemes: {
          accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'From POST /auth/login' },
        },
      },
    },
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
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
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
}

/** Removes `x-problem` and `x-optional`, which only validation.ts uses. */
const removeInternalKeywords = <T>(document: T): T =>
  JSON.parse(JSON.stringify(document, (key, value) => (/^x-(problem|optional)$/.test(key) ? undefined : value)));

const introduction = `
Every response has the envelope \`{code, msg, data}\`. A success has the code \`200\` and the message \`操作成功\`. An error has
its HTTP status as \`code\`, a message in \`msg\` (Chinese, or English if \`Accept-Language\` prefers it), and in \`data\` a
stable error code, \`reason\`, with its details. Send \`Accept: application/problem+json\` to receive problem details (RFC 9457)
instead.

To try operations on this page, run *POST /auth/login*, copy \`access_token\`, press *Authorize* and paste the token.

An unknown path returns 404 \`PATH_NOT_FOUND\`. A known path with an unsupported method returns 405 \`METHOD_NOT_ALLOWED\` with
the header \`Allow\`. Browsers, which accept \`text/html\`, get the console at \`/\` and at the paths of its screens, or 404
\`CONSOLE_NOT_BUILT\` if it has not been built.
`;

const header = (description: string) => ({ type: 'string', description });
const commonHeaders = { 'X-Request-Id': header('Id of the request; quote it when you report a problem') };

interface ResponseOptions {
  /** The schema of `data`; by default `data` is null. */
  data?: TSchema;
  /** The response has the path of the new record in `Location`. */
  location?: boolean;
  /** The errors of this operation, in addition to those that all operations have. */
  errors?: ErrorCode[];
  /** The errors that have their alternative text in this operation. */
  alternativeTexts?: (keyof typeof alternativeTexts)[];
  /** The response has the `ETag` of the record. */
  etag?: boolean;
  /** The response may set or clear the session cookie. */
  cookie?: boolean;
  /** An operation that writes accepts an Idempotency-Key; a `conditional` one accepts If-Match too. */
  writes?: 'unconditional' | 'conditional';
  /** The operation requires a body. */
  body?: boolean;
  /** The operation ignores unknown query parameters. */
  anyParameters?: boolean;
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
  'TOO_MANY_REQUESTS',
];

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
    errors: own = [],
    alternativeTexts: alternative = [],
    body = false,
    anyParameters = false,
  }: ResponseOptions,
) {
  const all = [
    ...commonErrors,
    ...(anyParameters ? [] : (['UNKNOWN_PARAMETER'] as const)),
    ...(kind === 'static' ? [] : databaseErrors),
    ...(body ? requiredBodyErrors : []),
    ...(kind === 'authenticated' || kind === 'session' ? tokenErrors : []),
    ...(kind === 'authenticated' ? (['PASSWORD_CHANGE_REQUIRED'] as const) : []),
    ...(writes ? ([...bodyErrors, 'KEY_REUSED'] as const) : []),
    ...(writes === 'conditional' ? (['CHANGED_MEANWHILE'] as const) : []),
    ...own,
  ];
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(all)) {
    const status = errorCatalog[code][0];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return {
    200: {
      description: '操作成功',
      headers: {
        ...commonHeaders,
        ...(location ? { Location: header('Path of the new resource') } : {}),
        ...(etag ? { ETag: header('Version of the record, for If-Match') } : {}),
        ...(cookie ? { 'Set-Cookie': header('Sets or clears `banyan_session`, the session cookie of browsers') } : {}),
        ...replayedHeader(writes),
      },
      ...Type.Object({
        code: Type.Literal(200),
        msg: Type.Literal('操作成功'),
        data: data ?? Type.Null(),
      }),
    },
    ...Object.fromEntries(
      [...byStatus].map(([status, codes]) => [
        status,
        errorResponse(status, codes, alternative, replayedHeader(writes)),
      ]),
    ),
  };
}

const statusHeaders: Record<number, Record<string, unknown>> = {
  401: { 'WWW-Authenticate': header('Bearer') },
  429: { 'Retry-After': header('Seconds to wait before a retry') },
  503: { 'Retry-After': header('Seconds to wait before a retry') },
};

const replayedHeader = (writes: ResponseOptions['writes']) =>
  writes
    ? {
        'Idempotent-Replayed': header(
          '`true`: this is the stored response to an earlier request with the same Idempotency-Key',
        ),
      }
    : {};

const errorResponse = (
  status: number,
  codes: ErrorCode[],
  alternative: ErrorCode[],
  headers: Record<string, unknown>,
) => ({
  description: codes.map((code) => `\`${code}\` ${textOf(code, alternative).replace(/[<_]/g, '\\$&')}`).join('\n\n'),
  headers: { ...commonHeaders, 'Content-Language': header('`zh-CN` or `en`'), ...statusHeaders[status], ...headers },
  content: {
    'application/json': {
      schema: Type.Object({
        code: Type.Literal(status),
        msg: Type.String(),
        data: Type.Object({ reason: Type.Unsafe({ type: 'string', enum: codes }) }, { additionalProperties: true }),
      }),
    },
    'application/problem+json': {
      schema: Type.Object(
        {
          type: Type.String(),
          title: Type.String(),
          status: Type.Literal(status),
          detail: Type.String(),
          instance: Type.String(),
          reason: Type.Unsafe({ type: 'string', enum: codes }),
        },
        { additionalProperties: true },
      ),
    },
  },
});

const textOf = (code: ErrorCode, alternative: ErrorCode[]): string =>
  (alternative.includes(code) ? alternativeTexts[code as keyof typeof alternativeTexts] : errorCatalog[code])[2];

export const authenticated = { security: [{ accessToken: [] }] };
