import {
  type Body,
  bodyErrors,
  idErrors,
  idListErrors,
  isPresent,
  queryErrors,
  schemas,
  withoutEmpty,
} from './fields.ts';
import {
  contains,
  newAuditFields,
  type Operation,
  pageOf,
  type Revision,
  reject,
  rejectIfAny,
  type State,
  showAuditFields,
  touch,
  type User,
} from './state.ts';

const path = '/system/user-api';

/** The fields of a new user, or of the replacement of `previous`: an omitted position stays. */
const fieldsOf = (body: Body, previous?: User['fields']): User['fields'] => ({
  nickName: body.nickName ?? null,
  position: (body.position === undefined ? previous?.position : body.position) ?? null,
  email: body.email ?? null,
  phone: body.phone ?? null,
  status: String(body.status ?? '0'),
});

export const showUser = (user: User) => ({
  userId: user.userId,
  tenantId: user.tenantId,
  userName: user.userName,
  deptId: user.deptId,
  deptIds: user.deptIds,
  ...user.fields,
  source: null,
  externalId: null,
  roles: [user.administrator ? 'admin' : 'member'],
  mustChangePassword: false,
  ...showAuditFields(user),
});

const revision = (user: User): Revision => ({
  name: `${path}/${user.userId}`,
  content: JSON.stringify(showUser(user)),
  version: user.version,
});

/** The tenant that an administrator acts in: their own, or one below it that they name. */
function tenantOf(state: State, me: User, named: unknown): string {
  const code = isPresent(named) ? String(named) : me.tenantId;
  return state.tenant(code) && state.isInSubtree(code, me.tenantId) ? code : reject('OTHER_TENANT');
}

/** The main department is not repeated among the additional ones. */
function departmentsOf(body: Body) {
  const deptId = isPresent(body.deptId) ? Number(body.deptId) : null;
  const additional = new Set(((body.deptIds ?? []) as unknown[]).map(Number));
  return { deptId, deptIds: [...additional].filter((id) => id !== deptId).sort((a, b) => a - b) };
}

function departmentError(state: State, tenantId: string, body: Body) {
  const { deptId, deptIds } = departmentsOf(body);
  const missing = [...(deptId === null ? [] : [deptId]), ...deptIds].filter((id) => !state.dept(tenantId, id));
  return missing.length > 0 && { reason: 'USER_DEPT_NOT_FOUND', details: { deptIds: missing } };
}

const nameError = (state: State, tenantId: string, userName: string, except?: User) =>
  state.usersOf(tenantId).some((user) => user !== except && user.userName.toLowerCase() === userName.toLowerCase()) && {
    reason: 'USER_NAME_TAKEN',
  };

function accountLimitError(state: State, tenantId: string) {
  const limit = state.tenant(tenantId)?.fields.accountCount ?? -1;
  return limit !== -1 && state.usersOf(tenantId).length >= limit && { reason: 'ACCOUNT_LIMIT' };
}

/** A tenant with an active administrator must keep one. */
function lastAdministratorError(state: State, tenantId: string, affected: User[]) {
  const active = state.usersOf(tenantId).filter((user) => user.administrator && user.fields.status === '0');
  return active.length > 0 && active.every((user) => affected.includes(user)) && { reason: 'LAST_ADMINISTRATOR' };
}

const isAdministrator = (body: Body) => ((body.roles ?? []) as string[]).includes('admin');

const create: Operation = {
  requiredRole: 'administrator',
  validate: ({ body }) => bodyErrors(schemas.user, body, ['userName', 'password']),
  rule(state, me, request) {
    const body = request.body as Body;
    const tenantId = tenantOf(state, me, body.tenantId);
    const userName = String(body.userName);
    rejectIfAny(
      accountLimitError(state, tenantId),
      departmentError(state, tenantId, body),
      nameError(state, tenantId, userName),
    );
    return {
      creates: path,
      apply: ({ headers }) => {
        state.users.push({
          userId: Number(headers.location?.split('/').at(-1)),
          tenantId,
          userName,
          password: String(body.password),
          administrator: isAdministrator(body),
          ...departmentsOf(body),
          fields: fieldsOf(body),
          ...newAuditFields(me),
        });
      },
    };
  },
};

