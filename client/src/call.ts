import type { Credentials } from './credentials.ts';
import { ApiError, NetworkError, OAuthError } from './errors.ts';
import type { Operation } from './operation.ts';
import { type Body, bodyOf, type Params, randomKey, urlOf } from './request.ts';
import { type Result, readResponse } from './response.ts';
import { isTemporary, type RetryPolicy, raceAbort } from './retry.ts';

/** What all calls of a client share. */
export interface Transport {
  baseUrl: string;
  fetch: typeof fetch;
  credentials: Credentials | undefined;
  /** The value of `Accept-Language`. */
  language: () => string | undefined;
  retry: RetryPolicy;
  /** Called after each attempt; with an error if no response came from the service. */
  onAttempt: (error: NetworkError | undefined) => void;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** Identifies a write, so that it takes effect once, however often it is sent. Default: a random one for each call. */
  idempotencyKey?: string | undefined;
  /** The `etag` of the record that the write is based on. The call fails with CHANGED_MEANWHILE if it has changed since. */
  ifMatch?: string | undefined;
  /**
   * Each attempt fails if its response has not arrived completely within this time. Of a stream or a file, only the headers
   * have to arrive. Default: no limit.
   */
  timeoutMs?: number | undefined;
  /** Lets the request complete even if the page is closed meanwhile. */
  keepalive?: boolean | undefined;
  headers?: Record<string, string> | undefined;
}

/** A call gets at most this many new tokens. If they are rejected too, the token is not the problem. */
const MAX_RENEWALS = 3;

/**
 * Makes a call. It is sent again with a new token if the service rejects the old one, and after temporary errors, if the
 * operation changes nothing or carries an Idempotency-Key.
 */
export async function callOperation(
  transport: Transport,
  operation: Operation,
  params: Params = {},
  options: CallOptions = {},
): Promise<Result> {
  const { signal } = options;
  const url = transport.baseUrl + urlOf(operation, params);
  const body = bodyOf(operation, params);
  const headers = headersOf(transport, operation, options, body);
  const session = operation.public ? undefined : transport.credentials?.open();
  const startedAt = Date.now();
  for (let attempts = 1, renewals = 0; ; attempts++) {
    signal?.throwIfAborted();
    const token = session?.token();
    if (token) headers.authorization = `Bearer ${token}`;
    let failure: unknown;
    try {
      return await send(transport, operation, url, headers, body, options);
    } catch (error) {
      failure = error;
    }
    if (session && failure instanceof ApiError && failure.status === 401 && renewals++ < MAX_RENEWALS) {
      await raceAbort(session.renew(token, failure), signal);
      continue;
    }
    const isRead = operation.safe ?? operation.method === 'GET';
    if (!isTemporary(failure) || !(isRead || operation.idempotent)) throw failure;
    const elapsedMs = Date.now() - startedAt;
    if (!(await transport.retry({ error: failure, attempts, elapsedMs, isRead, signal }))) throw failure;
  }
}

function headersOf(
  transport: Transport,
  operation: Operation,
  { idempotencyKey, ifMatch, headers }: CallOptions,
  body: Body | undefined,
): Record<string, string> {
  const language = transport.language();
  return {
    accept: acceptOf(operation),
    ...(language ? { 'accept-language': language } : {}),
    ...(body?.type ? { 'content-type': body.type } : {}),
    // The same key for all attempts: the service executes the write once.
    ...(operation.idempotent ? { 'idempotency-key': idempotencyKey ?? randomKey() } : {}),
    ...(ifMatch ? { 'if-match': ifMatch } : {}),
    ...headers,
  };
}

function acceptOf({ response }: Operation): string {
  if (response === 'events') return 'text/event-stream';
  return response === 'file' ? '*/*' : 'application/json';
}

async function send(
  { fetch, onAttempt }: Transport,
  operation: Operation,
  url: string,
  headers: Record<string, string>,
  body: Body | undefined,
  { signal, timeoutMs, keepalive }: CallOptions,
): Promise<Result> {
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  const timer = timeoutMs ? setTimeout(() => controller.abort(new Error('timeout')), timeoutMs) : undefined;
  let isOpen = false;
  try {
    const response = await fetch(url, {
      method: operation.method,
      headers: { ...headers },
      signal: controller.signal,
      ...(body ? { body: body.content } : {}),
      ...(keepalive ? { keepalive } : {}),
    });
    const result = await readResponse(operation, response);
    // The body of a stream or a file is still to be read, so the signal has to be able to abort it.
    isOpen = result.data === response;
    onAttempt(undefined);
    return result;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof ApiError || error instanceof OAuthError) {
      onAttempt(undefined);
      throw error;
    }
    const failure =
      error instanceof NetworkError ? error : new NetworkError('The service does not respond.', { cause: error });
    onAttempt(failure);
    throw failure;
  } finally {
    clearTimeout(timer);
    if (!isOpen) signal?.removeEventListener('abort', abort);
  }
}
