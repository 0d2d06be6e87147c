import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectError, storedState } from '../support/expect.ts';
import { request, sendAndDisconnect, sendRaw } from '../support/raw.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const admin = await service.createTenant();
const token = `Authorization: Bearer ${admin.token}`;
const json = 'Content-Type: application/json';
const create = (...headers: string[]) => request('POST /system/dept-api', token, json, ...headers);
const send = (...pieces: (string | Buffer)[]) => sendRaw(service.base, ...pieces);

const malformed: [what: string, sent: string | Buffer][] = [
  ['a meaningless request line', 'GARBAGE\r\n\r\n'],
  ['a TLS ClientHello', Buffer.from('16030100c5010000c10303', 'hex')],
  ['an invalid HTTP version', 'GET /version HTTP/x.y\r\nHost: a\r\n\r\n'],
  ['a path with a raw space', 'GET /system/dept-api/1 2 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a header without a colon', request('GET /version', 'no colon here')],
  ['a header with a space in its name', request('GET /version', 'X Y: z')],
  ['a header with a NUL in it', request('GET /version', 'X-A: a\0b')],
  ['a Content-Length that is not a number', `${create('Content-Length: two')}{}`],
  ['a negative Content-Length', `${create('Content-Length: -2')}{}`],
  ['two Content-Length headers', `${create('Content-Length: 2', 'Content-Length: 3')}{}`],
  [
    'both Content-Length and Transfer-Encoding',
    `${create('Content-Length: 2', 'Transfer-Encoding: chunked')}2\r\n{}\r\n0\r\n\r\n`,
  ],
  ['an unknown transfer encoding', `${create('Transfer-Encoding: gzip')}{}`],
  ['a chunk size that is not a number', `${create('Transfer-Encoding: chunked')}zz\r\n{}\r\n0\r\n\r\n`],
  ['a chunk longer than its declared size', `${create('Transfer-Encoding: chunked')}2\r\n{}{}{}\r\n0\r\n\r\n`],
  ['an unknown method', request('EXPLODE /version')],
  ['no Host header', 'GET /version HTTP/1.1\r\nConnection: close\r\n\r\n'],
];
for (const [what, sent] of malformed) {
  test(`a request with ${what} is rejected with an enveloped error`, async () => {
    const before = await storedState(service);
    const response = await send(sent);
    expectError(response, 400, 'BAD_REQUEST', {}, what);
    assert.ok(response.data.cause, response.text);
    assert.deepEqual(await storedState(service), before);
  });
}

test('a URL with unencoded non-ASCII characters is rejected with advice in the language of the caller', async () => {
  const list = (...headers: string[]) => send(request('GET /system/dept-api/list?deptName=停用', ...headers));
  const path = await send(request('GET /версия'));
  for (const response of [path, await list(), await list('Accept-Language: zh-CN'), await list('X-A: en')]) {
    expectError(response, 400, 'ADDRESS_NOT_ENCODED');
    assert.match(response.text, /百分号编码/);
  }
  const english = await list('accept-language:en-GB,en;q=0.9');
  expectError(english, 400, 'ADDRESS_NOT_ENCODED');
  assert.match(english.text, /Percent-encode them/);
});

test('headers that are too large, alone or in total, are rejected', async () => {
  for (const headers of [[`X-A: ${'a'.repeat(300_000)}`], Array(3_000).fill(`X-A: ${'a'.repeat(100)}`)]) {
    expectError(await send(request('GET /version', ...headers)), 431, 'HEADERS_TOO_LARGE');
  }
});

test('Expect: 100-continue is honoured, any other expectation is rejected', async () => {
  const rejected = await send(`${create('Expect: tea', 'Content-Length: 2')}{}`);
  expectError(rejected, 400, 'BAD_REQUEST');
  const { status, code, all } = await send(create('Expect: 100-continue', 'Content-Length: 2'), '{}');
  assert.match(all, /^HTTP\/1.1 100 Continue\r\n/);
  assert.deepEqual([status, code], [200, 200]);
});

test('CONNECT is rejected', async () => {
  for (const target of ['example.com:443', '/system/dept-api']) {
    expectError(await send(request(`CONNECT ${target}`, token)), 405, 'METHOD_NOT_ALLOWED');
  }
});

test('a protocol upgrade is ignored', async () => {
  for (const protocol of ['websocket', 'h2c']) {
    const upgrade = ['Connection: Upgrade, close', `Upgrade: ${protocol}`];
    const { code } = await send(['GET /version HTTP/1.1', 'Host: a', ...upgrade, '', ''].join('\r\n'));
    assert.equal(code, 200);
  }
});

test('a chunked body that grows beyond 1 MiB is rejected', async () => {
  const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`;
  const response = await send(create('Transfer-Encoding: chunked'), ...Array(17).fill(chunk), '2\r\n{}\r\n0\r\n\r\n');
  expectError(response, 413, 'BODY_TOO_LARGE', { limit: 1_048_576 });
});

test('a body cut off by the client writes nothing', async () => {
  const before = await storedState(service);
  await sendAndDisconnect(service.base, `${create('Content-Length: 100')}{"deptName":"cut"}`);
  assert.equal((await admin.get('/system/dept-api/list?deptName=cut')).data.total, 0);
  assert.deepEqual(await storedState(service), before);
});

test('HTTP/1.0 and absolute request URLs are accepted', async () => {
  assert.equal((await send('GET /version HTTP/1.0\r\n\r\n')).code, 200);
  assert.equal((await send(request('GET http://banyan/version'))).code, 200);
});

test('the service still responds after all malformed requests', async () => {
  assert.equal((await admin.get('/system/dept-api/list')).code, 200);
});
