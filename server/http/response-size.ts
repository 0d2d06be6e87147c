import type { FastifyReply } from 'fastify';
import type { Query } from '../../db/driver.ts';
import type { App } from '../context.ts';
import { apiError } from './errors.ts';
import { createSlices } from './slices.ts';

/**
 * The maximum size of one response, in bytes. It does not apply to trees and exports, which are streamed as fast as the client
 * reads, nor to the results and reports of imports.
 */
export const MAX_RESPONSE_BYTES = 10_000_000;

/** How much text is serialized at once; this takes less than a millisecond. */
const PIECE_LENGTH = 25_000;
/** What a record may need besides its stored columns: the names of the fields, and paths. */
const RECORD_OVERHEAD = 5_000;

/** The number of bytes that a value needs in a response. */
export const responseBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** How many rows one round trip fetches; each may be larger than a megabyte. */
const FETCH_SIZE = 8;

/**
 * Reads rows until one does not fit into the response any more. `fitting` is the number of rows that fit; the first
 * row always counts as one of them. The row after them, if there is one, shows that there are more. This process never
 * holds much more than it sends.
 */
export async function readFitting<Row extends object>(query: Query<Row>): Promise<{ rows: Row[]; fitting: number }> {
  const rows: Row[] = [];
  const pause = createSlices();
  let bytes = 0;
  for await (const fetched of query.cursor(FETCH_SIZE)) {
    for (const row of fetched as Row[]) {
      bytes += responseBytes(row) + RECORD_OVERHEAD;
      rows.push(row);
      if (bytes > MAX_RESPONSE_BYTES && rows.length > 1) return { rows, fitting: rows.length - 1 };
      await pause();
    }
  }
  return { rows, fitting: rows.length };
}

/**
 * Serializes lists piece by piece, so that a long one does not block the event loop, and rejects responses that are too large.
 * Operations that can return part of a list have shortened it before.
 */
export function serializeInPieces(app: App): void {
  app.addHook('preSerialization', (_request, reply, payload, done) => {
    const data = (payload as { data?: unknown } | null)?.data;
    if (typeof data !== 'object' || data === null) return done(null, payload);
    const holder = Array.isArray(data) ? (payload as Json) : (data as Json);
    const lists = Object.keys(holder).filter((key) => isList(holder[key]));
    if (lists.length === 0) return done(null, payload);
    serializeLists(reply, payload as Json, holder, lists).then(
      (json) => {
        // The deadline error may have been sent by now, or the client may have disconnected.
        if (reply.raw.headersSent || reply.raw.destroyed) return;
        reply.serializer((text: unknown) => text as string);
        done(null, json);
      },
      (error) => done(error),
    );
  });
}

type Json = Record<string, unknown>;

const isList = (value: unknown): boolean => Array.isArray(value) && typeof value[0] === 'object';

/**
 * Serializes the response with empty lists first, which shows where the elements belong. Then it serializes the same response
 * again and again with a few elements, and takes their text.
 */
async function serializeLists(reply: FastifyReply, payload: Json, holder: Json, lists: string[]): Promise<Buffer> {
  const empty = Object.fromEntries(lists.map((key) => [key, []]));
  const textWith = (filled: Json): string =>
    reply.serialize(
      holder === payload
        ? { ...payload, ...empty, ...filled }
        : { ...payload, data: { ...holder, ...empty, ...filled } },
    ) as string;
  const frame = textWith({});
  // Another object in the response may have a list of the same name, so the first difference shows the position.
  const positions = lists
    .map((key) => ({ key, at: firstDifference(frame, textWith({ [key]: (holder[key] as unknown[]).slice(0, 1) })) }))
    .sort((a, b) => a.at - b.at);
  const pause = createSlices();
  const pieces: Buffer[] = [];
  let bytes = 0;
  const add = (text: string) => {
    const piece = Buffer.from(text);
    bytes += piece.length;
    if (bytes > MAX_RESPONSE_BYTES) throw apiError('ANSWER_TOO_LARGE', { limit: MAX_RESPONSE_BYTES });
    pieces.push(piece);
  };
  let end = 0;
  for (const { key, at } of positions) {
    add(frame.slice(end, at));
    end = at;
    const elements = holder[key] as unknown[];
    let count = 1;
    for (let start = 0; start < elements.length; ) {
      const some = elements.slice(start, start + count);
      const text = textWith({ [key]: some });
      const piece = text.slice(at, text.length - (frame.length - at));
      add(start > 0 ? `,${piece}` : piece);
      start += some.length;
      if (piece.length < PIECE_LENGTH / 2) count *= 2;
      else if (piece.length > PIECE_LENGTH) count = Math.max(1, count >> 1);
      await pause();
    }
  }
  add(frame.slice(end));
  return Buffer.concat(pieces, bytes);
}

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}
