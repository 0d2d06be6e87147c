import type { FastifyRequest } from 'fastify';
import type { App } from '../app.ts';
import { ok } from '../http/envelope.ts';
import { answers, guarded } from '../http/openapi.ts';
import { writeHeaders } from '../http/preconditions.ts';
import { Refusal, refuse } from '../http/refusals.ts';
import {
  type AuthParts,
  changePassword,
  checkPasswordChange,
  endByRefreshToken,
  logIn,
  logOut,
  type Origin,
  readMe,
  refresh,
} from './auth.ts';
import { readAs, writeAfter, writeAs } from './caller.ts';
import { clearCookie, cookieOf, intoCookie, refuseOtherSites } from './cookie.ts';
import { addressKey } from './guesses.ts';
import {
  Login,
  LogoutQuery,
  Me,
  PasswordChange,
  Refresh,
  SessionPage,
  SessionPath,
  SessionQuery,
  Tokens,
} from './schema.ts';
import { endSession, listSessions, pathSessionId } from './sessions.ts';

const tags = ['Authentication'];

/** Where a request comes from, for the guard against guessing. */
function addressOf({ ip }: { ip: string | undefined }): string {
  // The caller has hung up: his address is gone, and nobody would hear the answer.
  if (!ip) throw refuse('BAD_REQUEST', { cause: 'aborted' });
  return addressKey(ip);
}

const originOf = (request: FastifyRequest): Origin => ({
  address: addressOf(request),
  userAgent: (request.headers['user-agent'] ?? '').slice(0, 500),
  requestId: request.id,
});

/** For whoever has no token yet. */
export function loginRoutes(app: App, parts: AuthParts): void {
  app.post(
    '/auth/login',
    {
      schema: {
        tags,
        operationId: 'logIn',
        summary: 'Log in',
        description: 'With `session=cookie` the refresh token comes in a cookie, for browsers.',
        security: [],
        querystring: SessionQuery,
        body: Login,
        response: answers('open', {
          data: Tokens,
          cookie: true,
          reasons: [
            'LOGIN_FAILED',
            'OTHER_SITE',
            'USER_DISABLED',
            'TENANT_DISABLED',
            'TENANT_NOT_STARTED',
            'TENANT_ENDED',
            'TOO_MANY_LOGINS',
          ],
          body: true,
        }),
      },
    },
    async (request, reply) => {
      const inCookie = request.query.session === 'cookie';
      if (inCookie) refuseOtherSites(request);
      const tokens = await logIn(parts, originOf(request), request.body);
      return ok(inCookie ? intoCookie(reply, tokens, parts.config.refreshTokenSeconds) : tokens);
    },
  );

  app.post(
    '/auth/refresh',
    {
      // Stands in for the body, which a browser cannot write: it does not know its refresh token.
      preParsing: async (request, _reply, payload) => {
        if (request.query.session === 'cookie') request.body = { refresh_token: '' };
        return payload;
      },
      schema: {
        tags,
        operationId: 'refresh',
        summary: 'New tokens for a refresh token',
        description:
          'Each refresh token is good once. An old one that comes again ends its session. With `session=cookie` it is ' +
          'taken from the cookie, and no body is needed; what comes with a page of another site is refused.',
        security: [],
        querystring: SessionQuery,
        body: Refresh,
        response: answers('open', {
          data: Tokens,
          cookie: true,
          reasons: [
            'REFRESH_REFUSED',
            'OTHER_SITE',
            'USER_DELETED',
            'USER_DISABLED',
            'TENANT_DELETED',
            'TENANT_DISABLED',
            'TENANT_NOT_STARTED',
            'TENANT_ENDED',
          ],
          body: true,
        }),
      },
    },
    async (request, reply) => {
      if (request.query.session !== 'cookie') return ok(await refresh(parts, request.body.refresh_token));
      refuseOtherSites(request);
      const tokens = await refresh(parts, cookieOf(request) ?? '', { browser: true }).catch((error) => {
        // It opens nothing any more. One that is refused for the user's or tenant's sake may do so later.
        if (error instanceof Refusal && error.reason === 'REFRESH_REFUSED') clearCookie(reply);
        throw error;
      });
      return ok(intoCookie(reply, tokens, parts.config.refreshTokenSeconds));
    },
  );
}

