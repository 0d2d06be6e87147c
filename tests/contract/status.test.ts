import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectInvalid, expectOk, expectUnchanged, readDept } from '../support/expect.ts';
import { PASSWORD, shareService, startService } from '../support/service.ts';
import { now, signToken } from '../support/tokens.ts';
import { waitFor, waitForEstablishedConnections } from '../support/wait.ts';

/** The status codes of the interface, provoked over HTTP. */

const service = await shareService();
const admin = await service.createTenant();

describe('400 for malformed or invalid input', () => {
  test('malformed JSON returns 400', async () => {
    for (const raw of ['{', 'deptName=x', '{"deptName":"x",}', "{'deptName':'x'}", '{} {}', 'undefined']) {
      expectError(await admin.post(DEPTS, undefined, { raw }), 400, 'INVALID_JSON');
    }
  });

  test('a body, query or path that is not UTF-8 returns 400', async () => {
    const raw = Buffer.concat([Buffer.from('{"deptName":"'), Buffer.from([0xb2, 0xbf]), Buffer.from('"}')]);
    expectError(await admin.post(DEPTS, undefined, { raw }), 400, 'INVALID_UTF8');
    expectError(await admin.get(`${DEPTS}/list?deptName=%B2%BF`), 400, 'INVALID_UTF8');
    expectError(await admin.get(`${DEPTS}/%E4%BD`), 400, 'INVALID_UTF8');
  });

  test('an error message does not contain the text of the framework', async () => {
    for (const response of [await admin.post(DEPTS, undefined, { raw: '{' }), await admin.get(`${DEPTS}/%`)]) {
      assert.deepEqual([response.status, response.code], [400, 400]);
      assert.doesNotMatch(response.msg, /content-type is set|url component/);
    }
  });

  test('a field of the wrong type returns 400', async () =>
    expectInvalid(await admin.post(DEPTS, { orderNum: 'first' }), 'orderNum'));
});

describe('401 for a missing, invalid, expired or revoked token', () => {
  const call = (authorization: string) => service.anonymous.get(`${DEPTS}/1`, { headers: { authorization } });

  test('a missing token returns NO_TOKEN', async () => {
    expectError(await service.anonymous.get(`${DEPTS}/1`), 401, 'NO_TOKEN');
    expectError(await service.anonymous.post(DEPTS, {}), 401, 'NO_TOKEN');
  });

  test('an invalid token returns INVALID_TOKEN', async () => {
    const [head, payload, signature] = String(admin.token).split('.') as [string, string, string];
    const altered = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
    const none = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url');
    for (const authorization of [
      'Bearer',
      'Bearer x',
      `Basic ${admin.token}`,
      String(admin.token),
      `Bearer ${head}.${payload}.${altered}`,
      `Bearer ${head}.${payload}.`,
      `Bearer ${none}.${payload}.`,
      `Bearer ${none}.${payload}.${signature}`,
    ]) {
      expectError(await call(authorization), 401, 'INVALID_TOKEN');
    }
  });

  test('an expired token returns TOKEN_EXPIRED', async () => {
    const expired = await signToken(service, String(admin.token), {
      claims: { iat: now() - 3_600, exp: now() - 1_800 },
    });
    expectError(await call(`Bearer ${expired}`), 401, 'TOKEN_EXPIRED');
  });

  test('the token of an ended session returns SESSION_ENDED', async () => {
    const member = await service.createMember(admin);
    assert.equal((await member.get(`${DEPTS}/list`)).code, 200);
    expectOk(await member.post('/auth/logout'));
    expectError(await member.get(`${DEPTS}/list`), 401, 'SESSION_ENDED');
  });
});

test('an authenticated caller without permission gets 403', async () => {
  const member = await service.createMember(admin);
  expectError(await member.post(DEPTS, {}), 403, 'NOT_ALLOWED');
  expectError(await admin.post(DEPTS, { tenantId: '000000' }), 403, 'OTHER_TENANT');
});

test('a missing resource and a resource of another tenant return the same 404', async () => {
  const other = await service.createTenant();
  const theirs = await other.createDepartment();
  const textsFor = async (id: string) => {
    const responses = [
      await admin.get(`${DEPTS}/${id}`),
      await admin.get(`${DEPTS}/${id}?includeDeleted=true`),
      await admin.put(DEPTS, { deptId: id }),
      await admin.put(DEPTS, { deptId: id, parentId: 0 }),
      await admin.delete(`${DEPTS}/${id}`),
    ];
    for (const response of responses) expectError(response, 404, 'DEPT_NOT_FOUND');
    return responses.map(({ text }) => text.replaceAll(id, 'ID'));
  };
  assert.deepEqual(await textsFor(theirs), await textsFor('999999999'));
  assert.equal((await readDept(other, theirs)).updateTime, null);
});

test('a change that the state forbids returns 409', async () => {
  const deptId = await admin.createDepartment();
  expectError(await admin.put(DEPTS, { deptId, parentId: deptId }), 409, 'DEPT_CYCLE');
});

