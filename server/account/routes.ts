import { prepareAndWrite, readAs } from '../auth/caller.ts';
import { loginOrigin } from '../auth/routes.ts';
import type { App, Dependencies } from '../context.ts';
import { ok } from '../http/envelope.ts';
import { writeHeaders } from '../http/etag.ts';
import { responses } from '../http/openapi.ts';
import { changePassword, checkPasswordChange, readMe } from './account.ts';
import { Me, PasswordChange } from './schema.ts';

const tags = ['Authentication'];

/** Routes for the account of the user who is logged in. */
export function accountRoutes(app: App, deps: Dependencies): void {
  const { db } = deps;
  app.get(
    '/auth/me',
    {
      config: { requires: 'self' },
      schema: {
        tags,
        operationId: 'readMe',
        summary: "Read the caller's user, roles and tenant",
        response: responses('authenticated', { data: Me, errors: ['USERS_ONLY'] }),
      },
    },
    async (request) => ok(await readAs(db, request, readMe)),
  );

  app.put(
    '/auth/password',
    {
      config: { requires: 'session' },
      schema: {
        tags,
        operationId: 'changePassword',
        summary: "Change the caller's password",
        description:
          'Ends the caller’s other sessions. With `mustChangePassword`, only this and logging out are allowed.',
        headers: writeHeaders,
        body: PasswordChange,
        response: responses('authenticated', {
          writes: 'unconditional',
          errors: [
            'USERS_ONLY',
            'WRONG_PASSWORD',
            'PASSWORD_UNCHANGED',
            'PASSWORD_TOO_COMMON',
            'PASSWORD_HAS_NAME',
            'TOO_MANY_LOGINS',
          ],
        }),
      },
    },
    async (request) => {
      const origin = loginOrigin(request);
      await prepareAndWrite(
        db,
        request,
        (caller) => checkPasswordChange(deps, caller, origin, request.body),
        changePassword,
      );
      return ok(null);
    },
  );
}
