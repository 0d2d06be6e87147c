import type { LogInData, Me, ParamsOf } from '../../client/src/main.ts';
import { ApiError, clientWithToken } from './http.ts';
import { createStore, readStorage, storedKeys, useStore, writeStorage } from './store.ts';

/**
 * The session of the current user. The access token is kept in memory only; the refresh token is in an HttpOnly cookie.
 * All tabs share that cookie and every refresh replaces it, so tabs refresh one at a time and broadcast the new token.
 */
export type Session =
  | { state: 'restoring' }
  /**
   * `byUser`: the user logged out, so the login page must not return the next user to this user's screen.
   * `error`: the error with which the service ended the session.
   */
  | { state: 'loggedOut'; byUser: boolean; error?: ApiError }
  | { state: 'loggedIn'; me: Me }
  /** An administrator has set the password. The service rejects everything until the user has changed it. */
  | { state: 'passwordChange' }
  /** The page stays as it is, and a dialog asks for the password. `error`: why the service ended the session. */
  | { state: 'expired'; me: Me; error?: ApiError };

/** What the login form sends. */
export type Login = LogInData['body'];
type TabMessage = { kind: 'token'; token: string } | { kind: 'tokenRequest' } | { kind: 'logout' };

export const session = createStore<Session>({ state: 'restoring' });
let accessToken: string | undefined;
/** Requests that wait for the user to log in again. */
let loginWaiters: { resolve(): void; reject(error: unknown): void }[] = [];
/** Incremented on every logout, so that a response of an earlier session cannot start a new one. */
let logoutCount = 0;
let previousUser = readStorage('banyan.user', 'sessionStorage');
let userChanged = false;

const anonymous = clientWithToken(undefined);
const tabs = new BroadcastChannel('banyan.session');
const broadcast = (message: TabMessage) => tabs.postMessage(message);

export const getAccessToken = () => accessToken;

/** For operations of several steps: returns a function that throws once the session of the first step has ended. */
export function sessionGuard(): () => void {
  const countAtStart = logoutCount;
  return () => {
    if (logoutCount !== countAtStart) throw sessionEndedError();
  };
}

export async function logIn(login: Login): Promise<void> {
  const { data } = await withSessionLock(() => anonymous.logIn({ session: 'cookie', body: login }, KEEPALIVE));
  await startSession(data.access_token);
  writeStorage('banyan.tenant', login.tenantId);
  broadcast({ kind: 'token', token: accessToken as string });
}

/** Called when the page loads. Takes the token of another tab, or a new one from the refresh cookie. */
export async function restoreSession(): Promise<void> {
  await new Promise((resolve) => {
    broadcast({ kind: 'tokenRequest' });
    setTimeout(resolve, 50);
  });
  try {
    if (!accessToken) await refreshToken(undefined);
    await startSession(accessToken as string);
  } catch (error) {
    if (!isFinal(error)) throw error;
    accessToken = undefined;
    if (session.get().state === 'loggedOut') return;
    // There was no session, or it has expired: the login page needs no explanation.
    const errorDetails = error.reason === 'REFRESH_REFUSED' ? {} : { error };
    session.set({ state: 'loggedOut', byUser: false, ...errorDetails });
  }
}

/** Whether the service has rejected the request for good. Network errors, rate limiting and errors of the service are temporary. */
const isFinal = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status !== 429 && error.status < 500;

let renewal: Promise<void> | undefined;

/** Called with the token that the service rejected. Resolves when there is a new one, however long the login takes. */
export function renewToken(rejectedToken: string | undefined): Promise<void> {
  if (accessToken && accessToken !== rejectedToken && session.get().state === 'loggedIn') return Promise.resolve();
  renewal ??= refreshToken(rejectedToken)
    // The user's name or role may have changed since the last token.
    .then(() => void refreshMe())
    .catch((error) => {
      if (!isFinal(error)) throw error;
      return waitForLogin(error);
    })
    .finally(() => {
      renewal = undefined;
    });
  return renewal;
}

