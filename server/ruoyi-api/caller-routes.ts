import Type from 'typebox';
import { changePassword, checkPasswordChange } from '../account/account.ts';
import { asUser, prepareAndWrite, readAs, writeAs } from '../auth/caller.ts';
import { loginOrigin } from '../auth/routes.ts';
import { endOwnSession, listOwnSessions, sessionIdOf } from '../auth/sessions.ts';
import type { App } from '../context.ts';
import { ok } from '../http/envelope.ts';
import { IdPath } from '../http/fields.ts';
import { languageOf } from '../http/language.ts';
import { readOwnUser } from '../users/reads.ts';
import { patchUser } from '../users/users.ts';
import { hidden, type RuoyiDependencies } from './context.ts';
import { showDictionary, showMenus, showParameter, showPermissions, showRoles } from './fixed.ts';
import { defined } from './patches.ts';
import { table } from './responses.ts';
import { OwnPassword, Profile } from './schema.ts';
import { showSession, showUser } from './show.ts';

/** What a front end loads after the login: the user, their menu, dictionaries; and the screen of their own account. */
export function callerRoutes(app: App, deps: RuoyiDependencies): void {
  const { db } = deps;
  const self = { config: { requires: 'self' } } as const;

  app.get('/system/user/getInfo', { ...self, schema: hidden('ReadCaller') }, async (request) => {
    const language = languageOf(request.headers);
    const info = await readAs(db, request, async (tx, caller) => {
      const user = await readOwnUser(tx, caller);
      const isAdministrator = user.roles.includes('admin');
      return {
        user: await showUser(tx, caller, user, language),
        roles: user.roles,
        permissions: showPermissions(caller.permissions, isAdministrator),
      };
    });
    return ok(info);
  });

  app.get('/system/menu/getRouters', { ...self, schema: hidden('ReadMenu') }, async (request) => {
    const language = languageOf(request.headers);
    return ok(await readAs(db, request, async (_tx, caller) => showMenus(asUser(caller).permissions, language)));
  });

  app.get(
    '/system/dict/data/type/:type',
    { ...self, schema: { ...hidden('ReadDictionary'), params: Type.Object({ type: Type.String() }) } },
    async (request) => {
      const entries = showDictionary(request.params.type, languageOf(request.headers));
      return ok(await readAs(db, request, async () => entries));
    },
  );

  app.get(
    '/system/config/configKey/:key',
    { ...self, schema: { ...hidden('ReadParameter'), params: Type.Object({ key: Type.String() }) } },
    async (request) => {
      const value = showParameter(request.params.key);
      return ok(await readAs(db, request, async () => value));
    },
  );

  app.get('/system/user/profile', { ...self, schema: hidden('ReadProfile') }, async (request) => {
    const language = languageOf(request.headers);
    const profile = await readAs(db, request, async (tx, caller) => {
      const user = await readOwnUser(tx, caller);
      const held = showRoles(user.roles, language).filter(({ flag }) => flag);
      return {
        user: await showUser(tx, caller, user, language),
        roleGroup: held.map(({ roleName }) => roleName).join(','),
        postGroup: '',
      };
    });
    return ok(profile);
  });

  // Members cannot change their own record, here as elsewhere.
  app.put(
    '/system/user/profile',
    { config: { requires: 'user:write' }, schema: { ...hidden('ChangeProfile'), body: Profile } },
    async (request) => {
      const { nickName, phonenumber: phone, email } = request.body;
      await writeAs(db, request, (tx, caller) =>
        patchUser(tx, caller, asUser(caller).userId, defined({ nickName, phone, email }), {}),
      );
      return ok(null);
    },
  );

  app.put(
    '/system/user/profile/updatePwd',
    { config: { requires: 'session' }, schema: { ...hidden('ChangePassword'), body: OwnPassword } },
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

  app.get('/monitor/online', { ...self, schema: hidden('ListSessions') }, async (request) => {
    const { rows, total } = await readAs(db, request, listOwnSessions);
    return table({ rows: rows.map(showSession), total });
  });

  app.post('/monitor/online/:id', { ...self, schema: { ...hidden('EndSession'), params: IdPath } }, async (request) => {
    const id = sessionIdOf(request.params.id, 'id');
    await writeAs(db, request, (tx, caller) => endOwnSession(tx, caller, id));
    return ok(null);
  });

  // There are no accounts of other systems, and no posts.
  app.get('/system/social/list', { ...self, schema: hidden('ListLinkedAccounts') }, async (request) =>
    ok(await readAs(db, request, async () => [])),
  );
  app.get(
    '/system/post/optionselect',
    {
      config: { requires: 'user:read' },
      schema: { ...hidden('ListPosts'), querystring: Type.Object({ deptId: Type.Optional(Type.String()) }) },
    },
    async (request) => ok(await readAs(db, request, async () => [])),
  );
}
