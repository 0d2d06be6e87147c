import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS, readDept, TENANTS, USERS } from '../support/expect.ts';
import { type ApiResponse, type Client, PASSWORD, startService } from '../support/service.ts';

const service = await startService();

const outcomeOf = ({ code, data }: ApiResponse) => (code === 200 ? 'done' : (data?.reason ?? String(code)));
const restore = (client: Client, id: string, body?: unknown) => client.post(`${DEPTS}/${id}/restore`, body);
const treeOf = async (client: Client) => (await client.get(`${DEPTS}/tree`)).data;

test('a restored department returns with its branch to its former place', async () => {
  const boss = await service.createTenant();
  const top = await boss.createDepartment({ deptName: '总部' });
  const root = await boss.createDepartment({ parentId: top, deptName: '研发', orderNum: 3, leader: '张三' });
  const low = await boss.createDepartment({ parentId: root, deptName: '前端' });
  const lowest = await boss.createDepartment({ parentId: low, deptName: '样式' });
  await boss.put(DEPTS, { deptId: low, deptName: '前端', status: '1' });
  const early = await boss.createDepartment({ parentId: root, deptName: '早已删除' });
  await boss.delete(`${DEPTS}/${early}`);
  const before = await treeOf(boss);
  const original = await readDept(boss, root);
  assert.equal(outcomeOf(await boss.delete(`${DEPTS}/${root}?subtree=true`)), 'done');
  assert.equal(outcomeOf(await restore(boss, root)), 'done');
  assert.deepEqual(await treeOf(boss), before, 'a department deleted earlier stays deleted');
  assert.equal((await readDept(boss, lowest)).ancestors, `0,${top},${root},${low}`);
  const { updateBy: _, updateTime: __, ...current } = await readDept(boss, root);
  assert.deepEqual({ ...current, updateBy: '', updateTime: null }, original);
  const { data } = await boss.get('/system/change-api/list?action=restored');
  assert.deepEqual(data.rows.map(({ resourceId }: { resourceId: string }) => resourceId).sort(), [root, low, lowest]);
  assert.equal(new Set(data.rows.map(({ batch }: { batch: number }) => batch)).size, 1);
});

test('only departments deleted by the same request are restored with a branch', async () => {
  const boss = await service.createTenant();
  const root = await boss.createDepartment();
  const [one, two, three] = [
    await boss.createDepartment({ parentId: root }),
    await boss.createDepartment({ parentId: root }),
    await boss.createDepartment({ parentId: root }),
  ];
  await boss.delete(`${DEPTS}/${root}?subtree=true`);
  // Restore one and two elsewhere, then delete two again on its own.
  for (const id of [one, two]) assert.equal(outcomeOf(await restore(boss, id, { parentId: 0 })), 'done');
  await boss.put(DEPTS, { deptId: two, deptName: 'two' });
  await boss.delete(`${DEPTS}/${two}`);
  assert.equal(outcomeOf(await restore(boss, root, {})), 'done');
  const rows = (await boss.get(`${DEPTS}/list`)).data.rows;
  const parents = rows.map(({ deptId, parentId }: Record<string, number>) => [String(deptId), String(parentId)]);
  assert.deepEqual(parents.sort(), [
    [root, '0'],
    [one, '0'],
    [three, root],
  ]);
});

