import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOperations } from '../support/openapi.ts';
import { request, sendRaw } from '../support/raw.ts';
import { sample } from '../support/scale.ts';
import { type ApiResponse, PASSWORD, startService } from '../support/service.ts';

/** The security headers of every kind of response. */

const service = await startService();
const admin = await service.createTenant();
const leaver = await service.createMember(admin);
const member = await service.createMember(admin);
const dept = await admin.createDepartment();
const operations = await readOperations(service);
const origin = 'https://evil.example';
const foreign = { headers: { origin } };

/**
 * Responses of every operation with our envelope to requests from another origin, and responses to requests that match no
 * operation. The long run calls each operation with and without a token, the everyday run in one of the two ways.
 */
const responses: [what: string, ApiResponse][] = [];
for (const [n, { method, path, operationId, body }] of operations.entries()) {
  // An event stream does not end, so request it with an invalid parameter.
  const query = operationId === 'streamChanges' ? '?after=x' : '';
  const at = path.replace('{id}', operationId === 'readDepartment' ? dept : '7') + query;
  for (const client of sample([service.anonymous, operationId === 'logOut' ? leaver : admin], 2, n)) {
    const auth = client.token ? 'with a token' : 'without a token';
    responses.push([`${method} ${path} ${auth}`, await client.call(method, at, body ? {} : undefined, foreign)]);
  }
}
const login = { tenantId: admin.tenantId, username: 'boss', password: PASSWORD };
const tokens = await service.anonymous.post('/auth/login', login, foreign);
const fresh = await service.anonymous.post('/auth/refresh', { refresh_token: tokens.data.refresh_token }, foreign);
responses.push(
  ['tokens of a login', tokens],
  ['tokens of a refresh', fresh],
  ['a rejected member', await member.get('/system/user-api/list', foreign)],
  ['an unknown path', await admin.get('/nope', foreign)],
  ['an unsupported method', await admin.call('PATCH', '/system/dept-api', {}, foreign)],
  ['an invalid escape', await admin.get('/%ff', foreign)],
  ['a body too large', await admin.post('/system/dept-api', undefined, { raw: ' '.repeat(1_100_000), ...foreign })],
  ['input that is not HTTP', await sendRaw(service.base, 'GARBAGE\r\n\r\n')],
  ['headers too large', await sendRaw(service.base, request('GET /version', `X-A: ${'a'.repeat(300_000)}`))],
  ['CONNECT', await sendRaw(service.base, request('CONNECT /version'))],
  ['HEAD', await admin.call('HEAD', `/system/dept-api/${dept}`, undefined, foreign)],
);
const pages: [what: string, ApiResponse][] = [];
for (const path of ['/docs', '/docs/', '/docs/static/swagger-ui.css', '/docs/static/nope', '/docs/json']) {
  pages.push([path, await service.anonymous.get(path, foreign)]);
}
const document: [string, ApiResponse] = ['/openapi.json', await service.anonymous.get('/openapi.json', foreign)];

test('the collected responses cover successes and errors of all kinds', () => {
  assert.deepEqual([tokens.code, fresh.code], [200, 200]);
  const statuses = new Set(responses.map(([, { status }]) => status));
  for (const status of [200, 400, 401, 403, 404, 405, 413, 431]) assert.ok(statuses.has(status), String(status));
});

test('no response with our envelope may be cached', () => {
  for (const [what, { headers }] of responses) assert.equal(headers['cache-control'], 'no-store', what);
});

test('responses forbid MIME sniffing, referrers and framing', () => {
  for (const [what, { headers }] of [...responses, ...pages, document]) {
    assert.equal(headers['x-content-type-options'], 'nosniff', what);
    assert.equal(headers['referrer-policy'], 'no-referrer', what);
    assert.match(String(headers['content-security-policy']), /frame-ancestors 'none'/, what);
  }
});

