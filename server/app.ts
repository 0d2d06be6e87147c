import type { AddressInfo, Socket } from 'node:net';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Fastify, { LogController } from 'fastify';
import { accountRoutes } from './account/routes.ts';
import { KeyReader } from './auth/api-keys.ts';
import { checkRefusedKeys } from './auth/caller.ts';
import { requireToken } from './auth/guard.ts';
import { createIssuer } from './auth/issuer.ts';
import { createKeyLimits } from './auth/key-limits.ts';
import { startLoginCleanup } from './auth/login-cleanup.ts';
import { createPasswords } from './auth/passwords.ts';
import { createRefusalStates } from './auth/refusal-states.ts';
import { loginRoutes, sessionRoutes } from './auth/routes.ts';
import { createKeyring } from './auth/signing-keys.ts';
import { readTopLevelTenants } from './auth/tenant-state.ts';
import { TokenReader } from './auth/tokens.ts';
import { ConsolePages } from './console/pages.ts';
import type { App, AppOptions, Dependencies } from './context.ts';
import { departmentResource } from './departments/history/resource.ts';
import { departmentRoutes } from './departments/routes.ts';
import { entitlementRoutes } from './entitlements/routes.ts';
import { healthRoutes } from './health/routes.ts';
import { createAccessLog, logMethod, standardOutput } from './http/access-log.ts';
import {
  clientErrorOf,
  findAmbiguousHeader,
  headersOfFailedRequest,
  respondToClientError,
} from './http/client-errors.ts';
import { Connections } from './http/connections.ts';
import { allowOrigins } from './http/cors.ts';
import { enforceDeadlines } from './http/deadline.ts';
import { commonHeaders, requestIdOf, sendError, toApiError } from './http/envelope.ts';
import { apiError } from './http/errors.ts';
import { defaultLimits } from './http/limits.ts';
import { LoadShedder } from './http/load-shedding.ts';
import { registerOpenApi } from './http/openapi-page.ts';
import { serializeInPieces } from './http/response-size.ts';
import { serializeLazily } from './http/serializing.ts';
import { createServer, HEADER_LIMIT, hasBody } from './http/server.ts';
import { isUploading } from './http/uploads.ts';
import { validateInput } from './http/validation.ts';
import { importRoutes } from './imports/routes.ts';
import { recordKeyUses } from './keys/last-used.ts';
import { keyResource } from './keys/resource.ts';
import { keyRoutes } from './keys/routes.ts';
import { loginResource } from './ledger/logins.ts';
import { ledgerResources } from './ledger/resources.ts';
import { ledgerRoutes } from './ledger/routes.ts';
import { startSealing } from './ledger/sealing.ts';
import { createSubscribers } from './ledger/subscribers.ts';
import { createMetrics, type Metrics } from './metrics/metrics.ts';
import { metricsRoutes } from './metrics/routes.ts';
import { createScrape, type Scrape } from './metrics/scraping.ts';
import { startEndNotices } from './notices/end-of-service.ts';
import { noticeResource } from './notices/resource.ts';
import { introspectionRoutes, oauthRoutes } from './oauth/routes.ts';
import { overviewRoutes } from './overview/routes.ts';
import { quotaResource } from './quotas/resource.ts';
import { quotaRoutes } from './quotas/routes.ts';
import { limitRequests } from './rate-limits/limit.ts';
import { isRuoyiLogout, ruoyiLogin } from './ruoyi-api/login.ts';
import { publicRuoyiRoutes, ruoyiRoutes } from './ruoyi-api/routes.ts';
import { searchRoutes } from './search/routes.ts';
import { tenantResource } from './tenants/history.ts';
import { tenantRoutes } from './tenants/routes.ts';
import { setQuotaTotal } from './tenants/tenants.ts';
import { defaultTiming } from './timing.ts';
import { startTracing } from './tracing/tracing.ts';
import { userResource } from './users/history.ts';
import { memberRemoval } from './users/memberships.ts';
import { replaceHash } from './users/passwords.ts';
import { userRoutes } from './users/routes.ts';
import { webhookResource } from './webhooks/resource.ts';
import { webhookRoutes } from './webhooks/routes.ts';

const BODY_LIMIT = 1_048_576;

