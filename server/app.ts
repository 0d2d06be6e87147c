import type { Socket } from 'node:net';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Fastify, {
  type FastifyBaseLogger,
  LogController,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
  type RawServerDefault,
} from 'fastify';
import type { Database } from '../db/connect.ts';
import { makeKeyring } from './auth/keys.ts';
import { createPasswords, type PasswordCost, type Passwords } from './auth/passwords.ts';
import { loginRoutes, sessionRoutes } from './auth/routes.ts';
import { type GivenToken, TokenReader } from './auth/tokens.ts';
import { branchRoutes } from './branches/routes.ts';
import { makeFollowers } from './changes/following.ts';
import { changeRoutes } from './changes/routes.ts';
import { keepSealing } from './changes/sealing.ts';
import type { Config } from './config.ts';
import { ConsolePages } from './console/pages.ts';
import { makeReader } from './departments/reading.ts';
import { departmentRoutes } from './departments/routes.ts';
import { makeShortWay } from './departments/short-way.ts';
import { historyRoutes } from './history/routes.ts';
import { answerBroken, brokenBy, headersIn } from './http/broken.ts';
import { openTo } from './http/cors.ts';
import { everyAnswer, refusalOf, requestIdOf, sendRefusal } from './http/envelope.ts';
import { boundLoad } from './http/load.ts';
import { logMethod, makeAnswerLog, type Output, standardOutput } from './http/log.ts';
import { describeInterface } from './http/openapi.ts';
import { refuse } from './http/refusals.ts';
import { serializeBySchema } from './http/serializing.ts';
import { checkInput } from './http/validation.ts';
import { operationRoutes } from './operations/routes.ts';
import { overviewRoutes } from './overview/routes.ts';
import { tenantRoutes } from './tenants/routes.ts';
import { defaultTiming, type Timing } from './timing.ts';
import { undoRoutes } from './undo/routes.ts';
import { userRoutes } from './users/routes.ts';
import { makeAddressBook, type Resolve } from './webhooks/addresses.ts';
import { keepDelivering } from './webhooks/dispatcher.ts';
import { webhookRoutes } from './webhooks/routes.ts';

/** What the routes stand on. */
export interface Parts extends Given {
  timing: Timing;
  passwords: Passwords;
}

interface Given {
  db: Database;
  config: Config;
  /** Where the built console is, if not where the build puts it. */
  consoleFolder?: URL;
  /** Tells where a name leads, if not the name servers. */
  resolve?: Resolve;
  /** Milliseconds by which the clock of access tokens is ahead of the database's; for tests of what expires. */
  tokenClockAheadMs?: () => number;
  /** Where the log goes, if not to standard output. */
  output?: Output;
}

export interface Options extends Given {
  timing?: Partial<Timing>;
  passwordCost?: PasswordCost;
}

export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

const BODY_LIMIT = 1_048_576;

