import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after } from '../support/cleanup.ts';
import { CHANGES, DEPTS, resultOf, TENANTS, USERS } from '../support/expect.ts';
import { scale } from '../support/scale.ts';
import { type ApiResponse, type Client, PASSWORD, startService } from '../support/service.ts';
import { apply } from './imports.ts';

const service = await startService();

const revert = (client: Client, id: number, query = '') => client.post(`${CHANGES}/${id}/revert${query}`);
/** The id of the latest change of a tenant itself, without those of tenants below. */
const latestChange = async (client: Client, query = ''): Promise<number> =>
  (await client.get(`${CHANGES}/list?limit=1&below=false${query}`)).data.rows[0].id;
const readRecord = async (client: Client, path: string) => {
  const { updateBy: _, updateTime: __, ...record } = (await client.get(path)).data;
  return record;
};

test('the creation, update, move and deletion of a department can be reverted, and so can the revert', async () => {
  const admin = await service.createTenant();
  const [home, away] = [await admin.createDepartment(), await admin.createDepartment()];
  const id = await admin.createDepartment({
    parentId: home,
    deptName: 'a',
    leader: '张三',
    email: 'a@b.cn',
    orderNum: 4,
  });
  const created = await latestChange(admin);
  const path = `${DEPTS}/${id}`;
  const original = await readRecord(admin, path);
  const writes = [
    () => admin.put(DEPTS, { deptId: id, deptName: 'b', status: '1', phone: '1' }),
    () => admin.put(DEPTS, { deptId: id, parentId: away, deptName: 'c' }),
    () => admin.delete(path),
  ];
  for (const write of writes) {
    assert.equal(resultOf(await write()), 'done');
    const change = await latestChange(admin);
    const { status: after } = await admin.get(path);
    const changed = after === 200 ? await readRecord(admin, path) : null;
    assert.equal(resultOf(await revert(admin, change)), 'done');
    assert.deepEqual(await readRecord(admin, path), original);
    // Revert the revert, then revert the change once more.
    assert.equal(resultOf(await revert(admin, await latestChange(admin))), 'done');
    assert.deepEqual((await admin.get(path)).status === 200 ? await readRecord(admin, path) : null, changed);
    assert.equal(resultOf(await revert(admin, change)), 'done');
    assert.deepEqual(await readRecord(admin, path), original);
  }
  assert.equal(resultOf(await revert(admin, created)), 'done');
  assert.equal((await admin.get(path)).status, 404);
  const { data } = await admin.get(`${CHANGES}/list?resourceId=${id}&limit=1`);
  assert.deepEqual([data.rows[0].action, data.rows[0].by], ['deleted', 'boss']);
});

test('a bulk creation, a reorder and a subtree delete are each reverted as one change', async () => {
  const admin = await service.createTenant();
  const tree = async () => (await admin.get(`${DEPTS}/tree`)).data;
  const empty = await tree();
  const count = scale(120, 600);
  const departments = Array.from({ length: count }, (_, n) =>
    n < 10 ? { ref: String(n) } : { ref: String(n), parentRef: String(n % 10), orderNum: n },
  );
  const { data } = await admin.post(`${DEPTS}/bulk`, { departments });
  const creation = await latestChange(admin);
  const full = await tree();
  assert.equal(resultOf(await revert(admin, creation)), 'done');
  assert.deepEqual(await tree(), empty);
  assert.equal(resultOf(await revert(admin, await latestChange(admin))), 'done');
  assert.deepEqual(await tree(), full);
  const top = data.deptIds.slice(0, 10).reverse();
  await admin.put(`${DEPTS}/order`, { parentId: 0, deptIds: top });
  assert.notDeepEqual(await tree(), full);
  assert.equal(resultOf(await revert(admin, await latestChange(admin))), 'done');
  assert.deepEqual(await tree(), full);
  await admin.delete(`${DEPTS}/${top[0]}?subtree=true`);
  assert.equal(resultOf(await revert(admin, await latestChange(admin))), 'done');
  assert.deepEqual(await tree(), full);
  const below = await admin.createDepartment({ parentId: data.deptIds[count - 100] });
  const rejected = await revert(admin, creation);
  assert.deepEqual(
    [rejected.status, rejected.data],
    [409, { reason: 'DEPT_HAS_CHILDREN', deptIds: [data.deptIds[count - 100]] }],
    'only the new department below prevents the revert',
  );
  await admin.delete(`${DEPTS}/${below}`);
  assert.deepEqual(await tree(), full, 'the rejected revert deleted nothing');
});