/** Builds the service, ready to listen. Every domain registers its own routes. */
export async function buildApp({ passwordCost, ...options }: AppOptions): Promise<App> {
  const timing = { ...defaultTiming, ...options.timing };
  const limits = { ...defaultLimits, ...options.limits };
  const { db, config } = options;
  const metrics = config.metrics || config.metricsPort !== null ? await createMetrics() : undefined;
  const deps: Dependencies = { ...options, timing, limits, passwords: await createPasswords(passwordCost), metrics };
  const app = await createFastify(deps);
  const keys = createKeyring(db, deps.tokenClockAheadMs);
  await keys.signingKey();
  const issuer = createIssuer(config, deps.listeningPort ?? (() => portOf(app)));
  const keyLimits = createKeyLimits(db);
  const refusalStates = createRefusalStates();
  const tokens = new TokenReader({ keys, issuer }, keyLimits, refusalStates);
  const apiKeys = new KeyReader(db, keyLimits, refusalStates);
  const subscribers = createSubscribers(db, timing);
  // Reverts restore records in this order and remove them in the opposite one: users belong to departments.
  const resources = ledgerResources(
    tenantResource(config),
    departmentResource(config),
    userResource(config.timeZone),
    webhookResource,
    keyResource(config.timeZone),
    quotaResource,
    noticeResource,
    loginResource,
  );

  healthRoutes(app, deps);
  if (metrics) {
    const collect = async () => [await metrics.snapshot()];
    const scrape =
      options.scrape ?? (await createScrape({ db, timing, workers: () => 1, configuredWorkers: 1, collect }));
    app.decorate('metrics', { ...metrics, scrape });
    if (config.metrics) metricsRoutes(app, scrape);
  }
  const auth = { ...deps, keys, issuer, replaceHash };
  loginRoutes(app, auth, config.ruoyiApi ? ruoyiLogin(auth) : {});
  if (config.ruoyiApi) await app.register(async (scope) => publicRuoyiRoutes(scope as App, auth));
  const oauth = { ...auth, tokens, apiKeys };
  await app.register(async (scope) => oauthRoutes(scope as App, oauth));
  await app.register(async (scope) => introspectionRoutes(scope as App, oauth));
  await app.register(async (scope) => {
    const authenticated = scope as App;
    requireToken(authenticated, tokens, apiKeys);
    limitRequests(authenticated, deps);
    checkRefusedKeys(authenticated, db);
    sessionRoutes(authenticated, auth, config.ruoyiApi ? isRuoyiLogout : undefined);
    accountRoutes(authenticated, deps);
    departmentRoutes(authenticated, deps, resources, memberRemoval);
    tenantRoutes(authenticated, deps);
    userRoutes(authenticated, deps);
    overviewRoutes(authenticated, deps);
    searchRoutes(authenticated, deps);
    entitlementRoutes(authenticated, deps);
    ledgerRoutes(authenticated, deps, { resources, subscribers, tokens });
    keyRoutes(authenticated, deps);
    quotaRoutes(authenticated, deps, setQuotaTotal);
    await scope.register(async (files) => importRoutes(files as App, deps));
    recordKeyUses(authenticated, db);
    if (config.ruoyiApi) await scope.register(async (inner) => ruoyiRoutes(inner as App, auth));
    const stopDelivery = webhookRoutes(authenticated, deps, resources);
    app.decorate('endSubscriptions', () => {
      subscribers.close();
      stopDelivery();
    });
  });
  app.addHook('preClose', async () => app.endSubscriptions());
  startSealing(app, db);
  startLoginCleanup(app, db);
  startEndNotices(app, deps);
  return app;
}

const portOf = ({ server }: App) => (server.address() as AddressInfo | null)?.port;

declare module 'fastify' {
  interface FastifyInstance {
    /** Ends all subscriptions and stops delivering to webhooks, for shutdown. */
    endSubscriptions(): void;
    /** undefined: metrics are switched off. */
    metrics?: Pick<Metrics, 'snapshot' | 'backupCounter'> & { scrape: Scrape };
  }
}

