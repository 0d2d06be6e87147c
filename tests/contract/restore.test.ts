import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS, readDept, resultOf, TENANTS, USERS } from '../support/expect.ts';
import { type Client, PASSWORD, shareService } from '../support/service.ts';

const service = await shareService();

const restore = (client: Client, id: string, body?: unknown) => client.post(`${DEPTS}/${id}/restore`, body);
const treeOf = async (client: Client) => (await client.get(`${DEPTS}/tree`)).data;

test('a restored department returns with its subtree to its former place', async () => {
  const admin = await service.createTenant();
  const top = await admin.createDepartment({ deptName: '总部' });
  const root = await admin.createDepartment({ parentId: top, deptName: '研发', orderNum: 3, leader: '张三' });
  const low = await admin.createDepartment({ parentId: root, deptName: '前端' });
  const lowest = await admin.createDepartment({ parentId: low, deptName: '样式' });
  await admin.put(DEPTS, { deptId: low, deptName: '前端', status: '1' });
  const early = await admin.createDepartment({ parentId: root, deptName: '早已删除' });
  await admin.delete(`${DEPTS}/${early}`);
  const before = await treeOf(admin);
  const original = await readDept(admin, root);
  assert.equal(resultOf(await admin.delete(`${DEPTS}/${root}?subtree=true`)), 'done');
  assert.equal(resultOf(await restore(admin, root)), 'done');
  assert.deepEqual(await treeOf(admin), before, 'a department deleted earlier stays deleted');
  assert.equal((await readDept(admin, lowest)).ancestors, `0,${top},${root},${low}`);
  const { updateBy: _, updateTime: __, ...current } = await readDept(admin, root);
  assert.deepEqual({ ...current, updateBy: '', updateTime: null }, original);
  const { data } = await admin.get('/system/change-api/list?action=restored');
  assert.deepEqual(data.rows.map(({ resourceId }: { resourceId: string }) => resourceId).sort(), [root, low, lowest]);
  assert.equal(new Set(data.rows.map(({ batch }: { batch: number }) => batch)).size, 1);
});

test('only departments deleted by the same request are restored with a subtree', async () => {
  const admin = await service.createTenant();
  const root = await admin.createDepartment();
  const [one, two, three] = [
    await admin.createDepartment({ parentId: root }),
    await admin.createDepartment({ parentId: root }),
    await admin.createDepartment({ parentId: root }),
  ];
  await admin.delete(`${DEPTS}/${root}?subtree=true`);
  // Restore one and two elsewhere, then delete two again on its own.
  for (const id of [one, two]) assert.equal(resultOf(await restore(admin, id, { parentId: 0 })), 'done');
  await admin.put(DEPTS, { deptId: two, deptName: 'two' });
  await admin.delete(`${DEPTS}/${two}`);
  assert.equal(resultOf(await restore(admin, root, {})), 'done');
  const rows = (await admin.get(`${DEPTS}/list`)).data.rows;
  const parents = rows.map(({ deptId, parentId }: Record<string, number>) => [String(deptId), String(parentId)]);
  assert.deepEqual(parents.sort(), [
    [root, '0'],
    [one, '0'],
    [three, root],
  ]);
});

test('only a deleted department is restored, and not below a parent that is disabled, deleted or unknown', async () => {
  const admin = await service.createTenant();
  const other = await service.createTenant();
  const parent = await admin.createDepartment();
  const child = await admin.createDepartment({ parentId: parent });
  const low = await admin.createDepartment({ parentId: child });
  assert.equal(resultOf(await restore(admin, child)), 'DEPT_NOT_DELETED');
  for (const id of ['777777', '9007199254740993', '9999999999999999999']) {
    assert.equal((await restore(admin, id)).status, 404);
    assert.equal(resultOf(await restore(admin, id)), 'DEPT_NOT_FOUND');
  }
  await admin.delete(`${DEPTS}/${child}?subtree=true`);
  await admin.put(DEPTS, { deptId: parent, status: '1' });
  const disabled = await restore(admin, child);
  assert.deepEqual([disabled.status, resultOf(disabled)], [409, 'PARENT_DISABLED']);
  await admin.delete(`${DEPTS}/${parent}`);
  const missingParent = await restore(admin, child);
  assert.deepEqual(
    [missingParent.status, missingParent.data],
    [409, { reason: 'PARENT_GONE', parentId: Number(parent) }],
  );
  const theirs = await other.createDepartment();
  for (const parentId of [theirs, '777777', '9007199254740993', parent]) {
    const response = await restore(admin, child, { parentId });
    assert.deepEqual([response.status, resultOf(response)], [400, 'PARENT_NOT_FOUND']);
  }
  for (const parentId of [child, low]) assert.equal(resultOf(await restore(admin, child, { parentId })), 'DEPT_CYCLE');
  assert.equal((await restore(admin, child, { parentId: 9007199254740992 })).status, 400);
  assert.equal((await restore(admin, child, { parentId: '-1' })).status, 400);
  assert.equal((await restore(admin, child, null)).status, 400);
  // Read the deleted department first, so that a cached path would be stale after the restore.
  await admin.get(`${DEPTS}/${low}?includeDeleted=true`);
  const home = await admin.createDepartment();
  assert.equal(resultOf(await restore(admin, child, { parentId: home })), 'done');
  assert.equal((await readDept(admin, low)).ancestors, `0,${home},${child}`);
});

