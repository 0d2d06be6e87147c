import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorCode } from '../../db/errors.ts';
import { KeyedSemaphore } from '../../db/semaphore.ts';
import { ApiError, apiError } from '../http/errors.ts';
import { FairSlots } from '../http/fair-slots.ts';
import { queueTimeout } from '../http/streaming.ts';
import { receiveUpload } from '../http/uploads.ts';

export const MAX_FILE = 52_428_800;
/** The other parts of the body: boundaries and headers. */
const MAX_ENVELOPE = 65_536;

/** A request contains one file. Fields with other names are ignored. */
export const multipartLimits = {
  files: 1,
  fields: 10,
  fieldSize: 1_024,
  parts: 12,
  headerPairs: 50,
  fileSize: MAX_FILE,
};

/** Receives the file of a request. The caller is known already. */
export async function receiveFile(request: FastifyRequest, reply: FastifyReply): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_FILE + MAX_ENVELOPE) {
    reply.header('connection', 'close');
    throw apiError('BODY_TOO_LARGE', { limit: MAX_FILE });
  }
  const bytes = await receiveUpload(request, reply, () => readFile(request).catch(rethrow));
  // An Idempotency-Key belongs to a request with this file.
  request.body = { sha256: createHash('sha256').update(bytes).digest('hex') };
  return bytes;
}

/** Reads the form to its end: a second part `file` would otherwise be ignored. */
async function readFile(request: FastifyRequest): Promise<Buffer> {
  let bytes: Buffer | undefined;
  for await (const part of request.parts()) {
    if (part.type === 'field' && part.fieldname !== 'file') continue;
    if (part.type === 'field' || part.fieldname !== 'file' || bytes) throw apiError('FILE_REQUIRED');
    bytes = await part.toBuffer();
  }
  if (!bytes) throw apiError('FILE_REQUIRED');
  return bytes;
}

function rethrow(error: unknown): never {
  if (error instanceof ApiError) throw error;
  const code = errorCode(error);
  if (code === 'FST_REQ_FILE_TOO_LARGE') throw apiError('BODY_TOO_LARGE', { limit: MAX_FILE });
  if (code.startsWith('FST_')) throw apiError('FILE_REQUIRED');
  // busboy reports a body that ends early, or does not match its Content-Type, as a plain error.
  if (error instanceof Error && code === '') throw apiError('FILE_REQUIRED');
  throw error;
}

/** How many imports a process works on at the same time: each holds its file, and then its rows, in memory. */
const MAX_IN_PROGRESS = 16;

/**
 * Lets a tenant import one file at a time; its further imports wait for a while. The tenants below one top-level tenant share
 * what one of them may have, so that they leave slots for others.
 */
export function createImportLimit() {
  const perTenant = new KeyedSemaphore(1);
  const slots = new FairSlots(MAX_IN_PROGRESS);
  return <T>(request: FastifyRequest, reply: FastifyReply, topLevel: string, work: () => Promise<T>): Promise<T> => {
    const { tenantId } = request.token;
    return perTenant.run(
      tenantId,
      async () => {
        const release = slots.take([...new Set(['000000', topLevel, tenantId])]);
        if (!release) throw apiError('TOO_BUSY');
        return work().finally(release);
      },
      queueTimeout(reply),
    );
  };
}
