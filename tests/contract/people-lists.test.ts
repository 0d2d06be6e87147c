import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expectError, expectOk, read, TENANTS, USERS } from '../support/expect.ts';
import { type Client, startService } from '../support/service.ts';

/** The decisions on lists, for tenants and for users. */

const service = await startService();
const { root } = service;

const listOf =
  (resource: string) =>
  (client: Client, query: Record<string, string | number> = {}) =>
    read(client, `${resource}/list?${new URLSearchParams(query as Record<string, string>)}`);

const paging: [query: string, field: string][] = [
  ['pageNum=0', 'pageNum'],
  ['pageNum=-1', 'pageNum'],
  ['pageNum=x', 'pageNum'],
  ['pageNum=1.5', 'pageNum'],
  ['pageSize=0', 'pageSize'],
  ['pageSize=501', 'pageSize'],
  ['pageSize=x', 'pageSize'],
  ['status=2', 'status'],
];

describe('GET /system/tenant-api/list', () => {
  const list = listOf(TENANTS);
  const names = async (client: Client, query: Record<string, string | number>) => {
    const { rows, total } = await list(client, query);
    assert.equal(total, rows.length);
    return rows.map((row: { tenantName: string }) => row.tenantName);
  };

  test("the caller's own tenant and those below, at any depth; nobody else's, and none that is deleted", async () => {
    const boss = await service.createTenant({ tenantName: 'own' });
    const child = await service.createTenant({ tenantName: 'child' }, boss);
    await service.createTenant({ tenantName: 'grandchild' }, child);
    await service.createTenant({ tenantName: 'beside' });
    const gone = await boss.create(TENANTS, { tenantName: 'gone' });
    expectOk(await boss.delete(`${TENANTS}/${gone}`));
    assert.deepEqual(await names(boss, {}), ['own', 'child', 'grandchild']);
    assert.deepEqual(await names(child, {}), ['child', 'grandchild']);
    const everyone = await names(root, {});
    for (const name of ['own', 'child', 'grandchild', 'beside']) assert.ok(everyone.includes(name));
    assert.ok(!everyone.includes('gone'));
  });

  test('rows are what a read shows, in the order of their making', async () => {
    const boss = await service.createTenant();
    for (const tenantName of ['c', 'a', 'b'])
      await boss.create(TENANTS, { tenantName, quotaBo: { zr: 1, merchant: 2 } });
    const { rows, total } = await list(boss);
    assert.equal(total, 4);
    assert.deepEqual(rows.map((row: { tenantName: string }) => row.tenantName).join(), 't,c,a,b');
    for (const row of rows) assert.deepEqual(row, await read(boss, `${TENANTS}/${row.id}`));
  });

  test('tenantName: contains', async () => {
    const boss = await service.createTenant({ tenantName: '总部' });
    for (const tenantName of ['上海分公司', '北京分公司', null]) await boss.create(TENANTS, { tenantName });
    assert.deepEqual(await names(boss, { tenantName: '分公司' }), ['上海分公司', '北京分公司']);
    assert.deepEqual(await names(boss, { tenantName: '北京' }), ['北京分公司']);
    assert.deepEqual(await names(boss, { tenantName: '广州' }), []);
  });

  test('tenantName: % and _ are plain characters, and so is what else SQL knows', async () => {
    const boss = await service.createTenant();
    const strange = ['100%', '1000', 'a_b', 'axb', 'back\\slash', "O'Neil", '.*', '"; --'];
    for (const tenantName of strange) await boss.create(TENANTS, { tenantName });
    for (const [tenantName, found] of [
      ['%', ['100%']],
      ['_', ['a_b']],
      ['a_b', ['a_b']],
      ['1%', []],
      ['\\', ['back\\slash']],
      ["'", ["O'Neil"]],
      ["' or '1'='1", []],
      ['.*', ['.*']],
      ['--', ['"; --']],
    ] as const) {
      assert.deepEqual(await names(boss, { tenantName }), found, tenantName);
    }
  });

  test('tenantId: that one, if it is within reach', async () => {
    const boss = await service.createTenant({ tenantName: 'above' });
    const child = await service.createTenant({ tenantName: 'below' }, boss);
    assert.deepEqual(await names(boss, { tenantId: child.tenantId }), ['below']);
    for (const out of [boss.tenantId, '000000', '%', '_'.repeat(6), child.tenantId.slice(0, 5)]) {
      assert.deepEqual(await names(child, { tenantId: out }), [], out);
    }
  });

  test('status', async () => {
    const boss = await service.createTenant({ tenantName: 'normal' });
    await boss.create(TENANTS, { tenantName: 'disabled', status: '1' });
    assert.deepEqual(await names(boss, { status: '0' }), ['normal']);
    assert.deepEqual(await names(boss, { status: '1' }), ['disabled']);
  });

  test('tenantParent: its children, not those further down', async () => {
    const boss = await service.createTenant();
    const child = await service.createTenant({ tenantName: 'child' }, boss);
    await child.create(TENANTS, { tenantName: 'grandchild' });
    assert.deepEqual(await names(boss, { tenantParent: boss.tenantId }), ['child']);
    assert.deepEqual(await names(boss, { tenantParent: child.tenantId }), ['grandchild']);
    // Of those above he sees no more than his own tenant.
    assert.deepEqual(await names(child, { tenantParent: boss.tenantId }), ['child']);
    assert.deepEqual(await names(child, { tenantParent: '000000' }), []);
  });

  test('all filters together; a filter sent empty is none', async () => {
    const boss = await service.createTenant({ tenantName: 'one' });
    await boss.create(TENANTS, { tenantName: 'two', status: '1' });
    await boss.create(TENANTS, { tenantName: 'three', status: '1' });
    const { tenantId: tenantParent } = boss;
    assert.deepEqual(await names(boss, { tenantName: 'o', status: '1', tenantParent }), ['two']);
    const empty = { tenantName: '', tenantId: '', status: '', tenantParent: '' };
    assert.deepEqual(await names(boss, empty), ['one', 'two', 'three']);
  });

  test('pageNum and pageSize: 20 a page unless said, at most 500; total counts them all', async () => {
    const boss = await service.createTenant({ tenantName: '0' });
    for (let index = 1; index <= 22; index++) await boss.create(TENANTS, { tenantName: String(index) });
    await pages(boss, list, 23, (row) => row.tenantName);
    for (const [query, field] of paging) {
      expectError(await boss.get(`${TENANTS}/list?${query}`), 400, 'INVALID_FIELD', { field });
    }
  });

  test('members have no list', async () => {
    const member = await service.createMember(await service.createTenant());
    expectError(await member.get(`${TENANTS}/list`), 403, 'NOT_ALLOWED');
  });
});

