import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { ok } from './envelope.ts';
import { refuse } from './refusals.ts';
import { invalid } from './validation.ts';

/** What a caller may say about a write beside its body. */
export const writeHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Repeating the request with the same key within 24 hours answers the same and writes nothing again',
    }),
  ),
});

export const changeHeaders = Type.Object({
  ...writeHeaders.properties,
  'if-match': Type.Optional(
    Type.String({
      maxLength: 1000,
      description: 'ETag of the read this is based on; refused (412) when it changed since',
    }),
  ),
});

/** A record as it was read: what is shown, and a tag that changes with anything in it. */
export interface Tagged<T> {
  data: T;
  etag: string;
}

/** Of the whole record, so that two writes within one second, or to what isn't shown, count as well. */
export const etagOf = (record: unknown): string => etagOfText(JSON.stringify(record));

/** The same for who has the text already. */
export const etagOfText = (record: string | Buffer): string => `"${hash('sha1', record, 'base64url')}"`;

export function okTagged<T>(reply: FastifyReply, { data, etag }: Tagged<T>) {
  reply.header('etag', etag);
  return ok(data);
}

/** The tags of an If-Match header; undefined when there is none, and any will do. */
export type IfMatch = readonly string[] | undefined;

export function ifMatchOf(request: FastifyRequest, ids: readonly string[] = []): IfMatch {
  const header = request.headers['if-match'];
  // One tag can't be of several records.
  if (header !== undefined && ids.length > 1) throw invalid('If-Match', 'single');
  if (header === undefined || header.trim() === '*') return undefined;
  return header.split(',').map((tag) => tag.trim());
}

/** For what writes several records: one tag can't be of all of them. */
export function refuseIfMatch(request: FastifyRequest): void {
  if (request.headers['if-match'] !== undefined) throw invalid('If-Match', 'single');
}

/** Under a lock on the record: between this check and the write nobody else may come. */
export function refuseChanged(ifMatch: IfMatch, etag: string): void {
  if (ifMatch && !ifMatch.includes(etag)) throw refuse('CHANGED_MEANWHILE', { etag });
}
