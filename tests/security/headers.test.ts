import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOperations } from '../support/document.ts';
import { request, sendRaw } from '../support/raw.ts';
import { type Answer, PASSWORD, startService } from '../support/service.ts';

/** The headers that a reviewer of security looks for, on every kind of answer there is. */

const service = await startService();
const boss = await service.createTenant();
const leaver = await service.createMember(boss);
const member = await service.createMember(boss);
const dept = await boss.createDepartment();
const operations = await readOperations(service);
const origin = 'https://evil.example';
const foreign = { headers: { origin } };

/** Every operation with and without a token, as a browser of another site would send it; and what never gets so far. */
const answers: [what: string, Answer][] = [];
for (const { method, path, operationId, body } of operations) {
  // Events have no end to wait for: refused.
  const end = operationId === 'streamChanges' ? '?after=x' : '';
  const at = path.replace('{id}', operationId === 'readDepartment' ? dept : '7') + end;
  for (const client of [service.anonymous, operationId === 'logOut' ? leaver : boss]) {
    const who = client.token ? 'with a token' : 'without';
    answers.push([`${method} ${path} ${who}`, await client.call(method, at, body ? {} : undefined, foreign)]);
  }
}
const login = { tenantId: boss.tenantId, username: 'boss', password: PASSWORD };
const tokens = await service.anonymous.post('/auth/login', login, foreign);
const fresh = await service.anonymous.post('/auth/refresh', { refresh_token: tokens.data.refresh_token }, foreign);
answers.push(
  ['tokens of a login', tokens],
  ['tokens of a refresh', fresh],
  ['not for members', await member.get('/system/user-api/list', foreign)],
  ['no such path', await boss.get('/nope', foreign)],
  ['another method', await boss.call('PATCH', '/system/dept-api', {}, foreign)],
  ['a broken escape', await boss.get('/%ff', foreign)],
  ['a body too large', await boss.post('/system/dept-api', undefined, { raw: ' '.repeat(1_100_000), ...foreign })],
  ['what is no HTTP', await sendRaw(service.base, 'GARBAGE\r\n\r\n')],
  ['headers too large', await sendRaw(service.base, request('GET /version', `X-A: ${'a'.repeat(300_000)}`))],
  ['CONNECT', await sendRaw(service.base, request('CONNECT /version'))],
  ['HEAD', await boss.call('HEAD', `/system/dept-api/${dept}`, undefined, foreign)],
);
const pages: [what: string, Answer][] = [];
for (const path of ['/docs', '/docs/', '/docs/static/swagger-ui.css', '/docs/static/nope', '/docs/json']) {
  pages.push([path, await service.anonymous.get(path, foreign)]);
}
const document: [string, Answer] = ['/openapi.json', await service.anonymous.get('/openapi.json', foreign)];

test('the answers looked at are successes and refusals of all kinds', () => {
  assert.deepEqual([tokens.code, fresh.code], [200, 200]);
  const statuses = new Set(answers.map(([, { status }]) => status));
  for (const status of [200, 400, 401, 403, 404, 405, 413, 431]) assert.ok(statuses.has(status), String(status));
});

test('no answer is kept in a cache', () => {
  for (const [what, { headers }] of answers) assert.equal(headers['cache-control'], 'no-store', what);
});

test('no answer is taken for another type, shown in a frame, or tells where its reader goes next', () => {
  for (const [what, { headers }] of [...answers, ...pages, document]) {
    assert.equal(headers['x-content-type-options'], 'nosniff', what);
    assert.equal(headers['referrer-policy'], 'no-referrer', what);
    assert.match(String(headers['content-security-policy']), /frame-ancestors 'none'/, what);
  }
});

test('what is no page may load nothing; pages load from the service alone', () => {
  for (const [what, { headers }] of [...answers, document]) {
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

test('no answer tells what it was made with', () => {
  for (const [what, { headers }] of [...answers, ...pages, document]) {
    for (const name of ['server', 'x-powered-by', 'via', 'x-runtime', 'x-aspnet-version']) {
      assert.equal(headers[name], undefined, `${what}: ${name}`);
    }
  }
});

test('no answer sets a cookie: a browser adds nothing by itself to a request made by another site', () => {
  for (const [what, { headers }] of [...answers, ...pages, document]) {
    assert.equal(headers['set-cookie'], undefined, what);
  }
});

test('scripts of other sites may read nothing', () => {
  for (const [what, { headers }] of [...answers, ...pages, document]) {
    const open = Object.keys(headers).filter((name) => name.startsWith('access-control-'));
    assert.deepEqual(open, [], what);
  }
});

test('a browser that asks beforehand, for another site, is refused on every path', async () => {
  const paths = new Set([...operations.map(({ path }) => path.replace('{id}', '7')), '/docs', '/openapi.json']);
  for (const path of paths) {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
      const headers = {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'authorization,content-type',
        'access-control-request-private-network': 'true',
      };
      const answer = await service.anonymous.call('OPTIONS', path, undefined, { headers });
      assert.equal(answer.status, 405, path);
      assert.deepEqual(
        Object.keys(answer.headers).filter((name) => name.startsWith('access-control-')),
        [],
        path,
      );
    }
  }
});

test('a form of another site, which a browser sends without asking, writes nothing', async () => {
  // The three types that need no asking beforehand. Even with a token they are no JSON.
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
    const answer = await boss.post('/system/dept-api', {}, { headers: { origin, 'content-type': type } });
    assert.deepEqual([answer.status, answer.data.reason], [415, 'NOT_JSON'], type);
  }
});

test('pages of a configured origin may call and read all of an answer; those of any other still read nothing', async () => {
  const ours = 'https://console.example';
  const open = await startService({ BANYAN_CORS_ORIGINS: `http://localhost:5173, ${ours}` });
  const askFirst = (from: string) =>
    open.anonymous.call('OPTIONS', '/system/dept-api', undefined, {
      headers: {
        origin: from,
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'authorization,content-type,if-match,idempotency-key',
      },
    });
  const asked = await askFirst(ours);
  assert.equal(asked.status, 204);
  assert.equal(asked.headers['access-control-allow-origin'], ours);
  assert.match(String(asked.headers['access-control-allow-methods']), /PUT/);
  assert.match(String(asked.headers['access-control-allow-headers']), /authorization.*if-match.*idempotency-key/);
  const made = await open.root.post('/system/dept-api', {}, { headers: { origin: ours } });
  const refused = await open.anonymous.get('/system/dept-api/1', { headers: { origin: ours } });
  const nowhere = await open.root.get('/nope', { headers: { origin: ours } });
  assert.deepEqual([made.status, refused.status, nowhere.status], [200, 401, 404]);
  for (const { headers } of [made, refused, nowhere]) {
    assert.equal(headers['access-control-allow-origin'], ours);
    assert.match(String(headers['access-control-expose-headers']), /ETag.*Location.*Retry-After/);
    assert.match(String(headers.vary), /Origin/);
    assert.equal(headers['access-control-allow-credentials'], undefined);
  }
  for (const from of [origin, 'null', `${ours}.evil.example`, 'http://console.example', `${ours}:8443`]) {
    for (const { headers } of [await askFirst(from), await open.root.get('/auth/me', { headers: { origin: from } })]) {
      assert.equal(headers['access-control-allow-origin'], undefined, from);
    }
  }
});
