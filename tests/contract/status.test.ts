import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type Answer, PASSWORD, startService } from '../harness.ts';
import { assertInvalid, assertOk, assertRefused, assertUnchanged, DEPTS, readDept } from './answers.ts';

/** Envelope: the status codes, each brought about over HTTP. */

const service = await startService();
const boss = await service.tenant();

/** Asks again and again while the answer has this status. */
async function answerAfter(status: number, call: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await call();
    if (answer.status !== status) return answer;
    await setTimeout(50);
  }
}

describe('400 malformed or invalid input', () => {
  test('malformed', async () => {
    for (const raw of ['{', 'deptName=x', '{"deptName":"x",}', "{'deptName':'x'}", '{} {}', 'undefined']) {
      assertRefused(await boss.post(DEPTS, undefined, { raw }), 400, 'INVALID_JSON');
    }
  });

  test('not UTF-8', async () => {
    const raw = Buffer.concat([Buffer.from('{"deptName":"'), Buffer.from([0xb2, 0xbf]), Buffer.from('"}')]);
    assertRefused(await boss.post(DEPTS, undefined, { raw }), 400, 'INVALID_UTF8');
    assertRefused(await boss.get(`${DEPTS}/list?deptName=%B2%BF`), 400, 'INVALID_UTF8');
    assertRefused(await boss.get(`${DEPTS}/%E4%BD`), 400, 'INVALID_UTF8');
  });

  test('the framework’s own words reach no sentence', async () => {
    for (const answer of [await boss.post(DEPTS, undefined, { raw: '{' }), await boss.get(`${DEPTS}/%`)]) {
      assert.deepEqual([answer.status, answer.code], [400, 400]);
      assert.doesNotMatch(answer.msg, /content-type is set|url component/);
    }
  });

  test('invalid', async () => assertInvalid(await boss.post(DEPTS, { orderNum: 'first' }), 'orderNum'));
});

describe('401 no, invalid, expired or revoked token', () => {
  const call = (authorization: string) => service.nobody.get(`${DEPTS}/1`, { headers: { authorization } });

  test('no token', async () => {
    assertRefused(await service.nobody.get(`${DEPTS}/1`), 401, 'NO_TOKEN');
    assertRefused(await service.nobody.post(DEPTS, {}), 401, 'NO_TOKEN');
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
      assertRefused(await call(authorization), 401, 'INVALID_TOKEN');
    }
  });

  test('expired token', { timeout: 60_000 }, async () => {
    const brief = await startService({ BANYAN_ACCESS_TOKEN_SECONDS: '1' });
    assertRefused(await answerAfter(200, () => brief.root.get(`${DEPTS}/list`)), 401, 'TOKEN_EXPIRED');
  });

  test('revoked token', async () => {
    const member = await service.member(boss);
    assert.equal((await member.get(`${DEPTS}/list`)).code, 200);
    assertOk(await member.post('/auth/logout'));
    assertRefused(await member.get(`${DEPTS}/list`), 401, 'SESSION_ENDED');
  });
});

test('403 authenticated but not allowed', async () => {
  const member = await service.member(boss);
  assertRefused(await member.post(DEPTS, {}), 403, 'NOT_ALLOWED');
  assertRefused(await boss.post(DEPTS, { tenantId: '000000' }), 403, 'OTHER_TENANT');
});

test('404 no such resource for this caller: another tenant’s is never told apart from a missing one', async () => {
  const stranger = await service.tenant();
  const theirs = await stranger.dept();
  const alike = async (id: string) => {
    const answers = [
      await boss.get(`${DEPTS}/${id}`),
      await boss.get(`${DEPTS}/${id}?includeDeleted=true`),
      await boss.put(DEPTS, { deptId: id }),
      await boss.put(DEPTS, { deptId: id, parentId: 0 }),
      await boss.delete(`${DEPTS}/${id}`),
    ];
    for (const answer of answers) assertRefused(answer, 404, 'DEPT_NOT_FOUND');
    return answers.map(({ text }) => text.replaceAll(id, 'ID'));
  };
  assert.deepEqual(await alike(theirs), await alike('999999999'));
  assert.equal((await readDept(stranger, theirs)).updateTime, null);
});

test('409 the state forbids it', async () => {
  const deptId = await boss.dept();
  assertRefused(await boss.put(DEPTS, { deptId, parentId: deptId }), 409, 'DEPT_CYCLE');
});

