import { PassThrough } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { Config } from '../config.ts';
import { liftDeadline, restartDeadline } from './deadline.ts';
import { ok, renderError, toApiError } from './envelope.ts';
import { apiError } from './errors.ts';
import { isClientWaiting } from './streaming.ts';

/** How often progress is reported. It also keeps proxies from closing the connection. */
const REPORT_MS = 500;

/** The schema of a response that reports progress. */
export const ProgressEvents = Type.String({
  'x-component': 'ProgressEvents',
  description:
    'With `Accept: text/event-stream`: events `progress` with `{done, total}`, finally `result` or `refused` ' +
    'with the envelope',
});

/** Passed to long work that a request does before its transaction. */
export interface Progress {
  /** Throws once the client has disconnected: nobody waits for the rest. */
  throwIfAborted(): void;
  report(done: number, total: number): void;
}

/**
 * Responds to a request that may take minutes. No deadline applies from `report(0, total)` to `report(total, total)`. A client
 * that accepts `text/event-stream` receives events: `progress`, and at the end `result` or `refused` with the envelope. Others
 * receive the envelope as usual. An error before the first event is a regular response.
 */
export async function respondWithProgress<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  config: Config,
  work: (progress: Progress) => Promise<T>,
) {
  const events = acceptsEvents(request) ? new PassThrough() : undefined;
  let hasBegun = false;
  let lastReport = 0;
  const send = (name: string, data: string) => {
    if (!events) return;
    events.write(`event: ${name}\ndata: ${data}\n\n`);
    if (hasBegun) return;
    hasBegun = true;
    // The deadline may have passed before the work began to report. Nobody reads the events then.
    if (!isClientWaiting(reply)) return void events.resume();
    reply.type('text/event-stream; charset=utf-8').header('x-accel-buffering', 'no').send(events);
  };
  const progress: Progress = {
    throwIfAborted() {
      if (reply.raw.destroyed || request.raw.socket.destroyed) throw apiError('BAD_REQUEST', { cause: 'aborted' });
    },
    report(done, total) {
      if (done === 0) {
        // The client has got an error already, so nothing may be written.
        if (!hasBegun && !isClientWaiting(reply)) throw apiError('BAD_REQUEST', { cause: 'aborted' });
        liftDeadline(reply);
      }
      if (done === total) restartDeadline(reply);
      const now = performance.now();
      // A client that does not read gets fewer events.
      if (done !== 0 && done !== total && (now - lastReport < REPORT_MS || events?.writableNeedDrain)) return;
      lastReport = now;
      send('progress', JSON.stringify({ done, total }));
    },
  };
  try {
    const envelope = ok(await work(progress));
    if (!events) return envelope;
    send('result', JSON.stringify(envelope));
  } catch (error) {
    if (!events || !hasBegun) throw error;
    const failure = toApiError(error, request);
    reply.errorStatus = failure.status;
    send('refused', renderError(failure, { ...request.headers, accept: '*/*' }, request.id, config).body);
  }
  events.end();
  // Wait for the stream and not for the reply: that would add listeners to the response, which has nearly as many as Node accepts
  // without a warning.
  if (!events.closed) await new Promise((resolve) => events.once('close', resolve));
  // Returning the reply tells Fastify that the response has been sent. The cast satisfies the type of the schema.
  return reply as never;
}

const acceptsEvents = ({ headers }: FastifyRequest): boolean =>
  /text\/event-stream(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(headers.accept ?? '');
