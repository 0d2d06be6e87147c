import type { Login, Me, Tokens } from '../../server/auth/schema.ts';
import { ApiRefusal, type Query, send } from './http.ts';
import { keep, read, store, useStore } from './store.ts';

/**
 * Who is logged in. The access token is in this variable and nowhere else; the refresh token is in a cookie that scripts
 * cannot read. All tabs share that cookie, and each refresh uses it up, so they take turns and tell each other.
 */
export type Session =
  | { state: 'restoring' }
  /**
   * Left on purpose, or not there at all. Where he was who left is nobody else's affair. `why` is what the service said to
   * somebody who was logged in and is shut out.
   */
  | { state: 'out'; left: boolean; why?: ApiRefusal }
  | { state: 'in'; me: Me }
  /** The page stays as it is, a dialog asks for the password again. */
  | { state: 'expired'; me: Me };

type Fresh = Pick<Tokens, 'access_token' | 'expires_in'>;
type News = { kind: 'token'; token: string } | { kind: 'ask' } | { kind: 'out' };

export const session = store<Session>({ state: 'restoring' });
let token: string | undefined;
let waiting: { again(): void; giveUp(error: unknown): void }[] = [];
/** How often a session has ended here: what was asked for before that must not begin one after it. */
let ends = 0;
let userBefore = read('banyan.user', sessionStorage);
let another = false;

const tabs = new BroadcastChannel('banyan.session');
const tell = (news: News) => tabs.postMessage(news);

export const tokenNow = () => token;

/** For what takes several steps: asked before each, it throws once the session of the first has ended. */
export function inThisSession(): () => void {
  const before = ends;
  return () => {
    if (ends !== before) throw ended();
  };
}

export async function logIn(login: Login): Promise<void> {
  const { data } = await inTurn(() => send<Fresh>('POST', '/auth/login', { ...COOKIE, body: login }));
  await begin(data.access_token);
  keep('banyan.tenant', login.tenantId);
  tell({ kind: 'token', token: token as string });
}

/** At load: another tab's token, or a new one for the cookie. */
export async function restore(): Promise<void> {
  await new Promise((resolve) => {
    tell({ kind: 'ask' });
    setTimeout(resolve, 50);
  });
  try {
    if (!token) await refresh(undefined);
    await begin(token as string);
  } catch (error) {
    // Busy is no answer to who is logged in.
    if (!(error instanceof ApiRefusal) || error.status === 429 || error.status === 503) throw error;
    token = undefined;
    if (session.get().state === 'out') return;
    // That nobody was logged in, or too long ago, the login says by itself.
    session.set({ state: 'out', left: false, ...(error.reason === 'REFRESH_REFUSED' ? {} : { why: error }) });
  }
}

let renewing: Promise<void> | undefined;

/** Called with a token that was refused. Returns when there is another one, however long the person takes. */
export function renew(stale: string | undefined): Promise<void> {
  if (token && token !== stale && session.get().state === 'in') return Promise.resolve();
  renewing ??= refresh(stale)
    // Time has passed: who he is may be another matter by now.
    .then(() => void readMeAgain())
    .catch((error) => {
      if (!(error instanceof ApiRefusal) || error.status === 429 || error.status === 503) throw error;
      return untilLoggedIn(error);
    })
    .finally(() => {
      renewing = undefined;
    });
  return renewing;
}

/** The answer brings the next cookie: lost with its page, the one before would be good for a few seconds only. */
const COOKIE = { query: { session: 'cookie' }, lasting: true };

const exchange = async () => (await send<Fresh>('POST', '/auth/refresh', COOKIE)).data.access_token;

const refresh = (stale: string | undefined) =>
  inTurn(async () => {
    if (token && token !== stale) return; // another tab was quicker
    const fresh = await exchange();
    adopt(fresh);
    tell({ kind: 'token', token: fresh });
  });

/** Without a secure origin browsers have no locks: then two tabs may end each other's session, which asks to log in. */
const inTurn = <T>(work: () => Promise<T>): Promise<T> =>
  navigator.locks ? (navigator.locks.request('banyan.session', work) as Promise<T>) : work();

function untilLoggedIn(error: ApiRefusal): Promise<void> {
  const now = session.get();
  if (now.state !== 'in' && now.state !== 'expired') throw error;
  token = undefined;
  session.set({ state: 'expired', me: now.me });
  return new Promise((again, giveUp) => {
    waiting.push({ again, giveUp });
  });
}

