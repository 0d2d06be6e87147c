import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendRaw } from '../support/raw.ts';
import { scale } from '../support/scale.ts';
import { shareService } from '../support/service.ts';

/** Requests that a proxy in front might understand differently, and requests that used to fail with 500. */

const service = await shareService();
const admin = await service.createTenant();

for (const [what, text, cause] of [
  ['two Host headers', 'GET /version HTTP/1.1\r\nHost: a\r\nhOST: b\r\n\r\n', 'Host'],
  [
    'HTTP/1.0 with a transfer encoding',
    'POST /auth/login HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\nContent-Type: application/json\r\n' +
      'Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
    'Transfer-Encoding',
  ],
] as const) {
  test(`a request with ${what} is rejected, and its connection is closed`, async () => {
    const response = await sendRaw(service.base, text);
    assert.deepEqual([response.status, response.data.reason], [400, 'BAD_REQUEST'], response.all);
    assert.match(response.text, new RegExp(cause));
    assert.equal(response.headers.connection, 'close');
  });
}

test('a path outside of the folder of the documentation does not exist', async () => {
  for (const path of ['/docs/static/..', '/docs/static/../x', '/docs/static/%2e%2e/package.json']) {
    const { all } = await sendRaw(service.base, `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    assert.match(all, /^HTTP\/1\.1 404 /, path);
  }
});

test('a deeply nested unknown field of a request with an Idempotency-Key is ignored', async () => {
  const depth = scale(100_000, 400_000);
  const raw = `{"deptName":"deep","x":${'['.repeat(depth)}${']'.repeat(depth)}}`;
  const send = (key: string) =>
    admin.call('POST', '/system/dept-api', undefined, { raw, headers: { 'idempotency-key': key } });
  const first = await send('deep');
  assert.equal(first.code, 200, first.text);
  assert.equal((await send('deep')).headers.location, first.headers.location);
});