test('API responses may load nothing, and pages load only from the service', () => {
  for (const [what, { headers }] of [...responses, document]) {
    assert.equal(
      headers['content-security-policy'],
      "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
      what,
    );
  }
  for (const [what, { headers }] of pages) {
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /^default-src '(self|none)';/, what);
    assert.doesNotMatch(policy, /unsafe|https?:|\*/, what);
  }
});

test('no response header reveals the software of the service', () => {
  for (const [what, { headers }] of [...responses, ...pages, document]) {
    for (const name of ['server', 'x-powered-by', 'via', 'x-runtime', 'x-aspnet-version']) {
      assert.equal(headers[name], undefined, `${what}: ${name}`);
    }
  }
});

test('no response sets a cookie that a browser could add to cross-site requests', () => {
  for (const [what, { headers }] of [...responses, ...pages, document]) {
    assert.equal(headers['set-cookie'], undefined, what);
  }
});

test('responses have no CORS headers, so scripts of other origins can read nothing', () => {
  for (const [what, { headers }] of [...responses, ...pages, document]) {
    const corsHeaders = Object.keys(headers).filter((name) => name.startsWith('access-control-'));
    assert.deepEqual(corsHeaders, [], what);
  }
});

test('a CORS preflight from another origin is rejected on every path', async () => {
  const paths = new Set([...operations.map(({ path }) => path.replace('{id}', '7')), '/docs', '/openapi.json']);
  for (const path of paths) {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
      const headers = {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'authorization,content-type',
        'access-control-request-private-network': 'true',
      };
      const response = await service.anonymous.call('OPTIONS', path, undefined, { headers });
      assert.equal(response.status, 405, path);
      assert.deepEqual(
        Object.keys(response.headers).filter((name) => name.startsWith('access-control-')),
        [],
        path,
      );
    }
  }
});

test('a cross-site form, which a browser sends without a preflight, is rejected', async () => {
  // These three content types need no preflight. They are rejected even with a token, because they are not JSON.
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
    const response = await admin.post('/system/dept-api', {}, { headers: { origin, 'content-type': type } });
    assert.deepEqual([response.status, response.data.reason], [415, 'NOT_JSON'], type);
  }
});

test('pages of a configured origin can call the service and read responses, but those of other origins cannot', async () => {
  const allowed = 'https://console.example';
  const corsService = await startService({ BANYAN_CORS_ORIGINS: `http://localhost:5173, ${allowed}` });
  const preflight = (from: string) =>
    corsService.anonymous.call('OPTIONS', '/system/dept-api', undefined, {
      headers: {
        origin: from,
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'authorization,content-type,if-match,idempotency-key',
      },
    });
  const granted = await preflight(allowed);
  assert.equal(granted.status, 204);
  assert.equal(granted.headers['access-control-allow-origin'], allowed);
  assert.match(String(granted.headers['access-control-allow-methods']), /PUT/);
  assert.match(String(granted.headers['access-control-allow-headers']), /authorization.*if-match.*idempotency-key/);
  const created = await corsService.root.post('/system/dept-api', {}, { headers: { origin: allowed } });
  const rejected = await corsService.anonymous.get('/system/dept-api/1', { headers: { origin: allowed } });
  const notFound = await corsService.root.get('/nope', { headers: { origin: allowed } });
  assert.deepEqual([created.status, rejected.status, notFound.status], [200, 401, 404]);
  for (const { headers } of [created, rejected, notFound]) {
    assert.equal(headers['access-control-allow-origin'], allowed);
    assert.match(String(headers['access-control-expose-headers']), /ETag.*Location.*Retry-After/);
    assert.match(String(headers.vary), /Origin/);
    assert.equal(headers['access-control-allow-credentials'], undefined);
  }
  for (const from of [origin, 'null', `${allowed}.evil.example`, 'http://console.example', `${allowed}:8443`]) {
    for (const { headers } of [
      await preflight(from),
      await corsService.root.get('/auth/me', { headers: { origin: from } }),
    ]) {
      assert.equal(headers['access-control-allow-origin'], undefined, from);
    }
  }
});
