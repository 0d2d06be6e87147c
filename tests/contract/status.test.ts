import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectInvalid, expectOk, expectUnchanged, readDept } from '../support/expect.ts';
import { PASSWORD, startService } from '../support/service.ts';
import { craft, now } from '../support/tokens.ts';
import { waitFor } from '../support/wait.ts';

/** Envelope: the status codes, each brought about over HTTP. */

const service = await startService();
const boss = await service.createTenant();

describe('400 malformed or invalid input', () => {
  test('malformed', async () => {
    for (const raw of ['{', 'deptName=x', '{"deptName":"x",}', "{'deptName':'x'}", '{} {}', 'undefined']) {
      expectError(await boss.post(DEPTS, undefined, { raw }), 400, 'INVALID_JSON');
    }
  });

  test('not UTF-8', async () => {
    const raw = Buffer.concat([Buffer.from('{"deptName":"'), Buffer.from([0xb2, 0xbf]), Buffer.from('"}')]);
    expectError(await boss.post(DEPTS, undefined, { raw }), 400, 'INVALID_UTF8');
    expectError(await boss.get(`${DEPTS}/list?deptName=%B2%BF`), 400, 'INVALID_UTF8');
    expectError(await boss.get(`${DEPTS}/%E4%BD`), 400, 'INVALID_UTF8');
  });

  test('the framework’s own words reach no sentence', async () => {
    for (const answer of [await boss.post(DEPTS, undefined, { raw: '{' }), await boss.get(`${DEPTS}/%`)]) {
      assert.deepEqual([answer.status, answer.code], [400, 400]);
      assert.doesNotMatch(answer.msg, /content-type is set|url component/);
    }
  });

  test('invalid', async () => expectInvalid(await boss.post(DEPTS, { orderNum: 'first' }), 'orderNum'));
});

describe('401 no, invalid, expired or revoked token', () => {
  const call = (authorization: string) => service.anonymous.get(`${DEPTS}/1`, { headers: { authorization } });

  test('no token', async () => {
    expectError(await service.anonymous.get(`${DEPTS}/1`), 401, 'NO_TOKEN');
    expectError(await service.anonymous.post(DEPTS, {}), 401, 'NO_TOKEN');
  });

  test('invalid token', async () => {
    const [head, payload, signature] = String(boss.token).split('.') as [string, string, string];
    const turned = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
    const none = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url');
    for (const authorization of [
      'Bearer',
      'Bearer x',
      `Basic ${boss.token}`,
      String(boss.token),
      `Bearer ${head}.${payload}.${turned}`,
      `Bearer ${head}.${payload}.`,
      `Bearer ${none}.${payload}.`,
      `Bearer ${none}.${payload}.${signature}`,
    ]) {
      expectError(await call(authorization), 401, 'INVALID_TOKEN');
    }
  });

  test('expired token', async () => {
    const expired = await craft(service, String(boss.token), { claims: { iat: now() - 3_600, exp: now() - 1_800 } });
    expectError(await call(`Bearer ${expired}`), 401, 'TOKEN_EXPIRED');
  });

  test('revoked token', async () => {
    const member = await service.createMember(boss);
    assert.equal((await member.get(`${DEPTS}/list`)).code, 200);
    expectOk(await member.post('/auth/logout'));
    expectError(await member.get(`${DEPTS}/list`), 401, 'SESSION_ENDED');
  });
});

test('403 authenticated but not allowed', async () => {
  const member = await service.createMember(boss);
  expectError(await member.post(DEPTS, {}), 403, 'NOT_ALLOWED');
  expectError(await boss.post(DEPTS, { tenantId: '000000' }), 403, 'OTHER_TENANT');
});

test('404 no such resource for this caller: another tenant’s is never told apart from a missing one', async () => {
  const stranger = await service.createTenant();
  const theirs = await stranger.createDepartment();
  const alike = async (id: string) => {
    const answers = [
      await boss.get(`${DEPTS}/${id}`),
      await boss.get(`${DEPTS}/${id}?includeDeleted=true`),
      await boss.put(DEPTS, { deptId: id }),
      await boss.put(DEPTS, { deptId: id, parentId: 0 }),
      await boss.delete(`${DEPTS}/${id}`),
    ];
    for (const answer of answers) expectError(answer, 404, 'DEPT_NOT_FOUND');
    return answers.map(({ text }) => text.replaceAll(id, 'ID'));
  };
  assert.deepEqual(await alike(theirs), await alike('999999999'));
  assert.equal((await readDept(stranger, theirs)).updateTime, null);
});

