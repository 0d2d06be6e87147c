import type { CallOptions } from './call.ts';
import { ApiError, NetworkError } from './errors.ts';
import { readEvents } from './events.ts';
import type { Change } from './generated/types.ts';
import type { Params } from './request.ts';
import type { Result } from './response.ts';
import { backoff, sleep } from './retry.ts';

export interface FeedOptions {
  /** The `cursor` of an earlier event, to continue after it; `latest`: from now on. Default: from the first change on. */
  after?: string | undefined;
  /** A descendant of the caller's tenant. Default: the caller's tenant. */
  tenantId?: string | undefined;
  /** Includes all descendants of the tenant. This feed has cursors of its own. */
  below?: boolean | undefined;
  /** Ends the feed: it throws the reason of the signal. */
  signal?: AbortSignal | undefined;
}

export interface LongPollOptions extends FeedOptions {
  /** How many changes a request returns at most. Default: 500. */
  limit?: number | undefined;
  /** How many seconds a request waits for a change. Default: 20. */
  wait?: number | undefined;
}

export interface FeedEvent {
  change: Change;
  /**
   * The position to continue from if the program ends after this change. In the stream each change advances it; with long
   * polling only the last one of a response does. Store it together with what you derive from the changes, and nothing is missed.
   */
  cursor: string;
}

type Call = (name: 'readChanges' | 'streamChanges', params: Params, options: CallOptions) => Promise<Result>;

const INITIAL_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;
/** A response that takes this much longer than it should is lost. */
const GRACE_MS = 30_000;
const IDLE_MS = 60_000;

/** Yields the changes of a tenant in the order of their commits, by long polling. */
export async function* pollChanges(
  call: Call,
  { after = '0', tenantId, below, limit = 500, wait = 20, signal }: LongPollOptions,
): AsyncGenerator<FeedEvent, void> {
  const connection = reconnecting(signal);
  const read = async (position: string, waitSeconds: number) => {
    const params = { after: position, tenantId, below, limit, wait: waitSeconds };
    const page = await connection.attempt(() =>
      call('readChanges', params, { signal, timeoutMs: waitSeconds * 1000 + GRACE_MS }),
    );
    return page.data as { rows: Change[]; next: string };
  };
  // Find out the position first: `latest` would be another one after a restart or when a request is repeated.
  let cursor = after === 'latest' ? (await read(after, 0)).next : after;
  for (;;) {
    const { rows, next } = await read(cursor, wait);
    for (const [n, change] of rows.entries()) {
      signal?.throwIfAborted();
      yield { change, cursor: n === rows.length - 1 ? next : cursor };
    }
    cursor = next;
  }
}

/** Yields the same changes from the event stream. After a lost connection it resumes, and yields each change once. */
export async function* streamChanges(
  call: Call,
  { after = '0', tenantId, below, signal }: FeedOptions,
): AsyncGenerator<FeedEvent, void> {
  const connection = reconnecting(signal);
  let cursor = after;
  for (;;) {
    signal?.throwIfAborted();
    // Use a new signal for each connection: otherwise a long-lived signal would collect a listener for each.
    const controller = new AbortController();
    const abort = () => controller.abort(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      const options = { signal: controller.signal, timeoutMs: GRACE_MS, headers: { 'last-event-id': cursor } };
      const { data } = await connection.attempt(() => call('streamChanges', { tenantId, below }, options));
      let isSilent = true;
      for await (const { id, event, data: text } of readEvents(bodyOf(data as Response), IDLE_MS)) {
        signal?.throwIfAborted();
        isSilent = false;
        if (id !== undefined) cursor = id;
        if (event === 'change') yield { change: JSON.parse(text), cursor };
        // After TOKEN_EXPIRED, the next request gets a new token. If the caller may no longer read the feed, that request fails.
        if (event === 'refused' && JSON.parse(text).reason === 'TOO_BUSY') await connection.pause();
      }
      // A connection that ends before any event may do so again.
      if (isSilent) await connection.pause();
    } catch (error) {
      signal?.throwIfAborted();
      // An error of the consumer does not get here: it ends the generator. Other errors mean that the connection was lost.
      if (!connection.isLost(error)) throw error;
      await connection.pause();
    } finally {
      signal?.removeEventListener('abort', abort);
      controller.abort();
    }
  }
}

function bodyOf({ body }: Response): ReadableStream<Uint8Array> {
  if (!body) throw new NetworkError('The response has no body.');
  return body;
}

/**
 * Decides when a feed is requested again. The first request fails like any other call. A feed that has started waits for the
 * service to come back, however long that takes, and ends only with an error that waiting would not fix.
 */
function reconnecting(signal: AbortSignal | undefined) {
  let hasBegun = false;
  let failures = 0;
  const pause = (atLeastMs = 0) => {
    failures++;
    return sleep(Math.max(atLeastMs, backoff(failures, INITIAL_PAUSE_MS, MAX_PAUSE_MS)), signal);
  };
  const isUnavailable = (error: unknown): error is ApiError =>
    error instanceof ApiError && (error.status === 429 || error.status === 503);
  return {
    pause,
    /** Whether the connection was lost while a response was read. An ApiError comes from the service instead. */
    isLost: (error: unknown): boolean => hasBegun && !(error instanceof ApiError),
    async attempt(send: () => Promise<Result>): Promise<Result> {
      for (;;) {
        try {
          const result = await send();
          hasBegun = true;
          failures = 0;
          return result;
        } catch (error) {
          const isTemporary = error instanceof NetworkError || isUnavailable(error);
          if (signal?.aborted || !hasBegun || !isTemporary) throw error;
          await pause(isUnavailable(error) ? error.retryAfterMs : 0);
        }
      }
    },
  };
}
