import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { negotiate } from '@fastify/accept-negotiator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { etagOfText, isNotModified } from './etag.ts';

/** Content that is the same for every caller and is sent from memory. */
export interface StaticContent {
  type: string;
  content: Buffer;
  /** Compressed versions, the smallest first. */
  compressed: { encoding: string; content: Buffer }[];
  /** The ETag of the uncompressed content. */
  etag: string;
}

const [brotli, gzip] = [promisify(zlib.brotliCompress), promisify(zlib.gzip)];

/** Compresses content in the thread pool, so that other requests do not wait. */
export async function createContent(type: string, content: Buffer): Promise<StaticContent> {
  // The best quality takes ten times as long and saves another tenth.
  const quality = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 9 } };
  const [br, gz] = await Promise.all([brotli(content, quality), gzip(content)]);
  return {
    type,
    content,
    compressed: [
      { encoding: 'br', content: br },
      { encoding: 'gzip', content: gz },
    ],
    etag: etagOfText(content),
  };
}

/** Sends the version that the client accepts, or 304 if it has that version already. */
export function sendContent(
  file: StaticContent,
  request: FastifyRequest,
  reply: FastifyReply,
  cacheControl: string,
): void {
  const encoding = negotiate(request.headers['accept-encoding'] ?? '', [
    ...file.compressed.map(({ encoding }) => encoding),
    'identity',
  ]);
  const compressed = file.compressed.find((version) => version.encoding === encoding);
  // Each encoding has its own bytes, so it has its own tag.
  const etag = compressed ? file.etag.replace(/"$/, `-${compressed.encoding}"`) : file.etag;
  if (file.compressed.length > 0) reply.header('vary', 'accept-encoding');
  reply.header('cache-control', cacheControl).header('etag', etag);
  if (isNotModified(request, etag)) {
    reply.code(304).send();
    return;
  }
  if (compressed) reply.header('content-encoding', compressed.encoding);
  reply.type(file.type).send(compressed?.content ?? file.content);
}
