import { waitForConnection } from './connection.ts';
import {
  ApiError,
  type ApiResponse,
  assertSuccess,
  isApiError,
  NetworkError,
  parseEnvelope,
  type Query,
  type RequestOptions,
  sendRaw,
  sendRequest,
} from './http.ts';
import { getAccessToken, refreshMeOnce, renewToken, requirePasswordChange, sessionGuard } from './session.ts';

/**
 * Authenticated requests, used by api.ts. A request is repeated after its access token has been renewed, and a write
 * also after a network error. A request belongs to the session in which it started and fails once that session has
 * ended: by then the token may be another user's.
 */

interface ReadOptions {
  query?: Query | undefined;
  signal?: AbortSignal | undefined;
  /** Some reads take their parameters in a body. */
  method?: 'GET' | 'POST';
  body?: unknown;
}

/** A record together with the ETag that a later write sends as If-Match. */
export interface Versioned<T> {
  data: T;
  etag: string;
}

export const read = async <T>(path: string, { method = 'GET', ...options }: ReadOptions = {}): Promise<Versioned<T>> =>
  sendAuthenticated<T>(method, path, options);

interface WriteOptions {
  query?: Query | undefined;
  body?: unknown;
  /** The ETag of the record that was edited. The service responds CHANGED_MEANWHILE if it has changed since. */
  ifMatch?: string | undefined;
}

export const write = async <T = null>(method: 'POST' | 'PUT' | 'DELETE', path: string, options: WriteOptions = {}) =>
  (await sendIdempotent<T>(method, path, options)).data;

/** Creates a record and returns its id. */
export const create = async (path: string, body: unknown): Promise<string> =>
  (await sendIdempotent('POST', path, { body })).createdId;

const RETRY_FOR_MS = 120_000;

/** Retries after network errors with the same idempotency key, so the service executes the write once. */
async function sendIdempotent<T>(
  method: string,
  path: string,
  { query, body, ifMatch }: WriteOptions,
): Promise<ApiResponse<T>> {
  const headers = { 'idempotency-key': randomKey(), ...(ifMatch ? { 'if-match': ifMatch } : {}) };
  const startedAt = Date.now();
  const assertSameSession = sessionGuard();
  for (;;) {
    try {
      return await sendAuthenticated<T>(method, path, { query, body, headers }, assertSameSession);
    } catch (error) {
      if (!(error instanceof NetworkError) || Date.now() - startedAt > RETRY_FOR_MS) throw error;
      await waitForConnection(3000);
    }
  }
}

async function sendAuthenticated<T>(
  method: string,
  path: string,
  options: RequestOptions,
  assertSameSession = sessionGuard(),
): Promise<ApiResponse<T>> {
  for (let attempt = 1; ; attempt++) {
    assertSameSession();
    const token = getAccessToken();
    try {
      const headers = { ...options.headers, ...(token ? { authorization: `Bearer ${token}` } : {}) };
      const response = await sendRequest<T>(method, path, { ...options, headers });
      // Check again: otherwise the caller would continue with its next request as another user.
      assertSameSession();
      return response;
    } catch (error) {
      if (isApiError(error, 'PASSWORD_CHANGE_REQUIRED')) requirePasswordChange();
      if (isApiError(error, 'NOT_ALLOWED')) void refreshMeOnce();
      if (!(error instanceof ApiError && error.status === 401) || attempt > 3) throw error;
      assertSameSession();
      await renewToken(token);
    }
  }
}

/** Sends a form, or downloads a file, and returns the response unless it is an error. */
export async function sendForm(
  method: 'GET' | 'POST',
  path: string,
  { query, body, accept = '*/*' }: { query?: Query | undefined; body?: FormData | undefined; accept?: string } = {},
): Promise<Response> {
  const assertSameSession = sessionGuard();
  for (let attempt = 1; ; attempt++) {
    assertSameSession();
    const token = getAccessToken();
    const headers = { accept, ...(token ? { authorization: `Bearer ${token}` } : {}) };
    const response = await sendRaw(method, path, { query, body, headers });
    assertSameSession();
    if (!response.headers.get('content-type')?.startsWith('application/json')) return response;
    const envelope = await parseEnvelope(response.clone());
    if (!envelope) throw new NetworkError('');
    if (envelope.code !== 401 || attempt > 3) {
      assertSuccess(envelope);
      return response;
    }
    await renewToken(token);
  }
}

/** crypto.randomUUID is missing on insecure origins. */
const randomKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
