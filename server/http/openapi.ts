import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import Type, { type TSchema } from 'typebox';
import { version } from '../version.ts';
import { otherwise, type Reason, reasons } from './refusals.ts';

/** The document at /openapi.json is made from the schemas that validate; /docs shows it, offline. */
export async function describeInterface(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    transformObject: (document) => ('openapiObject' in document ? withoutOurNotes(document.openapiObject) : {}),
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
        { name: 'Departments', description: 'A tree of departments for each tenant' },
        { name: 'Tenants', description: 'The tree of tenants' },
        { name: 'Users', description: 'People, who log in and belong to departments' },
        { name: 'Changes', description: 'What was done, by whom and when' },
        { name: 'Webhooks', description: 'Addresses that are told of changes' },
        { name: 'Authentication', description: 'Login, refresh, logout, me, password' },
        { name: 'Operations', description: 'For whoever runs the service' },
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
    // Nothing from elsewhere, and plain http stays http: many a service is tried out in an office network.
    transformStaticCSP: () =>
      "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'",
    uiConfig: {
      layout: 'BaseLayout',
      docExpansion: 'list',
      tryItOutEnabled: true,
      persistAuthorization: true,
      displayRequestDuration: true,
    },
    theme: { title: 'Banyan 榕树: interface' },
  });
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
}

/** `x-problem` and `x-optional` are between our schemas and validation.ts. */
const withoutOurNotes = <T>(document: T): T =>
  JSON.parse(JSON.stringify(document, (key, value) => (/^x-(problem|optional)$/.test(key) ? undefined : value)));

const introduction = `
Every answer is the envelope \`{code, msg, data}\`. Success is \`200\` and \`操作成功\`. A refusal carries its HTTP status
as \`code\`, a sentence in \`msg\` (Chinese, or English when \`Accept-Language\` prefers it), and in \`data\` a stable
\`reason\` with the facts. \`Accept: application/problem+json\` gets RFC 9457 instead.

To try calls here: run *POST /auth/login*, copy \`access_token\`, press *Authorize*, paste it.

Whatever is called, a path that isn't there answers 404 \`PATH_NOT_FOUND\`, and a path that takes other methods 405
\`METHOD_NOT_ALLOWED\` with the header \`Allow\`. Browsers, which ask for \`text/html\`, get the console at \`/\` and at the
addresses of its screens; where it was not built, 404 \`CONSOLE_NOT_BUILT\`.
`;

const header = (description: string) => ({ type: 'string', description });
const everyAnswer = { 'X-Request-Id': header('Id of the request; quote it when you report a problem') };

interface Answers {
  /** What `data` holds; null when not given. */
  data?: TSchema;
  /** The answer names the new resource in `Location`. */
  location?: boolean;
  /** The reasons for which this operation may be refused, beside those that every operation shares. */
  reasons?: Reason[];
  /** Those of them that are given here for something else than usual, with another text. */
  otherwise?: (keyof typeof otherwise)[];
  /** The answer has the record's tag in `ETag`. */
  etag?: boolean;
  /** The answer may set the session cookie, or clear it. */
  cookie?: boolean;
  /** What it writes: a `new` record, or a `change` that may come with If-Match. Both take an Idempotency-Key. */
  writes?: 'new' | 'change';
  /** The operation takes a body. */
  body?: boolean;
}

const always: Reason[] = [
  'BAD_REQUEST',
  'ADDRESS_NOT_ENCODED',
  'INVALID_UTF8',
  'INVALID_FIELD',
  'HEADERS_TOO_LARGE',
  'INTERNAL',
  'TOO_BUSY',
];
const withDatabase: Reason[] = ['DATABASE_AWAY'];
/** A body is read with every write, also where none is asked for. */
const readBody: Reason[] = ['INVALID_JSON', 'FORBIDDEN_KEY', 'BODY_TOO_LARGE', 'NOT_JSON', 'REQUEST_TIMEOUT'];
const withBody: Reason[] = [...readBody, 'BODY_REQUIRED', 'FIELD_REQUIRED'];
const withToken: Reason[] = [
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
];

/** What an operation answers, for OpenAPI and for the serialiser. */
export function answers(
  kind: 'public' | 'open' | 'guarded',
  { data, location, etag, cookie, writes, reasons: own = [], otherwise: other = [], body = false }: Answers,
) {
  const all = [
    ...always,
    ...(kind === 'public' ? [] : withDatabase),
    ...(body ? withBody : []),
    ...(kind === 'guarded' ? withToken : []),
    ...(writes ? ([...readBody, 'KEY_REUSED'] as const) : []),
    ...(writes === 'change' ? (['CHANGED_MEANWHILE'] as const) : []),
    ...own,
  ];
  const byStatus = new Map<number, Reason[]>();
  for (const reason of new Set(all)) {
    const status = reasons[reason][0];
    byStatus.set(status, [...(byStatus.get(status) ?? []), reason]);
  }
  return {
    200: {
      description: '操作成功',
      headers: {
        ...everyAnswer,
        ...(location ? { Location: header('Path of the new resource') } : {}),
        ...(etag ? { ETag: header('Tag of the record, for If-Match') } : {}),
        ...(cookie ? { 'Set-Cookie': header('`banyan_session`, for browsers: set, or cleared') } : {}),
        ...replayed(writes),
      },
      ...Type.Object({
        code: Type.Literal(200),
        msg: Type.Literal('操作成功'),
        data: data ?? Type.Null(),
      }),
    },
    ...Object.fromEntries(
      [...byStatus].map(([status, list]) => [status, refusalSchema(status, list, other, replayed(writes))]),
    ),
  };
}

const moreHeaders: Record<number, Record<string, unknown>> = {
  401: { 'WWW-Authenticate': header('Bearer') },
  429: { 'Retry-After': header('Seconds to wait') },
  503: { 'Retry-After': header('Seconds to wait') },
};

const replayed = (writes: Answers['writes']) =>
  writes
    ? { 'Idempotent-Replayed': header('`true`: what an earlier request with the same Idempotency-Key came to') }
    : {};

const refusalSchema = (status: number, list: Reason[], other: Reason[], more: Record<string, unknown>) => ({
  description: list.map((reason) => `\`${reason}\` ${textOf(reason, other).replace(/[<_]/g, '\\$&')}`).join('\n\n'),
  headers: { ...everyAnswer, 'Content-Language': header('`zh-CN` or `en`'), ...moreHeaders[status], ...more },
  content: {
    'application/json': {
      schema: Type.Object({
        code: Type.Literal(status),
        msg: Type.String(),
        data: Type.Object({ reason: Type.Unsafe({ type: 'string', enum: list }) }, { additionalProperties: true }),
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
          reason: Type.Unsafe({ type: 'string', enum: list }),
        },
        { additionalProperties: true },
      ),
    },
  },
});

const textOf = (reason: Reason, other: Reason[]): string =>
  (other.includes(reason) ? otherwise[reason as keyof typeof otherwise] : reasons[reason])[2];

export const guarded = { security: [{ accessToken: [] }] };
