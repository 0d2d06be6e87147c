import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { apiError } from './errors.ts';

/** Responses that are too large for memory are sent in chunks, as fast as the client reads. */

/** Sends a response that is serialized already. */
export const sendSerialized = (reply: FastifyReply, json: Buffer) =>
  reply.type('application/json; charset=utf-8').send(json);

export type Chunk = string | Buffer;

/** Whether the client still waits for a response: it may have disconnected, or the deadline may have sent an error. */
export const isClientWaiting = ({ raw }: FastifyReply) => !raw.headersSent && !raw.destroyed;

/**
 * Sends chunks. Resolves when all of them have been passed on or the client has disconnected. An error before the first
 * chunk is sent as a regular error response; a later one closes the connection, so that a partial response is not mistaken
 * for a complete one.
 */
export async function sendChunks(reply: FastifyReply, chunks: AsyncGenerator<Chunk, void>): Promise<void> {
  const first = await chunks.next();
  if (!isClientWaiting(reply)) return void (await chunks.return());
  const isHead = reply.request.method === 'HEAD';
  if (isHead) await chunks.return();
  const source = Readable.from(isHead ? [] : withTimeouts(reply, first, chunks), { objectMode: false });
  // Reject on errors, so that the transaction that produces the chunks fails too instead of committing.
  const ended = new Promise<void>((resolve, reject) =>
    source.once('close', () => (source.errored ? reject(source.errored) : resolve())),
  );
  reply.type('application/json; charset=utf-8').send(source);
  await ended;
}

/** Aborts the response when the client stalls or the transfer takes too long. */
async function* withTimeouts(
  { raw, server }: FastifyReply,
  first: IteratorResult<Chunk, void>,
  chunks: AsyncGenerator<Chunk, void>,
): AsyncGenerator<Chunk, void> {
  // A slow client seems to read nothing for a while, because the socket buffers hold megabytes.
  const { streamStallMs, streamTotalMs } = server.timing;
  const abort = () => void raw.destroy();
  const total = setTimeout(abort, streamTotalMs).unref();
  let stall: NodeJS.Timeout | undefined;
  // Wait for `close`: the last bytes are still in the buffers when there are no more chunks.
  raw.once('close', () => {
    clearTimeout(total);
    clearTimeout(stall);
  });
  try {
    for (let chunk = first; !chunk.done; chunk = await chunks.next()) {
      stall = setTimeout(abort, streamStallMs);
      yield chunk.value;
      clearTimeout(stall);
    }
    if (!raw.destroyed) stall = setTimeout(abort, streamStallMs);
  } finally {
    // A chunk that was read after the client had disconnected has started the timer again.
    if (raw.destroyed) clearTimeout(stall);
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
