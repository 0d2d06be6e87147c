import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, type Client, PASSWORD, startService } from '../support/service.ts';

const service = await startService();
const dept = '/system/dept-api';
const people = '/system/user-api';
const tenants = '/system/tenant-api';
const ledger = '/system/change-api';

const wordOf = ({ code, data }: Answer) => (code === 200 ? 'done' : (data?.reason ?? String(code)));
const revert = (client: Client, id: number, query = '') => client.post(`${ledger}/${id}/revert${query}`);
/** The latest change of a tenant's own ledger. */
const latest = async (client: Client, query = ''): Promise<number> =>
  (await client.get(`${ledger}/list?limit=1&below=false${query}`)).data.rows[0].id;
const readOf = async (client: Client, path: string) => {
  const { updateBy: _, updateTime: __, ...record } = (await client.get(path)).data;
  return record;
};

test('a change of a department is reverted: created, updated, moved, deleted; and so is the revert', async () => {
  const boss = await service.createTenant();
  const [home, away] = [await boss.createDepartment(), await boss.createDepartment()];
  const id = await boss.createDepartment({
    parentId: home,
    deptName: 'a',
    leader: '张三',
    email: 'a@b.cn',
    orderNum: 4,
  });
  const created = await latest(boss);
  const path = `${dept}/${id}`;
  const was = await readOf(boss, path);
  const writes = [
    () => boss.put(dept, { deptId: id, deptName: 'b', status: '1', phone: '1' }),
    () => boss.put(dept, { deptId: id, parentId: away, deptName: 'c' }),
    () => boss.delete(path),
  ];
  for (const write of writes) {
    assert.equal(wordOf(await write()), 'done');
    const change = await latest(boss);
    const { status: after } = await boss.get(path);
    const became = after === 200 ? await readOf(boss, path) : null;
    assert.equal(wordOf(await revert(boss, change)), 'done');
    assert.deepEqual(await readOf(boss, path), was);
    // And back, and back once more.
    assert.equal(wordOf(await revert(boss, await latest(boss))), 'done');
    assert.deepEqual((await boss.get(path)).status === 200 ? await readOf(boss, path) : null, became);
    assert.equal(wordOf(await revert(boss, change)), 'done');
    assert.deepEqual(await readOf(boss, path), was);
  }
  assert.equal(wordOf(await revert(boss, created)), 'done');
  assert.equal((await boss.get(path)).status, 404);
  const { data } = await boss.get(`${ledger}/list?resourceId=${id}&limit=1`);
  assert.deepEqual([data.rows[0].action, data.rows[0].by], ['deleted', 'boss']);
});

test('a batch is one change: many made at once, an order, a branch deleted', async () => {
  const boss = await service.createTenant();
  const tree = async () => (await boss.get(`${dept}/tree`)).data;
  const empty = await tree();
  const departments = Array.from({ length: 600 }, (_, n) =>
    n < 10 ? { ref: String(n) } : { ref: String(n), parentRef: String(n % 10), orderNum: n },
  );
  const { data } = await boss.post(`${dept}/bulk`, { departments });
  const made = await latest(boss);
  const full = await tree();
  assert.equal(wordOf(await revert(boss, made)), 'done');
  assert.deepEqual(await tree(), empty);
  assert.equal(wordOf(await revert(boss, await latest(boss))), 'done');
  assert.deepEqual(await tree(), full);
  const top = data.deptIds.slice(0, 10).reverse();
  await boss.put(`${dept}/order`, { parentId: 0, deptIds: top });
  assert.notDeepEqual(await tree(), full);
  assert.equal(wordOf(await revert(boss, await latest(boss))), 'done');
  assert.deepEqual(await tree(), full);
  await boss.delete(`${dept}/${top[0]}?subtree=true`);
  assert.equal(wordOf(await revert(boss, await latest(boss))), 'done');
  assert.deepEqual(await tree(), full);
  const below = await boss.createDepartment({ parentId: data.deptIds[500] });
  const refused = await revert(boss, made);
  assert.deepEqual(
    [refused.status, refused.data],
    [409, { reason: 'DEPT_HAS_CHILDREN', deptIds: [data.deptIds[500]] }],
    'what came to them later was all reverted, but for the one below',
  );
  await boss.delete(`${dept}/${below}`);
  assert.deepEqual(await tree(), full, 'none of them was unmade');
});

