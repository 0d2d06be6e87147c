import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS, read, TENANTS, USERS } from '../support/expect.ts';
import { loginForm, plusUi } from '../support/plus-ui.ts';
import { isLong } from '../support/scale.ts';
import { PASSWORD } from '../support/service.ts';
import { dropSearchIndexes, insertDepartments } from '../support/trees.ts';
import { dataOf, expectFailure, expectNotOffered, startRuoyiApi } from './ruoyi-api.ts';

const { service, anonymous, admin, member } = await startRuoyiApi();

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

test('the departments screen lists, creates and updates departments, and shows why a move or a deletion is rejected', async () => {
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
  // A field that is null or missing keeps its value.
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

test('creating a department ignores deptId, tenantId and fields that RuoYi does not have', async () => {
  const unknown = { leaderId: 'abc', source: '', externalId: 5, deptId: 'x', tenantId: '000000' };
  dataOf(await plusUi(admin, 'POST', '/system/dept', { deptName: '只取已知字段', orderNum: 1, ...unknown }));
  const { rows } = await read(admin, `${DEPTS}/list?deptName=${encodeURIComponent('只取已知字段')}`);
  assert.equal(rows.length, 1);
  assert.deepEqual([rows[0].leaderId ?? null, rows[0].externalId ?? null], [null, null]);
});

test('more than 10,000 departments are an error instead of a truncated list, and 10,000 are listed', async () => {
  const large = await service.createTenant();
  const { tenantId } = large;
  await dropSearchIndexes(service.superuser);
  await insertDepartments(service.superuser, tenantId, {
    first: 5_000_000,
    count: 10_001,
    parentOf: 'nullif(n / 100, 0)',
  });
  const feature = '超过 10000 个部门的列表';
  for (const path of ['/system/dept/list', '/system/user/deptTree']) {
    expectNotOffered(await plusUi(large, 'GET', path), feature);
  }
  // Reading so many departments takes a second, so only the long run lists them.
  if (!isLong) return;
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
  // Times are local times of the configured zone, which differs from that of the process.
  const created = String(user.createTime);
  const createdDuring = (from: string, to: string) =>
    totalOf(`&userName=wang&${new URLSearchParams({ 'params[beginTime]': from, 'params[endTime]': to })}`);
  assert.equal(await createdDuring(created, created), 1);
  assert.equal(await createdDuring('2001-01-01 00:00:00', '2001-01-02 23:59:59'), 0);
  expectNotOffered(await list('&roleId=1'), 'roleId');
  expectFailure(await list('&deptid=1'), 500, 'UNKNOWN_PARAMETER');
  assert.deepEqual(
    dataOf(await plusUi(admin, 'GET', `/system/user/list/dept/${below}`)).map((each: typeof user) => each.userId),
    [user.userId],
  );
  assert.equal(dataOf(await plusUi(admin, 'GET', `/system/user/optionselect?userIds=${user.userId}`)).length, 1);

  // The form sends back what it has read. Additional departments, which it does not know, stay.
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