// Without keepalive, closing the page before the response loses the next cookie, and the old one is invalid after 10 seconds.
const KEEPALIVE = { keepalive: true };

/** The refresh token is in the cookie, which scripts cannot read. */
const requestNewToken = async () =>
  (await anonymous.refresh({ session: 'cookie', body: { refresh_token: '' } }, KEEPALIVE)).data.access_token;

const refreshToken = (rejectedToken: string | undefined) =>
  withSessionLock(async () => {
    // Another tab has refreshed it while this one waited for the lock.
    if (accessToken && accessToken !== rejectedToken) return;
    const newToken = await requestNewToken();
    adoptToken(newToken);
    broadcast({ kind: 'token', token: newToken });
  });

/**
 * Runs one cookie request at a time across all tabs. The Web Locks API is missing on insecure origins: there, tabs can refresh
 * at the same time. The service accepts the previous cookie for 10 seconds; an older one ends the session, and the user has to
 * log in again.
 */
const withSessionLock = <T>(callback: () => Promise<T>): Promise<T> =>
  navigator.locks ? (navigator.locks.request('banyan.session', callback) as Promise<T>) : callback();

function waitForLogin(error: ApiError): Promise<void> {
  const current = session.get();
  if (current.state !== 'loggedIn' && current.state !== 'expired') throw error;
  accessToken = undefined;
  // An expired session needs no explanation. A disabled user or tenant does.
  session.set({ state: 'expired', me: current.me, ...(error.reason === 'REFRESH_REFUSED' ? {} : { error }) });
  return new Promise((resolve, reject) => {
    loginWaiters.push({ resolve, reject });
  });
}

async function startSession(token: string, attempt = 1): Promise<void> {
  const countAtStart = logoutCount;
  let me: Me;
  try {
    ({ data: me } = await clientWithToken(token).readMe());
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'PASSWORD_CHANGE_REQUIRED' && logoutCount === countAtStart) {
      accessToken = token;
      requirePasswordChange();
      return;
    }
    if (!(error instanceof ApiError && error.status === 401) || attempt > 4) throw error;
    // The token has expired since it was issued, for example because another tab shared it just before it expired.
    await refreshToken(token);
    return startSession(accessToken as string, attempt + 1);
  }
  if (logoutCount !== countAtStart) throw sessionEndedError();
  accessToken = token;
  rememberUser(me);
  session.set({ state: 'loggedIn', me });
  for (const { resolve } of loginWaiters.splice(0)) resolve();
}

/** Leads the user to the form that changes their password. */
export const requirePasswordChange = () => session.set({ state: 'passwordChange' });

/** Continues after the user has changed the password that an administrator had set. */
export async function continueSession(): Promise<void> {
  await startSession(accessToken as string);
  broadcast({ kind: 'token', token: accessToken as string });
}

const userKey = ({ user }: Me) => `${user.tenantId}/${user.userId}`;

/** Uses sessionStorage, which is per tab and survives a reload. */
function rememberUser(me: Me): void {
  const user = userKey(me);
  userChanged = previousUser !== null && previousUser !== user;
  previousUser = user;
  writeStorage('banyan.user', user, 'sessionStorage');
}

/** Whether another user was logged in to this tab before. The current URL then comes from that user. */
export const isDifferentUser = () => userChanged;

/** Takes a new token. If it belongs to another user, the page reloads: it still shows the previous user's data. */
function adoptToken(token: string): void {
  const current = session.get();
  if ('me' in current && tokenOwner(token) !== userKey(current.me)) {
    window.location.replace('/home');
    return;
  }
  accessToken = token;
  if (current.state !== 'expired') return;
  session.set({ state: 'loggedIn', me: current.me });
  for (const { resolve } of loginWaiters.splice(0)) resolve();
}