test('an If-Match that does not match returns 412', async () => {
  const deptId = await admin.createDepartment({ deptName: '前' });
  const options = { headers: { 'if-match': '"of no version"' } };
  await expectUnchanged(admin, deptId, async () => {
    const response = await admin.put(DEPTS, { deptId, deptName: '后' }, options);
    assert.deepEqual([response.status, response.code], [412, 412], response.text);
  });
});

test('a body that is too large returns 413', async () => {
  const limit = 1_048_576;
  expectError(await admin.post(DEPTS, { more: 'x'.repeat(limit) }), 413, 'BODY_TOO_LARGE', { limit });
});

test('a content type other than JSON returns 415', async () => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'json']) {
    const options = { raw: '{}', headers: { 'content-type': type } };
    expectError(await admin.post(DEPTS, undefined, options), 415, 'NOT_JSON');
    expectError(await admin.put(DEPTS, undefined, options), 415, 'NOT_JSON');
  }
  for (const type of ['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset=UTF-8']) {
    expectOk(await admin.post(DEPTS, undefined, { raw: '{}', headers: { 'content-type': type } }));
  }
});

test('too many failed logins return 429 with Retry-After', async () => {
  await admin.createUser({ userName: 'guessed' });
  const logIn = (password: string) =>
    service.anonymous.post(
      '/auth/login',
      { tenantId: admin.tenantId, username: 'guessed', password },
      { from: '127.0.5.1' },
    );
  for (let tries = 0; tries < 5; tries++) expectError(await logIn('wrong password'), 401, 'LOGIN_FAILED');
  const response = await logIn(PASSWORD);
  expectError(response, 429, 'TOO_MANY_LOGINS');
  const seconds = Number(response.headers['retry-after']);
  assert.ok(seconds > 0 && seconds <= 600, String(response.headers['retry-after']));
});

describe('404 and 405 for an unknown path or method', () => {
  for (const path of ['/', '/nowhere', '/system', '/system/dept', '/system/dept-api/1/2', '/system/dept-api2', '//']) {
    test(`${path} returns 404`, async () => {
      for (const client of [admin, service.anonymous]) {
        for (const method of ['GET', 'POST', 'DELETE']) {
          expectError(await client.call(method, path, method === 'POST' ? {} : undefined), 404, 'PATH_NOT_FOUND');
        }
      }
    });
  }

  for (const [method, path, allowed] of [
    ['GET', DEPTS, ['POST', 'PUT']],
    ['DELETE', DEPTS, ['POST', 'PUT']],
    ['PATCH', DEPTS, ['POST', 'PUT']],
    ['OPTIONS', DEPTS, ['POST', 'PUT']],
    ['POST', `${DEPTS}/1`, ['GET', 'DELETE']],
    ['PUT', `${DEPTS}/1?x=y`, ['GET', 'DELETE']],
    ['PROPFIND', `${DEPTS}/1`, ['GET', 'DELETE']],
    ['GET', '/auth/login', ['POST']],
  ] as const) {
    test(`${method} ${path} returns 405`, async () => {
      const response = await admin.call(method, path);
      expectError(response, 405, 'METHOD_NOT_ALLOWED');
      for (const name of allowed) assert.match(String(response.headers.allow), new RegExp(`\\b${name}\\b`));
      assert.doesNotMatch(String(response.headers.allow), new RegExp(`\\b${method}\\b`));
    });
  }
});

test('an internal error returns 500 with a request id and without internals', async () => {
  const broken = await startService();
  await broken.superuser`alter table departments rename to mislaid`;
  const response = await broken.root.get(`${DEPTS}/1`);
  expectError(response, 500, 'INTERNAL', { requestId: response.headers['x-request-id'] });
  assert.ok(response.msg.includes(String(response.headers['x-request-id'])));
  assert.doesNotMatch(response.text, /departments|relation|select|42P01|stack|\.ts|\.js/i);
  const withRequestId = await broken.root.get(`${DEPTS}/1`, { headers: { 'x-request-id': 'of-the-caller-7' } });
  expectError(withRequestId, 500, 'INTERNAL', { requestId: 'of-the-caller-7' });
});

test('an unavailable database returns 503 with Retry-After, and the service recovers', async () => {
  const disconnected = await startService();
  const [{ name }] = await disconnected.superuser<[{ name: string }]>`select current_database() as name`;
  await disconnected.superuser.unsafe(`alter database ${name} connection limit 0`);
  await waitForEstablishedConnections(disconnected.superuser);
  await disconnected.superuser`
    select pg_terminate_backend(pid, 300000) from pg_stat_activity
    where datname = ${name} and pid <> pg_backend_pid()`;
  for (const path of [`${DEPTS}/1`, `${DEPTS}/list`]) {
    const response = await disconnected.root.get(path);
    expectError(response, 503, 'DATABASE_AWAY');
    assert.match(String(response.headers['retry-after']), /^[1-9]\d*$/);
    assert.doesNotMatch(response.text, /connection|postgres|socket/i);
  }
  await disconnected.superuser.unsafe(`alter database ${name} connection limit -1`);
  await waitFor('the service reconnects', async () => (await disconnected.root.get(`${DEPTS}/list`)).status === 200);
});
