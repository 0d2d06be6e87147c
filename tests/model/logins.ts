import { type Body, bodyErrors, schemas } from './fields.ts';
import { type Operation, reject, rejectIfAny, type State, type Tenant, touch, type User } from './state.ts';
import { showTenant } from './tenants.ts';
import { showUser } from './users.ts';

const areTokens = ({ access_token, refresh_token, token_type, expires_in }: Body) =>
  typeof access_token === 'string' &&
  typeof refresh_token === 'string' &&
  token_type === 'Bearer' &&
  Number.isInteger(expires_in);

const accountOf = (tenantId: unknown, userName: unknown) => `${tenantId} ${String(userName).toLowerCase()}`;

/** This many consecutive failures lock an account for the address, for longer than a sequence lasts. */
const LOCKED_AFTER = 5;

function rejectAndCount(state: State, account: string, reason: string): never {
  state.failures.set(account, (state.failures.get(account) ?? 0) + 1);
  return reject(reason);
}

/** The user who logs in becomes the guest. */
const logIn: Operation = {
  requiredRole: 'none',
  validate: () => [],
  rule(state, _, request) {
    const { tenantId, username, password } = request.body as Body;
    const account = accountOf(tenantId, username);
    if ((state.failures.get(account) ?? 0) >= LOCKED_AFTER) reject('TOO_MANY_LOGINS');
    const user = state
      .usersOf(String(tenantId))
      .find(({ userName }) => userName.toLowerCase() === String(username).toLowerCase());
    if (user?.password !== password || !user) return rejectAndCount(state, account, 'LOGIN_FAILED');
    const serviceErrors = state.serviceErrors(user.tenantId);
    if (serviceErrors.some(({ reason }) => reason === 'TENANT_DELETED')) reject('LOGIN_FAILED');
    rejectIfAny(user.fields.status === '1' && { reason: 'USER_DISABLED' }, ...serviceErrors);
    return {
      matches: areTokens,
      apply: ({ data }) => {
        const { access_token: access, refresh_token: refresh } = data;
        const session = { tenantId: user.tenantId, userId: user.userId, access, refresh, used: [], ended: false };
        state.sessions.push(session);
        state.callers.guest = session;
        state.failures.delete(account);
      },
    };
  },
};

/** A refresh token is valid once; reuse ends its session. */
const refresh: Operation = {
  requiredRole: 'none',
  validate: () => [],
  rule(state, _, request) {
    const { refresh_token: token } = request.body as Body;
    const session = state.sessions.find(({ refresh, used }) => [refresh, ...used].includes(String(token)));
    if (!session || session.ended) return reject('REFRESH_REFUSED');
    if (session.refresh !== token) {
      session.ended = true;
      return reject('REFRESH_REFUSED');
    }
    rejectIfAny(...state.accessErrors(session));
    return {
      matches: areTokens,
      apply: ({ data }) => {
        session.used.push(session.refresh);
        session.access = data.access_token;
        session.refresh = data.refresh_token;
      },
    };
  },
};

const logOut: Operation = {
  requiredRole: 'user',
  validate: () => [],
  rule: (state, _, { caller }) => ({
    apply: () => {
      const session = state.callers[caller];
      if (session) session.ended = true;
    },
  }),
};

const readMe: Operation = {
  requiredRole: 'user',
  validate: () => [],
  rule(state, me) {
    const { tenantParent: _, ...tenant } = showTenant(state.tenant(me.tenantId) as Tenant);
    const user = showUser(me);
    return { data: { user, roles: user.roles, tenant } };
  },
};

const changePassword: Operation = {
  requiredRole: 'user',
  validate: ({ body }) => bodyErrors(schemas.password, body, ['oldPassword', 'newPassword']),
  rule(state, me: User, request) {
    const { oldPassword, newPassword } = request.body as Body;
    const account = accountOf(me.tenantId, me.userName);
    if ((state.failures.get(account) ?? 0) >= LOCKED_AFTER) reject('TOO_MANY_LOGINS');
    if (me.password !== oldPassword) rejectAndCount(state, account, 'WRONG_PASSWORD');
    return {
      apply: () => {
        me.password = String(newPassword);
        touch(me, me);
        // The session of the caller stays.
        state.endSessions(me, state.callers[request.caller]);
      },
    };
  },
};

export const logins = { logIn, refresh, logOut, readMe, changePassword };
