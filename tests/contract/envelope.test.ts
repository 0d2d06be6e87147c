import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { errorCatalog } from '../../server/http/errors.ts';
import { DEPTS, expectError, expectOk } from '../support/expect.ts';
import { sendRaw } from '../support/raw.ts';
import { type ApiResponse, PASSWORD, type Service, shareService, startService } from '../support/service.ts';

/** The response envelope: success, errors, their languages and messages, and the alternative error formats. */

const [service, always200] = await Promise.all([shareService(), startService({ BANYAN_ERROR_STATUS: '200' })]);
const admin = await service.createTenant();
const HAN = /\p{Script=Han}/u;

test('a success is HTTP 200 with code, msg and data, and data is null for create, update and delete', async () => {
  const created = await admin.post(DEPTS, {});
  const deptId = String(created.headers.location).split('/').at(-1);
  const read = await admin.get(`${DEPTS}/${deptId}`);
  assert.equal(read.data.deptId, Number(deptId));
  expectOk(read, read.data);
  for (const response of [created, await admin.put(DEPTS, { deptId }), await admin.delete(`${DEPTS}/${deptId}`)]) {
    expectOk(response, null);
    assert.match(String(response.headers['content-type']), /^application\/json; charset=utf-8$/);
  }
});

describe('The Location header contains the id of a created record', () => {
  for (const [path, body, field] of [
    ['/system/dept-api', { deptName: '新' }, 'deptId'],
    ['/system/tenant-api', { tenantName: '新' }, 'id'],
    ['/system/user-api', { userName: 'new', password: PASSWORD }, 'userId'],
  ] as const) {
    test(`POST ${path} returns the path of the new record`, async () => {
      const response = await admin.post(path, body);
      expectOk(response, null);
      const location = String(response.headers.location);
      const [, resource, id] = /^(.+)\/([1-9]\d*)$/.exec(location) ?? [];
      assert.equal(resource, path);
      assert.equal(String((await admin.get(location)).data[field]), id);
    });
  }
});

describe('Errors', () => {
  test('an error has the HTTP status as code, a sentence as msg, and an error code with details as data', async () => {
    const parent = await admin.createDepartment();
    await admin.createDepartment({ parentId: parent });
    const response = await admin.delete(`${DEPTS}/${parent}`);
    assert.equal(response.status, 409);
    assert.deepEqual(JSON.parse(response.text), {
      code: 409,
      msg: '存在下级部门,不允许删除',
      data: { reason: 'DEPT_HAS_CHILDREN', deptIds: [Number(parent)] },
    });
  });

  test('every error code has a status and a message in both languages', () => {
    for (const [reason, [status, zh, en]] of Object.entries(errorCatalog)) {
      assert.match(reason, /^[A-Z][A-Z0-9_]+$/);
      assert.ok(status >= 400 && status < 600, reason);
      assert.match(zh.replace(/\{\w+\}/g, '…'), reason === 'INVALID_FIELD' ? /…/ : HAN);
      assert.match(en.replace(/\{\w+\}/g, '…'), reason === 'INVALID_FIELD' ? /…/ : /[a-z]/);
      assert.doesNotMatch(en, HAN);
    }
  });

  test('/openapi.json documents every error code', async () => {
    const { text } = await service.anonymous.get('/openapi.json');
    const undocumented = Object.keys(errorCatalog).filter((reason) => !new RegExp(`\\b${reason}\\b`).test(text));
    assert.deepEqual(undocumented, []);
  });
});

/** Provokes errors of several kinds that a caller can cause. */
async function provokeErrors({
  root,
  anonymous,
  ...rest
}: Service): Promise<[name: string, status: number, ApiResponse][]> {
  const member = await rest.createMember(root);
  const id = await root.createDepartment();
  const text = { headers: { 'content-type': 'text/plain' }, raw: 'deptName=x' };
  return [
    ['400', 400, await root.post(DEPTS, { status: '5' })],
    ['400 broken JSON', 400, await root.post(DEPTS, undefined, { raw: '{' })],
    ['401', 401, await anonymous.get(`${DEPTS}/${id}`)],
    ['401 login', 401, await anonymous.post('/auth/login', { tenantId: '000000', username: 'x', password: 'x' })],
    ['403', 403, await member.post(DEPTS, {})],
    ['404', 404, await root.get(`${DEPTS}/999999999`)],
    ['404 unknown path', 404, await root.get('/nowhere')],
    ['405', 405, await root.call('PATCH', DEPTS, {})],
    ['409', 409, await root.put(DEPTS, { deptId: id, parentId: id })],
    ['413', 413, await root.post(DEPTS, { more: 'x'.repeat(1_048_576) })],
    ['415', 415, await root.post(DEPTS, undefined, text)],
    ['431', 431, await anonymous.get(`${DEPTS}/${'1'.repeat(300_000)}`)],
  ];
}

