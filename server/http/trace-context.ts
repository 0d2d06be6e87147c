import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** W3C Trace Context: the header `traceparent` names the trace that a request belongs to, and the span that sent it. */

interface TraceContext {
  traceId: string;
  parentId: string;
  flags: string;
}

const IDS = '(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})';
/** Later versions than 00 may append further fields. */
const TRACEPARENT = new RegExp(`^(?:00-${IDS}|(?!00|ff)[0-9a-f]{2}-${IDS}(?:-.*)?)$`);
const TRACED_REQUEST_ID = new RegExp(`^${IDS}-[0-9a-f]{8}$`);

/** Returns the trace of a request; undefined if it names none, or the header is invalid. */
export function traceContextOf(headers: IncomingHttpHeaders): TraceContext | undefined {
  const { traceparent } = headers;
  if (typeof traceparent !== 'string') return undefined;
  const ids = TRACEPARENT.exec(traceparent)
    ?.slice(1)
    .filter((id) => id !== undefined);
  if (!ids) return undefined;
  const [traceId, parentId, flags] = ids as [string, string, string];
  return { traceId, parentId, flags };
}

/**
 * Returns a new request id that contains the trace of the request. The ledger stores the request id with each change, so webhooks
 * can name the trace without a column of their own.
 */
export const tracedRequestId = ({ traceId, parentId, flags }: TraceContext): string =>
  `${traceId}-${parentId}-${flags}-${randomBytes(4).toString('hex')}`;

/** Returns the `traceparent` for messages about a request; undefined if its id contains no trace. */
export function traceparentOf(requestId: string | null | undefined): string | undefined {
  const ids = TRACED_REQUEST_ID.exec(requestId ?? '');
  return ids ? `00-${ids[1]}-${ids[2]}-${ids[3]}` : undefined;
}