test('an import that swaps a department and its parent can be reverted, whichever of them is older', async () => {
  for (const names of [
    ['a', 'b'],
    ['b', 'a'],
  ]) {
    const admin = await service.createTenant();
    const ids: Record<string, string> = {};
    for (const deptName of names)
      ids[deptName] = await admin.createDepartment({ deptName, source: 'hr', externalId: deptName });
    const parents = async () =>
      Promise.all(['a', 'b'].map(async (name) => String((await admin.get(`${DEPTS}/${ids[name]}`)).data.parentId)));
    assert.equal(resultOf(await admin.put(DEPTS, { deptId: ids.b, deptName: 'b', parentId: ids.a })), 'done');
    const { data } = await apply(admin, 'dept', [
      ['部门路径', '来源系统', '外部编号'],
      ['b', 'hr', 'b'],
      ['b/a', 'hr', 'a'],
    ]);
    assert.deepEqual(await parents(), [ids.b, '0']);
    assert.equal(resultOf(await revert(admin, data.changeId)), 'done');
    assert.deepEqual(await parents(), ['0', ids.a]);
    assert.equal(resultOf(await revert(admin, await latestChange(admin))), 'done');
    assert.deepEqual(await parents(), [ids.b, '0']);
  }
});

test('a change with later changes cannot be reverted until those are reverted, and the error lists them', async () => {
  const admin = await service.createTenant();
  const id = await admin.createDepartment({ deptName: 'a' });
  const write = async (deptName: string) => {
    await admin.put(DEPTS, { deptId: id, deptName });
    return latestChange(admin);
  };
  const [b, c, d] = [await write('b'), await write('c'), await write('d')];
  const rejected = await revert(admin, b);
  assert.deepEqual(
    [rejected.status, rejected.data],
    [409, { reason: 'CHANGE_CONTRADICTED', changeIds: [c, d], resources: [`department ${id}`] }],
  );
  assert.equal((await admin.get(`${DEPTS}/${id}`)).data.deptName, 'd');
  for (const change of [d, c, b]) assert.equal(resultOf(await revert(admin, change)), 'done');
  assert.equal((await admin.get(`${DEPTS}/${id}`)).data.deptName, 'a');
  assert.equal(resultOf(await revert(admin, b)), 'CHANGE_CONTRADICTED', 'the change is already reverted');
  // The error lists at most 20 changes.
  for (let n = 0; n < 25; n++) await admin.put(DEPTS, { deptId: id, deptName: `n${n}` });
  assert.equal((await revert(admin, d)).data.changeIds.length, 20);
});

test('an old deletion cannot be reverted after the department was restored, changed and deleted again', async () => {
  const admin = await service.createTenant();
  const id = await admin.createDepartment({ deptName: 'old' });
  await admin.delete(`${DEPTS}/${id}`);
  const first = await latestChange(admin);
  await admin.post(`${DEPTS}/${id}/restore`);
  await admin.put(DEPTS, { deptId: id, deptName: 'new' });
  await admin.delete(`${DEPTS}/${id}`);
  assert.equal((await revert(admin, first)).data.changeIds.length, 3);
  assert.equal(resultOf(await revert(admin, await latestChange(admin))), 'done');
  assert.equal((await admin.get(`${DEPTS}/${id}`)).data.deptName, 'new');
});

test('reverting a restore to another parent and then the deletion returns the department to its first parent', async () => {
  const admin = await service.createTenant();
  const [home, away] = [await admin.createDepartment(), await admin.createDepartment()];
  const id = await admin.createDepartment({ parentId: home });
  await admin.delete(`${DEPTS}/${id}`);
  const deleted = await latestChange(admin);
  await admin.post(`${DEPTS}/${id}/restore`, { parentId: away });
  assert.equal(resultOf(await revert(admin, deleted)), 'CHANGE_CONTRADICTED');
  assert.equal(resultOf(await revert(admin, await latestChange(admin))), 'done');
  await admin.get(`${DEPTS}/${id}?includeDeleted=true`);
  assert.equal(resultOf(await revert(admin, deleted)), 'done');
  assert.equal((await admin.get(`${DEPTS}/${id}`)).data.ancestors, `0,${home}`);
});

