import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { readOperations } from '../support/document.ts';
import { expectError } from '../support/expect.ts';
import { request, sendRaw } from '../support/raw.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const boss = await service.createTenant();
const operations = await readOperations(service);
const paths = [...new Set(operations.map(({ path }) => path))];

/** Which methods a path takes: its own, not those of another that it would fit as well, and HEAD wherever there is GET. */
function methodsAt(template: string): string[] {
  const methods = operations.filter(({ path }) => path === template).map(({ method }) => method);
  return [...new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : [])])].sort();
}

for (const template of [...paths, '/openapi.json', '/docs']) {
  const path = template.replace('{id}', '7');

  test(`${template}: another method is answered 405, with the ones there are`, async () => {
    const documented = paths.includes(template) ? methodsAt(template) : ['GET', 'HEAD'];
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']) {
      if (documented.includes(method)) continue;
      for (const caller of [boss, service.anonymous]) {
        const answer = await caller.call(method, path);
        expectError(answer, 405, 'METHOD_NOT_ALLOWED', {}, method);
        assert.deepEqual(String(answer.headers.allow).split(', ').sort(), documented);
        assert.equal(answer.data.allowed, answer.headers.allow);
      }
    }
    if (documented.includes('HEAD')) return;
    const { status, headers } = await boss.call('HEAD', path);
    assert.deepEqual([status, String(headers.allow).split(', ').sort()], [405, documented]);
  });

  test(`${template}?…: a query makes no other path of it`, async () => {
    const answer = await service.anonymous.call('PATCH', `${path}?a=/no/such/path`);
    expectError(answer, 405, 'METHOD_NOT_ALLOWED');
  });
}

test('a path that is not there is answered 404, whatever the method and whoever asks', async () => {
  const unknown = [
    '/',
    '/nope',
    '/system',
    '/system/',
    '/system/dept-api/1/2',
    '/system/dept-api//',
    '/system//dept-api/list',
    '/SYSTEM/dept-api/list',
    '/system/dept-api/list/',
    '/version/',
    '//version',
    '/../version',
    '/.env',
    '/docs/static/..%2f..%2fpackage.json',
    '/docs/nope',
    '/__proto__',
    '/constructor',
  ];
  for (const path of unknown) {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      for (const caller of [boss, service.anonymous]) {
        expectError(await caller.call(method, path), 404, 'PATH_NOT_FOUND', {}, `${method} ${path}`);
      }
    }
  }
});

test('every method that HTTP has is answered, on paths that are there and on others', async () => {
  // CONNECT has an answer of its own, see bad-input-http.
  for (const method of http.METHODS.filter((name) => !['CONNECT', 'GET', 'HEAD'].includes(name))) {
    expectError(await boss.call(method, '/version'), 405, 'METHOD_NOT_ALLOWED', { allowed: 'GET, HEAD' }, method);
    expectError(await boss.call(method, '/nope'), 404, 'PATH_NOT_FOUND', {}, method);
  }
});

test('a body, broken or not, makes no other answer of an unknown path or method', async () => {
  for (const raw of ['{}', '{', Buffer.from([0xff]), 'x'.repeat(2_000_000)]) {
    expectError(await boss.post('/nope', undefined, { raw }), 404, 'PATH_NOT_FOUND');
    expectError(await boss.call('PATCH', '/system/dept-api', undefined, { raw }), 405, 'METHOD_NOT_ALLOWED');
  }
  const headers = { 'content-type': 'text/plain' };
  expectError(await boss.post('/nope', undefined, { raw: 'x', headers }), 404, 'PATH_NOT_FOUND');
});

test('HEAD answers as GET does, without the body', async () => {
  const id = await boss.createDepartment();
  for (const path of [
    '/version',
    '/system/dept-api/list',
    `/system/dept-api/${id}`,
    '/system/dept-api/0',
    '/nope',
    '/system/dept-api/x',
  ]) {
    const [get, head] = [await boss.get(path), await boss.call('HEAD', path)];
    assert.equal(head.status, get.status, path);
    assert.equal(head.text, '');
    assert.equal(head.headers['content-type'], get.headers['content-type']);
    assert.equal(head.headers['content-length'], get.headers['content-length']);
    assert.ok(head.headers['x-request-id']);
  }
});