/** Creates the Fastify instance with what all domains share: load shedding, deadlines, access log, validation and errors. */
async function createFastify(deps: Dependencies): Promise<App> {
  const { config, timing, limits, db, metrics } = deps;
  const pages = new ConsolePages(deps.consoleFiles, config.menuNames);
  const connections = new Connections(config, timing, limits);
  const loadShedder = new LoadShedder(limits, (ids) => db.use((sql) => readTopLevelTenants(sql, ids)));
  const output = deps.output ?? standardOutput();
  metrics?.watchProcess({ db, loadShedder, connections, passwords: deps.passwords });
  const logResponse = createAccessLog(output, config.logLevel);
  const recordResponse = (request: FastifyRequest, reply: FastifyReply) => {
    logResponse(request, reply);
    metrics?.observeResponse(request, reply);
  };
  const app: App = Fastify({
    // JSON lines on standard output. Bodies and headers are never logged, so neither are passwords and tokens.
    logger: { level: config.logLevel, stream: output, hooks: { logMethod } },
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    bodyLimit: BODY_LIMIT,
    serverFactory: (handler) => createServer(connections, timing, handler),
    trustProxy: config.trustProxy || false,
    // Use one logger for all requests: a child logger costs as much as the log line. Log statements add the request id.
    childLoggerFactory: (logger) => logger,
    genReqId: requestIdOf,
    routerOptions: { maxParamLength: HEADER_LIMIT },
    frameworkErrors: (error, request, reply) => {
      reply.raw.once('finish', () => recordResponse(request, reply));
      sendError(toApiError(error, request), request, reply, config);
    },
    clientErrorHandler: (error, socket) => {
      const hasOwnTimeout = isUploading(socket) || connections.isDiscarding(socket);
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && hasOwnTimeout) return;
      const headers = headersOfFailedRequest(error, connections.requestArrivingOn(socket));
      const apiError = clientErrorOf(error);
      if (apiError) connections.afterPending(socket, () => respondToClientError(apiError, socket, config, headers));
      else socket.destroy();
    },
    forceCloseConnections: 'idle',
    // During shutdown, still process requests that arrive over open connections.
    return503OnClosing: false,
  }).withTypeProvider<TypeBoxTypeProvider>();

  const isTraced = !config.otelDisabled && config.otelTracesExporter === 'otlp';
  if (isTraced && (config.otlpEndpoint || config.otlpTracesEndpoint)) await startTracing(app);
  const { allowedMethods, isMisrouted, isOperation } = collectRoutes(app);
  app.decorate('timing', timing);
  app.decorate('passwords', deps.passwords);
  app.decorateReply('errorStatus', null);
  app.decorate('loadShedder', loadShedder);
  app.addHook('onClose', async () => loadShedder.close());
  enforceDeadlines(app);
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(commonHeaders(request.id));
    // Not `onResponse`: it is not called after the client disconnected, although the request may have been processed.
    reply.raw.once('close', () => recordResponse(request, reply));
    done();
  });
  // Register CORS before the checks below, so that pages of allowed origins can read their errors too.
  await allowOrigins(app, config.corsOrigins);
  app.addHook('onRequest', (request, reply, done) => {
    const { headers, httpVersion } = request.raw;
    const ambiguousHeader = findAmbiguousHeader(request.raw);
    if (ambiguousHeader) {
      // Close the connection: a proxy may have read this request differently, so the next bytes may be a smuggled request.
      reply.header('connection', 'close');
      return done(apiError('BAD_REQUEST', { cause: ambiguousHeader }));
    }
    if (!headers.host && httpVersion === '1.1') return done(apiError('BAD_REQUEST', { cause: 'Host' }));
    if (headers.expect && !/^100-continue$/i.test(headers.expect)) {
      return done(apiError('BAD_REQUEST', { cause: 'Expect' }));
    }
    if (!request.is404 && !isMisrouted(request)) return done();
    // Respond before the body is read: no operation would use it.
    if (!request.is404 || !pages.handle(request, reply, isOperation))
      done(unknownPathError(allowedMethods(request.url)));
  });
  // A slot is taken as late as possible: when the token is verified (auth/guard.ts) and the body has arrived.
  app.addHook('onRequest', (request, reply, done) => {
    const isAdmittedLater = request.routeOptions.config.requiresToken || hasBody(request.raw);
    if (isAdmittedLater) done();
    else loadShedder.admit(request, reply, done);
  });
  app.addHook('preHandler', (request, reply, done) => {
    if (hasBody(request.raw)) loadShedder.admit(request, reply, done);
    else done();
  });
  validateInput(app);
  serializeLazily(app);
  serializeInPieces(app);
  app.setErrorHandler((error, request, reply) => sendError(toApiError(error, request), request, reply, config));
  // For routes that call `reply.callNotFound()`, such as /docs/static/*.
  app.setNotFoundHandler((request, reply) =>
    sendError(unknownPathError(allowedMethods(request.url)), request, reply, config),
  );
  // By default, Node responds to the first of these events without a body, and closes the connection on the second.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.server.on('connect', (_request, socket: Socket) =>
    respondToClientError(apiError('METHOD_NOT_ALLOWED', { allowed: '' }), socket, config),
  );
  await registerOpenApi(app as unknown as FastifyInstance);
  return app;
}

/** Collects all routes, to find the methods of a path for 405. A static path such as `/list` is never taken for `/{id}`. */
function collectRoutes(app: App) {
  const routes: { method: string; pattern: RegExp }[] = [];
  const staticRoutes = new Map<string, string[]>();
  const firstSegments = new Set<string>();
  const firstSegment = (path: string) => path.split('/')[1] ?? '';
  app.addHook('onRoute', ({ method, url }) => {
    const pattern = new RegExp(`^${url.replace(/[.*]/g, '\\$&').replace(/:\w+/g, '[^/]+')}$`);
    for (const name of [method].flat()) routes.push({ method: name, pattern });
    firstSegments.add(firstSegment(url));
    if (!/[:*]/.test(url)) staticRoutes.set(url, [...(staticRoutes.get(url) ?? []), method].flat());
  });
  const pathOf = (url: string) => url.split('?')[0] as string;
  return {
    allowedMethods(url: string): string[] {
      const path = pathOf(url);
      const matching =
        staticRoutes.get(path) ?? routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
      return [...new Set(matching)];
    },
    /** Whether a path belongs to the operations, such as `/system/…`, even if there is no operation at it. */
    isOperation: (path: string): boolean => firstSegments.has(firstSegment(path)),
    /** The router matches `DELETE /system/dept-api/list` as the deletion of a department with the id `list`. */
    isMisrouted: ({ url, routeOptions }: FastifyRequest): boolean =>
      routeOptions.url?.includes(':') === true && staticRoutes.has(pathOf(url)),
  };
}

const unknownPathError = (allowed: string[]) =>
  allowed.length > 0 ? apiError('METHOD_NOT_ALLOWED', { allowed: allowed.join(', ') }) : apiError('PATH_NOT_FOUND');
