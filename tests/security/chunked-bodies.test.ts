import assert from 'node:assert/strict';
import diagnostics from 'node:diagnostics_channel';
import type http from 'node:http';
import net from 'node:net';
import { test } from 'node:test';
import { MergingRequest } from '../../server/http/merging-request.ts';
import { request, sendRaw } from '../support/raw.ts';
import { shareService } from '../support/service.ts';

/** Bodies in many tiny chunks: each chunk takes much more memory than its bytes. */

const service = await shareService();

async function chunksOf(pushed: readonly Buffer[]): Promise<Buffer[]> {
  const message = new MergingRequest(new net.Socket());
  for (const chunk of pushed) message.push(chunk);
  message.push(null);
  return message.toArray();
}

test('tiny chunks are merged, and no byte is lost or moved', async () => {
  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, n) => n % 251));
  const cut = (sizes: readonly number[]) => {
    const pieces: Buffer[] = [];
    for (let at = 0, n = 0; at < bytes.length; n++) {
      const size = sizes[n % sizes.length] as number;
      pieces.push(bytes.subarray(at, at + size));
      at += size;
    }
    return pieces;
  };
  for (const sizes of [[1], [1, 5_000], [5_000, 1, 1], [2_047], [2_048], [2_047, 2], [1_023, 1_025]]) {
    const pieces = cut(sizes);
    const chunks = await chunksOf(pieces);
    assert.deepEqual(Buffer.concat(chunks), bytes, sizes.join());
    assert.ok(chunks.length <= pieces.length);
    if (sizes.every((size) => size < 10)) assert.ok(chunks.length < 60, `${chunks.length} chunks`);
  }
  assert.deepEqual(await chunksOf([]), []);
  assert.deepEqual(await chunksOf([Buffer.from('a')]), [Buffer.from('a')]);
});

test('the service reads a body that is sent byte by byte', async () => {
  const classes = new Set<unknown>();
  const note = (message: unknown) => {
    const { request } = message as { request: http.IncomingMessage };
    if (request.url === '/auth/login') classes.add(request.constructor);
  };
  diagnostics.subscribe('http.server.request.start', note);
  const login = JSON.stringify({ tenantId: '000000', username: '不存在的用户', password: 'wrong' });
  const body = Buffer.from(login + ' '.repeat(5_000));
  const chunks = [...body].map((byte) =>
    Buffer.concat([Buffer.from('1\r\n'), Buffer.from([byte]), Buffer.from('\r\n')]),
  );
  const head = request('POST /auth/login', 'Content-Type: application/json', 'Transfer-Encoding: chunked');
  const response = await sendRaw(service.base, head, Buffer.concat(chunks), '0\r\n\r\n');
  diagnostics.unsubscribe('http.server.request.start', note);
  assert.equal(response.data.reason, 'LOGIN_FAILED', response.all);
  assert.deepEqual([...classes], [MergingRequest]);
});