/** For whoever is logged in. */
export function sessionRoutes(app: App, parts: AuthParts): void {
  const { db } = parts;
  app.post(
    '/auth/logout',
    {
      schema: {
        ...guarded,
        tags,
        operationId: 'logOut',
        headers: writeHeaders,
        summary: 'End this session, or all of mine',
        description:
          'Its access token and its refresh token stop working at once; with `everywhere=true` those of all sessions ' +
          'of the user. A session cookie that came is cleared. With `session=cookie` it ends its session also when ' +
          'the access token is refused: it has run out, or user or tenant are disabled.',
        querystring: LogoutQuery,
        response: answers('guarded', { writes: 'new', cookie: true }),
      },
      // A browser that is left to the next person must not bring back a session that could not be told to end.
      errorHandler: async (error, request, reply) => {
        const { session } = request.query as LogoutQuery;
        const cookie = cookieOf(request);
        const isShutOut = error instanceof Refusal && (error.status === 401 || error.status === 403);
        if (session !== 'cookie' || cookie === undefined || !isShutOut) throw error;
        refuseOtherSites(request);
        await endByRefreshToken(db, cookie).catch((failure) => {
          if (!(failure instanceof Refusal)) throw failure;
        });
        clearCookie(reply);
        return reply.code(200).send(ok(null));
      },
    },
    async (request, reply) => {
      await writeAs(db, request, 'user', (tx, caller) => logOut(tx, caller, request.query));
      if (cookieOf(request) !== undefined) clearCookie(reply);
      return ok(null);
    },
  );

  app.get(
    '/auth/sessions',
    {
      schema: {
        ...guarded,
        tags,
        operationId: 'listSessions',
        summary: 'My sessions',
        description: 'This one first, then the newest; at most 100 of them.',
        response: answers('guarded', { data: SessionPage }),
      },
    },
    async (request) => ok(await readAs(db, request, 'user', listSessions)),
  );

  app.delete(
    '/auth/sessions/:id',
    {
      schema: {
        ...guarded,
        tags,
        operationId: 'endSession',
        headers: writeHeaders,
        summary: 'End one of my sessions',
        description: 'Its access token and its refresh token stop working at once.',
        params: SessionPath,
        response: answers('guarded', { writes: 'new', cookie: true, reasons: ['SESSION_NOT_FOUND'] }),
      },
    },
    async (request, reply) => {
      const id = pathSessionId(request.params.id);
      await writeAs(db, request, 'user', (tx, caller) => endSession(tx, caller, id));
      if (id === request.token.sessionId && cookieOf(request) !== undefined) clearCookie(reply);
      return ok(null);
    },
  );

  app.get(
    '/auth/me',
    {
      schema: {
        ...guarded,
        tags,
        operationId: 'readMe',
        summary: 'Who I am: user, roles, tenant with its menus, quotas and rules',
        response: answers('guarded', { data: Me }),
      },
    },
    async (request) => ok(await readAs(db, request, 'user', readMe)),
  );

  app.put(
    '/auth/password',
    {
      schema: {
        ...guarded,
        tags,
        operationId: 'changePassword',
        summary: 'Change my password',
        description: "The user's other sessions end.",
        headers: writeHeaders,
        body: PasswordChange,
        response: answers('guarded', {
          writes: 'new',
          reasons: ['WRONG_PASSWORD', 'TOO_MANY_LOGINS'],
          body: true,
        }),
      },
    },
    async (request) => {
      const origin = originOf(request);
      await writeAfter(
        db,
        request,
        'user',
        (caller) => checkPasswordChange(parts, caller, origin, request.body),
        changePassword,
      );
      return ok(null);
    },
  );
}