async function begin(fresh: string, tries = 1): Promise<void> {
  const before = ends;
  let me: Me;
  try {
    ({ data: me } = await send<Me>('GET', '/auth/me', { headers: { authorization: `Bearer ${fresh}` } }));
  } catch (error) {
    if (!(error instanceof ApiRefusal && error.status === 401) || tries > 4) throw error;
    // It ran out on its way: another tab lent its last second, or this page is slow. The session itself may go on.
    await refresh(fresh);
    return begin(token as string, tries + 1);
  }
  if (ends !== before) throw ended();
  token = fresh;
  remember(me);
  session.set({ state: 'in', me });
  for (const { again } of waiting.splice(0)) again();
}

/** In this tab only, also after a reload. */
function remember({ user }: Me): void {
  const now = `${user.tenantId}/${user.userId}`;
  another = userBefore !== null && userBefore !== now;
  userBefore = now;
  keep('banyan.user', now, sessionStorage);
}

/** Whether somebody else was logged in before: then this tab's address is his. */
export const isAnother = () => another;

/** A token of somebody else, from another tab's login: this page shows what is not his, so it begins anew. */
function adopt(fresh: string): void {
  const now = session.get();
  if ('me' in now && whose(fresh) !== `${now.me.user.tenantId}/${now.me.user.userId}`) {
    window.location.replace('/home');
    return;
  }
  token = fresh;
  if (now.state !== 'expired') return;
  session.set({ state: 'in', me: now.me });
  for (const { again } of waiting.splice(0)) again();
}

/** Read, not verified: whether it is good is the service's business. */
function whose(jwt: string): string {
  const payload = jwt.split('.')[1] ?? '';
  const { tid, sub } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')));
  return `${tid}/${sub}`;
}

/** After the caller's own name, role or tenant changed, or may have. What is the same as before changes no screen. */
export async function readMeAgain(): Promise<void> {
  const before = ends;
  if (!token) return;
  const headers = { authorization: `Bearer ${token}` };
  // No answer: it is read again with the next token.
  const answer = await send<Me>('GET', '/auth/me', { headers }).catch(() => undefined);
  const now = session.get();
  if (!answer || ends !== before || !('me' in now)) return;
  if (JSON.stringify(answer.data) !== JSON.stringify(now.me)) session.set({ ...now, me: answer.data });
}

let learning: Promise<void> | undefined;

/** After a refusal for want of a role, which somebody may have taken; once for all that are refused together. */
export function learnRole(): Promise<void> {
  learning ??= readMeAgain().finally(() => {
    learning = undefined;
  });
  return learning;
}

/** Where forms keep what is typed (ui/draft.tsx). */
export const DRAFTS = 'banyan.draft.';

/** On purpose. Also gives up what waits for a new login. */
function forget(): void {
  ends++;
  token = undefined;
  session.set({ state: 'out', left: true });
  const gone = waiting;
  waiting = [];
  for (const { giveUp } of gone) giveUp(ended());
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(DRAFTS)) keep(key, null, sessionStorage);
}

const ended = () => new ApiRefusal(401, 'SESSION_ENDED', '', {});

/** In turn: a refresh at the same moment would use up the cookie by which an old session is ended. */
export async function logOut({ everywhere = false } = {}): Promise<void> {
  await inTurn(() => endSession(everywhere));
  tell({ kind: 'out' });
  forget();
}

async function endSession(everywhere: boolean): Promise<void> {
  const end = (query: Query, bearer?: string) =>
    send('POST', '/auth/logout', { query, headers: bearer ? { authorization: `Bearer ${bearer}` } : {} });
  const all = everywhere ? { everywhere } : {};
  const ways = [
    () => end(all, token),
    // Often only the token has run out. The session goes on, and the next person at this desk must not find it.
    async () => end(all, await exchange()),
    // Nor when user or tenant are shut out, for now.
    () => end({ session: 'cookie' }),
  ];
  for (const way of ways) {
    try {
      await way();
      return;
    } catch (error) {
      // One that has ended already needs no end.
      if (!isShutOut(error)) throw error;
    }
  }
}

const isShutOut = (error: unknown) => error instanceof ApiRefusal && (error.status === 401 || error.status === 403);

tabs.onmessage = ({ data: news }: MessageEvent<News>) => {
  if (news.kind === 'ask' && token && session.get().state === 'in') tell({ kind: 'token', token });
  if (news.kind === 'out') forget();
  if (news.kind === 'token') {
    if (session.get().state === 'out') void begin(news.token).catch(() => undefined);
    else adopt(news.token);
  }
};

export const tenantBefore = () => read('banyan.tenant') ?? '';

export const useSession = () => useStore(session);

/** Within the screens somebody is always logged in. */
export function useMe(): Me {
  const now = useSession();
  if (!('me' in now)) throw new Error('No screen is shown before login.');
  return now.me;
}

export const useIsAdministrator = () => useMe().roles.includes('admin');
