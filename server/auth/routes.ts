import type { App } from '../app.ts';
import { ok } from '../http/envelope.ts';
import { answers, guarded } from '../http/openapi.ts';
import { writeHeaders } from '../http/preconditions.ts';
import { refuse } from '../http/refusals.ts';
import { type AuthParts, changePassword, checkPasswordChange, logIn, logOut, readMe, refresh } from './auth.ts';
import { readAs, writeAfter, writeAs } from './caller.ts';
import { addressKey } from './guesses.ts';
import { Login, Me, PasswordChange, Refresh, Tokens } from './schema.ts';

const tags = ['Authentication'];

/** Where a request comes from, for the guard against guessing. */
function addressOf({ ip }: { ip: string | undefined }): string {
  // The caller has hung up: his address is gone, and nobody would hear the answer.
  if (!ip) throw refuse('BAD_REQUEST', { cause: 'aborted' });
  return addressKey(ip);
}

/** For whoever has no token yet. */
export function loginRoutes(app: App, parts: AuthParts): void {
  app.post(
    '/auth/login',
    {
      schema: {
        tags,
        operationId: 'logIn',
        summary: 'Log in',
        security: [],
        body: Login,
        response: answers('open', {
          data: Tokens,
          reasons: [
            'LOGIN_FAILED',
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
    async (request) => ok(await logIn(parts, addressOf(request), request.body)),
  );

  app.post(
    '/auth/refresh',
    {
      schema: {
        tags,
        operationId: 'refresh',
        summary: 'New tokens for a refresh token',
        description: 'Each refresh token is good once. An old one that comes again ends its session.',
        security: [],
        body: Refresh,
        response: answers('open', {
          data: Tokens,
          reasons: [
            'REFRESH_REFUSED',
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
    async (request) => ok(await refresh(parts, request.body.refresh_token)),
  );
}

/** For whoever is logged in. */
export function sessionRoutes(app: App, { db }: AuthParts): void {
  app.post(
    '/auth/logout',
    {
      schema: {
        ...guarded,
        tags,
        operationId: 'logOut',
        headers: writeHeaders,
        summary: 'End this session',
        description: 'Its access token and its refresh token stop working at once.',
        response: answers('guarded', { writes: 'new' }),
      },
    },
    async (request) => {
      await writeAs(db, request, 'user', logOut);
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
      const address = addressOf(request);
      await writeAfter(
        db,
        request,
        'user',
        (caller) => checkPasswordChange(db, caller, address, request.body),
        changePassword,
      );
      return ok(null);
    },
  );
}