test('a revert is rejected for the same reasons as the operation it performs', async () => {
  const admin = await service.createTenant();
  const [home, away] = [await admin.createDepartment(), await admin.createDepartment()];
  const id = await admin.createDepartment({ parentId: home });
  const created = await latestChange(admin);
  const low = await admin.createDepartment({ parentId: id });
  const children = await revert(admin, created);
  assert.deepEqual([children.status, children.data], [409, { reason: 'DEPT_HAS_CHILDREN', deptIds: [Number(id)] }]);
  await admin.delete(`${DEPTS}/${low}`);
  const user = await admin.createUser({ userName: 'in', deptIds: [id] });
  assert.equal(resultOf(await revert(admin, created)), 'DEPT_HAS_USERS');
  await admin.put(USERS, { userId: user, deptIds: [away] });
  await admin.put(DEPTS, { deptId: id, parentId: away });
  const moved = await latestChange(admin);
  await admin.put(DEPTS, { deptId: home, status: '1' });
  assert.equal(resultOf(await revert(admin, moved)), 'PARENT_DISABLED');
  await admin.put(DEPTS, { deptId: home, parentId: id });
  assert.equal(resultOf(await revert(admin, moved)), 'DEPT_CYCLE');
  await admin.delete(`${DEPTS}/${home}`);
  const missing = await revert(admin, moved);
  assert.deepEqual([missing.status, missing.data], [409, { reason: 'PARENT_GONE', parentId: Number(home) }]);
  assert.equal((await admin.get(`${DEPTS}/${id}`)).data.parentId, Number(away));
});

test('a revert can return a department to a parent that was already disabled', async () => {
  const admin = await service.createTenant();
  const [home, away] = [await admin.createDepartment(), await admin.createDepartment()];
  const id = await admin.createDepartment({ parentId: home });
  await admin.put(DEPTS, { deptId: home, status: '1' });
  for (const write of [() => admin.put(DEPTS, { deptId: id, parentId: away }), () => admin.delete(`${DEPTS}/${id}`)]) {
    assert.equal(resultOf(await write()), 'done');
    assert.equal(resultOf(await revert(admin, await latestChange(admin))), 'done');
    assert.equal((await admin.get(`${DEPTS}/${id}`)).data.parentId, Number(home));
  }
});

test('the creation, update and deletion of a user can be reverted, with all their departments or not at all', async () => {
  const admin = await service.createTenant({ accountCount: 2 });
  const [one, two] = [await admin.createDepartment(), await admin.createDepartment()];
  const id = await admin.createUser({ userName: 'li', nickName: '李', deptId: one, deptIds: [two], roles: ['admin'] });
  const path = `${USERS}/${id}`;
  const created = await latestChange(admin);
  const original = await readRecord(admin, path);
  await admin.put(USERS, { userId: id, userName: 'wang', deptId: two });
  const updated = await latestChange(admin);
  assert.equal(resultOf(await revert(admin, updated)), 'done');
  assert.deepEqual(await readRecord(admin, path), original);
  await admin.put(USERS, { userId: id, userName: 'wang' });
  const withoutDepartments = await latestChange(admin);
  await admin.delete(`${DEPTS}/${one}`);
  const missing = await revert(admin, withoutDepartments);
  assert.deepEqual([missing.status, missing.data], [409, { reason: 'USER_DEPT_GONE', deptIds: [Number(one)] }]);
  await admin.post(`${DEPTS}/${one}/restore`);
  assert.equal(resultOf(await revert(admin, withoutDepartments)), 'done');
  await admin.delete(path);
  const deleted = await latestChange(admin);
  const other = await admin.createUser({ userName: 'LI' });
  assert.equal(resultOf(await revert(admin, deleted)), 'ACCOUNT_LIMIT');
  await service.root.put(TENANTS, { id: admin.id, accountCount: 9 });
  assert.equal(resultOf(await revert(admin, deleted)), 'USER_NAME_TAKEN');
  await admin.delete(`${USERS}/${other}`);
  assert.equal(resultOf(await revert(admin, deleted)), 'done');
  assert.deepEqual(await readRecord(admin, path), original);
  await service.logIn(admin.tenantId, 'li', PASSWORD);
  assert.equal(resultOf(await revert(admin, created)), 'done');
  assert.equal((await admin.get(path)).status, 404);
});

test('a revert can remove neither the last administrator nor the caller', async () => {
  const admin = await service.createTenant();
  const id = await admin.createUser({ userName: 'second', roles: ['admin'] });
  const created = await latestChange(admin);
  const second = await service.logIn(admin.tenantId, 'second');
  assert.equal(resultOf(await revert(second, created)), 'OWN_USER');
  const { data: me } = await admin.get('/auth/me');
  await second.put(USERS, { userId: me.user.userId, roles: ['member'] });
  const demoted = await latestChange(second);
  assert.equal(resultOf(await revert(second, demoted)), 'done');
  await admin.put(USERS, { userId: id, roles: ['member'] });
  await admin.put(USERS, { userId: id, roles: ['admin'] });
  const promoted = await latestChange(admin);
  await admin.put(USERS, { userId: me.user.userId, roles: ['member'] });
  assert.equal(resultOf(await revert(second, promoted)), 'LAST_ADMINISTRATOR');
});