const [byDefault, switched] = [await provokeErrors(service), await provokeErrors(always200)];

describe('Clients that always expect HTTP 200', () => {
  for (const [at, [name, status, response]] of byDefault.entries()) {
    const counterpart = switched[at]?.[2] as ApiResponse;
    test(`by default the error ${name} has its own HTTP status`, () =>
      assert.deepEqual([response.status, response.code], [status, status]));
    test(`with BANYAN_ERROR_STATUS=200 the error ${name} is HTTP 200 with the same body`, () => {
      assert.equal(counterpart.status, 200);
      assert.equal(counterpart.text, response.text);
    });
  }

  test('BANYAN_ERROR_STATUS=200 does not change a success', async () => {
    const response = await always200.root.post(DEPTS, {});
    expectOk(response);
    assert.match(String(response.headers.location), /^\/system\/dept-api\/\d+$/);
  });
});

test('with BANYAN_ERROR_STATUS=200 errors in an envelope are HTTP 200 with the status in code', async () => {
  const { anonymous, root } = always200;
  const failures: [number, string, ReturnType<typeof root.get>][] = [
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
    [400, 'BAD_REQUEST', sendRaw(always200.base, 'GARBAGE\r\n\r\n')],
  ];
  for (const [code, reason, promise] of failures) {
    const response = await promise;
    assert.deepEqual([response.status, response.code, response.data.reason], [200, code, reason], response.text);
  }
});

describe('Accept: application/problem+json selects problem details (RFC 9457)', () => {
  const headers = { accept: 'application/problem+json' };

  test('problem details contain type, title, status, detail, instance, and the error code with its details', async () => {
    const parent = await admin.createDepartment();
    await admin.createDepartment({ parentId: parent });
    const response = await admin.delete(`${DEPTS}/${parent}`, { headers });
    assert.equal(response.status, 409);
    assert.match(String(response.headers['content-type']), /^application\/problem\+json/);
    assert.deepEqual(JSON.parse(response.text), {
      type: 'urn:banyan:reason:DEPT_HAS_CHILDREN',
      title: 'DEPT_HAS_CHILDREN',
      status: 409,
      detail: '存在下级部门,不允许删除',
      instance: response.headers['x-request-id'],
      reason: 'DEPT_HAS_CHILDREN',
      deptIds: [Number(parent)],
    });
  });

  test('problem details are selected among other media types, in English, and for unknown paths', async () => {
    const requested = { accept: 'application/problem+json, application/json;q=0.9', 'accept-language': 'en' };
    const { status, headers: received, text } = await admin.get('/nowhere', { headers: requested });
    assert.match(String(received['content-type']), /^application\/problem\+json/);
    const problem = JSON.parse(text);
    assert.deepEqual([status, problem.status, problem.reason], [404, 404, 'PATH_NOT_FOUND']);
    assert.doesNotMatch(problem.detail, HAN);
  });

  test('the media type is matched case-insensitively', async () => {
    const response = await admin.get(`${DEPTS}/999999999`, { headers: { accept: 'Application/Problem+JSON' } });
    assert.match(String(response.headers['content-type']), /^application\/problem\+json/);
  });

  test('successes, and errors for other media types, keep the envelope', async () => {
    expectOk(await admin.post(DEPTS, {}, { headers }));
    const others = ['application/json', '*/*', 'text/html', 'application/json, application/problem+json;q=0'];
    for (const accept of others) {
      const response = await admin.get(`${DEPTS}/999999999`, { headers: { accept } });
      expectError(response, 404, 'DEPT_NOT_FOUND');
      assert.match(String(response.headers['content-type']), /^application\/json/);
    }
  });
});

