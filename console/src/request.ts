import type { CallOptions } from '../../client/src/call.ts';
import type { Credentials } from '../../client/src/credentials.ts';
import { createMethods, createTransport, type Methods } from '../../client/src/methods.ts';
import type { Failure } from '../../client/src/retry.ts';
import { waitForConnection } from './connection.ts';
import { clientOptions, isApiError, NetworkError } from './http.ts';
import { getAccessToken, refreshMeOnce, renewToken, requirePasswordChange, sessionGuard } from './session.ts';
import { addWrite, startWrite } from './writes.ts';

/**
 * Authenticated requests, used by api.ts. A request is repeated after its access token has been renewed, and a write
 * also after a network error. A request belongs to the session in which it started and fails once that session has
 * ended: by then the token may be another user's.
 */

/** A record together with the ETag that a later write sends as If-Match. */
export interface Versioned<T> {
  data: T;
  etag: string;
}

const RETRY_FOR_MS = 120_000;

/** TanStack Query retries reads. Writes are repeated here, because every attempt must carry the same idempotency key. */
async function retryWrites({ error, isRead, elapsedMs }: Failure): Promise<boolean> {
  if (isRead || !(error instanceof NetworkError) || elapsedMs > RETRY_FOR_MS) return false;
  await waitForConnection(3000);
  return true;
}

const credentials: Credentials = {
  open() {
    const assertSameSession = sessionGuard();
    return {
      token() {
        assertSameSession();
        return getAccessToken();
      },
      renew(rejectedToken) {
        assertSameSession();
        return renewToken(rejectedToken);
      },
    };
  },
};
const authenticated = createMethods(createTransport({ ...clientOptions, retry: retryWrites }, credentials));

async function inSession<T>(send: () => Promise<T>): Promise<T> {
  const assertSameSession = sessionGuard();
  try {
    const result = await send();
    // Check again: otherwise the caller would continue with its next request as another user.
    assertSameSession();
    return result;
  } catch (error) {
    if (isApiError(error, 'PASSWORD_CHANGE_REQUIRED')) requirePasswordChange();
    if (isApiError(error, 'NOT_ALLOWED')) void refreshMeOnce();
    throw error;
  }
}

type Call = (params?: object, options?: CallOptions) => Promise<unknown>;

/** The client of the current session: every operation by its name. */
export const client = Object.fromEntries(
  Object.entries(authenticated).map(([name, method]): [string, Call] => [
    name,
    async (params, options) => {
      const write = startWrite(name, params);
      const headers = { ...options?.headers, ...(write ? { 'x-request-id': write.requestId } : {}) };
      const result = await inSession(() => (method as Call)(params, { ...options, headers }));
      if (write) addWrite(write);
      return result;
    },
  ]),
) as unknown as Methods;
