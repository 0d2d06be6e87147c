import type { FastifyRequest } from 'fastify';
import { fairnessKeyOf, prepareAndWrite, readAs, writeAs } from '../auth/caller.ts';
import { hashNewPassword } from '../auth/password-policy.ts';
import type { App } from '../context.ts';
import { ok } from '../http/envelope.ts';
import { IdPath, IdsPath, idOf } from '../http/fields.ts';
import { languageOf } from '../http/language.ts';
import { pathId, pathIds } from '../http/validation.ts';
import { readNumberedMembers, readNumberedPage } from '../users/list.ts';
import { readUser, readUsers } from '../users/reads.ts';
import type { User } from '../users/schema.ts';
import { createUser, patchUser, removeUsers } from '../users/users.ts';
import { hidden, type RuoyiDependencies } from './context.ts';
import { roleIdsOf, rolesWithIds, showRoles } from './fixed.ts';
import { defined, userPatch } from './patches.ts';
import { notOffered, table } from './responses.ts';
import { ChangedUser, NewPassword, NewUser, UserOptionQuery, UserQuery, UserRoles, UserStatus } from './schema.ts';
import { showUser, showUsers } from './show.ts';

const path = '/system/user';
/** The largest page size, and the default. */
const MAX_ROWS = 500;

export function userRoutes(app: App, { db, passwords }: RuoyiDependencies): void {
  const reads = { config: { requires: 'user:read' } } as const;
  const writes = { config: { requires: 'user:write' } } as const;
  const hash = (request: FastifyRequest, text: string) =>
    hashNewPassword((each) => passwords.hash(each, fairnessKeyOf(request)), text);
  /** Reads users and shows them with the names of their departments. */
  const readShown = <T>(request: FastifyRequest, find: Parameters<typeof readAs<{ rows: readonly User[] } & T>>[2]) =>
    readAs(db, request, async (tx, caller) => {
      const { rows, ...found } = await find(tx, caller);
      return { ...found, rows: await showUsers(tx, caller, rows, languageOf(request.headers)) };
    });

  app.get(`${path}/list`, { ...reads, schema: { ...hidden('ListUsers'), querystring: UserQuery } }, async (request) => {
    const { userName, status, phonenumber, deptId, pageNum, pageSize = MAX_ROWS, ...query } = request.query;
    const filter = defined({ userName, status, pageNum, pageSize });
    const further = {
      phone: phonenumber,
      underId: deptId === undefined ? undefined : idOf(deptId),
      createdFrom: query['params[beginTime]'],
      createdTo: query['params[endTime]'],
    };
    const { rows, total } = await readShown(request, (tx, caller) => readNumberedPage(tx, caller, filter, further));
    return table({ rows, total });
  });

  app.get(
    `${path}/list/dept/:id`,
    { ...reads, schema: { ...hidden('ListUsersOf'), params: IdPath } },
    async (request) => {
      const id = pathId(request.params.id);
      const { rows, total } = await readShown(request, (tx, caller) =>
        readNumberedMembers(tx, caller, id, { pageSize: MAX_ROWS }),
      );
      if (total > rows.length)
        throw notOffered({ zh: `超过 ${MAX_ROWS} 名用户的部门`, en: `departments of more than ${MAX_ROWS} users` });
      return ok(rows);
    },
  );

  app.get(
    `${path}/optionselect`,
    { ...reads, schema: { ...hidden('ReadUsers'), querystring: UserOptionQuery } },
    async (request) => {
      const ids = pathIds(request.query.userIds);
      const { rows } = await readShown(request, (tx, caller) => readUsers(tx, caller, ids));
      return ok(rows);
    },
  );

  // For the form of a new user.
  app.get(`${path}/`, { ...reads, schema: hidden('ReadUserOptions') }, async (request) => {
    const roles = showRoles([], languageOf(request.headers));
    return ok(await readAs(db, request, async () => ({ user: null, roleIds: null, roles, postIds: null, posts: [] })));
  });

  app.get(`${path}/:id`, { ...reads, schema: { ...hidden('ReadUser'), params: IdPath } }, async (request) => {
    const id = pathId(request.params.id);
    const language = languageOf(request.headers);
    const shown = await readAs(db, request, async (tx, caller) => {
      const { data } = await readUser(tx, caller, id, undefined);
      return {
        user: await showUser(tx, caller, data, language),
        roleIds: roleIdsOf(data.roles),
        roles: showRoles(data.roles, language),
        postIds: [],
        posts: [],
      };
    });
    return ok(shown);
  });

  app.get(
    `${path}/authRole/:id`,
    { ...reads, schema: { ...hidden('ReadUserRoles'), params: IdPath } },
    async (request) => {
      const id = pathId(request.params.id);
      const language = languageOf(request.headers);
      const shown = await readAs(db, request, async (tx, caller) => {
        const { data } = await readUser(tx, caller, id, undefined);
        return { user: await showUser(tx, caller, data, language), roles: showRoles(data.roles, language) };
      });
      return ok(shown);
    },
  );

  app.put(
    `${path}/authRole`,
    { ...writes, schema: { ...hidden('ChangeUserRoles'), querystring: UserRoles } },
    async (request) => {
      const { userId, roleIds } = request.query;
      const roles = rolesWithIds(roleIds === undefined ? [] : pathIds(roleIds));
      await writeAs(db, request, (tx, caller) => patchUser(tx, caller, idOf(userId), { roles }, {}));
      return ok(null);
    },
  );

  app.post(path, { ...writes, schema: { ...hidden('CreateUser'), body: NewUser } }, async (request) => {
    const { userName, password: text, ...fields } = request.body;
    const input = { ...userPatch(fields), userName, password: text };
    await prepareAndWrite(
      db,
      request,
      () => hash(request, text),
      (tx, caller, password) => createUser(tx, caller, input, password),
    );
    return ok(null);
  });

  app.put(path, { ...writes, schema: { ...hidden('ChangeUser'), body: ChangedUser } }, async (request) => {
    const { userId, password: text, ...fields } = request.body;
    const patch = userPatch(fields);
    await prepareAndWrite(
      db,
      request,
      async () => (text === undefined ? undefined : hash(request, text)),
      (tx, caller, password) => patchUser(tx, caller, idOf(userId), patch, { password }),
    );
    return ok(null);
  });

  app.put(
    `${path}/resetPwd`,
    { ...writes, schema: { ...hidden('ResetPassword'), body: NewPassword } },
    async (request) => {
      const { userId, password: text } = request.body;
      await prepareAndWrite(
        db,
        request,
        () => hash(request, text),
        (tx, caller, password) => patchUser(tx, caller, idOf(userId), {}, { password }),
      );
      return ok(null);
    },
  );

  app.put(
    `${path}/changeStatus`,
    { ...writes, schema: { ...hidden('ChangeUserStatus'), body: UserStatus } },
    async (request) => {
      const { userId, status } = request.body;
      await writeAs(db, request, (tx, caller) => patchUser(tx, caller, idOf(userId), { status }, {}));
      return ok(null);
    },
  );

  app.delete(`${path}/:id`, { ...writes, schema: { ...hidden('DeleteUsers'), params: IdsPath } }, async (request) => {
    const ids = pathIds(request.params.id);
    await writeAs(db, request, (tx, caller) => removeUsers(tx, caller, ids, undefined, undefined));
    return ok(null);
  });
}
