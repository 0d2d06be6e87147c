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

/**
 * A request contains one file, in the part `file`. Text parts with other names are ignored; files with other names are
 * rejected.
 */
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
  const { bytes, sha256 } = await receiveUpload(request, reply, (expired) => readFile(request, expired).catch(rethrow));
  // An Idempotency-Key belongs to a request with this file.
  request.body = { sha256 };
  return bytes;
}

/**
 * Reads the form to its end: a second part `file` would otherwise be ignored. Once the time for the upload has expired, keeps
 * nothing of the file.
 */
async function readFile(request: FastifyRequest, expired: AbortSignal): Promise<{ bytes: Buffer; sha256: string }> {
  const hash = createHash('sha256');
  let chunks: Buffer[] | undefined;
  expired.addEventListener('abort', () => {
    chunks = [];
  });
  for await (const part of request.parts()) {
    if (part.type === 'field' && part.fieldname !== 'file') continue;
    if (part.type === 'field' || part.fieldname !== 'file' || chunks) throw apiError('FILE_REQUIRED');
    chunks = [];
    for await (const chunk of part.file as AsyncIterable<Buffer>) {
      if (expired.aborted) continue;
      hash.update(chunk);
      chunks.push(chunk);
    }
  }
  if (!chunks) throw apiError('FILE_REQUIRED');
  return { bytes: Buffer.concat(chunks), sha256: hash.digest('hex') };
}

function rethrow(error: unknown): never {
  if (error instanceof ApiError) throw error;
  const code = errorCode(error);
  if (code === 'ECONNRESET') throw apiError('BAD_REQUEST', { cause: 'aborted' });
  if (code === 'FST_REQ_FILE_TOO_LARGE') throw apiError('BODY_TOO_LARGE', { limit: MAX_FILE });
  if (code.startsWith('FST_')) throw apiError('FILE_REQUIRED');
  // busboy reports a body that ends early, or does not match its Content-Type, as a plain error.
  if (error instanceof Error && code === '') throw apiError('FILE_REQUIRED');
  throw error;
}

/** How many imports a process works on at the same time. */
const MAX_IN_PROGRESS = 16;
/** The memory that imports may take is shared in portions of this many bytes. */
const PORTION = 16_777_216;

const tooMuchMemory = () =>
  apiError('FILE_UNREADABLE', {
    problem: {
      zh: '导入所需的内存超出限制，请拆分文件后重试',
      en: 'importing it takes more memory than one import may use. Split it',
    },
  });

/** Reserves memory until the import has ended. Throws if too little is left. */
export type ReserveMemory = (bytes: number) => void;

/**
 * Lets a tenant import one file at a time; its further imports wait for a while. A top-level tenant and all tenants below it
 * together get at most two thirds of the slots and of the memory, and each of them at most two thirds of that, so that they leave
 * some for others.
 */
export function createImportLimit(maxBytes: number) {
  const perTenant = new KeyedSemaphore(1);
  const slots = new FairSlots(MAX_IN_PROGRESS);
  const memory = new FairSlots(maxBytes / PORTION);
  return <T>(
    request: FastifyRequest,
    reply: FastifyReply,
    topLevel: string,
    work: (reserveMemory: ReserveMemory) => Promise<T>,
  ): Promise<T> => {
    const { tenantId } = request.token;
    const subtrees = [topLevel, `=${tenantId}`];
    const held: (() => void)[] = [];
    const take = (from: FairSlots) => {
      const release = from.takeIn(subtrees);
      if (release) held.push(release);
      return release !== undefined;
    };
    let portions = 0;
    const reserveMemory: ReserveMemory = (bytes) => {
      for (let reserved = 0; reserved < bytes; reserved += PORTION) {
        // If no other import takes any memory, a retry would not help.
        if (!take(memory)) throw memory.used > portions ? apiError('TOO_BUSY') : tooMuchMemory();
        portions++;
      }
    };
    const run = async () => {
      try {
        if (!take(slots)) throw apiError('TOO_BUSY');
        return await work(reserveMemory);
      } finally {
        for (const release of held) release();
      }
    };
    return perTenant.run(tenantId, run, queueTimeout(reply));
  };
}
