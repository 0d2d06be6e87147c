import { type Body, faultsOf, forms } from './fields.ts';
import { type Operation, refuse, refuseAny, type State, type Tenant, touch, type User } from './state.ts';
import { showTenant } from './tenants.ts';
import { showUser } from './users.ts';

const areTokens = ({ access_token, refresh_token, token_type, expires_in }: Body) =>
  typeof access_token === 'string' &&
  typeof refresh_token === 'string' &&
  token_type === 'Bearer' &&
  Number.isInteger(expires_in);

const accountOf = (tenantId: unknown, userName: unknown) => `${tenantId} ${String(userName).toLowerCase()}`;

/** 5 failures in a row close an account to the address for longer than a sequence lasts. */
const CLOSED = 5;

function refuseAndCount(state: State, account: string, reason: string): never {
  state.failures.set(account, (state.failures.get(account) ?? 0) + 1);
  return refuse(reason);
}

/** Whoever logs in is the guest from then on. */
const logIn: Operation = {
  who: 'anybody',
  faults: () => [],
  rule(state, _, request) {
    const { tenantId, username, password } = request.body as Body;
    const account = accountOf(tenantId, username);
    if ((state.failures.get(account) ?? 0) >= CLOSED) refuse('TOO_MANY_LOGINS');
    const user = state
      .usersOf(String(tenantId))
      .find(({ userName }) => userName.toLowerCase() === String(username).toLowerCase());
    if (user?.password !== password || !user) return refuseAndCount(state, account, 'LOGIN_FAILED');
    const standing = state.standing(user.tenantId);
    if (standing.some(({ reason }) => reason === 'TENANT_DELETED')) refuse('LOGIN_FAILED');
    refuseAny(user.fields.status === '1' && { reason: 'USER_DISABLED' }, ...standing);
    return {
      form: areTokens,
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

/** Each refresh token is good once; one that comes again ends its session. */
const refresh: Operation = {
  who: 'anybody',
  faults: () => [],
  rule(state, _, request) {
    const { refresh_token: token } = request.body as Body;
    const session = state.sessions.find(({ refresh, used }) => [refresh, ...used].includes(String(token)));
    if (!session || session.ended) return refuse('REFRESH_REFUSED');
    if (session.refresh !== token) {
      session.ended = true;
      return refuse('REFRESH_REFUSED');
    }
    refuseAny(...state.shutOut(session));
    return {
      form: areTokens,
      apply: ({ data }) => {
        session.used.push(session.refresh);
        session.access = data.access_token;
        session.refresh = data.refresh_token;
      },
    };
  },
};

const logOut: Operation = {
  who: 'user',
  faults: () => [],
  rule: (state, _, { caller }) => ({
    apply: () => {
      const session = state.callers[caller];
      if (session) session.ended = true;
    },
  }),
};

const readMe: Operation = {
  who: 'user',
  faults: () => [],
  rule(state, me) {
    const { tenantParent: _, ...tenant } = showTenant(state.tenant(me.tenantId) as Tenant);
    const user = showUser(me);
    return { data: { user, roles: user.roles, tenant } };
  },
};

const changePassword: Operation = {
  who: 'user',
  faults: ({ body }) => faultsOf(forms.password, body, ['oldPassword', 'newPassword']),
  rule(state, me: User, request) {
    const { oldPassword, newPassword } = request.body as Body;
    const account = accountOf(me.tenantId, me.userName);
    if ((state.failures.get(account) ?? 0) >= CLOSED) refuse('TOO_MANY_LOGINS');
    if (me.password !== oldPassword) refuseAndCount(state, account, 'WRONG_PASSWORD');
    return {
      apply: () => {
        me.password = String(newPassword);
        touch(me, me);
        // This session stays.
        state.endSessions(me, state.callers[request.caller]);
      },
    };
  },
};

export const logins = { logIn, refresh, logOut, readMe, changePassword };
