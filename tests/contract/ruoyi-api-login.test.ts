import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectError, me } from '../support/expect.ts';
import { loginForm, plusUi } from '../support/plus-ui.ts';
import { type Client, PASSWORD } from '../support/service.ts';
import { dataOf, expectFailure, expectNotOffered, startRuoyiApi } from './ruoyi-api.ts';

const { service, anonymous, admin, member } = await startRuoyiApi();

test('the login page learns that there is no captcha, and which tenants it may offer', async () => {
  assert.deepEqual(dataOf(await plusUi(anonymous, 'GET', '/auth/code')), { captchaEnabled: false });
  assert.deepEqual(dataOf(await plusUi(anonymous, 'GET', '/auth/tenant/list')), {
    tenantEnabled: true,
    voList: [
      { tenantId: '000000', companyName: '总部', domain: null },
      { tenantId: '123456', companyName: '123456', domain: null },
    ],
  });
});

test('a login in the form of RuoYi gets the response of RuoYi, and one in our form gets ours', async () => {
  const form = loginForm('000000', 'admin', PASSWORD);
  const tokens = dataOf(await plusUi(anonymous, 'POST', '/auth/login', form));
  assert.deepEqual(Object.keys(tokens).sort(), [
    'access_token',
    'client_id',
    'expire_in',
    'openid',
    'refresh_expire_in',
    'refresh_token',
    'scope',
  ]);
  assert.equal(tokens.client_id, form.clientId);
  const ours = await anonymous.post('/auth/login', { tenantId: '000000', username: 'admin', password: PASSWORD });
  assert.deepEqual(Object.keys(ours.data), ['access_token', 'token_type', 'expires_in', 'refresh_token']);
  const wrong = { tenantId: '000000', username: 'admin', password: 'wrong' };
  expectError(await anonymous.post('/auth/login', wrong), 401, 'LOGIN_FAILED');
  // The code is not 401, which would tell the front end that a session has expired.
  expectFailure(await plusUi(anonymous, 'POST', '/auth/login', { ...form, password: 'wrong' }), 500, 'LOGIN_FAILED');
  expectFailure(await plusUi(anonymous, 'POST', '/auth/login', { ...form, username: null }), 500, 'FIELD_REQUIRED');
  const byCode = { clientId: form.clientId, grantType: 'sms', tenantId: '000000', phonenumber: '1', smsCode: '1' };
  expectNotOffered(await plusUi(anonymous, 'POST', '/auth/login', byCode), 'grantType sms');
});

test('the error of an encrypted request names the setting of the front end to change', async () => {
  const encrypted = { 'encrypt-key': 'bm90IHJlYWxseQ==' };
  for (const [client, method, path] of [
    [anonymous, 'POST', '/auth/login'],
    [anonymous, 'POST', '/auth/register'],
    [admin, 'POST', '/system/tenant'],
    [admin, 'PUT', '/system/user/resetPwd'],
    [admin, 'PUT', '/system/user/profile/updatePwd'],
  ] as const) {
    const response = await plusUi(client, method, path, 'bm90IHJlYWxseQ==', encrypted);
    expectFailure(response, 500, 'RUOYI_ENCRYPTED');
    assert.match(response.msg, /请在前端设置 VITE_APP_ENCRYPT=false.*docs\/ruoyi-api\.md/);
    const english = await plusUi(client, method, path, '', { ...encrypted, 'content-language': 'en_US' });
    assert.match(english.msg, /Set VITE_APP_ENCRYPT=false in the front end/);
  }
});

test('a front end logs out, even when its session has ended already', async () => {
  const { access_token } = dataOf(
    await plusUi(anonymous, 'POST', '/auth/login', loginForm(admin.tenantId, 'boss', PASSWORD)),
  );
  const headers = { authorization: `Bearer ${access_token}` };
  const call = (method: 'GET' | 'POST', path: string) => plusUi(anonymous, method, path, undefined, headers);
  dataOf(await call('GET', '/system/user/getInfo'));
  dataOf(await call('GET', '/resource/sse/close'));
  dataOf(await call('POST', '/auth/logout'));
  expectFailure(await call('GET', '/system/user/getInfo'), 401, 'SESSION_ENDED');
  dataOf(await call('POST', '/auth/logout'));
  // Our own clients still learn that their token was rejected.
  expectError(await anonymous.call('POST', '/auth/logout', undefined, { headers }), 401, 'SESSION_ENDED');
});

test('an administrator gets every permission and all screens, a member only what they may see', async () => {
  const own = await me(admin);
  const info = dataOf(await plusUi(admin, 'GET', '/system/user/getInfo'));
  assert.deepEqual([info.roles, info.permissions], [['admin'], ['*:*:*']]);
  assert.deepEqual([info.user.userId, info.user.userName, info.user.tenantId], [own.userId, 'boss', admin.tenantId]);
  const restricted = dataOf(await plusUi(member, 'GET', '/system/user/getInfo'));
  assert.deepEqual([restricted.roles, restricted.permissions], [['member'], ['system:dept:list', 'system:dept:query']]);

  const screensOf = async (client: Client) => {
    const menus: { component: string; children: { component: string; meta: { title: string } }[] }[] = dataOf(
      await plusUi(client, 'GET', '/system/menu/getRouters'),
    );
    for (const { component } of menus) assert.equal(component, 'Layout');
    return menus.flatMap(({ children }) => children.map(({ component, meta }) => `${component} ${meta.title}`));
  };
  assert.deepEqual(await screensOf(admin), [
    'system/user/index 用户管理',
    'system/dept/index 部门管理',
    'system/tenant/index 租户管理',
  ]);
  assert.deepEqual(await screensOf(member), ['system/dept/index 部门管理']);
});

test('users see their own profile, change their password and end their sessions', async () => {
  const profile = dataOf(await plusUi(member, 'GET', '/system/user/profile'));
  assert.deepEqual([profile.user.nickName, profile.roleGroup, profile.postGroup], ['小李', '成员', '']);
  expectFailure(await plusUi(member, 'PUT', '/system/user/profile', profile.user), 403, 'NOT_ALLOWED');
  const own = dataOf(await plusUi(admin, 'GET', '/system/user/profile')).user;
  dataOf(await plusUi(admin, 'PUT', '/system/user/profile', { ...own, nickName: '老板' }));
  assert.equal((await me(admin)).nickName, '老板');
  const change = { oldPassword: 'wrong', newPassword: 'vier blaue Pferde' };
  expectFailure(await plusUi(member, 'PUT', '/system/user/profile/updatePwd', change), 500, 'WRONG_PASSWORD');
  const right = { ...change, oldPassword: PASSWORD };
  dataOf(await plusUi(member, 'PUT', '/system/user/profile/updatePwd', right));
  const other = await service.logIn(admin.tenantId, 'li', change.newPassword);
  const sessions = await plusUi(other, 'GET', '/monitor/online');
  assert.deepEqual([sessions.total, sessions.rows.length], [2, 2]);
  dataOf(await plusUi(other, 'POST', `/monitor/online/${sessions.rows[1]?.tokenId}`));
  expectFailure(await plusUi(member, 'GET', '/system/user/getInfo'), 401, 'SESSION_ENDED');
  assert.deepEqual(dataOf(await plusUi(other, 'GET', '/system/social/list')), []);
});

test('a user who must change their password gets an error that says so, and can log out', async () => {
  const someone = await service.createMember(admin, { mustChangePassword: true });
  expectFailure(await plusUi(someone, 'GET', '/system/user/getInfo'), 500, 'PASSWORD_CHANGE_REQUIRED');
  dataOf(await plusUi(someone, 'POST', '/auth/logout'));
});