test('a department that is not deleted or whose parent is invalid is not restored without another parent', async () => {
  const boss = await service.createTenant();
  const other = await service.createTenant();
  const parent = await boss.createDepartment();
  const child = await boss.createDepartment({ parentId: parent });
  const low = await boss.createDepartment({ parentId: child });
  assert.equal(outcomeOf(await restore(boss, child)), 'DEPT_NOT_DELETED');
  for (const id of ['777777', '9007199254740993', '9999999999999999999']) {
    assert.equal((await restore(boss, id)).status, 404);
    assert.equal(outcomeOf(await restore(boss, id)), 'DEPT_NOT_FOUND');
  }
  await boss.delete(`${DEPTS}/${child}?subtree=true`);
  await boss.put(DEPTS, { deptId: parent, status: '1' });
  const disabled = await restore(boss, child);
  assert.deepEqual([disabled.status, outcomeOf(disabled)], [409, 'PARENT_DISABLED']);
  await boss.delete(`${DEPTS}/${parent}`);
  const missingParent = await restore(boss, child);
  assert.deepEqual(
    [missingParent.status, missingParent.data],
    [409, { reason: 'PARENT_GONE', parentId: Number(parent) }],
  );
  const theirs = await other.createDepartment();
  for (const parentId of [theirs, '777777', '9007199254740993', parent]) {
    const response = await restore(boss, child, { parentId });
    assert.deepEqual([response.status, outcomeOf(response)], [400, 'PARENT_NOT_FOUND']);
  }
  for (const parentId of [child, low]) assert.equal(outcomeOf(await restore(boss, child, { parentId })), 'DEPT_CYCLE');
  assert.equal((await restore(boss, child, { parentId: 9007199254740992 })).status, 400);
  assert.equal((await restore(boss, child, { parentId: '-1' })).status, 400);
  assert.equal((await restore(boss, child, null)).status, 400);
  // Read the deleted department first, so that a cached path would be stale after the restore.
  await boss.get(`${DEPTS}/${low}?includeDeleted=true`);
  const home = await boss.createDepartment();
  assert.equal(outcomeOf(await restore(boss, child, { parentId: home })), 'done');
  assert.equal((await readDept(boss, low)).ancestors, `0,${home},${child}`);
});

test('members and other tenants cannot restore anything, and ids of other tenants are not found', async () => {
  const [boss, other] = [await service.createTenant(), await service.createTenant()];
  const member = await service.createMember(boss);
  const id = await boss.createDepartment();
  const user = await boss.createUser({ userName: 'gone' });
  await boss.delete(`${DEPTS}/${id}`);
  await boss.delete(`${USERS}/${user}`);
  const child = await service.createTenant({}, boss);
  await boss.delete(`${TENANTS}/${child.id}`);
  for (const path of [`${DEPTS}/${id}`, `${USERS}/${user}`, `${TENANTS}/${child.id}`]) {
    const theirs = await other.post(`${path}/restore`);
    const absent = await other.post(`${path.replace(/\d+$/, '777777')}/restore`);
    assert.equal(theirs.status, 404);
    assert.deepEqual(theirs.data, absent.data);
    assert.equal(outcomeOf(await member.post(`${path}/restore`)), 'NOT_ALLOWED');
    assert.equal((await service.anonymous.post(`${path}/restore`)).status, 401);
    assert.equal(outcomeOf(await boss.post(`${path}/restore`)), 'done');
  }
});

test('a restored user keeps their password and existing departments, and their sessions stay ended', async () => {
  const boss = await service.createTenant();
  const [main, remaining, removed] = [
    await boss.createDepartment(),
    await boss.createDepartment(),
    await boss.createDepartment(),
  ];
  const member = await service.createMember(boss, { deptId: main, deptIds: [remaining, removed], nickName: '李' });
  await boss.put(USERS, { userId: member.id, deptId: main, deptIds: [remaining, removed], nickName: '李四' });
  await boss.delete(`${USERS}/${member.id}`);
  await boss.delete(`${DEPTS}/${removed}`);
  assert.equal(outcomeOf(await boss.post(`${USERS}/${member.id}/restore`)), 'done');
  const { data } = await boss.get(`${USERS}/${member.id}`);
  assert.deepEqual([data.deptId, data.deptIds, data.nickName], [Number(main), [Number(remaining)], '李四']);
  assert.equal(outcomeOf(await member.get('/auth/me')), 'SESSION_ENDED');
  await service.logIn(boss.tenantId, data.userName, PASSWORD);
  const again = await boss.post(`${USERS}/${member.id}/restore`);
  assert.deepEqual([again.status, outcomeOf(again)], [409, 'USER_NOT_DELETED']);
  assert.equal(outcomeOf(await boss.post(`${USERS}/9007199254740993/restore`)), 'USER_NOT_FOUND');
  await boss.delete(`${USERS}/${member.id}`);
  await boss.delete(`${DEPTS}/${main}`);
  await boss.post(`${USERS}/${member.id}/restore`);
  assert.equal((await boss.get(`${USERS}/${member.id}`)).data.deptId, null);
});

