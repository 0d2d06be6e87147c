import { untilReached } from './connection.ts';
import { type Answer, ApiOffline, ApiRefusal, type Query, type Sending, send } from './http.ts';
import { renew, tokenNow } from './session.ts';

/** How the operations of api.ts call: as whoever is logged in, again after a refresh, writes again after a lost line. */

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
  for (;;) {
    try {
      return await asCaller<T>(method, path, { query, body, headers });
    } catch (error) {
      if (!(error instanceof ApiOffline) || Date.now() - began > PATIENCE) throw error;
      await untilReached(3000);
    }
  }
}

async function asCaller<T>(method: string, path: string, sending: Sending): Promise<Answer<T>> {
  for (let tries = 1; ; tries++) {
    const token = tokenNow();
    try {
      const headers = { ...sending.headers, ...(token ? { authorization: `Bearer ${token}` } : {}) };
      return await send<T>(method, path, { ...sending, headers });
    } catch (error) {
      if (!(error instanceof ApiRefusal && error.status === 401) || tries > 3) throw error;
      await renew(token);
    }
  }
}

/** Not randomUUID: browsers have that on secure origins only. */
const someKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
