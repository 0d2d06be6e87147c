import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectError, storedState } from '../support/expect.ts';
import { request, sendAndLeave, sendRaw } from '../support/raw.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const boss = await service.createTenant();
const token = `Authorization: Bearer ${boss.token}`;
const json = 'Content-Type: application/json';
const create = (...headers: string[]) => request('POST /system/dept-api', token, json, ...headers);
const send = (...pieces: (string | Buffer)[]) => sendRaw(service.base, ...pieces);

const malformed: [what: string, sent: string | Buffer][] = [
  ['a line of no sense', 'GARBAGE\r\n\r\n'],
  ['a greeting in TLS', Buffer.from('16030100c5010000c10303', 'hex')],
  ['a version of no sense', 'GET /version HTTP/x.y\r\nHost: a\r\n\r\n'],
  ['a path with a raw space', 'GET /system/dept-api/1 2 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a header without a colon', request('GET /version', 'no colon here')],
  ['a header with a space in its name', request('GET /version', 'X Y: z')],
  ['a header with a NUL in it', request('GET /version', 'X-A: a\0b')],
  ['a length that is no number', `${create('Content-Length: two')}{}`],
  ['a negative length', `${create('Content-Length: -2')}{}`],
  ['two lengths', `${create('Content-Length: 2', 'Content-Length: 3')}{}`],
  ['a length and chunks at once', `${create('Content-Length: 2', 'Transfer-Encoding: chunked')}2\r\n{}\r\n0\r\n\r\n`],
  ['an unknown transfer encoding', `${create('Transfer-Encoding: gzip')}{}`],
  ['a chunk size that is no number', `${create('Transfer-Encoding: chunked')}zz\r\n{}\r\n0\r\n\r\n`],
  ['a chunk longer than it says', `${create('Transfer-Encoding: chunked')}2\r\n{}{}{}\r\n0\r\n\r\n`],
  ['a method that HTTP does not have', request('EXPLODE /version')],
  ['no Host', 'GET /version HTTP/1.1\r\nConnection: close\r\n\r\n'],
];
for (const [what, sent] of malformed) {
  test(`a request with ${what} is refused in the envelope`, async () => {
    const before = await storedState(service);
    const answer = await send(sent);
    expectError(answer, 400, 'BAD_REQUEST', {}, what);
    assert.ok(answer.data.cause, answer.text);
    assert.deepEqual(await storedState(service), before);
  });
}

test('letters beyond ASCII as they are in an address: the refusal says what to do, in the caller’s language', async () => {
  const ask = (...headers: string[]) => send(request('GET /system/dept-api/list?deptName=停用', ...headers));
  const path = await send(request('GET /версия'));
  for (const answer of [path, await ask(), await ask('Accept-Language: zh-CN'), await ask('X-A: en')]) {
    expectError(answer, 400, 'ADDRESS_NOT_ENCODED');
    assert.match(answer.text, /百分号编码/);
  }
  const english = await ask('accept-language:en-GB,en;q=0.9');
  expectError(english, 400, 'ADDRESS_NOT_ENCODED');
  assert.match(english.text, /percent-encoded/);
});

test('headers, one by one or together, have a limit', async () => {
  for (const headers of [[`X-A: ${'a'.repeat(300_000)}`], Array(3_000).fill(`X-A: ${'a'.repeat(100)}`)]) {
    expectError(await send(request('GET /version', ...headers)), 431, 'HEADERS_TOO_LARGE');
  }
});

test('an expectation other than 100-continue is refused, that one is met', async () => {
  const refused = await send(`${create('Expect: tea', 'Content-Length: 2')}{}`);
  expectError(refused, 400, 'BAD_REQUEST');
  const { status, code, all } = await send(create('Expect: 100-continue', 'Content-Length: 2'), '{}');
  assert.match(all, /^HTTP\/1.1 100 Continue\r\n/);
  assert.deepEqual([status, code], [200, 200]);
});

test('CONNECT is refused', async () => {
  for (const target of ['example.com:443', '/system/dept-api']) {
    expectError(await send(request(`CONNECT ${target}`, token)), 405, 'METHOD_NOT_ALLOWED');
  }
});

test('an offer to speak another protocol is passed over', async () => {
  for (const protocol of ['websocket', 'h2c']) {
    const upgrade = ['Connection: Upgrade, close', `Upgrade: ${protocol}`];
    const { code } = await send(['GET /version HTTP/1.1', 'Host: a', ...upgrade, '', ''].join('\r\n'));
    assert.equal(code, 200);
  }
});

test('a body that grows beyond 1 MiB while it comes is refused', async () => {
  const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`;
  const answer = await send(create('Transfer-Encoding: chunked'), ...Array(17).fill(chunk), '2\r\n{}\r\n0\r\n\r\n');
  expectError(answer, 413, 'BODY_TOO_LARGE', { limit: 1_048_576 });
});

test('a body cut off by its sender writes nothing', async () => {
  const before = await storedState(service);
  await sendAndLeave(service.base, `${create('Content-Length: 100')}{"deptName":"cut"}`);
  assert.equal((await boss.get('/system/dept-api/list?deptName=cut')).data.total, 0);
  assert.deepEqual(await storedState(service), before);
});

test('HTTP/1.0 and absolute addresses are understood', async () => {
  assert.equal((await send('GET /version HTTP/1.0\r\n\r\n')).code, 200);
  assert.equal((await send(request('GET http://banyan/version'))).code, 200);
});

test('the service goes on after all of this', async () => {
  assert.equal((await boss.get('/system/dept-api/list')).code, 200);
});