/** Decodes the token without verifying it; the service does that. */
function tokenOwner(jwt: string): string {
  const payload = jwt.split('.')[1] ?? '';
  const { tenant_id, sub } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')));
  return `${tenant_id}/${sub}`;
}

/** Reads the current user again, after their name, role or tenant may have changed. */
export async function refreshMe(): Promise<void> {
  const countAtStart = logoutCount;
  if (!accessToken) return;
  // Ignore errors: it is read again with the next token.
  const response = await clientWithToken(accessToken)
    .readMe()
    .catch(() => undefined);
  const current = session.get();
  if (!response || logoutCount !== countAtStart || !('me' in current)) return;
  // Keep the old object if nothing changed, so that no screen renders again.
  if (JSON.stringify(response.data) !== JSON.stringify(current.me)) session.set({ ...current, me: response.data });
}

let meRefresh: Promise<void> | undefined;

/** After a NOT_ALLOWED error: an administrator may have changed the role. Concurrent errors share one request. */
export function refreshMeOnce(): Promise<void> {
  meRefresh ??= refreshMe().finally(() => {
    meRefresh = undefined;
  });
  return meRefresh;
}

/** Prefix of the sessionStorage keys of form drafts (ui/draft.tsx). */
export const DRAFT_PREFIX = 'banyan.draft.';

function endSession(): void {
  logoutCount++;
  accessToken = undefined;
  session.set({ state: 'loggedOut', byUser: true });
  const waiters = loginWaiters;
  loginWaiters = [];
  for (const { reject } of waiters) reject(sessionEndedError());
  for (const key of storedKeys('sessionStorage'))
    if (key.startsWith(DRAFT_PREFIX)) writeStorage(key, null, 'sessionStorage');
}

const sessionEndedError = () => new ApiError(401, 'SESSION_ENDED', '', {});

/** Holds the session lock: a concurrent refresh would replace the cookie that identifies the session to end. */
export async function logOut({ everywhere = false } = {}): Promise<void> {
  await withSessionLock(() => requestLogout(everywhere));
  broadcast({ kind: 'logout' });
  endSession();
}

async function requestLogout(everywhere: boolean): Promise<void> {
  const post = (query: ParamsOf<'logOut'>, bearer?: string) => clientWithToken(bearer).logOut(query);
  const query = everywhere ? { everywhere } : {};
  const attempts = [
    () => post(query, accessToken),
    // The access token may have expired while the session is still valid. End the session: otherwise the next user could
    // continue it.
    async () => post(query, await requestNewToken()),
    // The user or tenant may be disabled, so there is no new token. The cookie still identifies the session.
    () => post({ session: 'cookie' }),
  ];
  for (const attempt of attempts) {
    try {
      await attempt();
      return;
    } catch (error) {
      // If all attempts are rejected, the session has already ended.
      if (!isRejected(error)) throw error;
    }
  }
}

const isRejected = (error: unknown) => error instanceof ApiError && (error.status === 401 || error.status === 403);

tabs.onmessage = ({ data: message }: MessageEvent<TabMessage>) => {
  if (message.kind === 'tokenRequest' && accessToken && session.get().state === 'loggedIn')
    broadcast({ kind: 'token', token: accessToken });
  if (message.kind === 'logout') endSession();
  if (message.kind === 'token') {
    if (['loggedOut', 'passwordChange'].includes(session.get().state))
      void startSession(message.token).catch(() => undefined);
    else adoptToken(message.token);
  }
};

export const getLastTenantId = () => readStorage('banyan.tenant') ?? '';

export const useSession = () => useStore(session);

/** The current user. Screens render only while a user is logged in, or while the dialog asks for the password again. */
export function useMe(): Me {
  const current = useSession();
  if (!('me' in current)) throw new Error('useMe requires a logged-in user.');
  return current.me;
}

export const useIsAdministrator = () => useMe().roles.includes('admin');