test('what came later contradicts it, and is named; once that is reverted it does not', async () => {
  const boss = await service.createTenant();
  const id = await boss.createDepartment({ deptName: 'a' });
  const write = async (deptName: string) => {
    await boss.put(dept, { deptId: id, deptName });
    return latest(boss);
  };
  const [b, c, d] = [await write('b'), await write('c'), await write('d')];
  const refused = await revert(boss, b);
  assert.deepEqual(
    [refused.status, refused.data],
    [409, { reason: 'CHANGE_CONTRADICTED', changeIds: [c, d], resources: [`department ${id}`] }],
  );
  assert.equal((await boss.get(`${dept}/${id}`)).data.deptName, 'd');
  for (const change of [d, c, b]) assert.equal(wordOf(await revert(boss, change)), 'done');
  assert.equal((await boss.get(`${dept}/${id}`)).data.deptName, 'a');
  assert.equal(wordOf(await revert(boss, b)), 'CHANGE_CONTRADICTED', 'it is reverted already');
  // Many: twenty are named.
  for (let n = 0; n < 25; n++) await write(`n${n}`);
  assert.equal((await revert(boss, d)).data.changeIds.length, 20);
});

test('what went, came back changed, and went again does not come back as it was long ago', async () => {
  const boss = await service.createTenant();
  const id = await boss.createDepartment({ deptName: 'old' });
  await boss.delete(`${dept}/${id}`);
  const first = await latest(boss);
  await boss.post(`${dept}/${id}/restore`);
  await boss.put(dept, { deptId: id, deptName: 'new' });
  await boss.delete(`${dept}/${id}`);
  assert.equal((await revert(boss, first)).data.changeIds.length, 3);
  assert.equal(wordOf(await revert(boss, await latest(boss))), 'done');
  assert.equal((await boss.get(`${dept}/${id}`)).data.deptName, 'new');
});

test('a department restored elsewhere: reverted in turn, it is where it was first', async () => {
  const boss = await service.createTenant();
  const [home, away] = [await boss.createDepartment(), await boss.createDepartment()];
  const id = await boss.createDepartment({ parentId: home });
  await boss.delete(`${dept}/${id}`);
  const deleted = await latest(boss);
  await boss.post(`${dept}/${id}/restore`, { parentId: away });
  assert.equal(wordOf(await revert(boss, deleted)), 'CHANGE_CONTRADICTED');
  assert.equal(wordOf(await revert(boss, await latest(boss))), 'done');
  await boss.get(`${dept}/${id}?includeDeleted=true`);
  assert.equal(wordOf(await revert(boss, deleted)), 'done');
  assert.equal((await boss.get(`${dept}/${id}`)).data.ancestors, `0,${home}`);
});

test('refused as the operation itself would be: children, users, parents gone or disabled, a cycle', async () => {
  const boss = await service.createTenant();
  const [home, away] = [await boss.createDepartment(), await boss.createDepartment()];
  const id = await boss.createDepartment({ parentId: home });
  const created = await latest(boss);
  const low = await boss.createDepartment({ parentId: id });
  const children = await revert(boss, created);
  assert.deepEqual([children.status, children.data], [409, { reason: 'DEPT_HAS_CHILDREN', deptIds: [Number(id)] }]);
  await boss.delete(`${dept}/${low}`);
  const user = await boss.createUser({ userName: 'in', deptIds: [id] });
  assert.equal(wordOf(await revert(boss, created)), 'DEPT_HAS_USERS');
  await boss.put(people, { userId: user, deptIds: [away] });
  await boss.put(dept, { deptId: id, parentId: away });
  const moved = await latest(boss);
  await boss.put(dept, { deptId: home, status: '1' });
  assert.equal(wordOf(await revert(boss, moved)), 'PARENT_DISABLED');
  await boss.put(dept, { deptId: home, parentId: id });
  assert.equal(wordOf(await revert(boss, moved)), 'DEPT_CYCLE');
  await boss.delete(`${dept}/${home}`);
  const gone = await revert(boss, moved);
  assert.deepEqual([gone.status, gone.data], [409, { reason: 'PARENT_GONE', parentId: Number(home) }]);
  assert.equal((await boss.get(`${dept}/${id}`)).data.parentId, Number(away));
});

test('who was below a disabled parent comes back to it', async () => {
  const boss = await service.createTenant();
  const [home, away] = [await boss.createDepartment(), await boss.createDepartment()];
  const id = await boss.createDepartment({ parentId: home });
  await boss.put(dept, { deptId: home, status: '1' });
  for (const write of [() => boss.put(dept, { deptId: id, parentId: away }), () => boss.delete(`${dept}/${id}`)]) {
    assert.equal(wordOf(await write()), 'done');
    assert.equal(wordOf(await revert(boss, await latest(boss))), 'done');
    assert.equal((await boss.get(`${dept}/${id}`)).data.parentId, Number(home));
  }
});

