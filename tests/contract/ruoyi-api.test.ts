import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS, expectError, read } from '../support/expect.ts';
import { loginForm, plusUi } from '../support/plus-ui.ts';
import { PASSWORD, startService } from '../support/service.ts';
import { dataOf, expectFailure, expectNotOffered, startRuoyiApi } from './ruoyi-api.ts';

const { root, anonymous, admin } = await startRuoyiApi();

test('without BANYAN_RUOYI_API, the paths of RuoYi do not exist and the OpenAPI document is the same', async () => {
  const off = await startService();
  for (const [method, path] of [
    ['GET', '/auth/code'],
    ['GET', '/auth/tenant/list'],
    ['POST', '/auth/register'],
    ['GET', '/system/user/getInfo'],
    ['GET', '/system/menu/getRouters'],
    ['GET', '/system/dept/list'],
    ['POST', '/system/user'],
    ['PUT', '/system/tenant'],
    ['GET', '/system/role/list'],
    ['GET', '/resource/sse'],
  ] as const) {
    expectError(await off.root.call(method, path), 404, 'PATH_NOT_FOUND', {}, `${method} ${path}`);
  }
  const form = loginForm('000000', 'admin', PASSWORD);
  const login = await plusUi(off.anonymous, 'POST', '/auth/login', form);
  assert.deepEqual(Object.keys(login.data), ['access_token', 'token_type', 'expires_in', 'refresh_token']);
  const failed = await plusUi(off.anonymous, 'POST', '/auth/login', { ...form, password: 'wrong' });
  assert.deepEqual([failed.status, failed.data.reason], [401, 'LOGIN_FAILED']);
  assert.equal((await plusUi(off.anonymous, 'POST', '/auth/logout')).status, 401);
  const [on, without] = await Promise.all([anonymous.get('/openapi.json'), off.anonymous.get('/openapi.json')]);
  const documentOf = ({ text }: { text: string }) => ({ ...JSON.parse(text), servers: undefined });
  assert.deepEqual(documentOf(on), documentOf(without));
  await off.close();
});

test('responses to calls that are not offered say so, in both languages, whatever the body of the call', async () => {
  for (const [method, path] of [
    ['GET', '/system/role/list'],
    ['GET', '/system/menu/list'],
    ['GET', '/system/tenant/dynamic/000000'],
    ['GET', '/system/tenant/syncTenantPackage'],
    ['POST', '/system/role'],
    ['GET', '/monitor/online/list'],
    ['GET', '/workflow/task/getTaskWaitByPage'],
  ] as const) {
    expectNotOffered(await plusUi(admin, method, path), `${method} ${path}`);
  }
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  expectNotOffered(await plusUi(admin, 'POST', '/system/user/export', 'pageNum=1', form), 'POST /system/user/export');
  const english = await plusUi(admin, 'POST', '/system/user/importData', 'x', { 'content-language': 'en_US' });
  assert.equal(
    english.msg,
    'Banyan does not offer this: POST /system/user/importData. See docs/ruoyi-api.md for what it offers.',
  );
  for (const [method, path] of [
    ['POST', '/auth/register'],
    ['GET', '/auth/binding/gitee'],
    ['GET', '/resource/sse'],
    ['GET', '/resource/websocket'],
  ] as const) {
    expectNotOffered(await plusUi(anonymous, method, `${path}?a=b`), `${method} ${path}`);
  }
  expectFailure(await plusUi(anonymous, 'GET', '/system/role/list'), 401, 'NO_TOKEN');
});

test('writes are idempotent and recorded in the history like our own', async () => {
  const key = { 'idempotency-key': 'ruoyi-1' };
  const create = () => plusUi(root, 'POST', '/system/dept', { deptName: '一次', orderNum: 0 }, key);
  dataOf(await create());
  const repeated = await create();
  assert.equal(repeated.headers['idempotent-replayed'], 'true');
  const { data } = await root.get(`${DEPTS}/list?deptName=${encodeURIComponent('一次')}`);
  assert.equal(data.total, 1);
  const { rows } = await read(root, `${DEPTS}/${data.rows[0].deptId}/history`);
  assert.deepEqual(
    rows.map(({ action, by }: { action: string; by: string }) => [action, by]),
    [['created', 'admin']],
  );
});

test('responses of the adapter state the rate limit of the tenant', async () => {
  const { headers } = await plusUi(admin, 'GET', '/system/dept/list');
  assert.equal(headers['ratelimit-policy'], '"tenant";q=500000;w=5');
});

test('an API key calls the adapter with its permissions, and no more', async () => {
  const { data } = await admin.post('/system/key-api', { keyName: 'erp', permissions: ['dept:read'] });
  const headers = { authorization: `Bearer ${data.key}` };
  dataOf(await plusUi(anonymous, 'GET', '/system/dept/list', undefined, headers));
  expectFailure(await plusUi(anonymous, 'GET', '/system/user/list', undefined, headers), 403, 'NOT_ALLOWED');
  expectFailure(await plusUi(anonymous, 'GET', '/system/user/getInfo', undefined, headers), 403, 'USERS_ONLY');
});
