import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { liftDeadline, restartDeadline } from './deadline.ts';
import { apiError } from './errors.ts';

const uploading = new WeakSet<Socket>();
const rejected = new WeakSet<Socket>();

/** Whether an authenticated caller is sending a file. Node's own timeout for requests, which is short, does not apply to it. */
export const isUploading = (socket: Socket): boolean => uploading.has(socket);

/** Whether a file of an authenticated caller was rejected while it was arriving. The rest may take up to `uploadMs`. */
export const isRejectedUpload = (socket: Socket): boolean => rejected.has(socket);

/**
 * Receives a body that may take longer than others. Call it only once the caller is authenticated. The signal aborts when it has
 * taken too long: the rest has to be discarded.
 */
export async function receiveUpload<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  receive: (expired: AbortSignal) => Promise<T>,
): Promise<T> {
  const { socket } = request.raw;
  uploading.add(socket);
  liftDeadline(reply);
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      controller.abort();
      reject(apiError('UPLOAD_TIMEOUT'));
    }, request.server.timing.uploadMs);
  });
  try {
    return await Promise.race([receive(controller.signal), expired]);
  } catch (error) {
    // The rest of the body is discarded.
    rejected.add(socket);
    reply.header('connection', 'close');
    throw error;
  } finally {
    clearTimeout(timer);
    uploading.delete(socket);
    restartDeadline(reply);
  }
}
