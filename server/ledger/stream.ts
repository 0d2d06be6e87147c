import { ApiError, type ErrorCode } from '../http/errors.ts';
import type { Subscription } from '../http/subscriptions.ts';
import type { FeedPage } from './feed.ts';
import type { FeedSource, Subscribers } from './subscribers.ts';

/**
 * Yields server-sent events, one for each change, beginning with a page that has been read, until the access token or API key expires,
 * the client disconnects or the stream has to make room for another tenant. Every page is read with the rights that the
 * caller has by then, so a caller who loses access receives nothing more.
 */
export async function* streamChanges(
  subscribers: Subscribers,
  read: (after: number) => Promise<FeedPage>,
  { source, after, first }: { source: FeedSource; after: number; first: FeedPage },
  { isToken, timeLeft, heartbeatMs, subscription }: StreamOptions,
): AsyncGenerator<string, void> {
  const { signal } = subscription;
  let position = after;
  let page = first;
  yield ': the changes of a tenant\n\n';
  for (;;) {
    yield* inPieces(eventsOf(page, position));
    position = Number(page.next);
    if (subscribers.closed) return;
    if (page.rows.length === 0) {
      const waitMs = Math.max(0, Math.min(withJitter(heartbeatMs), timeLeft()));
      await subscribers.waitForChanges(source, position, waitMs, signal);
    }
    if (subscription.displaced) yield errorEvent('TOO_BUSY');
    if (signal.aborted) return;
    // An expired token is rejected as in any other request, even if its session lasts longer. The read below rejects an expired
    // API key.
    if (isToken && timeLeft() <= 0) {
      yield errorEvent('TOKEN_EXPIRED');
      return;
    }
    try {
      page = await read(position);
    } catch (error) {
      if (error instanceof ApiError) yield errorEvent(error.code);
      return;
    }
  }
}

interface StreamOptions {
  /** Whether the request had an access token, and not an API key. */
  isToken: boolean;
  /** The milliseconds until the token or the key expires. */
  timeLeft: () => number;
  heartbeatMs: number;
  subscription: Subscription;
}

/** Shortens an interval by up to a quarter: streams that began together must not all read at the same moment. */
const withJitter = (ms: number): number => ms * (1 - Math.random() / 4);

/**
 * Reports why the stream ends. The event has a different name, so that browsers do not handle it as a change. This name is part
 * of the API.
 */
const errorEvent = (reason: ErrorCode) => `event: refused\ndata: ${JSON.stringify({ reason })}\n\n`;

/**
 * The `id` of an event is the position after its change. Where other changes were skipped at the end of a page, a last `id`
 * without an event lets the client resume after them.
 */
function* eventsOf({ rows, next, positions }: FeedPage, before: number): Generator<string, void> {
  for (const [n, row] of rows.entries()) yield `id: ${positions[n]}\nevent: change\ndata: ${JSON.stringify(row)}\n\n`;
  if (Number(next) > Number(positions.at(-1) ?? before)) yield `id: ${next}\n: skipped changes\n\n`;
  else if (rows.length === 0) yield ': heartbeat\n\n';
}

/** Every piece is a write to the socket, which costs more than the event itself. */
const PIECE_LENGTH = 65_536;

function* inPieces(events: Iterable<string>): Generator<string, void> {
  let piece = '';
  for (const event of events) {
    piece += event;
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = '';
  }
  if (piece) yield piece;
}
