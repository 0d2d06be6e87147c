import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { apiError } from './errors.ts';

/** Responses that are too large to be built in memory are sent in chunks, as fast as the client reads. */

export const sendSerialized = (reply: FastifyReply, json: Buffer) =>
  reply.type('application/json; charset=utf-8').send(json);

export type Chunk = string | Buffer;

/** Whether the client still waits for a response. It does not if it has disconnected or the deadline has sent an error. */
export const isClientWaiting = ({ raw }: FastifyReply) => !raw.headersSent && !raw.destroyed;

interface SendOptions {
  /** They are added only when there is something to send, because an error response has headers of its own. */
  headers?: Record<string, string>;
  /** The response is aborted after this time, even if its client is still reading. */
  totalMs?: number;
}

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' };

/**
 * Sends chunks. Resolves when all of them have been passed on or the client has disconnected. An error before the first
 * chunk is sent as a regular error response; a later one closes the connection, so that a partial response is not mistaken
 * for a complete one.
 */
export async function sendChunks(
  reply: FastifyReply,
  chunks: AsyncGenerator<Chunk, void>,
  { headers = JSON_HEADERS, totalMs = reply.server.timing.streamTotalMs }: SendOptions = {},
): Promise<void> {
  const first = await chunks.next();
  if (!isClientWaiting(reply)) return void (await chunks.return());
  const isHead = reply.request.method === 'HEAD';
  if (isHead) await chunks.return();
  const source = Readable.from(isHead ? [] : withTimeout(reply.raw, totalMs, first, chunks), { objectMode: false });
  // Reject on errors, so that the transaction that produces the chunks fails too instead of committing.
  const ended = new Promise<void>((resolve, reject) =>
    source.once('close', () => (source.errored ? reject(source.errored) : resolve())),
  );
  reply.headers(headers).send(source);
  await ended;
}

/** Aborts the response when the transfer takes too long. If the client stalls, its connection is closed (connections.ts). */
async function* withTimeout(
  raw: FastifyReply['raw'],
  totalMs: number,
  first: IteratorResult<Chunk, void>,
  chunks: AsyncGenerator<Chunk, void>,
): AsyncGenerator<Chunk, void> {
  const timer = setTimeout(() => raw.destroy(), totalMs).unref();
  // Wait for `close`: the last bytes are still in the buffers when there are no more chunks.
  raw.once('close', () => clearTimeout(timer));
  try {
    for (let chunk = first; !chunk.done; chunk = await chunks.next()) yield chunk.value;
  } finally {
    await chunks.return();
  }
}

/** Runs work that sends the response itself. An error after the headers were sent closes the connection. */
export async function streamResponse(reply: FastifyReply, work: () => Promise<void>): Promise<FastifyReply> {
  try {
    await work();
  } catch (error) {
    if (!reply.raw.headersSent) throw error;
    // The deadline passed while the request waited in the queue, and the error has been sent.
    if (reply.raw.writableEnded) return reply;
    reply.log.error({ requestId: reply.request.id, err: error }, 'response failed while streaming');
    reply.raw.destroy();
  }
  return reply;
}

export function disconnectSignal({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort(apiError('BAD_REQUEST', { cause: 'aborted' }));
  if (raw.destroyed) abort();
  else raw.once('close', abort);
  return controller.signal;
}

/** Returns a signal that removes a request from a queue: it aborts after `streamQueueMs` or when the client disconnects. */
export function queueTimeout({ raw, server }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort(apiError('TOO_BUSY'));
  const timer = setTimeout(abort, server.timing.streamQueueMs).unref();
  raw.once('close', () => {
    clearTimeout(timer);
    abort();
  });
  return controller.signal;
}
