import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { refuse } from './refusals.ts';

/** Answers that are too large to be held in memory: told piece by piece, as fast as their caller reads. */

/** An answer that was written before. */
export const sendWritten = (reply: FastifyReply, json: Buffer) =>
  reply.type('application/json; charset=utf-8').send(json);

export type Piece = string | Buffer;

/** Whether anybody still waits for it: the caller may have left, or the deadline answered in our place. */
export const isAwaited = ({ raw }: FastifyReply) => !raw.headersSent && !raw.destroyed;

/**
 * Sends the pieces, and is done when they have been handed over, or when the caller has gone. What fails before the first
 * piece is there is refused like anything else; what fails later ends the connection, so that nobody takes what he has
 * for the whole.
 */
export async function sendPieces(reply: FastifyReply, pieces: AsyncGenerator<Piece, void>): Promise<void> {
  const first = await pieces.next();
  if (!isAwaited(reply)) return void (await pieces.return());
  const isHead = reply.request.method === 'HEAD';
  if (isHead) await pieces.return();
  const source = Readable.from(isHead ? [] : watched(reply, first, pieces), { objectMode: false });
  // A failure is told to the transaction behind it too: one whose connection is lost must not be committed.
  const ended = new Promise<void>((resolve, reject) =>
    source.once('close', () => (source.errored ? reject(source.errored) : resolve())),
  );
  reply.type('application/json; charset=utf-8').send(source);
  await ended;
}

async function* watched(
  { raw, server }: FastifyReply,
  first: IteratorResult<Piece, void>,
  pieces: AsyncGenerator<Piece, void>,
): AsyncGenerator<Piece, void> {
  // A client that reads slowly takes nothing for a while, too: the buffers in between hold megabytes.
  const { streamStallMs, streamTotalMs } = server.timing;
  const cut = () => void raw.destroy();
  const whole = setTimeout(cut, streamTotalMs).unref();
  let stall: NodeJS.Timeout | undefined;
  // Also for the end of it, which is on its way when there are no more pieces.
  raw.once('close', () => {
    clearTimeout(whole);
    clearTimeout(stall);
  });
  try {
    for (let piece = first; !piece.done; piece = await pieces.next()) {
      stall = setTimeout(cut, streamStallMs);
      yield piece.value;
      clearTimeout(stall);
    }
    if (!raw.destroyed) stall = setTimeout(cut, streamStallMs);
  } finally {
    // A piece that was read when its client had left set the timer once more.
    if (raw.destroyed) clearTimeout(stall);
    await pieces.return();
  }
}

/** Does work that answers by itself. Once it has begun to, nobody else may answer: then its failure ends the connection. */
export async function answering(reply: FastifyReply, work: () => Promise<void>): Promise<FastifyReply> {
  try {
    await work();
  } catch (error) {
    if (!reply.raw.headersSent) throw error;
    // Answered by the deadline, while it waited in line.
    if (reply.raw.writableEnded) return reply;
    reply.log.error({ requestId: reply.request.id, err: error }, 'an answer failed halfway');
    reply.raw.destroy();
  }
  return reply;
}

interface Line {
  running: number;
  waiting: Set<() => void>;
}
const lines = new Map<string, Line>();

/** Some at a time; the others wait in line, in their order, until their turn comes, their patience ends or they leave. */
export async function inTurn<T>(reply: FastifyReply, name: string, atOnce: number, work: () => Promise<T>): Promise<T> {
  const line = lines.get(name) ?? { running: 0, waiting: new Set() };
  lines.set(name, line);
  if (line.running < atOnce) line.running++;
  else await waitIn(line, reply);
  try {
    return await work();
  } finally {
    const [next] = line.waiting;
    if (next) next();
    else if (--line.running === 0) lines.delete(name);
  }
}

function waitIn({ waiting }: Line, { raw, server }: FastifyReply): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      clearTimeout(patience);
      raw.off('close', giveUp);
      waiting.delete(take);
    };
    const take = () => {
      leave();
      resolve();
    };
    const giveUp = () => {
      leave();
      reject(refuse('TOO_BUSY'));
    };
    const patience = setTimeout(giveUp, server.timing.streamQueueMs);
    raw.once('close', giveUp);
    waiting.add(take);
  });
}