describe('Language of msg', () => {
  const cases: [headers: Record<string, string>, language: 'Chinese' | 'English'][] = [
    [{}, 'Chinese'],
    [{ 'accept-language': 'zh-CN,zh;q=0.9,en;q=0.8' }, 'Chinese'],
    [{ 'accept-language': 'en' }, 'English'],
    [{ 'accept-language': 'en-US,en;q=0.9' }, 'English'],
    [{ 'accept-language': 'EN-gb' }, 'English'],
    [{ 'accept-language': 'zh;q=0.3, en;q=0.7' }, 'English'],
    [{ 'accept-language': 'en;q=0.3,zh;q=0.7' }, 'Chinese'],
    [{ 'accept-language': 'en; q=0.3, zh-TW' }, 'Chinese'],
    [{ 'accept-language': 'en;Q=0.3, zh' }, 'Chinese'],
    [{ 'accept-language': 'en;q=0' }, 'Chinese'],
    [{ 'accept-language': 'fr' }, 'Chinese'],
    [{ 'accept-language': 'fr, en;q=0.5' }, 'English'],
    [{ 'accept-language': 'fr, en;q=0.5, zh;q=0.6' }, 'Chinese'],
    [{ 'accept-language': '*' }, 'Chinese'],
    [{ 'accept-language': ';;q=,,=' }, 'Chinese'],
    [{ 'content-language': 'en_US' }, 'English'],
    [{ 'content-language': 'zh_CN' }, 'Chinese'],
    // Browsers send Accept-Language by themselves; Content-Language is what the user chose in the front end, so it wins.
    [{ 'content-language': 'en_US', 'accept-language': 'zh-CN,zh;q=0.9' }, 'English'],
  ];
  for (const [headers, language] of cases) {
    test(`the headers ${JSON.stringify(headers)} select ${language}`, async () => {
      const { msg } = await admin.get(`${DEPTS}/999999999`, { headers });
      assert.equal(
        msg,
        language === 'Chinese'
          ? '部门不存在或已被删除，请核对编号'
          : 'The department does not exist or has been deleted. Check the id.',
      );
    });
  }

  test('details within a sentence are in the same language', async () => {
    const body = { deptName: 'x'.repeat(101) };
    const zh = await admin.post(DEPTS, body);
    const en = await admin.post(DEPTS, body, { headers: { 'accept-language': 'en' } });
    assert.match(zh.msg, HAN);
    assert.doesNotMatch(en.text, HAN);
    assert.match(en.msg, /deptName.*100/);
  });

  test('the success message is 操作成功 in every language', async () => {
    expectOk(await admin.post(DEPTS, {}, { headers: { 'accept-language': 'en', 'content-language': 'en_US' } }));
  });
});

const parent = await admin.createDepartment();
const child = await admin.createDepartment({ parentId: parent });
const used = await admin.createDepartment();
const member = await service.createMember(admin, { deptId: used });
const disabled = await admin.createDepartment({ status: '1' });
const small = await service.createTenant({ accountCount: 1 });

describe('Error messages that existing front ends expect', () => {
  const texts: [name: string, text: string, call: () => Promise<ApiResponse>][] = [
    ['no token', '认证失败，无法访问系统资源', () => service.anonymous.get(`${DEPTS}/1`)],
    ['not allowed', '没有访问权限，请联系管理员授权', () => member.post(DEPTS, {})],
    ['children', '存在下级部门,不允许删除', () => admin.delete(`${DEPTS}/${parent}`)],
    ['users', '部门存在用户,不允许删除', () => admin.delete(`${DEPTS}/${used}`)],
    ['cycle', '上级部门不能是自己或自己的下级部门', () => admin.put(DEPTS, { deptId: parent, parentId: child })],
    ['disabled parent', '部门停用，不允许新增', () => admin.post(DEPTS, { parentId: disabled })],
    [
      'account limit',
      '当前租户下用户名额不足，请联系管理员',
      () => small.post('/system/user-api', { userName: 'two', password: PASSWORD }),
    ],
  ];
  for (const [name, text, call] of texts) {
    test(`the error for ${name} has the message ${text}`, async () => assert.equal((await call()).msg, text));
  }
});