describe('GET /system/user-api/list', () => {
  const list = listOf(USERS);
  const names = async (client: Client, query: Record<string, string | number>) => {
    const { rows, total } = await list(client, query);
    assert.equal(total, rows.length);
    return rows.map((row: { userName: string }) => row.userName);
  };

  test("the users of the caller's tenant, none that is deleted; rows are what a read shows, sorted by id", async () => {
    const boss = await service.createTenant();
    await (await service.createTenant({}, boss)).createUser({ userName: 'below' });
    const deptId = await boss.createDepartment();
    for (const userName of ['c', 'a', 'b'])
      await boss.createUser({ userName, deptId, deptIds: [await boss.createDepartment()] });
    expectOk(await boss.delete(`${USERS}/${await boss.createUser({ userName: 'gone' })}`));
    const { rows, total } = await list(boss);
    assert.equal(total, 4);
    assert.equal(rows.map((row: { userName: string }) => row.userName).join(), 'boss,c,a,b');
    for (const row of rows) assert.deepEqual(row, await read(boss, `${USERS}/${row.userId}`));
  });

  test('tenantId: of a tenant below', async () => {
    const boss = await service.createTenant();
    const child = await service.createTenant({}, boss);
    const grandchild = await service.createTenant({}, child);
    await grandchild.createUser({ userName: 'deep below' });
    assert.deepEqual(await names(boss, { tenantId: grandchild.tenantId }), ['boss', 'deep below']);
    assert.deepEqual(await names(boss, { tenantId: boss.tenantId }), ['boss']);
    for (const tenantId of [boss.tenantId, '000000', '999999999999']) {
      expectError(await child.get(`${USERS}/list?tenantId=${tenantId}`), 403, 'OTHER_TENANT');
    }
    for (const tenantId of ['x', '%25', '1']) {
      expectError(await child.get(`${USERS}/list?tenantId=${tenantId}`), 400, 'INVALID_FIELD', { field: 'tenantId' });
    }
  });

  test('userName: contains; % and _ are plain characters, and so is what else SQL knows', async () => {
    const boss = await service.createTenant();
    for (const userName of ['100%', '1000', 'a_b', 'axb', '\\', "O'Neil"]) await boss.createUser({ userName });
    for (const [userName, found] of [
      ['00', ['100%', '1000']],
      ['%', ['100%']],
      ['_', ['a_b']],
      ['1%0', []],
      ['\\', ['\\']],
      ["'", ["O'Neil"]],
      ["' or '1'='1", []],
    ] as const) {
      assert.deepEqual(await names(boss, { userName }), found, userName);
    }
  });

  test('deptId: those with it as deptId or in deptIds', async () => {
    const boss = await service.createTenant();
    const [one, two, none] = [
      await boss.createDepartment(),
      await boss.createDepartment(),
      await boss.createDepartment(),
    ];
    await boss.createUser({ userName: 'main', deptId: one });
    await boss.createUser({ userName: 'further', deptId: two, deptIds: [one] });
    await boss.createUser({ userName: 'elsewhere', deptId: two });
    assert.deepEqual(await names(boss, { deptId: one }), ['main', 'further']);
    assert.deepEqual(await names(boss, { deptId: two }), ['further', 'elsewhere']);
    for (const deptId of [none, '4000000000000', '9223372036854775807']) {
      assert.deepEqual(await names(boss, { deptId }), []);
    }
    for (const deptId of ['x', '-1', '1.5', '12345678901234567890']) {
      expectError(await boss.get(`${USERS}/list?deptId=${deptId}`), 400, 'INVALID_FIELD', { field: 'deptId' });
    }
  });

  test('status; all filters together; a filter sent empty is none', async () => {
    const boss = await service.createTenant();
    const deptId = await boss.createDepartment();
    await boss.createUser({ userName: 'off', status: '1', deptId });
    await boss.createUser({ userName: 'other', status: '1' });
    assert.deepEqual(await names(boss, { status: '0' }), ['boss']);
    assert.deepEqual(await names(boss, { status: '1' }), ['off', 'other']);
    assert.deepEqual(await names(boss, { status: '1', deptId, userName: 'f', tenantId: boss.tenantId }), ['off']);
    const empty = { userName: '', deptId: '', status: '', tenantId: '', pageNum: '' };
    assert.deepEqual(await names(boss, empty), ['boss', 'off', 'other']);
  });

  test('pageNum and pageSize: 20 a page unless said, at most 500; total counts them all', async () => {
    const boss = await service.createTenant();
    await Promise.all(Array.from({ length: 22 }, (_, index) => boss.createUser({ userName: String(index) })));
    await pages(boss, list, 23, (row) => row.userId);
    for (const [query, field] of paging) {
      expectError(await boss.get(`${USERS}/list?${query}`), 400, 'INVALID_FIELD', { field });
    }
  });
});

/** Every page has what is its own, and together they are the whole list in its order. */
async function pages(
  client: Client,
  list: ReturnType<typeof listOf>,
  count: number,
  // biome-ignore lint/suspicious/noExplicitAny: a row of either list
  key: (row: any) => unknown,
): Promise<void> {
  const all = (await list(client, { pageSize: 500 })).rows.map(key);
  assert.equal(new Set(all).size, count);
  const first = await list(client);
  assert.deepEqual([first.total, first.rows.map(key)], [count, all.slice(0, 20)]);
  const second = await list(client, { pageNum: 2 });
  assert.deepEqual([second.total, second.rows.map(key)], [count, all.slice(20)]);
  for (const pageNum of [1, 2, 3]) {
    const { rows, total } = await list(client, { pageNum, pageSize: 10 });
    assert.deepEqual([total, rows.map(key)], [count, all.slice((pageNum - 1) * 10, pageNum * 10)]);
  }
  const beyond = await list(client, { pageNum: 1_000_000, pageSize: 500 });
  assert.deepEqual(beyond, { rows: [], total: count });
}
