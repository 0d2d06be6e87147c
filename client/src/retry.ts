import { ApiError, NetworkError } from './errors.ts';

/** A request that failed with a temporary error, and that can safely be sent again. */
export interface Failure {
  error: ApiError | NetworkError;
  /** How many times the request has been sent. */
  attempts: number;
  /** Milliseconds since the call began. */
  elapsedMs: number;
  /** Whether the request changes nothing. Others carry an Idempotency-Key. */
  isRead: boolean;
  signal: AbortSignal | undefined;
}

/** Waits and returns true to send the request again, or returns false to fail. */
export type RetryPolicy = (failure: Failure) => Promise<boolean>;

export interface RetryOptions {
  /** The maximum number of retries. Default: 4. */
  maxRetries?: number;
  /**
   * The first pause after a network error. It doubles with each further attempt; of each pause, a random part of up to half is
   * taken off. Default: 500.
   */
  minDelayMs?: number;
  /** The longest pause. If the service asks for a longer one, the call fails. Default: 60,000. */
  maxDelayMs?: number;
}

export function createRetryPolicy({
  maxRetries = 4,
  minDelayMs = 500,
  maxDelayMs = 60_000,
}: RetryOptions = {}): RetryPolicy {
  return async ({ error, attempts, signal }) => {
    const delay = error instanceof ApiError ? (error.retryAfterMs ?? 0) : backoff(attempts, minDelayMs, maxDelayMs);
    if (attempts > maxRetries || delay > maxDelayMs) return false;
    await sleep(delay, signal);
    return true;
  };
}

/** Returns a growing pause with a random part, so that clients that failed together do not come back together. */
export const backoff = (attempts: number, minMs: number, maxMs: number): number =>
  Math.min(maxMs, minMs * 2 ** (attempts - 1)) * (0.5 + Math.random() / 2);

/** Whether an error is temporary: no response, or one that says when to come back. */
export const isTemporary = (error: unknown): error is ApiError | NetworkError =>
  error instanceof NetworkError ||
  (error instanceof ApiError && (error.status === 429 || error.status === 503) && error.retryAfterMs !== undefined);

/** Reads a Retry-After header: seconds, or a date. */
export function parseRetryAfter(value: string | null): number | undefined {
  if (!value) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const time = Date.parse(value);
  return Number.isNaN(time) ? undefined : Math.max(0, time - Date.now());
}

export const sleep = (ms: number, signal?: AbortSignal | undefined): Promise<void> =>
  untilAborted(signal, (resolve) => {
    const timer = setTimeout(resolve, ms);
    return () => clearTimeout(timer);
  });

/** Waits for a promise that others share, but no longer than until the signal is aborted. */
export function raceAbort<T>(promise: Promise<T>, signal?: AbortSignal | undefined): Promise<T> {
  // If the signal is already aborted, nothing below handles a rejection, which would end the process.
  promise.catch(() => {});
  return untilAborted<T>(signal, (resolve, reject) => {
    promise.then(resolve, reject);
    return () => {};
  });
}

function untilAborted<T>(
  signal: AbortSignal | undefined,
  start: (resolve: (value: T) => void, reject: (error: unknown) => void) => () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      cancel();
      reject(signal?.reason);
    };
    // Remove the listener: a signal may live as long as the program.
    const done = () => signal?.removeEventListener('abort', onAbort);
    const cancel = start(
      (value) => {
        done();
        resolve(value);
      },
      (error) => {
        done();
        reject(error);
      },
    );
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