test('412 If-Match failed', async () => {
  const deptId = await boss.dept({ deptName: '前' });
  const options = { headers: { 'if-match': '"of no version"' } };
  await assertUnchanged(boss, deptId, async () => {
    const answer = await boss.put(DEPTS, { deptId, deptName: '后' }, options);
    assert.deepEqual([answer.status, answer.code], [412, 412], answer.text);
  });
});

test('413 body too large', async () => {
  const limit = 1_048_576;
  assertRefused(await boss.post(DEPTS, { more: 'x'.repeat(limit) }), 413, 'BODY_TOO_LARGE', { limit });
});

test('415 not JSON', async () => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'json']) {
    const options = { raw: '{}', headers: { 'content-type': type } };
    assertRefused(await boss.post(DEPTS, undefined, options), 415, 'NOT_JSON');
    assertRefused(await boss.put(DEPTS, undefined, options), 415, 'NOT_JSON');
  }
  for (const type of ['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset=UTF-8']) {
    assertOk(await boss.post(DEPTS, undefined, { raw: '{}', headers: { 'content-type': type } }));
  }
});

test('429 too many (with Retry-After)', async () => {
  await boss.user({ userName: 'guessed' });
  const logIn = (password: string) =>
    service.nobody.post('/auth/login', { tenantId: boss.tenantId, username: 'guessed', password });
  for (let tries = 0; tries < 5; tries++) assertRefused(await logIn('wrong password'), 401, 'LOGIN_FAILED');
  const answer = await logIn(PASSWORD);
  assertRefused(answer, 429, 'TOO_MANY_LOGINS');
  const seconds = Number(answer.headers['retry-after']);
  assert.ok(seconds > 0 && seconds <= 600, String(answer.headers['retry-after']));
});

describe('Unknown path or method: 404/405, in the envelope too', () => {
  for (const path of ['/', '/nowhere', '/system', '/system/dept', '/system/dept-api/1/2', '/system/dept-api2', '//']) {
    test(`404 ${path}`, async () => {
      for (const client of [boss, service.nobody]) {
        for (const method of ['GET', 'POST', 'DELETE']) {
          assertRefused(await client.call(method, path, method === 'POST' ? {} : undefined), 404, 'PATH_NOT_FOUND');
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
      assertRefused(answer, 405, 'METHOD_NOT_ALLOWED');
      for (const name of allowed) assert.match(String(answer.headers.allow), new RegExp(`\\b${name}\\b`));
      assert.doesNotMatch(String(answer.headers.allow), new RegExp(`\\b${method}\\b`));
    });
  }
});

test('500 ours, with a request id and no internals', async () => {
  const broken = await startService();
  await broken.superuser`alter table departments rename to mislaid`;
  const answer = await broken.root.get(`${DEPTS}/1`);
  assertRefused(answer, 500, 'INTERNAL', { requestId: answer.headers['x-request-id'] });
  assert.ok(answer.msg.includes(String(answer.headers['x-request-id'])));
  assert.doesNotMatch(answer.text, /departments|relation|select|42P01|stack|\.ts|\.js/i);
  const named = await broken.root.get(`${DEPTS}/1`, { headers: { 'x-request-id': 'of-the-caller-7' } });
  assertRefused(named, 500, 'INTERNAL', { requestId: 'of-the-caller-7' });
});

test('503 database away (with Retry-After), and back again', { timeout: 60_000 }, async () => {
  const cut = await startService();
  const [{ name }] = await cut.superuser<[{ name: string }]>`select current_database() as name`;
  await cut.superuser.unsafe(`alter database ${name} connection limit 0`);
  // One that was just being let in is not seen among those that are cut.
  do
    await cut.superuser`
      select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where datname = ${name} and pid <> pg_backend_pid()`;
  while ((await cut.nobody.get('/health/ready')).status === 200);
  for (const path of [`${DEPTS}/1`, `${DEPTS}/list`]) {
    const answer = await cut.root.get(path);
    assertRefused(answer, 503, 'DATABASE_AWAY');
    assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/);
    assert.doesNotMatch(answer.text, /connection|postgres|socket/i);
  }
  await cut.superuser.unsafe(`alter database ${name} connection limit -1`);
  assert.equal((await answerAfter(503, () => cut.root.get(`${DEPTS}/list`))).status, 200);
});