test('a user is not restored when their name is taken or the account limit is reached', async () => {
  const boss = await service.createTenant({ accountCount: 2 });
  const id = await boss.createUser({ userName: 'Li' });
  await boss.delete(`${USERS}/${id}`);
  const taker = await boss.createUser({ userName: 'li' });
  const full = await boss.post(`${USERS}/${id}/restore`);
  assert.deepEqual([full.status, full.data], [409, { reason: 'ACCOUNT_LIMIT', accountCount: 2 }]);
  await service.root.put(TENANTS, { id: boss.id, accountCount: 3 });
  const taken = await boss.post(`${USERS}/${id}/restore`);
  assert.deepEqual([taken.status, outcomeOf(taken)], [409, 'USER_NAME_TAKEN']);
  await boss.delete(`${USERS}/${taker}`);
  assert.equal(outcomeOf(await boss.post(`${USERS}/${id}/restore`)), 'done');
});

test('an administrator of a parent tenant can restore users of a child tenant, a sibling cannot', async () => {
  const boss = await service.createTenant();
  const child = await service.createTenant({}, boss);
  const sibling = await service.createTenant();
  const id = await child.createUser({ userName: 'gone' });
  await child.delete(`${USERS}/${id}`);
  const path = `${USERS}/${id}/restore?tenantId=${child.tenantId}`;
  assert.equal(outcomeOf(await sibling.post(path)), 'OTHER_TENANT');
  assert.equal(outcomeOf(await boss.post(`${USERS}/${id}/restore`)), 'USER_NOT_FOUND');
  assert.equal(outcomeOf(await boss.post(path)), 'done');
  assert.equal((await child.get(`${USERS}/${id}`)).data.updateBy, 'boss');
});

test('a restored tenant returns to its former place with its departments and users', async () => {
  const boss = await service.createTenant();
  const child = await service.createTenant({ tenantName: '分公司', quotaBo: { credit: 7, merchant: 2 } }, boss);
  const low = await service.createTenant({}, child);
  const id = await child.createDepartment();
  const { data: original } = await boss.get(`${TENANTS}/${child.id}`);
  await child.delete(`${TENANTS}/${low.id}`);
  await boss.delete(`${TENANTS}/${child.id}`);
  assert.equal(outcomeOf(await child.get(`${DEPTS}/${id}`)), 'TENANT_DELETED');
  const missingParent = await boss.post(`${TENANTS}/${low.id}/restore`);
  assert.deepEqual(
    [missingParent.status, missingParent.data],
    [409, { reason: 'TENANT_PARENT_GONE', tenantParent: child.tenantId }],
  );
  assert.equal(outcomeOf(await boss.post(`${TENANTS}/${child.id}/restore`)), 'done');
  assert.deepEqual((await boss.get(`${TENANTS}/${child.id}`)).data, original);
  assert.equal((await child.get(`${DEPTS}/${id}`)).code, 200, 'the department of the tenant was kept');
  assert.equal(outcomeOf(await boss.post(`${TENANTS}/${child.id}/restore`)), 'TENANT_NOT_DELETED');
  assert.equal(outcomeOf(await boss.post(`${TENANTS}/9007199254740993/restore`)), 'TENANT_NOT_FOUND');
  assert.equal(outcomeOf(await child.post(`${TENANTS}/${low.id}/restore`)), 'done');
  assert.equal((await boss.get(`${TENANTS}/${low.id}`)).data.tenantParent, child.tenantId);
});

test('concurrent restores with one Idempotency-Key restore once and return the same response', async () => {
  const boss = await service.createTenant();
  const id = await boss.createDepartment();
  await boss.delete(`${DEPTS}/${id}`);
  const headers = { 'idempotency-key': 'again' };
  const responses = await Promise.all([1, 2, 3].map(() => boss.post(`${DEPTS}/${id}/restore`, undefined, { headers })));
  assert.deepEqual(responses.map(outcomeOf), ['done', 'done', 'done']);
  assert.equal((await boss.get('/system/change-api/list?action=restored')).data.rows.length, 1);
});

test('a branch of 600 departments is restored completely', async () => {
  const boss = await service.createTenant();
  const departments = Array.from({ length: 600 }, (_, n) =>
    n === 0 ? { ref: '0' } : { ref: String(n), parentRef: String(Math.floor((n - 1) / 3)), deptName: `d${n}` },
  );
  const { data } = await boss.post(`${DEPTS}/bulk`, { departments });
  const before = await treeOf(boss);
  const [root] = data.deptIds;
  assert.equal(outcomeOf(await boss.delete(`${DEPTS}/${root}?subtree=true`)), 'done');
  assert.deepEqual(await treeOf(boss), []);
  assert.equal(outcomeOf(await restore(boss, root)), 'done');
  assert.deepEqual(await treeOf(boss), before);
});