test('409 the state forbids it', async () => {
  const deptId = await boss.createDepartment();
  expectError(await boss.put(DEPTS, { deptId, parentId: deptId }), 409, 'DEPT_CYCLE');
});

test('412 If-Match failed', async () => {
  const deptId = await boss.createDepartment({ deptName: '前' });
  const options = { headers: { 'if-match': '"of no version"' } };
  await expectUnchanged(boss, deptId, async () => {
    const answer = await boss.put(DEPTS, { deptId, deptName: '后' }, options);
    assert.deepEqual([answer.status, answer.code], [412, 412], answer.text);
  });
});

test('413 body too large', async () => {
  const limit = 1_048_576;
  expectError(await boss.post(DEPTS, { more: 'x'.repeat(limit) }), 413, 'BODY_TOO_LARGE', { limit });
});

test('415 not JSON', async () => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'json']) {
    const options = { raw: '{}', headers: { 'content-type': type } };
    expectError(await boss.post(DEPTS, undefined, options), 415, 'NOT_JSON');
    expectError(await boss.put(DEPTS, undefined, options), 415, 'NOT_JSON');
  }
  for (const type of ['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset=UTF-8']) {
    expectOk(await boss.post(DEPTS, undefined, { raw: '{}', headers: { 'content-type': type } }));
  }
});

test('429 too many (with Retry-After)', async () => {
  await boss.createUser({ userName: 'guessed' });
  const logIn = (password: string) =>
    service.anonymous.post('/auth/login', { tenantId: boss.tenantId, username: 'guessed', password });
  for (let tries = 0; tries < 5; tries++) expectError(await logIn('wrong password'), 401, 'LOGIN_FAILED');
  const answer = await logIn(PASSWORD);
  expectError(answer, 429, 'TOO_MANY_LOGINS');
  const seconds = Number(answer.headers['retry-after']);
  assert.ok(seconds > 0 && seconds <= 600, String(answer.headers['retry-after']));
});

describe('Unknown path or method: 404/405, in the envelope too', () => {
  for (const path of ['/', '/nowhere', '/system', '/system/dept', '/system/dept-api/1/2', '/system/dept-api2', '//']) {
    test(`404 ${path}`, async () => {
      for (const client of [boss, service.anonymous]) {
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
    test(`405 ${method} ${path}`, async () => {
      const answer = await boss.call(method, path);
      expectError(answer, 405, 'METHOD_NOT_ALLOWED');
      for (const name of allowed) assert.match(String(answer.headers.allow), new RegExp(`\\b${name}\\b`));
      assert.doesNotMatch(String(answer.headers.allow), new RegExp(`\\b${method}\\b`));
    });
  }
});

test('500 ours, with a request id and no internals', async () => {
  const broken = await startService();
  await broken.superuser`alter table departments rename to mislaid`;
  const answer = await broken.root.get(`${DEPTS}/1`);
  expectError(answer, 500, 'INTERNAL', { requestId: answer.headers['x-request-id'] });
  assert.ok(answer.msg.includes(String(answer.headers['x-request-id'])));
  assert.doesNotMatch(answer.text, /departments|relation|select|42P01|stack|\.ts|\.js/i);
  const named = await broken.root.get(`${DEPTS}/1`, { headers: { 'x-request-id': 'of-the-caller-7' } });
  expectError(named, 500, 'INTERNAL', { requestId: 'of-the-caller-7' });
});

test('503 database away (with Retry-After), and back again', async () => {
  const cut = await startService();
  const [{ name }] = await cut.superuser<[{ name: string }]>`select current_database() as name`;
  await cut.superuser.unsafe(`alter database ${name} connection limit 0`);
  // One that was just being let in is not seen among those that are cut.
  do
    await cut.superuser`
      select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where datname = ${name} and pid <> pg_backend_pid()`;
  while ((await cut.anonymous.get('/health/ready')).status === 200);
  for (const path of [`${DEPTS}/1`, `${DEPTS}/list`]) {
    const answer = await cut.root.get(path);
    expectError(answer, 503, 'DATABASE_AWAY');
    assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/);
    assert.doesNotMatch(answer.text, /connection|postgres|socket/i);
  }
  await cut.superuser.unsafe(`alter database ${name} connection limit -1`);
  await waitFor('the service is back', async () => (await cut.root.get(`${DEPTS}/list`)).status === 200);
});