test('password changes and logins cannot be reverted', async () => {
  const admin = await service.createTenant();
  const id = await admin.createUser({ userName: 'li' });
  await admin.put(USERS, { userId: id, nickName: '李', password: 'another password' });
  const { data } = await admin.get(`${CHANGES}/list?resource=user&resourceId=${id}&limit=2`);
  for (const { id: change } of data.rows) {
    const response = await revert(admin, change);
    assert.deepEqual([response.status, resultOf(response)], [409, 'CHANGE_IRREVERSIBLE']);
  }
  assert.equal(resultOf(await revert(admin, await latestChange(admin, '&resource=login'))), 'CHANGE_IRREVERSIBLE');
  // A later password change does not prevent reverting an earlier change of the user.
  await admin.put(USERS, { userId: id, nickName: '四' });
  const change = await latestChange(admin);
  await admin.put(USERS, { userId: id, nickName: '四', password: 'a third password' });
  assert.equal(resultOf(await revert(admin, change)), 'done');
  assert.equal((await admin.get(`${USERS}/${id}`)).data.nickName, '李');
  await service.logIn(admin.tenantId, 'li', 'a third password');
});

test('a request that caused notices can be reverted, but not through a notice', async () => {
  const above = await service.createTenant();
  const admin = await service.createTenant({ quotaBo: { merchant: 10 } }, above);
  const accounts = `/system/quota-api/accounts?tenantId=${admin.tenantId}`;
  assert.equal(resultOf(await above.put(accounts, { total: 10 })), 'done');
  const users = Array.from({ length: 7 }, (_, n) => ({ ref: `u${n}`, userName: `u${n}`, password: PASSWORD }));
  assert.equal((await admin.post(`${USERS}/bulk`, { users })).status, 200);
  const [created, notice] = [
    await latestChange(admin, '&resource=user'),
    await latestChange(admin, '&resource=notice'),
  ];
  // A notice cannot be reverted, not even if its id is sent with leading zeros. Its request can, through another of its changes.
  const rejected = await admin.post(`${CHANGES}/000${notice}/revert`);
  assert.deepEqual([rejected.status, resultOf(rejected)], [409, 'CHANGE_IRREVERSIBLE']);
  assert.equal(resultOf(await admin.post(`${CHANGES}/000${created}/revert`)), 'done');
  assert.equal((await admin.get(`${USERS}/list`)).data.total, 1, 'the administrator is left');
  // What was used before is more than 80 % of the lower total, so lowering it causes a notice.
  assert.equal((await admin.post('/system/quota-api/consume', { quota: 'merchant', amount: 5 })).status, 200);
  assert.equal(resultOf(await above.patch(`${TENANTS}/${admin.id}`, { quotaBo: { merchant: 6 } })), 'done');
  const lowered = await latestChange(above, '&resource=tenant');
  assert.ok((await latestChange(above, '&resource=notice')) > notice, 'the lower total caused a notice');
  assert.equal(resultOf(await revert(above, lowered)), 'done');
  assert.equal((await above.get(`${TENANTS}/${admin.id}`)).data.quotaBo.merchant, 10);
  assert.equal(resultOf(await revert(above, await latestChange(above, '&resource=notice'))), 'CHANGE_IRREVERSIBLE');
});

