import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS, expectError, me, read, TENANTS, USERS } from '../support/expect.ts';
import { loginForm, type PlusUiAnswer, plusUi } from '../support/plus-ui.ts';
import { type Client, PASSWORD, startService } from '../support/service.ts';
import { insertDepartments } from '../support/trees.ts';

// Requests have the methods, paths, queries, headers and bodies that plus-ui 5.2 sends.

const service = await startService({
  BANYAN_RUOYI_API: '1',
  BANYAN_RUOYI_TENANTS: '000000=总部,123456',
  // A limit that no test reaches.
  BANYAN_TENANT_REQUESTS_PER_SECOND: '100000',
});
const { root, anonymous } = service;
const admin = await service.createTenant();
const member = await service.createMember(admin, { userName: 'li', nickName: '小李' });

/** Expects a success and returns its data. */
function dataOf({ status, code, data, text }: PlusUiAnswer) {
  assert.deepEqual([status, code], [200, 200], text);
  return data;
}

/** Expects an error as RuoYi sends it: HTTP 200, and the code in the body. */
function expectFailure(answer: PlusUiAnswer, code: number, reason: string) {
  assert.deepEqual([answer.status, answer.code, answer.data?.reason], [200, code, reason], answer.text);
  assert.ok(answer.msg.length > 3);
}

function expectNotOffered(answer: PlusUiAnswer, feature: string) {
  expectFailure(answer, 500, 'RUOYI_NOT_OFFERED');
  assert.equal(answer.msg, `Banyan 不提供此功能：${feature}，支持的功能详见 docs/ruoyi-api.md`);
}

