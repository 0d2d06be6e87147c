import fc from 'fast-check';
import { PASSWORD } from '../support/service.ts';
import { someCaller, someKey, weighted } from './choices.ts';
import { command } from './command.ts';
import type { Session, User } from './state.ts';

export const OTHER_PASSWORD = 'another horse';

/** A login of any user of the model, including deleted users and users of deleted tenants. */
export const logIn = command(
  { n: fc.nat(30), upper: fc.boolean(), wrong: weighted([8, false], [1, true]) },
  ({ n, upper, wrong }, { users }) => {
    const { tenantId, userName, password } = users[n % users.length] as User;
    const username = upper ? userName.toUpperCase() : userName;
    const body = { tenantId, username, password: wrong ? 'wrong password' : password };
    return { caller: 'nobody', method: 'POST', path: '/auth/login', query: {}, body };
  },
);

export const refresh = command(
  { n: fc.nat(10), used: weighted([4, false], [1, true]) },
  ({ n, used }, { sessions }) => {
    const session = sessions[n % sessions.length] as Session;
    const body = { refresh_token: (used ? session.used[0] : undefined) ?? session.refresh };
    return { caller: 'nobody', method: 'POST', path: '/auth/refresh', query: {}, body };
  },
);

export const changePassword = command(
  { caller: someCaller, wrong: weighted([3, false], [1, true]) },
  ({ caller, wrong }, state) => {
    const session = state.callers[caller];
    const oldPassword = wrong || !session ? 'wrong password' : state.userOfSession(session).password;
    const body = { oldPassword, newPassword: oldPassword === PASSWORD ? OTHER_PASSWORD : PASSWORD };
    return { caller, method: 'PUT', path: '/auth/password', query: {}, body };
  },
);

export const logOut = command({ caller: someCaller, key: someKey }, ({ caller, key }) => ({
  caller,
  method: 'POST',
  path: '/auth/logout',
  query: {},
  key,
}));

export const me = command({ caller: someCaller }, ({ caller }) => ({
  caller,
  method: 'GET',
  path: '/auth/me',
  query: {},
}));