/** The service, ready to listen: every domain by name, and one place that turns refusals into answers. */
export async function buildApp({ timing: changed, passwordCost, ...given }: Options): Promise<App> {
  const timing = { ...defaultTiming, ...changed };
  const parts: Parts = { ...given, timing, passwords: await createPasswords(passwordCost) };
  const { db, config } = parts;
  const pages = new ConsolePages(parts.consoleFolder);
  const load = boundLoad(config, timing);
  const output = given.output ?? standardOutput();
  const tell = makeAnswerLog(output, config.logLevel);
  const logAnswer = (request: FastifyRequest, reply: FastifyReply) => {
    const arrival = load.arrivalOf(request.raw);
    const begun = reply.raw.headersSent;
    tell({
      requestId: request.id,
      method: request.method,
      // The path alone: a query may hold names.
      path: request.url.split('?')[0] as string,
      status: begun ? reply.statusCode : NOT_WAITED_FOR,
      code: (begun && reply.refusedWith) || undefined,
      ms: arrival === undefined ? reply.elapsedTime : performance.now() - arrival,
      from: request.ip,
      token: request.token ?? null,
      whole: reply.raw.writableFinished,
    });
  };
  const app: App = Fastify({
    // JSON lines on standard output. Bodies and headers are never logged, so passwords and tokens aren't either.
    logger: { level: config.logLevel, stream: output, hooks: { logMethod } },
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    bodyLimit: BODY_LIMIT,
    serverFactory: load.serverFactory,
    trustProxy: config.trustProxy || false,
    // A logger for each request would cost as much as its line: what is logged of one carries its id itself.
    childLoggerFactory: (logger) => logger,
    genReqId: requestIdOf,
    routerOptions: { maxParamLength: load.headerLimit },
    frameworkErrors: (error, request, reply) => {
      reply.raw.once('finish', () => logAnswer(request, reply));
      sendRefusal(refusalOf(error, request), request, reply, config);
    },
    clientErrorHandler: (error, socket) =>
      answerBroken(brokenBy(error), socket, config, headersIn(error, load.arrivingAt(socket))),
    forceCloseConnections: 'idle',
    // While it stops, what still comes over open connections is answered as ever.
    return503OnClosing: false,
  }).withTypeProvider<TypeBoxTypeProvider>();

  const { allowedAt, isMistaken } = watchRoutes(app);
  app.decorate('timing', timing);
  app.decorate('passwords', parts.passwords);
  app.decorateReply('refusedWith', null);
  load.keepDeadline(app);
  load.count(app);
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(everyAnswer(request.id));
    // Not `onResponse`, which never comes when the caller has gone before; what he asked for may be done all the same.
    reply.raw.once('close', () => logAnswer(request, reply));
    done();
  });
  // Before anything is refused: a page may read a refusal too.
  await openTo(app, config.corsOrigins);
  app.addHook('onRequest', (request, reply, done) => {
    const { headers, httpVersion } = request.raw;
    if (!headers.host && httpVersion === '1.1') return done(refuse('BAD_REQUEST', { cause: 'Host' }));
    if (headers.expect && !/^100-continue$/i.test(headers.expect)) {
      return done(refuse('BAD_REQUEST', { cause: 'Expect' }));
    }
    if (!request.is404 && !isMistaken(request)) return done();
    // Before the body is looked at: whatever it is, there is nobody here to take it.
    if (!request.is404 || !pages.answer(request, reply)) done(refuseUnknown(allowedAt(request.url)));
  });
  checkInput(app);
  serializeBySchema(app);
  app.setErrorHandler((error, request, reply) => sendRefusal(refusalOf(error, request), request, reply, config));
  // For routes that look further and find nothing, as that of /docs/static/* does.
  app.setNotFoundHandler((request, reply) =>
    sendRefusal(refuseUnknown(allowedAt(request.url)), request, reply, config),
  );
  // Node would answer these two by itself, without a word.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.server.on('connect', (_request, socket: Socket) =>
    answerBroken(refuse('METHOD_NOT_ALLOWED', { allowed: '' }), socket, config),
  );

  await describeInterface(app as unknown as FastifyInstance);
  const keys = makeKeyring(db, parts.tokenClockAheadMs);
  await keys.signing();
  operationRoutes(app, parts);
  loginRoutes(app, { ...parts, keys });
  const tokens = new TokenReader(keys);
  const followers = makeFollowers(db, timing);
  const lookUp = makeAddressBook(config.webhookNetworks, parts.resolve);
  const stopDelivering = keepDelivering(app, db, lookUp);
  app.decorate('letFollowersGo', () => {
    followers.close();
    stopDelivering();
  });
  app.addHook('preClose', async () => app.letFollowersGo());
  keepSealing(app, db);
  await app.register(async (scope) => {
    const guarded = scope as App;
    guarded.decorateRequest('token', null as unknown as GivenToken);
    guarded.decorateRequest('replayed', false);
    guarded.addHook('onSend', (request, reply, payload, done) => {
      if (request.replayed) reply.header('idempotent-replayed', 'true');
      done(null, payload);
    });
    guarded.addHook('onRequest', (request, _reply, done) => {
      const { authorization } = request.headers;
      const known = tokens.known(authorization);
      if (known) {
        request.token = known;
        done();
        return;
      }
      tokens.read(authorization).then((token) => {
        request.token = token;
        done();
      }, done);
    });
    sessionRoutes(guarded, { ...parts, keys });
    const read = makeReader(db);
    load.open(makeShortWay({ tokens, read, tell, config }));
    departmentRoutes(guarded, parts, read);
    branchRoutes(guarded, parts);
    tenantRoutes(guarded, parts);
    userRoutes(guarded, parts);
    overviewRoutes(guarded, parts);
    historyRoutes(guarded, parts);
    changeRoutes(guarded, parts, { followers, tokens });
    webhookRoutes(guarded, parts, lookUp);
    undoRoutes(guarded, parts);
  });
  return app;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Answers who waits for news, and sends no more of them: the service stops. */
    letFollowersGo(): void;
  }
}

/** Which methods a path takes, for 405: one with a name of its own takes only its own, though it has the form of an id. */
function watchRoutes(app: App) {
  const routes: { method: string; form: RegExp }[] = [];
  const named = new Map<string, string[]>();
  app.addHook('onRoute', ({ method, url }) => {
    const form = new RegExp(`^${url.replace(/[.*]/g, '\\$&').replace(/:\w+/g, '[^/]+')}$`);
    for (const name of [method].flat()) routes.push({ method: name, form });
    if (!/[:*]/.test(url)) named.set(url, [...(named.get(url) ?? []), method].flat());
  });
  const pathOf = (url: string) => url.split('?')[0] as string;
  return {
    allowedAt(url: string): string[] {
      const path = pathOf(url);
      const fitting = named.get(path) ?? routes.filter(({ form }) => form.test(path)).map(({ method }) => method);
      return [...new Set(fitting)];
    },
    /** The router takes `DELETE /system/dept-api/list` for the deletion of a department with that id. */
    isMistaken: ({ url, routeOptions }: FastifyRequest): boolean =>
      routeOptions.url?.includes(':') === true && named.has(pathOf(url)),
  };
}

/** What web servers write down for a caller who left before he was answered. */
const NOT_WAITED_FOR = 499;

const refuseUnknown = (allowed: string[]) =>
  allowed.length > 0 ? refuse('METHOD_NOT_ALLOWED', { allowed: allowed.join(', ') }) : refuse('PATH_NOT_FOUND');