test('users: created, updated, deleted; with their departments, or not at all', async () => {
  const boss = await service.createTenant({ accountCount: 2 });
  const [one, two] = [await boss.createDepartment(), await boss.createDepartment()];
  const id = await boss.createUser({ userName: 'li', nickName: '李', deptId: one, deptIds: [two], roles: ['admin'] });
  const path = `${people}/${id}`;
  const created = await latest(boss);
  const was = await readOf(boss, path);
  await boss.put(people, { userId: id, userName: 'wang', deptId: two });
  const updated = await latest(boss);
  assert.equal(wordOf(await revert(boss, updated)), 'done');
  assert.deepEqual(await readOf(boss, path), was);
  await boss.put(people, { userId: id, userName: 'wang' });
  const left = await latest(boss);
  await boss.delete(`${dept}/${one}`);
  const gone = await revert(boss, left);
  assert.deepEqual([gone.status, gone.data], [409, { reason: 'USER_DEPT_GONE', deptIds: [Number(one)] }]);
  await boss.post(`${dept}/${one}/restore`);
  assert.equal(wordOf(await revert(boss, left)), 'done');
  await boss.delete(path);
  const deleted = await latest(boss);
  const other = await boss.createUser({ userName: 'LI' });
  assert.equal(wordOf(await revert(boss, deleted)), 'ACCOUNT_LIMIT');
  await service.root.put(tenants, { id: boss.id, accountCount: 9 });
  assert.equal(wordOf(await revert(boss, deleted)), 'USER_NAME_TAKEN');
  await boss.delete(`${people}/${other}`);
  assert.equal(wordOf(await revert(boss, deleted)), 'done');
  assert.deepEqual(await readOf(boss, path), was);
  await service.logIn(boss.tenantId, 'li', PASSWORD);
  assert.equal(wordOf(await revert(boss, created)), 'done');
  assert.equal((await boss.get(path)).status, 404);
});

test('what keeps an administrator keeps him here too; nobody reverts himself away', async () => {
  const boss = await service.createTenant();
  const id = await boss.createUser({ userName: 'second', roles: ['admin'] });
  const created = await latest(boss);
  const second = await service.logIn(boss.tenantId, 'second');
  assert.equal(wordOf(await revert(second, created)), 'OWN_USER');
  const { data: me } = await boss.get('/auth/me');
  await second.put(people, { userId: me.user.userId, roles: ['member'] });
  const demoted = await latest(second);
  assert.equal(wordOf(await revert(second, demoted)), 'done');
  await boss.put(people, { userId: id, roles: ['member'] });
  await boss.put(people, { userId: id, roles: ['admin'] });
  const promoted = await latest(boss);
  await boss.put(people, { userId: me.user.userId, roles: ['member'] });
  assert.equal(wordOf(await revert(second, promoted)), 'LAST_ADMINISTRATOR');
});

test('passwords and logins are not reverted', async () => {
  const boss = await service.createTenant();
  const id = await boss.createUser({ userName: 'li' });
  await boss.put(people, { userId: id, nickName: '李', password: 'another password' });
  const { data } = await boss.get(`${ledger}/list?resource=user&resourceId=${id}&limit=2`);
  for (const { id: change } of data.rows) {
    const answer = await revert(boss, change);
    assert.deepEqual([answer.status, wordOf(answer)], [409, 'CHANGE_IRREVERSIBLE']);
  }
  assert.equal(wordOf(await revert(boss, await latest(boss, '&resource=login'))), 'CHANGE_IRREVERSIBLE');
  // A password that was changed since does not keep another change from being reverted.
  await boss.put(people, { userId: id, nickName: '四' });
  const change = await latest(boss);
  await boss.put(people, { userId: id, nickName: '四', password: 'a third password' });
  assert.equal(wordOf(await revert(boss, change)), 'done');
  assert.equal((await boss.get(`${people}/${id}`)).data.nickName, '李');
  await service.logIn(boss.tenantId, 'li', 'a third password');
});