test('without the setting, the paths do not exist and the OpenAPI document is the same', async () => {
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

test('a login in the form of RuoYi has its answer, and one in ours has ours', async () => {
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
  // Not 401, which would tell the front end that a session has expired.
  expectFailure(await plusUi(anonymous, 'POST', '/auth/login', { ...form, password: 'wrong' }), 500, 'LOGIN_FAILED');
  expectFailure(await plusUi(anonymous, 'POST', '/auth/login', { ...form, username: null }), 500, 'FIELD_REQUIRED');
  const byCode = { clientId: form.clientId, grantType: 'sms', tenantId: '000000', phonenumber: '1', smsCode: '1' };
  expectNotOffered(await plusUi(anonymous, 'POST', '/auth/login', byCode), 'grantType sms');
});

test('an encrypted request is told which setting of the front end to change', async () => {
  const encrypted = { 'encrypt-key': 'bm90IHJlYWxseQ==' };
  for (const [client, method, path] of [
    [anonymous, 'POST', '/auth/login'],
    [anonymous, 'POST', '/auth/register'],
    [admin, 'POST', '/system/tenant'],
    [admin, 'PUT', '/system/user/resetPwd'],
    [admin, 'PUT', '/system/user/profile/updatePwd'],
  ] as const) {
    const answer = await plusUi(client, method, path, 'bm90IHJlYWxseQ==', encrypted);
    expectFailure(answer, 500, 'RUOYI_ENCRYPTED');
    assert.match(answer.msg, /请在前端设置 VITE_APP_ENCRYPT=false.*docs\/ruoyi-api\.md/);
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

test('the screens get their dictionaries and parameters', async () => {
  const entries: { dictValue: string; dictLabel: string }[] = dataOf(
    await plusUi(member, 'GET', '/system/dict/data/type/sys_normal_disable'),
  );
  assert.deepEqual(
    entries.map(({ dictValue, dictLabel }) => [dictValue, dictLabel]),
    [
      ['0', '正常'],
      ['1', '停用'],
    ],
  );
  const sexes: { dictValue: string }[] = dataOf(await plusUi(admin, 'GET', '/system/dict/data/type/sys_user_sex'));
  assert.deepEqual(
    sexes.map(({ dictValue }) => dictValue),
    ['2'],
  );
  assert.equal(dataOf(await plusUi(admin, 'GET', '/system/config/configKey/sys.user.initPassword')), '');
  expectNotOffered(
    await plusUi(admin, 'GET', '/system/dict/data/type/sys_oper_type'),
    '/system/dict/data/type/sys_oper_type',
  );
  expectNotOffered(await plusUi(admin, 'GET', '/system/config/configKey/x'), '/system/config/configKey/x');
});

test('the screen of departments lists, creates, moves and deletes', async () => {
  const company = await admin.createDepartment({ deptName: '总部', orderNum: 1 });
  const form = { parentId: Number(company), deptName: '研发部', orderNum: 2, phone: '13800000000', status: '0' };
  dataOf(await plusUi(admin, 'POST', '/system/dept', form));
  const list = async (query = '?pageNum=1&pageSize=10') =>
    dataOf(await plusUi(member, 'GET', `/system/dept/list${query}`));
  const [top, research] = await list();
  assert.deepEqual([top.deptId, top.parentId, top.ancestors], [Number(company), 0, '0']);
  assert.deepEqual([research.deptName, research.ancestors], ['研发部', `0,${company}`]);
  assert.deepEqual(
    (await list(`?pageNum=1&pageSize=10&deptName=${encodeURIComponent('研发')}&status=0`)).map(
      ({ deptId }: { deptId: number }) => deptId,
    ),
    [research.deptId],
  );
  const shown = dataOf(await plusUi(admin, 'GET', `/system/dept/${research.deptId}`));
  assert.equal(shown.parentName, '总部');

  // The form sends back what it has read, with the id of a user as the leader.
  const { data } = await admin.get(`${USERS}/list?userName=li`);
  const leader = data.rows[0].userId;
  dataOf(await plusUi(admin, 'PUT', '/system/dept', { ...shown, leader, deptName: '研发中心', email: '' }));
  const stored = await read(admin, `${DEPTS}/${research.deptId}`);
  assert.deepEqual([stored.deptName, stored.leader, stored.phone], ['研发中心', '小李', '13800000000']);
  // A body with the id alone changes nothing.
  dataOf(await plusUi(admin, 'PUT', '/system/dept', { deptId: research.deptId, phone: null }));
  assert.equal((await read(admin, `${DEPTS}/${research.deptId}`)).phone, '13800000000');

  dataOf(await plusUi(admin, 'POST', '/system/dept', { parentId: research.deptId, deptName: '前端组', orderNum: 0 }));
  const parents: { deptName: string }[] = dataOf(
    await plusUi(admin, 'GET', `/system/dept/list/exclude/${research.deptId}`),
  );
  assert.deepEqual(
    parents.map(({ deptName }) => deptName),
    ['总部'],
  );
  const [node] = dataOf(await plusUi(admin, 'GET', '/system/user/deptTree'));
  assert.deepEqual([node.id, node.label, node.children[0].label], [Number(company), '总部', '研发中心']);
  assert.equal(node.children[0].children[0].label, '前端组');
  const options: { deptId: number }[] = dataOf(
    await plusUi(admin, 'GET', `/system/dept/optionselect?deptIds=${company},9007199254740993`),
  );
  assert.deepEqual(
    options.map(({ deptId }) => deptId),
    [Number(company)],
  );

  expectFailure(await plusUi(admin, 'DELETE', `/system/dept/${research.deptId}`), 601, 'DEPT_HAS_CHILDREN');
  expectFailure(await plusUi(admin, 'DELETE', '/system/dept/9007199254740993'), 500, 'DEPT_NOT_FOUND');
  const cycle = { deptId: Number(company), parentId: research.deptId };
  expectFailure(await plusUi(admin, 'PUT', '/system/dept', cycle), 500, 'DEPT_CYCLE');
  expectFailure(await plusUi(member, 'DELETE', `/system/dept/${research.deptId}`), 403, 'NOT_ALLOWED');
  expectNotOffered(await plusUi(admin, 'POST', '/system/dept', { deptName: 'x', deptCategory: 'A' }), 'deptCategory');
  expectNotOffered(await plusUi(admin, 'GET', '/system/dept/list?deptCategory=A'), 'deptCategory');
});

test('up to 10,000 departments are listed, and more of them are an error, not a part', async () => {
  const large = await service.createTenant();
  const { tenantId } = large;
  await insertDepartments(service.superuser, tenantId, {
    first: 5_000_000,
    count: 10_001,
    parentOf: 'nullif(n / 100, 0)',
  });
  const feature = '超过 10000 个部门的列表';
  for (const path of ['/system/dept/list', '/system/user/deptTree']) {
    expectNotOffered(await plusUi(large, 'GET', path), feature);
  }
  await large.delete(`${DEPTS}/5010001`);
  const rows: { deptId: number }[] = dataOf(await plusUi(large, 'GET', '/system/dept/list'));
  assert.equal(new Set(rows.map(({ deptId }) => deptId)).size, 10_000);
  assert.equal(dataOf(await plusUi(large, 'GET', '/system/user/deptTree')).length, 99);
});

test('the screen of users lists, creates, changes and deletes', async () => {
  const dept = await admin.createDepartment({ deptName: '销售部' });
  const below = await admin.createDepartment({ deptName: '华东区', parentId: Number(dept) });
  const further = await admin.createDepartment();
  const options = dataOf(await plusUi(admin, 'GET', '/system/user/'));
  assert.deepEqual(
    options.roles.map(({ roleId, roleName }: { roleId: number; roleName: string }) => [roleId, roleName]),
    [
      [1, '管理员'],
      [2, '成员'],
    ],
  );
  assert.deepEqual(dataOf(await plusUi(admin, 'GET', `/system/post/optionselect?deptId=${below}`)), []);
  const form = {
    ...{ deptId: Number(below), userName: 'wangwu', nickName: '王五', password: PASSWORD, phonenumber: '13900000001' },
    ...{ email: 'w@example.com', status: '0', remark: '', postIds: [], roleIds: [2] },
  };
  dataOf(await plusUi(admin, 'POST', '/system/user', form));
  expectFailure(await plusUi(admin, 'POST', '/system/user', form), 500, 'USER_NAME_TAKEN');

  const list = (query: string) => plusUi(admin, 'GET', `/system/user/list?pageNum=1&pageSize=10${query}`);
  const { rows, total, code } = await list(`&deptId=${dept}`);
  assert.deepEqual([code, total, rows.length], [200, 1, 1]);
  const [user = {}] = rows;
  assert.deepEqual([user.userName, user.phonenumber, user.deptName], ['wangwu', '13900000001', '华东区']);
  const totalOf = async (query: string) => (await list(query)).total;
  assert.equal(await totalOf('&phonenumber=139000&userName=wang&status=0'), 1);
  assert.equal(await totalOf('&phonenumber=138'), 0);
  const today = String(user.createTime).slice(0, 10);
  const during = (from: string, to: string) =>
    totalOf(`&userName=wang&params%5BbeginTime%5D=${from}%2000%3A00%3A00&params%5BendTime%5D=${to}%2023%3A59%3A59`);
  assert.deepEqual([await during(today, today), await during('2001-01-01', '2001-01-02')], [1, 0]);
  expectNotOffered(await list('&roleId=1'), 'roleId');
  expectFailure(await list('&deptid=1'), 500, 'UNKNOWN_PARAMETER');
  assert.deepEqual(
    dataOf(await plusUi(admin, 'GET', `/system/user/list/dept/${below}`)).map((each: typeof user) => each.userId),
    [user.userId],
  );
  assert.equal(dataOf(await plusUi(admin, 'GET', `/system/user/optionselect?userIds=${user.userId}`)).length, 1);

  // The form sends back what it has read. Further departments, which it does not know, stay.
  await admin.patch(`${USERS}/${user.userId}`, { deptIds: [Number(further)] });
  const info = dataOf(await plusUi(admin, 'GET', `/system/user/${user.userId}`));
  assert.deepEqual([info.roleIds, info.postIds], [[2], []]);
  const changed = { ...info.user, roleIds: [2], postIds: [], password: '', nickName: '老王', email: null };
  dataOf(await plusUi(admin, 'PUT', '/system/user', changed));
  const stored = await read(admin, `${USERS}/${user.userId}`);
  assert.deepEqual([stored.nickName, stored.email, stored.deptIds], ['老王', 'w@example.com', [Number(further)]]);
  assert.ok(await service.logIn(admin.tenantId, 'wangwu'));

  dataOf(await plusUi(admin, 'PUT', '/system/user/changeStatus', { userId: user.userId, status: '1' }));
  assert.equal((await read(admin, `${USERS}/${user.userId}`)).status, '1');
  dataOf(await plusUi(admin, 'PUT', '/system/user/changeStatus', { userId: user.userId, status: '0' }));
  const password = 'vier blaue Pferde';
  dataOf(await plusUi(admin, 'PUT', '/system/user/resetPwd', { userId: user.userId, password }));
  assert.ok(await service.logIn(admin.tenantId, 'wangwu', password));
  const roles = dataOf(await plusUi(admin, 'GET', `/system/user/authRole/${user.userId}`)).roles;
  assert.deepEqual(
    roles.map(({ flag }: { flag: boolean }) => flag),
    [false, true],
  );
  dataOf(await plusUi(admin, 'PUT', `/system/user/authRole?userId=${user.userId}&roleIds=1,2`));
  assert.deepEqual((await read(admin, `${USERS}/${user.userId}`)).roles, ['admin']);

  for (const [field, value] of Object.entries({ remark: 'x', sex: '0', postIds: [1] })) {
    expectNotOffered(await plusUi(admin, 'PUT', '/system/user', { userId: user.userId, [field]: value }), field);
  }
  expectNotOffered(await plusUi(admin, 'PUT', '/system/user', { userId: user.userId, roleIds: [3] }), 'roleIds 3');
  expectFailure(await plusUi(member, 'GET', '/system/user/list'), 403, 'NOT_ALLOWED');
  expectFailure(await plusUi(admin, 'DELETE', `/system/user/${user.userId},777777771`), 500, 'USER_NOT_FOUND');
  dataOf(await plusUi(admin, 'DELETE', `/system/user/${user.userId}`));
  expectFailure(await plusUi(admin, 'GET', `/system/user/${user.userId}`), 500, 'USER_NOT_FOUND');
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

test('a user who must change their password learns so, and can log out', async () => {
  const someone = await service.createMember(admin, { mustChangePassword: true });
  expectFailure(await plusUi(someone, 'GET', '/system/user/getInfo'), 500, 'PASSWORD_CHANGE_REQUIRED');
  dataOf(await plusUi(someone, 'POST', '/auth/logout'));
});

test('the screen of tenants lists, creates, changes and deletes', async () => {
  const form = {
    ...{
      contactUserName: '赵六',
      contactPhone: '021-1',
      username: 'first',
      password: PASSWORD,
      companyName: '上海公司',
    },
    ...{ licenseNumber: '', domain: '', address: '', intro: '', remark: '', packageId: '', status: '0' },
    ...{ expireTime: '2099-12-31 10:00:00', accountCount: '5' },
  };
  assert.deepEqual(dataOf(await plusUi(admin, 'GET', '/system/tenant/package/selectList')), []);
  dataOf(await plusUi(admin, 'POST', '/system/tenant', form));
  const search = `companyName=${encodeURIComponent('上海')}&contactPhone=021&contactUserName=${encodeURIComponent('赵')}`;
  const { rows, total } = await plusUi(admin, 'GET', `/system/tenant/list?pageNum=1&pageSize=10&${search}`);
  assert.equal(total, 1);
  const [tenant = {}] = rows;
  // A number would be rounded.
  assert.match(String(tenant.id), /^\d{17,19}$/);
  assert.equal(typeof tenant.id, 'string');
  assert.deepEqual(
    [tenant.companyName, tenant.expireTime, tenant.accountCount],
    ['上海公司', '2099-12-31 23:59:59', 5],
  );
  assert.ok(await service.logIn(String(tenant.tenantId), 'first'));
  const all = await plusUi(admin, 'GET', '/system/tenant/list');
  assert.deepEqual(
    all.rows.map(({ tenantId }) => tenantId),
    [admin.tenantId, tenant.tenantId],
  );

  // The form does not know quotas and rules, so they stay.
  await admin.patch(`${TENANTS}/${tenant.id}`, { quotaBo: { merchant: 7 }, ruleBo: { modelZr: 'a' } });
  const shown = dataOf(await plusUi(admin, 'GET', `/system/tenant/${tenant.id}`));
  dataOf(await plusUi(admin, 'PUT', '/system/tenant', { ...shown, companyName: '上海分公司', expireTime: null }));
  const stored = await read(admin, `${TENANTS}/${tenant.id}`);
  assert.deepEqual(
    [stored.companyName, stored.tenantName, stored.endTime, stored.quotaBo.merchant, stored.ruleBo.modelZr],
    ['上海分公司', '上海公司', '2099-12-31', 7, 'a'],
  );
  const status = { id: tenant.id, tenantId: tenant.tenantId, status: '1' };
  dataOf(await plusUi(admin, 'PUT', '/system/tenant/changeStatus', status));
  const login = loginForm(String(tenant.tenantId), 'first', PASSWORD);
  expectFailure(await plusUi(anonymous, 'POST', '/auth/login', login), 500, 'TENANT_DISABLED');

  for (const [field, value] of Object.entries({ packageId: 1, domain: 'a.example.com', remark: 'x' })) {
    expectNotOffered(await plusUi(admin, 'PUT', '/system/tenant', { id: tenant.id, [field]: value }), field);
  }
  expectFailure(await plusUi(admin, 'DELETE', `/system/tenant/${admin.id}`), 500, 'OWN_TENANT');
  expectFailure(await plusUi(admin, 'DELETE', `/system/tenant/${tenant.id},${admin.id}`), 500, 'OWN_TENANT');
  dataOf(await plusUi(admin, 'GET', `/system/tenant/${tenant.id}`));
  dataOf(await plusUi(admin, 'DELETE', `/system/tenant/${tenant.id}`));
  expectFailure(await plusUi(admin, 'GET', `/system/tenant/${tenant.id}`), 500, 'TENANT_NOT_FOUND');
});

test('calls that are not offered say so, in both languages, whatever their body', async () => {
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

test('writes are idempotent and recorded in the ledger like our own', async () => {
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

test('the limits of a tenant count calls of the adapter too', async () => {
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
