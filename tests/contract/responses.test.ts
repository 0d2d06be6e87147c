import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { expectError } from '../support/expect.ts';
import { operationsOf, readDocument } from '../support/openapi.ts';
import { request, sendRaw } from '../support/raw.ts';
import { sample } from '../support/scale.ts';
import { shareService } from '../support/service.ts';

const service = await shareService();
const admin = await service.createTenant();
const operations = operationsOf(await readDocument(service));
const paths = [...new Set(operations.map(({ path }) => path))];

/** Returns the methods that the document lists for a path template, and HEAD if GET is one of them. */
function methodsAt(template: string): string[] {
  const methods = operations.filter(({ path }) => path === template).map(({ method }) => method);
  return [...new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : [])])].sort();
}

for (const template of [...paths, '/openapi.json', '/docs']) {
  const path = template.replace('{id}', '7');

  test(`${template} rejects other methods with 405 and lists the allowed ones`, async () => {
    const documented = paths.includes(template) ? methodsAt(template) : ['GET', 'HEAD'];
    for (const [n, method] of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'].entries()) {
      if (documented.includes(method)) continue;
      for (const caller of sample([admin, service.anonymous], 2, n)) {
        const response = await caller.call(method, path);
        expectError(response, 405, 'METHOD_NOT_ALLOWED', {}, method);
        assert.deepEqual(String(response.headers.allow).split(', ').sort(), documented);
        assert.equal(response.data.allowed, response.headers.allow);
      }
    }
    if (documented.includes('HEAD')) return;
    const { status, headers } = await admin.call('HEAD', path);
    assert.deepEqual([status, String(headers.allow).split(', ').sort()], [405, documented]);
  });

  test(`${template} is matched without its query`, async () => {
    const response = await service.anonymous.call('TRACE', `${path}?a=/no/such/path`);
    expectError(response, 405, 'METHOD_NOT_ALLOWED');
  });
}

test('an unknown path returns 404 for every method and caller', async () => {
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
  for (const [at, path] of unknown.entries()) {
    for (const [n, method] of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].entries()) {
      for (const caller of sample([admin, service.anonymous], 2, at + n)) {
        expectError(await caller.call(method, path), 404, 'PATH_NOT_FOUND', {}, `${method} ${path}`);
      }
    }
  }
});

test('methods other than GET and HEAD are rejected with 405 on /version and with 404 on an unknown path', async () => {
  // bad-input-http.test.ts covers CONNECT, which Node.js handles separately.
  for (const method of http.METHODS.filter((name) => !['CONNECT', 'GET', 'HEAD'].includes(name))) {
    expectError(await admin.call(method, '/version'), 405, 'METHOD_NOT_ALLOWED', { allowed: 'GET, HEAD' }, method);
    expectError(await admin.call(method, '/nope'), 404, 'PATH_NOT_FOUND', {}, method);
  }
});

test('an unknown path or method returns the same error with any body', async () => {
  for (const raw of ['{}', '{', Buffer.from([0xff]), 'x'.repeat(2_000_000)]) {
    expectError(await admin.post('/nope', undefined, { raw }), 404, 'PATH_NOT_FOUND');
    expectError(await admin.call('PATCH', '/system/dept-api', undefined, { raw }), 405, 'METHOD_NOT_ALLOWED');
  }
  const headers = { 'content-type': 'text/plain' };
  expectError(await admin.post('/nope', undefined, { raw: 'x', headers }), 404, 'PATH_NOT_FOUND');
});

test('HEAD returns the status and headers of GET without the body', async () => {
  const id = await admin.createDepartment();
  for (const path of [
    '/version',
    '/system/dept-api/list',
    `/system/dept-api/${id}`,
    '/system/dept-api/0',
    '/nope',
    '/system/dept-api/x',
  ]) {
    const [get, head] = [await admin.get(path), await admin.call('HEAD', path)];
    assert.equal(head.status, get.status, path);
    assert.equal(head.text, '');
    assert.equal(head.headers['content-type'], get.headers['content-type']);
    assert.equal(head.headers['content-length'], get.headers['content-length']);
    assert.ok(head.headers['x-request-id']);
  }
});

test('every operation rejects a caller without a token unless it is public', async () => {
  for (const { method, path, security = [] } of operations) {
    const response = await service.anonymous.call(method, path.replace('{id}', '7'));
    if (security.length > 0) {
      const scheme = response.headers['www-authenticate'];
      // OAuth defines the form of its errors, and the challenge names the scheme that clients use.
      if (path === '/auth/introspect') {
        assert.deepEqual([response.status, JSON.parse(response.text).error], [401, 'invalid_client']);
        assert.match(scheme ?? '', /^Basic /);
        continue;
      }
      assert.equal(scheme, 'Bearer');
      expectError(response, 401, 'NO_TOKEN', {}, path);
      assert.equal(response.msg, '认证失败，无法访问系统资源');
    } else assert.notEqual(response.status, 401, path);
  }
});

test('a valid X-Request-Id of the caller is returned', async () => {
  for (const id of ['a', '0', 'Zz_9.-', 'e3b0c442-98fc-4c14-9afb-f4c8996fb924', 'x'.repeat(64)]) {
    const headers = { 'x-request-id': id };
    assert.equal((await service.anonymous.get('/version', { headers })).headers['x-request-id'], id);
    assert.equal((await service.anonymous.get('/nope', { headers })).headers['x-request-id'], id);
    assert.equal((await service.anonymous.get('/%ff', { headers })).headers['x-request-id'], id);
    assert.equal((await admin.get('/system/dept-api/list?deptName=%ff', { headers })).headers['x-request-id'], id);
  }
});

test('an invalid X-Request-Id is replaced by a new one', async () => {
  const generated = new Set<string>();
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
    generated.add(String(headers['x-request-id']));
  }
  const twice = await sendRaw(service.base, request(line, 'X-Request-Id: a', 'X-Request-Id: b'));
  assert.match(String(twice.headers['x-request-id']), /^[0-9a-f-]{36}$/);
  assert.equal(generated.size, 12);
});

test('responses have X-Content-Type-Options: nosniff', async () => {
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
