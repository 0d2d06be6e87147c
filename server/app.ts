import { randomUUID } from 'node:crypto';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import Fastify, {
  type FastifyBaseLogger,
  LogController,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
  type RawServerDefault,
} from 'fastify';
import type { Database } from '../db/connect.ts';
import { makeKeyring } from './auth/keys.ts';
import { loginRoutes, sessionRoutes } from './auth/routes.ts';
import { readBearer, type Token } from './auth/tokens.ts';
import type { Config } from './config.ts';
import { departmentRoutes } from './departments/routes.ts';
import { asEnvelope, refusalOf, sendRefusal } from './http/envelope.ts';
import { describeInterface } from './http/openapi.ts';
import { refuse } from './http/refusals.ts';
import { checkInput } from './http/validation.ts';
import { operationRoutes } from './operations/routes.ts';
import { tenantRoutes } from './tenants/routes.ts';
import { userRoutes } from './users/routes.ts';

export interface Parts {
  db: Database;
  config: Config;
}

export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

const BODY_LIMIT = 1_048_576;
// Ten thousand ids in a path shall reach the sentence that refuses them.
const HEADER_LIMIT = 262_144;

/** The service, ready to listen: every domain by name, and one place that turns refusals into answers. */
export async function buildApp(parts: Parts): Promise<App> {
  const { db, config } = parts;
  const app: App = Fastify({
    // JSON lines on standard output. Bodies and headers are never logged, so passwords and tokens aren't either.
    // Not through the logger's own stream, which blocks the process for ever when the terminal is closed.
    logger: { level: config.logLevel, stream: { write: (line: string) => void process.stdout.write(line) } },
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    bodyLimit: BODY_LIMIT,
    requestTimeout: 30_000,
    trustProxy: config.trustProxy || false,
    // Of the caller when it is one, so that a request can be followed through several services.
    genReqId: ({ headers }) => {
      const given = headers['x-request-id'];
      return typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID();
    },
    routerOptions: { maxParamLength: HEADER_LIMIT },
    http: { maxHeaderSize: HEADER_LIMIT },
    frameworkErrors: (error, request, reply) => {
      sendRefusal(refusalOf(error, request), request, reply, config);
    },
    clientErrorHandler: answerBrokenRequest,
    forceCloseConnections: 'idle',
  }).withTypeProvider<TypeBoxTypeProvider>();

  const allowedAt = watchRoutes(app);
  checkInput(app);
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    reply.header('x-content-type-options', 'nosniff');
  });
  app.addHook('onResponse', async (request, reply) => {
    const ms = Math.round(reply.elapsedTime * 10) / 10;
    // The path alone: a query may hold names.
    request.log.info(
      { method: request.method, path: request.url.split('?')[0], status: reply.statusCode, ms },
      'answered',
    );
  });
  app.setErrorHandler((error, request, reply) => sendRefusal(refusalOf(error, request), request, reply, config));
  app.setNotFoundHandler((request, reply) => {
    const allowed = allowedAt(request.url);
    const refusal =
      allowed.length > 0 ? refuse('METHOD_NOT_ALLOWED', { allowed: allowed.join(', ') }) : refuse('PATH_NOT_FOUND');
    return sendRefusal(refusal, request, reply, config);
  });

  await describeInterface(app as unknown as FastifyInstance);
  const keys = makeKeyring(db);
  await keys.signing();
  operationRoutes(app, parts);
  loginRoutes(app, { ...parts, keys });
  await app.register(async (scope) => {
    const guarded = scope as App;
    guarded.decorateRequest('token', null as unknown as Token);
    guarded.addHook('onRequest', async (request) => {
      request.token = await readBearer(keys, request.headers.authorization);
    });
    sessionRoutes(guarded, { ...parts, keys });
    departmentRoutes(guarded, parts);
    tenantRoutes(guarded, parts);
    userRoutes(guarded, parts);
  });
  return app;
}

/** Which methods a path takes, for 405. */
function watchRoutes(app: App): (url: string) => string[] {
  const routes: { method: string; form: RegExp }[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    const form = new RegExp(`^${url.replace(/[.*]/g, '\\$&').replace(/:\w+/g, '[^/]+')}$`);
    for (const name of [method].flat()) routes.push({ method: name, form });
  });
  return (url) => {
    const path = url.split('?')[0] as string;
    return [...new Set(routes.filter(({ form }) => form.test(path)).map(({ method }) => method))];
  };
}

/** What Node's parser refuses never becomes a request; it gets the envelope all the same. */
function answerBrokenRequest(error: Error & { code?: string }, socket: import('node:net').Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const refusal =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? refuse('HEADERS_TOO_LARGE')
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? refuse('REQUEST_TIMEOUT')
        : refuse('BAD_REQUEST', { cause: 'HTTP' });
  const body = JSON.stringify(asEnvelope(refusal, 'zh'));
  const head = `HTTP/1.1 ${refusal.status} Refused\r\nContent-Type: application/json; charset=utf-8`;
  socket.end(`${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`);
}