test('tenants: by who may manage them, with all ten quotas, moves too', async () => {
  const boss = await service.createTenant();
  const [home, away] = [await service.createTenant({}, boss), await service.createTenant({}, boss)];
  const quotaBo = { enterpriseQuery: 1, merchant: 2, riskReportUsed: 3, zr: 4, credit: 5, pf: 6 };
  const full = { tenantName: '子', startTime: '2020-01-01', endTime: '2999-12-31', packageBo: { menuIds: '1,2' } };
  const child = await service.createTenant({ ...full, quotaBo, ruleBo: { modelZr: '{}' } }, home);
  const created = await latest(boss);
  const whole = async () => {
    const [row] = await service.superuser`
      select tenant_id, path, parent_id, tenant_name, start_date, end_date, status, account_count, menu_ids, quotas, rules,
        del_flag from banyan.tenants where id = ${child.id}`;
    return { ...row };
  };
  const was = await whole();
  const writes = [
    () => boss.put(tenants, { id: child.id, tenantName: '孙', status: '1' }),
    () => boss.put(tenants, { id: child.id, tenantName: '孙', tenantParent: away.tenantId }),
    () => boss.delete(`${tenants}/${child.id}`),
  ];
  for (const write of writes) {
    assert.equal(wordOf(await write()), 'done');
    const change = await latest(boss);
    assert.equal(
      wordOf(await revert(child, change)).replace('TENANT_DELETED', 'TENANT_DISABLED'),
      {
        0: 'TENANT_DISABLED',
        1: 'CHANGE_NOT_FOUND',
        2: 'TENANT_DISABLED',
      }[writes.indexOf(write)],
    );
    assert.equal(wordOf(await revert(boss, change)), 'done');
    assert.deepEqual(await whole(), was);
  }
  const own = await latest(child, '&resource=tenant');
  assert.equal(wordOf(await revert(child, own)), 'OWN_TENANT');
  assert.equal(wordOf(await revert(boss, own)), 'CHANGE_NOT_FOUND', 'it stands in another ledger');
  assert.equal(wordOf(await revert(boss, own, `?tenantId=${child.tenantId}`)), 'done');
  assert.equal((await boss.get(`${tenants}/${child.id}`)).status, 404, 'the restoring was reverted');
  assert.equal(wordOf(await revert(boss, await latest(boss))), 'done');
  assert.equal(wordOf(await revert(boss, created)), 'done', 'with its first administrator in it');
  assert.deepEqual(await whole(), { ...was, del_flag: '2' });
});

test('of a tenant below: its users with tenantId, its departments not', async () => {
  const boss = await service.createTenant();
  const child = await service.createTenant({}, boss);
  const id = await child.createUser({ userName: 'li' });
  const change = await latest(child);
  await child.createDepartment();
  const theirs = await latest(child);
  assert.equal(wordOf(await revert(boss, change)), 'CHANGE_NOT_FOUND');
  assert.equal(wordOf(await revert(boss, theirs, `?tenantId=${child.tenantId}`)), 'OTHER_TENANT');
  const headers = { 'idempotency-key': 'below' };
  const path = `${ledger}/${change}/revert?tenantId=${child.tenantId}`;
  const answers = [await boss.post(path, undefined, { headers }), await boss.post(path, undefined, { headers })];
  assert.deepEqual(answers.map(wordOf), ['done', 'done']);
  assert.equal(answers[1]?.headers['idempotent-replayed'], 'true');
  assert.equal((await child.get(`${people}/${id}`)).status, 404);
});

test('strangers and members revert nothing; an id of another tenant is like an absent one', async () => {
  const [boss, other] = [await service.createTenant(), await service.createTenant()];
  const member = await service.createMember(boss);
  const id = await boss.createDepartment();
  const change = await latest(boss);
  const [theirs, absent] = [await revert(other, change), await other.post(`${ledger}/9007199254740993/revert`)];
  assert.deepEqual([theirs.status, theirs.data], [404, { reason: 'CHANGE_NOT_FOUND' }]);
  assert.deepEqual([absent.status, absent.data], [404, { reason: 'CHANGE_NOT_FOUND' }]);
  assert.equal(wordOf(await revert(other, change, `?tenantId=${boss.tenantId}`)), 'OTHER_TENANT');
  assert.equal(wordOf(await revert(member, change)), 'NOT_ALLOWED');
  assert.equal((await service.anonymous.post(`${ledger}/${change}/revert`)).status, 401);
  assert.equal((await boss.post(`${ledger}/x/revert`)).status, 400);
  assert.equal((await boss.get(`${dept}/${id}`)).code, 200);
});

test('what is older than the ledger keeps in full is not reverted: a part of it may be archived', async () => {
  const boss = await service.createTenant();
  const id = await boss.createDepartment();
  const change = await latest(boss);
  await service.superuser`update banyan.ledger_state set kept_from = clock_timestamp()`;
  const old = await revert(boss, change);
  assert.deepEqual([old.status, wordOf(old)], [409, 'CHANGE_TOO_OLD']);
  await boss.put(dept, { deptId: id, deptName: 'new' });
  assert.equal(wordOf(await revert(boss, await latest(boss))), 'done');
});
