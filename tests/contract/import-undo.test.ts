import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resultOf, USERS } from '../support/expect.ts';
import { type Client, shareService } from '../support/service.ts';
import { apply, revert } from './imports.ts';

const service = await shareService();

const readRecord = async (client: Client, path: string) => {
  const { updateBy: _, updateTime: __, ...record } = (await client.get(path)).data;
  return record;
};

test('an import that changed users is undone: fields, departments, roles and status, unless that would demote the last administrator', async () => {
  const admin = await service.createTenant();
  const { a, b } = {
    a: await admin.createDepartment({ deptName: 'a' }),
    b: await admin.createDepartment({ deptName: 'b' }),
  };
  const ids = {
    lead: await admin.createUser({ userName: 'lead', nickName: '甲', deptId: a, deptIds: [b], roles: ['admin'] }),
    member: await admin.createUser({ userName: 'member', nickName: '乙', phone: '139', deptId: b }),
  };
  const readAll = () => Promise.all(Object.values(ids).map((id) => readRecord(admin, `${USERS}/${id}`)));
  const before = await readAll();
  const imported = await apply(admin, 'user', [
    ['用户名', '姓名', '手机号', '部门', '兼任部门', '角色', '状态'],
    ['lead', '丙', '138', 'b', '', '成员', '停用'],
    ['member', '丁', '137', 'a', 'b', '管理员', '正常'],
  ]);
  assert.notDeepEqual(await readAll(), before);
  assert.equal(resultOf(await revert(admin, imported)), 'done');
  assert.deepEqual(await readAll(), before);
  // Make `member` the only administrator, then revert what made them one.
  const promoted = await apply(admin, 'user', [
    ['用户名', '角色'],
    ['member', '管理员'],
  ]);
  const { data: list } = await admin.get(`${USERS}/list?pageSize=100`);
  const others = list.rows.filter(({ userName }: { userName: string }) => userName !== 'member');
  const member = await service.logIn(admin.tenantId, 'member');
  for (const { userId } of others)
    assert.equal(resultOf(await member.patch(`${USERS}/${userId}`, { roles: ['member'] })), 'done');
  assert.equal(resultOf(await revert(member, promoted)), 'LAST_ADMINISTRATOR');
});

test('undoing an import that exchanged the administrators succeeds, because one remains', async () => {
  const boss = await service.createTenant();
  const ids = [await boss.createUser({ userName: 'x', roles: ['admin'] }), await boss.createUser({ userName: 'y' })];
  const rolesOf = () => Promise.all(ids.map(async (id) => (await boss.get(`${USERS}/${id}`)).data?.roles[0]));
  const exchanged = await apply(boss, 'user', [
    ['用户名', '角色'],
    ['x', '成员'],
    ['y', '管理员'],
  ]);
  assert.deepEqual(await rolesOf(), ['member', 'admin']);
  const y = await service.logIn(boss.tenantId, 'y');
  const { data } = await y.get(`${USERS}/list?q=boss`);
  assert.equal(resultOf(await y.patch(`${USERS}/${data.rows[0].userId}`, { roles: ['member'] })), 'done');
  assert.equal(resultOf(await revert(y, exchanged)), 'done');
  const x = await service.logIn(boss.tenantId, 'x');
  assert.equal((await x.get(`${USERS}/list`)).status, 200);
});