test('members and other tenants cannot restore anything, and ids of other tenants are not found', async () => {
  const [admin, other] = [await service.createTenant(), await service.createTenant()];
  const member = await service.createMember(admin);
  const id = await admin.createDepartment();
  const user = await admin.createUser({ userName: 'gone' });
  await admin.delete(`${DEPTS}/${id}`);
  await admin.delete(`${USERS}/${user}`);
  const child = await service.createTenant({}, admin);
  await admin.delete(`${TENANTS}/${child.id}`);
  for (const path of [`${DEPTS}/${id}`, `${USERS}/${user}`, `${TENANTS}/${child.id}`]) {
    const theirs = await other.post(`${path}/restore`);
    const absent = await other.post(`${path.replace(/\d+$/, '777777')}/restore`);
    assert.equal(theirs.status, 404);
    assert.deepEqual(theirs.data, absent.data);
    assert.equal(resultOf(await member.post(`${path}/restore`)), 'NOT_ALLOWED');
    assert.equal((await service.anonymous.post(`${path}/restore`)).status, 401);
    assert.equal(resultOf(await admin.post(`${path}/restore`)), 'done');
  }
});

test('a restored user keeps their password and existing departments, and their sessions stay ended', async () => {
  const admin = await service.createTenant();
  const [main, remaining, removed] = [
    await admin.createDepartment(),
    await admin.createDepartment(),
    await admin.createDepartment(),
  ];
  const member = await service.createMember(admin, { deptId: main, deptIds: [remaining, removed], nickName: '李' });
  await admin.put(USERS, { userId: member.id, deptId: main, deptIds: [remaining, removed], nickName: '李四' });
  await admin.delete(`${USERS}/${member.id}`);
  await admin.delete(`${DEPTS}/${removed}`);
  assert.equal(resultOf(await admin.post(`${USERS}/${member.id}/restore`)), 'done');
  const { data } = await admin.get(`${USERS}/${member.id}`);
  assert.deepEqual([data.deptId, data.deptIds, data.nickName], [Number(main), [Number(remaining)], '李四']);
  assert.equal(resultOf(await member.get('/auth/me')), 'SESSION_ENDED');
  await service.logIn(admin.tenantId, data.userName, PASSWORD);
  const again = await admin.post(`${USERS}/${member.id}/restore`);
  assert.deepEqual([again.status, resultOf(again)], [409, 'USER_NOT_DELETED']);
  assert.equal(resultOf(await admin.post(`${USERS}/9007199254740993/restore`)), 'USER_NOT_FOUND');
  await admin.delete(`${USERS}/${member.id}`);
  await admin.delete(`${DEPTS}/${main}`);
  await admin.post(`${USERS}/${member.id}/restore`);
  assert.equal((await admin.get(`${USERS}/${member.id}`)).data.deptId, null);
});

test('a user is not restored when their name is taken or the account limit is reached', async () => {
  const admin = await service.createTenant({ accountCount: 2 });
  const id = await admin.createUser({ userName: 'Li' });
  await admin.delete(`${USERS}/${id}`);
  const taker = await admin.createUser({ userName: 'li' });
  const full = await admin.post(`${USERS}/${id}/restore`);
  assert.deepEqual([full.status, full.data], [409, { reason: 'ACCOUNT_LIMIT', accountCount: 2 }]);
  await service.root.put(TENANTS, { id: admin.id, accountCount: 3 });
  const taken = await admin.post(`${USERS}/${id}/restore`);
  assert.deepEqual([taken.status, resultOf(taken)], [409, 'USER_NAME_TAKEN']);
  await admin.delete(`${USERS}/${taker}`);
  assert.equal(resultOf(await admin.post(`${USERS}/${id}/restore`)), 'done');
});

test('an administrator of a parent tenant can restore users of a child tenant, a sibling cannot', async () => {
  const admin = await service.createTenant();
  const child = await service.createTenant({}, admin);
  const sibling = await service.createTenant();
  const id = await child.createUser({ userName: 'gone' });
  await child.delete(`${USERS}/${id}`);
  const path = `${USERS}/${id}/restore?tenantId=${child.tenantId}`;
  assert.equal(resultOf(await sibling.post(path)), 'OTHER_TENANT');
  assert.equal(resultOf(await admin.post(`${USERS}/${id}/restore`)), 'USER_NOT_FOUND');
  assert.equal(resultOf(await admin.post(path)), 'done');
  assert.equal((await child.get(`${USERS}/${id}`)).data.updateBy, 'boss');
});