const read: Operation = {
  requiredRole: 'user',
  validate: ({ query }, id) => [...idErrors(id), ...queryErrors(schemas.inTenant, query)],
  rule(state, me, request, id) {
    const { tenantId } = withoutEmpty(request.query);
    const isSelf = id === String(me.userId) && (tenantId === undefined || tenantId === me.tenantId);
    if (!me.administrator && !isSelf) reject('NOT_ALLOWED');
    const user = state.user(tenantOf(state, me, tenantId), id) ?? reject('USER_NOT_FOUND');
    return { data: showUser(user), revision: revision(user) };
  },
};

const update: Operation = {
  requiredRole: 'administrator',
  validate: ({ body }) => bodyErrors(schemas.userUpdate, body, ['userId']),
  rule(state, me, request) {
    const body = request.body as Body;
    const tenantId = tenantOf(state, me, body.tenantId);
    const user = state.user(tenantId, body.userId) ?? reject('USER_NOT_FOUND');
    const { error, possibleErrors } = state.ifMatch(request.ifMatch, revision(user));
    const userName = isPresent(body.userName) ? String(body.userName) : user.userName;
    const administrator = isAdministrator(body);
    const fields = fieldsOf(body, user.fields);
    rejectIfAny(
      error,
      !(administrator && fields.status === '0') && lastAdministratorError(state, tenantId, [user]),
      departmentError(state, tenantId, body),
      nameError(state, tenantId, userName, user),
    );
    return {
      ...(possibleErrors ? { possibleErrors } : {}),
      apply: () => {
        // Touch first: a user who renames themselves is recorded under their old name.
        touch(user, me);
        Object.assign(user, { userName, administrator, fields, ...departmentsOf(body) });
        if (isPresent(body.password)) user.password = String(body.password);
        if (isPresent(body.password) || fields.status === '1') state.endSessions(user);
      },
    };
  },
};

const remove: Operation = {
  requiredRole: 'administrator',
  validate: ({ query, ifMatch }, id) => [...idListErrors(id, ifMatch), ...queryErrors(schemas.inTenant, query)],
  rule(state, me, request, id) {
    const tenantId = tenantOf(state, me, withoutEmpty(request.query).tenantId);
    const ids = [...new Set(id.split(','))];
    const missing = ids.filter((userId) => !state.user(tenantId, userId));
    rejectIfAny(
      tenantId === me.tenantId && ids.includes(String(me.userId)) && { reason: 'OWN_USER' },
      missing.length > 0 && { reason: 'USER_NOT_FOUND', details: { userIds: missing } },
    );
    const users = ids.map((userId) => state.user(tenantId, userId) as User);
    const { error, possibleErrors } = state.ifMatch(request.ifMatch, revision(users[0] as User));
    rejectIfAny(error, lastAdministratorError(state, tenantId, users));
    return {
      ...(possibleErrors ? { possibleErrors } : {}),
      apply: () => {
        for (const user of users) {
          Object.assign(user, { deleted: true, deptId: null, deptIds: [] });
          state.endSessions(user);
        }
      },
    };
  },
};

const list: Operation = {
  requiredRole: 'administrator',
  validate: ({ query }) => queryErrors(schemas.userList, query),
  rule(state, me, request) {
    const query = withoutEmpty(request.query);
    const found = state.usersOf(tenantOf(state, me, query.tenantId)).filter((user) => {
      const inDept =
        query.deptId === undefined || [user.deptId, ...user.deptIds].some((id) => id === Number(query.deptId));
      const hasStatus = query.status === undefined || query.status === user.fields.status;
      return inDept && hasStatus && contains(user.userName, query.userName);
    });
    return { data: pageOf(found, query, showUser) };
  },
};

export const users = { create, read, update, remove, list };