test('an ancestor tenant can revert updates, moves and deletions of a tenant, with all its quotas', async () => {
  const admin = await service.createTenant();
  const [home, away] = [await service.createTenant({}, admin), await service.createTenant({}, admin)];
  const quotaBo = { enterpriseQuery: 1, merchant: 2, riskReportUsed: 3, zr: 4, credit: 5, pf: 6 };
  const full = { tenantName: '子', startTime: '2020-01-01', endTime: '2999-12-31', packageBo: { menuIds: '1,2' } };
  const child = await service.createTenant({ ...full, quotaBo, ruleBo: { modelZr: '{}' } }, home);
  const created = await latestChange(admin);
  const readRow = async () => {
    const [row] = await service.superuser`
      select tenant_id, path, parent_id, tenant_name, start_date, end_date, status, account_count, menu_ids, quotas, rules,
        del_flag from banyan.tenants where id = ${child.id}`;
    return { ...row };
  };
  const original = await readRow();
  const update = { id: child.id, tenantName: '孙' };
  const writes: [write: () => Promise<ApiResponse>, outcomeForChild: string][] = [
    [() => admin.put(TENANTS, { ...update, status: '1' }), 'TENANT_DISABLED'],
    // The change belongs to the tenant above, so the child does not see it.
    [() => admin.put(TENANTS, { ...update, tenantParent: away.tenantId }), 'CHANGE_NOT_FOUND'],
    [() => admin.delete(`${TENANTS}/${child.id}`), 'TENANT_DELETED'],
  ];
  for (const [write, outcomeForChild] of writes) {
    assert.equal(resultOf(await write()), 'done');
    assert.notDeepEqual(await readRow(), original);
    const change = await latestChange(admin);
    assert.equal(resultOf(await revert(child, change)), outcomeForChild);
    assert.equal(resultOf(await revert(admin, change)), 'done');
    assert.deepEqual(await readRow(), original);
  }
  const own = await latestChange(child, '&resource=tenant');
  assert.equal(resultOf(await revert(child, own)), 'OWN_TENANT');
  assert.equal(resultOf(await revert(admin, own)), 'CHANGE_NOT_FOUND', 'the change belongs to the child tenant');
  assert.equal(resultOf(await revert(admin, own, `?tenantId=${child.tenantId}`)), 'done');
  assert.equal((await admin.get(`${TENANTS}/${child.id}`)).status, 404, 'the restore was reverted');
  assert.equal(resultOf(await revert(admin, await latestChange(admin))), 'done');
  assert.equal(
    resultOf(await revert(admin, created)),
    'done',
    'reverted although the tenant has its first administrator',
  );
  assert.deepEqual(await readRow(), { ...original, del_flag: '2' });
});

test('a parent tenant can revert changes of users and departments below with tenantId', async () => {
  const admin = await service.createTenant();
  const child = await service.createTenant({}, admin);
  const id = await child.createUser({ userName: 'li' });
  const change = await latestChange(child);
  await child.createDepartment();
  const theirs = await latestChange(child);
  assert.equal(resultOf(await revert(admin, change)), 'CHANGE_NOT_FOUND');
  assert.equal(resultOf(await revert(admin, theirs)), 'CHANGE_NOT_FOUND');
  assert.equal(resultOf(await revert(admin, theirs, `?tenantId=${child.tenantId}`)), 'done');
  const headers = { 'idempotency-key': 'below' };
  const path = `${CHANGES}/${change}/revert?tenantId=${child.tenantId}`;
  const responses = [await admin.post(path, undefined, { headers }), await admin.post(path, undefined, { headers })];
  assert.deepEqual(responses.map(resultOf), ['done', 'done']);
  assert.equal(responses[1]?.headers['idempotent-replayed'], 'true');
  assert.equal((await child.get(`${USERS}/${id}`)).status, 404);
});

test('members and other tenants cannot revert anything, and changes of other tenants are not found', async () => {
  const [admin, other] = [await service.createTenant(), await service.createTenant()];
  const member = await service.createMember(admin);
  const id = await admin.createDepartment();
  const change = await latestChange(admin);
  const [theirs, absent] = [await revert(other, change), await other.post(`${CHANGES}/9007199254740993/revert`)];
  assert.deepEqual([theirs.status, theirs.data], [404, { reason: 'CHANGE_NOT_FOUND' }]);
  assert.deepEqual([absent.status, absent.data], [404, { reason: 'CHANGE_NOT_FOUND' }]);
  assert.equal(resultOf(await revert(other, change, `?tenantId=${admin.tenantId}`)), 'OTHER_TENANT');
  assert.equal(resultOf(await revert(member, change)), 'NOT_ALLOWED');
  assert.equal((await service.anonymous.post(`${CHANGES}/${change}/revert`)).status, 401);
  assert.equal((await admin.post(`${CHANGES}/x/revert`)).status, 400);
  assert.equal((await admin.get(`${DEPTS}/${id}`)).code, 200);
});

test('a change older than the retention period cannot be reverted, because other changes of its request may be archived', async () => {
  const admin = await service.createTenant();
  const id = await admin.createDepartment();
  const change = await latestChange(admin);
  // complete_from applies to the whole service, which has archived nothing: reset it to null afterwards.
  after(() => service.superuser`update banyan.ledger_retention set complete_from = null`);
  await service.superuser`update banyan.ledger_retention set complete_from = clock_timestamp()`;
  const old = await revert(admin, change);
  assert.deepEqual([old.status, resultOf(old)], [409, 'CHANGE_TOO_OLD']);
  await admin.put(DEPTS, { deptId: id, deptName: 'new' });
  assert.equal(resultOf(await revert(admin, await latestChange(admin))), 'done');
});
