import { untilReached } from './connection.ts';
import { type Answer, ApiOffline, ApiRefusal, isRefusal, type Query, type Sending, send } from './http.ts';
import { inThisSession, learnRole, renew, tokenNow } from './session.ts';

/**
 * How the operations of api.ts call: as whoever is logged in, again after a refresh, writes again after a lost line. A
 * call belongs to the session in which it began: after a logout the next person's token may be here.
 */

interface Reading {
  query?: Query | undefined;
  signal?: AbortSignal | undefined;
  /** Some reads say what they want in a body. */
  method?: 'GET' | 'POST';
  body?: unknown;
}

/** What was read, and its tag for a later change. */
export interface Tagged<T> {
  data: T;
  etag: string;
}

export const read = async <T>(path: string, { method = 'GET', ...reading }: Reading = {}): Promise<Tagged<T>> =>
  asCaller<T>(method, path, reading);

interface Changing {
  query?: Query | undefined;
  body?: unknown;
  /** Of the read that the change is based on: refused with CHANGED_MEANWHILE when somebody was quicker. */
  ifMatch?: string | undefined;
}

export const change = async <T = null>(method: 'POST' | 'PUT' | 'DELETE', path: string, changing: Changing = {}) =>
  (await write<T>(method, path, changing)).data;

/** Tells the new id. */
export const create = async (path: string, body: unknown): Promise<string> =>
  (await write('POST', path, { body })).madeId;

const PATIENCE = 120_000;

/** With one key for all tries: whether the first arrived or not, it is done once. */
async function write<T>(method: string, path: string, { query, body, ifMatch }: Changing): Promise<Answer<T>> {
  const headers = { 'idempotency-key': someKey(), ...(ifMatch ? { 'if-match': ifMatch } : {}) };
  const began = Date.now();
  const sameSession = inThisSession();
  for (;;) {
    try {
      return await asCaller<T>(method, path, { query, body, headers }, sameSession);
    } catch (error) {
      if (!(error instanceof ApiOffline) || Date.now() - began > PATIENCE) throw error;
      await untilReached(3000);
    }
  }
}

async function asCaller<T>(
  method: string,
  path: string,
  sending: Sending,
  sameSession = inThisSession(),
): Promise<Answer<T>> {
  for (let tries = 1; ; tries++) {
    sameSession();
    const token = tokenNow();
    try {
      const headers = { ...sending.headers, ...(token ? { authorization: `Bearer ${token}` } : {}) };
      const answer = await send<T>(method, path, { ...sending, headers });
      // Whoever waits for it would go on with the next call, as somebody else.
      sameSession();
      return answer;
    } catch (error) {
      if (isRefusal(error, 'NOT_ALLOWED')) void learnRole();
      if (!(error instanceof ApiRefusal && error.status === 401) || tries > 3) throw error;
      sameSession();
      await renew(token);
    }
  }
}

/** Not randomUUID: browsers have that on secure origins only. */
const someKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
