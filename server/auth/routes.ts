import type { FastifyRequest, RouteShorthandOptions } from 'fastify';
import type { App } from '../context.ts';
import { addressKey } from '../http/address.ts';
import { ok } from '../http/envelope.ts';
import { ApiError, apiError } from '../http/errors.ts';
import { writeHeaders } from '../http/etag.ts';
import { responses } from '../http/openapi.ts';
import { readAs, writeAs } from './caller.ts';
import { assertSameOrigin, clearCookie, clearSentCookie, cookieOf, moveRefreshTokenToCookie } from './cookie.ts';
import { type AuthDependencies, endSessionByRefreshToken, type LoginOrigin, logIn, logOut, refresh } from './login.ts';
import { Login, LogoutQuery, Refresh, SessionPage, SessionPath, SessionQuery, Tokens } from './schema.ts';
import { endOwnSession, listOwnSessions, sessionIdOf } from './sessions.ts';

const tags = ['Authentication'];

/** The address of a request, for brute-force protection. */
function addressOf({ ip }: { ip: string | undefined }): string {
  // The client has disconnected: its address is unknown, and it cannot receive a response.
  if (!ip) throw apiError('BAD_REQUEST', { cause: 'aborted' });
  return addressKey(ip);
}

export const loginOrigin = (request: FastifyRequest): LoginOrigin => ({
  address: addressOf(request),
  userAgent: (request.headers['user-agent'] ?? '').slice(0, 500),
  requestId: request.id,
});

/** Hooks of the login, for clients that send other fields to the same path (ruoyi-api/login.ts). */
export type LoginHooks = Pick<RouteShorthandOptions, 'onRequest' | 'preValidation' | 'preHandler' | 'errorHandler'>;

/** The routes that require no access token. */
export function loginRoutes(app: App, deps: AuthDependencies, hooks: LoginHooks = {}): void {
  app.post(
    '/auth/login',
    {
      ...hooks,
      schema: {
        tags,
        operationId: 'logIn',
        summary: 'Log in',
        description: 'With `session=cookie` the refresh token is set as a cookie, for browsers.',
        security: [],
        querystring: SessionQuery,
        body: Login,
        response: responses('public', {
          data: Tokens,
          cookie: true,
          errors: [
            'LOGIN_FAILED',
            'DUPLICATE_COOKIE',
            'OTHER_SITE',
            'USER_DISABLED',
            'TENANT_DISABLED',
            'TENANT_NOT_STARTED',
            'TENANT_ENDED',
            'TOO_MANY_LOGINS',
          ],
        }),
      },
    },
    async (request, reply) => {
      const inCookie = request.query.session === 'cookie';
      if (inCookie) {
        assertSameOrigin(request);
        cookieOf(request); // With two cookies the session could never be refreshed.
      }
      const issued = await logIn(deps, loginOrigin(request), request.body);
      return ok(inCookie ? moveRefreshTokenToCookie(reply, issued) : issued.tokens);
    },
  );

  app.post(
    '/auth/refresh',
    {
      // Replace the body, which the browser cannot send: scripts cannot read the refresh token.
      preParsing: async (request, _reply, payload) => {
        if (request.query.session === 'cookie') request.body = { refresh_token: '' };
        return payload;
      },
      schema: {
        tags,
        operationId: 'refresh',
        summary: 'Exchange a refresh token for new tokens',
        description:
          'Each refresh token works once; reuse of an old one ends its session. With `session=cookie` the token is read ' +
          'from the cookie, without a body.',
        security: [],
        querystring: SessionQuery,
        body: Refresh,
        response: responses('public', {
          data: Tokens,
          cookie: true,
          errors: [
            'REFRESH_REFUSED',
            'DUPLICATE_COOKIE',
            'OTHER_SITE',
            'USER_DELETED',
            'USER_DISABLED',
            'TENANT_DELETED',
            'TENANT_DISABLED',
            'TENANT_NOT_STARTED',
            'TENANT_ENDED',
          ],
        }),
      },
    },
    async (request, reply) => {
      const address = addressOf(request);
      if (request.query.session !== 'cookie') {
        return ok((await refresh(deps, request.body.refresh_token, { address })).tokens);
      }
      assertSameOrigin(request);
      const issued = await refresh(deps, cookieOf(request) ?? '', { address, browser: true }).catch((error) => {
        // Clear a cookie that is useless. After other errors, such as a disabled user, it may work again later.
        if (error instanceof ApiError && error.code === 'REFRESH_REFUSED') clearCookie(reply);
        throw error;
      });
      return ok(moveRefreshTokenToCookie(reply, issued));
    },
  );
}

/**
 * The routes that require an access token. `acceptsRejected` selects requests whose logout succeeds even if their token is
 * rejected.
 */
export function sessionRoutes(
  app: App,
  deps: AuthDependencies,
  acceptsRejected: (request: FastifyRequest) => boolean = () => false,
): void {
  const { db } = deps;
  app.post(
    '/auth/logout',
    {
      config: { requires: 'session' },
      schema: {
        tags,
        operationId: 'logOut',
        headers: writeHeaders,
        summary: 'End this session, or all sessions of the caller',
        description: 'The tokens of ended sessions are rejected at once.',
        querystring: LogoutQuery,
        response: responses('authenticated', {
          writes: 'unconditional',
          cookie: true,
          errors: ['USERS_ONLY', 'DUPLICATE_COOKIE', 'OTHER_SITE'],
        }),
      },
      // Log out with the cookie alone if the access token is rejected: the next user of the browser must not find a session.
      errorHandler: async (error, request, reply) => {
        const { session } = request.query as LogoutQuery;
        const isRejected = error instanceof ApiError && (error.status === 401 || error.status === 403);
        if (isRejected && acceptsRejected(request)) return reply.code(200).send(ok(null));
        const cookie = session === 'cookie' && isRejected ? cookieOf(request) : undefined;
        if (cookie === undefined) throw error;
        assertSameOrigin(request);
        await endSessionByRefreshToken(deps, cookie, addressOf(request)).catch((failure) => {
          if (!(failure instanceof ApiError)) throw failure;
        });
        clearCookie(reply);
        return reply.code(200).send(ok(null));
      },
    },
    async (request, reply) => {
      await writeAs(db, request, (tx, caller) => logOut(tx, caller, request.query));
      clearSentCookie(reply);
      return ok(null);
    },
  );

  app.get(
    '/auth/sessions',
    {
      config: { requires: 'self' },
      schema: {
        tags,
        operationId: 'listSessions',
        summary: 'List the sessions of the caller',
        description: 'The current session first, then the newest, at most 100.',
        response: responses('authenticated', { data: SessionPage, errors: ['USERS_ONLY'] }),
      },
    },
    async (request) => ok(await readAs(db, request, listOwnSessions)),
  );

  app.delete(
    '/auth/sessions/:id',
    {
      config: { requires: 'self' },
      schema: {
        tags,
        operationId: 'endSession',
        headers: writeHeaders,
        summary: 'End a session of the caller',
        description: 'The tokens of ended sessions are rejected at once.',
        params: SessionPath,
        response: responses('authenticated', {
          writes: 'unconditional',
          cookie: true,
          errors: ['USERS_ONLY', 'SESSION_NOT_FOUND'],
        }),
      },
    },
    async (request, reply) => {
      const id = sessionIdOf(request.params.id, 'id');
      await writeAs(db, request, (tx, caller) => endOwnSession(tx, caller, id));
      if (id === request.token.sessionId) clearSentCookie(reply);
      return ok(null);
    },
  );
}