test('every operation refuses a caller without a token in the envelope, unless it is open to all', async () => {
  for (const { method, path, security = [] } of operations) {
    const answer = await service.anonymous.call(method, path.replace('{id}', '7'));
    if (security.length > 0) {
      expectError(answer, 401, 'NO_TOKEN', {}, path);
      assert.equal(answer.msg, '认证失败，无法访问系统资源');
      assert.equal(answer.headers['www-authenticate'], 'Bearer');
    } else assert.notEqual(answer.code, 401, path);
  }
});

test('the id of a request is its caller’s own when it is one', async () => {
  for (const id of ['a', '0', 'Zz_9.-', 'e3b0c442-98fc-4c14-9afb-f4c8996fb924', 'x'.repeat(64)]) {
    const headers = { 'x-request-id': id };
    assert.equal((await service.anonymous.get('/version', { headers })).headers['x-request-id'], id);
    assert.equal((await service.anonymous.get('/nope', { headers })).headers['x-request-id'], id);
    assert.equal((await service.anonymous.get('/%ff', { headers })).headers['x-request-id'], id);
    assert.equal((await boss.get('/system/dept-api/list?deptName=%ff', { headers })).headers['x-request-id'], id);
  }
});

test('what is no id of a request is replaced by a new one', async () => {
  const given = new Set<string>();
  const line = 'GET /version';
  for (const header of [
    '',
    'x'.repeat(65),
    'a b',
    'a,b',
    'a;b',
    '<a>',
    '{"a":1}',
    '\u00fc',
    '部',
    '"a"',
    '../a',
    'a\tb',
  ]) {
    const { headers, code } = await sendRaw(service.base, request(line, `X-Request-Id: ${header}`));
    assert.equal(code, 200);
    assert.match(String(headers['x-request-id']), /^[0-9a-f-]{36}$/, header);
    given.add(String(headers['x-request-id']));
  }
  const twice = await sendRaw(service.base, request(line, 'X-Request-Id: a', 'X-Request-Id: b'));
  assert.match(String(twice.headers['x-request-id']), /^[0-9a-f-]{36}$/);
  assert.equal(given.size, 12);
});

test('every answer forbids browsers to guess its type', async () => {
  for (const path of [
    '/version',
    '/nope',
    '/openapi.json',
    '/docs',
    '/%ff',
    '/system/dept-api/list',
    '/version?a=%ff',
  ]) {
    assert.equal((await service.anonymous.get(path)).headers['x-content-type-options'], 'nosniff', path);
  }
});

test('front ends that expect HTTP 200 always get it, with the same body', async () => {
  const ruoyi = await startService({ BANYAN_ERROR_STATUS: '200' });
  const { anonymous, root } = ruoyi;
  const refusals: [number, string, ReturnType<typeof root.get>][] = [
    [404, 'PATH_NOT_FOUND', anonymous.get('/nope')],
    [405, 'METHOD_NOT_ALLOWED', anonymous.call('PATCH', '/system/dept-api')],
    [401, 'NO_TOKEN', anonymous.get('/system/dept-api/1')],
    [404, 'DEPT_NOT_FOUND', root.get('/system/dept-api/1')],
    [400, 'INVALID_FIELD', root.get('/system/dept-api/x')],
    [400, 'INVALID_JSON', root.post('/system/dept-api', undefined, { raw: '{' })],
    [400, 'INVALID_UTF8', root.get('/%ff')],
    [413, 'BODY_TOO_LARGE', root.post('/system/dept-api', undefined, { raw: 'x'.repeat(2_000_000) })],
    [415, 'NOT_JSON', root.post('/system/dept-api', {}, { headers: { 'content-type': 'text/plain' } })],
    [431, 'HEADERS_TOO_LARGE', root.get(`/${'x'.repeat(300_000)}`)],
    [400, 'BAD_REQUEST', sendRaw(ruoyi.base, 'GARBAGE\r\n\r\n')],
  ];
  for (const [code, reason, promise] of refusals) {
    const answer = await promise;
    assert.deepEqual([answer.status, answer.code, answer.data.reason], [200, code, reason], answer.text);
  }
  await ruoyi.close();
});
