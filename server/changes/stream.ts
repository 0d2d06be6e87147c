import { type Reason, Refusal } from '../http/refusals.ts';
import type { FeedPage } from './changes.ts';
import type { Followers } from './following.ts';

/**
 * Server-sent events, one for each change, until the time of his token is over or the caller has gone. Each page is read
 * as the caller that he is by then: who was shut out hears no more.
 */
export async function* tellChanges(
  followers: Followers,
  read: (after: number) => Promise<FeedPage>,
  { tenantId, after }: { tenantId: string; after: number },
  { timeLeft, heartbeatMs, signal }: { timeLeft: () => number; heartbeatMs: number; signal: AbortSignal },
): AsyncGenerator<string, void> {
  let place = after;
  let page = await read(place);
  yield ': the changes of a tenant\n\n';
  for (;;) {
    yield textOf(page, place);
    place = Number(page.next);
    if (followers.closed || signal.aborted) return;
    if (page.rows.length === 0) await followers.news(tenantId, place, Math.min(heartbeatMs, timeLeft()), signal);
    if (signal.aborted) return;
    // A token that any other request would be refused with opens nothing here either, however long its session lives.
    if (timeLeft() <= 0) {
      yield refused('TOKEN_EXPIRED');
      return;
    }
    try {
      page = await read(place);
    } catch (error) {
      if (error instanceof Refusal) yield refused(error.reason);
      return;
    }
  }
}

/** He is told why it ends; where he was, the last `id` told him. An event that browsers do not take for a change. */
const refused = (reason: Reason) => `event: refused\ndata: ${JSON.stringify({ reason })}\n\n`;

/** `id` is the place behind each: of the last row what the page says, which may have passed over more. */
function textOf({ rows, next, places }: FeedPage, before: number): string {
  if (rows.length === 0) return Number(next) > before ? `id: ${next}\n: nothing for you\n\n` : ': quiet\n\n';
  return rows.map((row, n) => `id: ${places[n]}\nevent: change\ndata: ${JSON.stringify(row)}\n\n`).join('');
}