test('a restored tenant returns to its former place with its departments and users', async () => {
  const admin = await service.createTenant();
  const child = await service.createTenant({ tenantName: '分公司', quotaBo: { credit: 7, merchant: 2 } }, admin);
  const low = await service.createTenant({}, child);
  const id = await child.createDepartment();
  const { data: original } = await admin.get(`${TENANTS}/${child.id}`);
  await child.delete(`${TENANTS}/${low.id}`);
  await admin.delete(`${TENANTS}/${child.id}`);
  assert.equal(resultOf(await child.get(`${DEPTS}/${id}`)), 'TENANT_DELETED');
  const missingParent = await admin.post(`${TENANTS}/${low.id}/restore`);
  assert.deepEqual(
    [missingParent.status, missingParent.data],
    [409, { reason: 'TENANT_PARENT_GONE', tenantParent: child.tenantId }],
  );
  assert.equal(resultOf(await admin.post(`${TENANTS}/${child.id}/restore`)), 'done');
  assert.deepEqual((await admin.get(`${TENANTS}/${child.id}`)).data, original);
  assert.equal((await child.get(`${DEPTS}/${id}`)).code, 200, 'the department of the tenant was kept');
  assert.equal(resultOf(await admin.post(`${TENANTS}/${child.id}/restore`)), 'TENANT_NOT_DELETED');
  assert.equal(resultOf(await admin.post(`${TENANTS}/9007199254740993/restore`)), 'TENANT_NOT_FOUND');
  assert.equal(resultOf(await child.post(`${TENANTS}/${low.id}/restore`)), 'done');
  assert.equal((await admin.get(`${TENANTS}/${low.id}`)).data.tenantParent, child.tenantId);
});

test('a tenant with more users than its quota of accounts allows can be restored, also by a revert', async () => {
  const admin = await service.createTenant();
  const child = await service.createTenant({}, admin);
  await child.createUser({ userName: 'second' });
  const setTotal = (of: Client, body: object) => admin.put(`/system/quota-api/accounts?tenantId=${of.tenantId}`, body);
  assert.equal(resultOf(await setTotal(child, { total: 1 })), 'done');
  await admin.delete(`${TENANTS}/${child.id}`);
  assert.equal(resultOf(await admin.post(`${TENANTS}/${child.id}/restore`)), 'done');
  await admin.delete(`${TENANTS}/${child.id}`);
  const { data } = await admin.get('/system/change-api/list?limit=1&below=false&resource=tenant');
  assert.equal(resultOf(await admin.post(`/system/change-api/${data.rows[0].id}/revert`)), 'done');
  // A pool above may have counted other users since, so it must still have room.
  const pool = await service.createTenant({}, admin);
  const low = await service.createTenant({}, pool);
  await pool.delete(`${TENANTS}/${low.id}`);
  assert.equal(resultOf(await setTotal(pool, { total: 1, pooled: true })), 'done');
  assert.equal(resultOf(await pool.post(`${TENANTS}/${low.id}/restore`)), 'QUOTA_EXHAUSTED');
});

test('concurrent restores with one Idempotency-Key restore once and return the same response', async () => {
  const admin = await service.createTenant();
  const id = await admin.createDepartment();
  await admin.delete(`${DEPTS}/${id}`);
  const headers = { 'idempotency-key': 'again' };
  const responses = await Promise.all(
    [1, 2, 3].map(() => admin.post(`${DEPTS}/${id}/restore`, undefined, { headers })),
  );
  assert.deepEqual(responses.map(resultOf), ['done', 'done', 'done']);
  assert.equal((await admin.get('/system/change-api/list?action=restored')).data.rows.length, 1);
});

test('a subtree of 600 departments is restored completely', async () => {
  const admin = await service.createTenant();
  const departments = Array.from({ length: 600 }, (_, n) =>
    n === 0 ? { ref: '0' } : { ref: String(n), parentRef: String(Math.floor((n - 1) / 3)), deptName: `d${n}` },
  );
  const { data } = await admin.post(`${DEPTS}/bulk`, { departments });
  const before = await treeOf(admin);
  const [root] = data.deptIds;
  assert.equal(resultOf(await admin.delete(`${DEPTS}/${root}?subtree=true`)), 'done');
  assert.deepEqual(await treeOf(admin), []);
  assert.equal(resultOf(await restore(admin, root)), 'done');
  assert.deepEqual(await treeOf(admin), before);
});
