import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { ok } from './envelope.ts';
import { apiError } from './errors.ts';
import { invalid } from './validation.ts';

/** The headers that every write accepts. */
export const writeHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'A request with the same key within 24 hours writes nothing and returns the stored response, with `Idempotent-Replayed: true`',
    }),
  ),
});

/** The headers that conditional writes accept, that is updates and deletions. */
export const conditionalWriteHeaders = Type.Object({
  ...writeHeaders.properties,
  'if-match': Type.Optional(
    Type.String({
      maxLength: 1000,
      description: 'ETag that the change is based on; 412 if the record has changed since',
    }),
  ),
});

/** The headers that reads with an ETag accept. */
export const conditionalReadHeaders = Type.Object({
  'if-none-match': Type.Optional(
    Type.String({
      description: 'ETag that the caller has; 304 without a body if it is still current',
    }),
  ),
});

export interface Tagged<T> {
  data: T;
  etag: string;
}

/** Hashes the whole record, so that the tag also changes with hidden fields and with two writes in the same second. */
export const etagOf = (record: unknown): string => etagOfText(JSON.stringify(record));

/** The same for a record that is serialized already. */
export const etagOfText = (record: string | Buffer): string => `"${hash('sha1', record, 'base64url')}"`;

/**
 * An ETag with two parts: the fields that callers set, and those that the service changes by itself, such as progress.
 * If-None-Match compares both, If-Match only the first: progress must not prevent an update.
 */
export const etagOfParts = (settings: unknown, progress: unknown): string =>
  `${etagOf(settings).slice(0, -1)}.${etagOf(progress).slice(1)}`;

export function okWithEtag<T>(reply: FastifyReply, { data, etag }: Tagged<T>) {
  reply.header('etag', etag);
  // Returning the reply tells Fastify that the response has been sent. The cast satisfies the type of the schema.
  if (isNotModified(reply.request, etag)) return reply.code(304).send() as never;
  return ok(data);
}

/** Whether If-None-Match names this version. The comparison is weak (RFC 9110): `W/"…"`, as some proxies send it, matches. */
export function isNotModified({ headers }: FastifyRequest, etag: string): boolean {
  const header = headers['if-none-match'];
  if (header === undefined) return false;
  return header.trim() === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

/** The tags of an If-Match header; undefined if any version is accepted. */
export type IfMatch = readonly string[] | undefined;

export function ifMatchOf(request: FastifyRequest, ids: readonly string[] = []): IfMatch {
  const header = request.headers['if-match'];
  // A tag identifies the version of one record.
  if (header !== undefined && ids.length > 1) throw invalid('If-Match', 'single');
  if (header === undefined || header.trim() === '*') return undefined;
  return header.split(',').map((tag) => tag.trim());
}

/** Rejects If-Match in operations that write several records: a tag identifies the version of one. */
export function rejectIfMatch(request: FastifyRequest): void {
  if (request.headers['if-match'] !== undefined) throw invalid('If-Match', 'single');
}

/** The caller of this function must hold a lock on the record, so that nobody writes between the check and the write. */
export function assertEtag(ifMatch: IfMatch, etag: string): void {
  if (ifMatch && !ifMatch.includes(etag)) throw apiError('CHANGED_MEANWHILE', { etag });
}

/** The same for an ETag of two parts. */
export function assertSettingsEtag(ifMatch: IfMatch, etag: string): void {
  const settingsOf = (tag: string) => tag.split('.')[0];
  if (ifMatch?.every((tag) => settingsOf(tag) !== settingsOf(etag))) throw apiError('CHANGED_MEANWHILE', { etag });
}
