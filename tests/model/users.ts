import { type Body, faultsOf, forms, idFaults, idsFaults, isSent, queryFaults, withoutEmpty } from './fields.ts';
import {
  holds,
  newStamps,
  type Operation,
  pageOf,
  refuse,
  refuseAny,
  type State,
  stampsOf,
  type Tagged,
  touch,
  type User,
} from './state.ts';

const path = '/system/user-api';

const fieldsOf = (body: Body): User['fields'] => ({
  nickName: body.nickName ?? null,
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
  roles: [user.administrator ? 'admin' : 'member'],
  ...stampsOf(user),
});

const tagged = (user: User): Tagged => ({
  name: `${path}/${user.userId}`,
  content: JSON.stringify(showUser(user)),
  version: user.version,
});

/** The tenant an administrator acts in: his own, or one below it that he names. */
function tenantOf(state: State, me: User, named: unknown): string {
  const code = isSent(named) ? String(named) : me.tenantId;
  return state.tenant(code) && state.isBelow(code, me.tenantId) ? code : refuse('OTHER_TENANT');
}

/** The main department is not repeated among the further ones. */
function departmentsOf(body: Body) {
  const deptId = isSent(body.deptId) ? Number(body.deptId) : null;
  const further = new Set(((body.deptIds ?? []) as unknown[]).map(Number));
  return { deptId, deptIds: [...further].filter((id) => id !== deptId).sort((a, b) => a - b) };
}

function departmentRefusal(state: State, tenantId: string, body: Body) {
  const { deptId, deptIds } = departmentsOf(body);
  const missing = [...(deptId === null ? [] : [deptId]), ...deptIds].filter((id) => !state.dept(tenantId, id));
  return missing.length > 0 && { reason: 'USER_DEPT_NOT_FOUND', facts: { deptIds: missing } };
}

const nameRefusal = (state: State, tenantId: string, userName: string, except?: User) =>
  state.usersOf(tenantId).some((user) => user !== except && user.userName.toLowerCase() === userName.toLowerCase()) && {
    reason: 'USER_NAME_TAKEN',
  };

export function limitRefusal(state: State, tenantId: string) {
  const limit = state.tenant(tenantId)?.fields.accountCount ?? -1;
  return limit !== -1 && state.usersOf(tenantId).length >= limit && { reason: 'ACCOUNT_LIMIT' };
}

/** A tenant that has an administrator who is not disabled keeps one. */
function lastAdministratorRefusal(state: State, tenantId: string, losing: User[]) {
  const active = state.usersOf(tenantId).filter((user) => user.administrator && user.fields.status === '0');
  return active.length > 0 && active.every((user) => losing.includes(user)) && { reason: 'LAST_ADMINISTRATOR' };
}

const isAdministrator = (body: Body) => ((body.roles ?? []) as string[]).includes('admin');

const create: Operation = {
  who: 'administrator',
  faults: ({ body }) => faultsOf(forms.user, body, ['userName', 'password']),
  rule(state, me, request) {
    const body = request.body as Body;
    const tenantId = tenantOf(state, me, body.tenantId);
    const userName = String(body.userName);
    refuseAny(
      limitRefusal(state, tenantId),
      departmentRefusal(state, tenantId, body),
      nameRefusal(state, tenantId, userName),
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
          ...newStamps(me),
        });
      },
    };
  },
};

const read: Operation = {
  who: 'user',
  faults: ({ query }, id) => [...idFaults(id), ...queryFaults(forms.inTenant, query)],
  rule(state, me, request, id) {
    const { tenantId } = withoutEmpty(request.query);
    const himself = id === String(me.userId) && (tenantId === undefined || tenantId === me.tenantId);
    if (!me.administrator && !himself) refuse('NOT_ALLOWED');
    const user = state.user(tenantOf(state, me, tenantId), id) ?? refuse('USER_NOT_FOUND');
    return { data: showUser(user), tagged: tagged(user) };
  },
};

const update: Operation = {
  who: 'administrator',
  faults: ({ body }) => faultsOf(forms.userUpdate, body, ['userId']),
  rule(state, me, request) {
    const body = request.body as Body;
    const tenantId = tenantOf(state, me, body.tenantId);
    const user = state.user(tenantId, body.userId) ?? refuse('USER_NOT_FOUND');
    const { refusal, unsure } = state.ifMatch(request.ifMatch, tagged(user));
    const userName = isSent(body.userName) ? String(body.userName) : user.userName;
    const administrator = isAdministrator(body);
    const fields = fieldsOf(body);
    refuseAny(
      refusal,
      !(administrator && fields.status === '0') && lastAdministratorRefusal(state, tenantId, [user]),
      departmentRefusal(state, tenantId, body),
      nameRefusal(state, tenantId, userName, user),
    );
    return {
      ...(unsure ? { unsure } : {}),
      apply: () => {
        // First: who renames himself did it under his old name.
        touch(user, me);
        Object.assign(user, { userName, administrator, fields, ...departmentsOf(body) });
        if (isSent(body.password)) user.password = String(body.password);
        if (isSent(body.password) || fields.status === '1') state.endSessions(user);
      },
    };
  },
};

const remove: Operation = {
  who: 'administrator',
  faults: ({ query, ifMatch }, id) => [...idsFaults(id, ifMatch), ...queryFaults(forms.inTenant, query)],
  rule(state, me, request, id) {
    const tenantId = tenantOf(state, me, withoutEmpty(request.query).tenantId);
    const ids = [...new Set(id.split(','))];
    const missing = ids.filter((userId) => !state.user(tenantId, userId));
    refuseAny(
      tenantId === me.tenantId && ids.includes(String(me.userId)) && { reason: 'OWN_USER' },
      missing.length > 0 && { reason: 'USER_NOT_FOUND', facts: { userIds: missing } },
    );
    const users = ids.map((userId) => state.user(tenantId, userId) as User);
    const { refusal, unsure } = state.ifMatch(request.ifMatch, tagged(users[0] as User));
    refuseAny(refusal, lastAdministratorRefusal(state, tenantId, users));
    return {
      ...(unsure ? { unsure } : {}),
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
  who: 'administrator',
  faults: ({ query }) => queryFaults(forms.userList, query),
  rule(state, me, request) {
    const query = withoutEmpty(request.query);
    const found = state.usersOf(tenantOf(state, me, query.tenantId)).filter((user) => {
      const inDept =
        query.deptId === undefined || [user.deptId, ...user.deptIds].some((id) => id === Number(query.deptId));
      const inStatus = query.status === undefined || query.status === user.fields.status;
      return inDept && inStatus && holds(user.userName, query.userName);
    });
    return { data: pageOf(found, query, showUser) };
  },
};

export const users = { create, read, update, remove, list };
