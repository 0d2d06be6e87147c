import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expectError, expectOk, read, TENANTS, USERS } from '../support/expect.ts';
import { type Client, startService } from '../support/service.ts';

const service = await startService();
const { root } = service;

const listOf =
  (resource: string) =>
  (client: Client, query: Record<string, string | number> = {}) =>
    read(client, `${resource}/list?${new URLSearchParams(query as Record<string, string>)}`);

const invalidQueries: [query: string, field: string][] = [
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

  test('the list contains the tenant of the caller and those below it at any depth, without deleted ones', async () => {
    const admin = await service.createTenant({ tenantName: 'own' });
    const child = await service.createTenant({ tenantName: 'child' }, admin);
    await service.createTenant({ tenantName: 'grandchild' }, child);
    await service.createTenant({ tenantName: 'sibling' });
    const deleted = await admin.create(TENANTS, { tenantName: 'gone' });
    expectOk(await admin.delete(`${TENANTS}/${deleted}`));
    assert.deepEqual(await names(admin, {}), ['own', 'child', 'grandchild']);
    assert.deepEqual(await names(child, {}), ['child', 'grandchild']);
    const everyone = await names(root, {});
    for (const name of ['own', 'child', 'grandchild', 'sibling']) assert.ok(everyone.includes(name));
    assert.ok(!everyone.includes('gone'));
  });

  test('rows have the fields of a single read, in order of creation', async () => {
    const admin = await service.createTenant();
    for (const tenantName of ['c', 'a', 'b'])
      await admin.create(TENANTS, { tenantName, quotaBo: { zr: 1, merchant: 2 } });
    const { rows, total } = await list(admin, { fields: 'ruleBo' });
    assert.equal(total, 4);
    assert.deepEqual(rows.map((row: { tenantName: string }) => row.tenantName).join(), 't,c,a,b');
    for (const row of rows) assert.deepEqual(row, await read(admin, `${TENANTS}/${row.id}`));
  });

  test('fields=summary adds the number of users and, except to the tenant of the caller, the name of the parent', async () => {
    const admin = await service.createTenant({ tenantName: '集团' });
    const child = await service.createTenant({ tenantName: '分公司' }, admin);
    const removed = await child.createUser({ userName: 'removed' });
    await child.createUser({ userName: 'stays' });
    expectOk(await child.delete(`${USERS}/${removed}`));
    await admin.create(TENANTS, { tenantParent: child.tenantId });
    const summaryOf = ({ tenantName, parentName, users }: Record<string, unknown>) => [tenantName, parentName, users];
    const expected = [
      ['集团', null, 1],
      ['分公司', '集团', 2],
      [null, '分公司', 0],
    ];
    for (const query of [{}, { cursor: '' }]) {
      const { rows } = await list(admin, { fields: 'summary', ...query });
      assert.deepEqual(rows.map(summaryOf), expected);
      assert.ok(rows.every((row: object) => !('ruleBo' in row)));
    }
    const seen = await list(child, { fields: 'summary' });
    assert.deepEqual(seen.rows.map(summaryOf), [
      ['分公司', null, 2],
      [null, '分公司', 0],
    ]);
    assert.ok((await list(admin)).rows.every((row: object) => !('users' in row || 'parentName' in row)));
  });

  test('tenantName matches a part of the name', async () => {
    const admin = await service.createTenant({ tenantName: '总部' });
    for (const tenantName of ['上海分公司', '北京分公司', null]) await admin.create(TENANTS, { tenantName });
    assert.deepEqual(await names(admin, { tenantName: '分公司' }), ['上海分公司', '北京分公司']);
    assert.deepEqual(await names(admin, { tenantName: '北京' }), ['北京分公司']);
    assert.deepEqual(await names(admin, { tenantName: '广州' }), []);
  });

  test('pattern and SQL characters in tenantName match literally', async () => {
    const admin = await service.createTenant();
    const special = ['100%', '1000', 'a_b', 'axb', 'back\\slash', "O'Neil", '.*', '"; --'];
    for (const tenantName of special) await admin.create(TENANTS, { tenantName });
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
      assert.deepEqual(await names(admin, { tenantName }), found, tenantName);
    }
  });

  test('tenantId matches exactly, within the tenants that the caller may see', async () => {
    const admin = await service.createTenant({ tenantName: 'above' });
    const child = await service.createTenant({ tenantName: 'below' }, admin);
    assert.deepEqual(await names(admin, { tenantId: child.tenantId }), ['below']);
    for (const outside of [admin.tenantId, '000000', '%', '_'.repeat(6), child.tenantId.slice(0, 5)]) {
      assert.deepEqual(await names(child, { tenantId: outside }), [], outside);
    }
  });

  test('status filters tenants', async () => {
    const admin = await service.createTenant({ tenantName: 'normal' });
    await admin.create(TENANTS, { tenantName: 'disabled', status: '1' });
    assert.deepEqual(await names(admin, { status: '0' }), ['normal']);
    assert.deepEqual(await names(admin, { status: '1' }), ['disabled']);
  });

  test('tenantParent matches direct children only', async () => {
    const admin = await service.createTenant();
    const child = await service.createTenant({ tenantName: 'child' }, admin);
    await child.create(TENANTS, { tenantName: 'grandchild' });
    assert.deepEqual(await names(admin, { tenantParent: admin.tenantId }), ['child']);
    assert.deepEqual(await names(admin, { tenantParent: child.tenantId }), ['grandchild']);
    // Of the children of its parent a tenant sees only itself.
    assert.deepEqual(await names(child, { tenantParent: admin.tenantId }), ['child']);
    assert.deepEqual(await names(child, { tenantParent: '000000' }), []);
  });

  test('a row must match all filters, and empty filters are ignored', async () => {
    const admin = await service.createTenant({ tenantName: 'one' });
    await admin.create(TENANTS, { tenantName: 'two', status: '1' });
    await admin.create(TENANTS, { tenantName: 'three', status: '1' });
    const { tenantId: tenantParent } = admin;
    assert.deepEqual(await names(admin, { tenantName: 'o', status: '1', tenantParent }), ['two']);
    const empty = { tenantName: '', tenantId: '', status: '', tenantParent: '' };
    assert.deepEqual(await names(admin, empty), ['one', 'two', 'three']);
  });

  test('a page has 20 rows by default and at most 500, and total counts all rows', async () => {
    const admin = await service.createTenant({ tenantName: '0' });
    for (let index = 1; index <= 22; index++) await admin.create(TENANTS, { tenantName: String(index) });
    await expectPages(admin, list, 23, (row) => row.tenantName);
    for (const [query, field] of invalidQueries) {
      expectError(await admin.get(`${TENANTS}/list?${query}`), 400, 'INVALID_FIELD', { field });
    }
  });

  test('a member may not list tenants', async () => {
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

  test('the list contains the users of the tenant without deleted ones, by id, with the fields of a single read', async () => {
    const admin = await service.createTenant();
    await (await service.createTenant({}, admin)).createUser({ userName: 'below' });
    const deptId = await admin.createDepartment();
    for (const userName of ['c', 'a', 'b'])
      await admin.createUser({ userName, deptId, deptIds: [await admin.createDepartment()] });
    expectOk(await admin.delete(`${USERS}/${await admin.createUser({ userName: 'gone' })}`));
    const { rows, total } = await list(admin);
    assert.equal(total, 4);
    assert.equal(rows.map((row: { userName: string }) => row.userName).join(), 'boss,c,a,b');
    for (const row of rows) assert.deepEqual(row, await read(admin, `${USERS}/${row.userId}`));
  });

  test('tenantId lists the users of the tenant of the caller or of one below, and no other', async () => {
    const admin = await service.createTenant();
    const child = await service.createTenant({}, admin);
    const grandchild = await service.createTenant({}, child);
    await grandchild.createUser({ userName: 'deep-below' });
    assert.deepEqual(await names(admin, { tenantId: grandchild.tenantId }), ['boss', 'deep-below']);
    assert.deepEqual(await names(admin, { tenantId: admin.tenantId }), ['boss']);
    for (const tenantId of [admin.tenantId, '000000', '999999999999']) {
      expectError(await child.get(`${USERS}/list?tenantId=${tenantId}`), 403, 'OTHER_TENANT');
    }
    for (const tenantId of ['x', '%25', '1']) {
      expectError(await child.get(`${USERS}/list?tenantId=${tenantId}`), 400, 'INVALID_FIELD', { field: 'tenantId' });
    }
  });

  test('userName matches a part of the name, with pattern and SQL characters taken literally', async () => {
    const admin = await service.createTenant();
    for (const userName of ['100%', '1000', 'a_b', 'axb', '\\', "O'Neil"]) await admin.createUser({ userName });
    for (const [userName, found] of [
      ['00', ['100%', '1000']],
      ['%', ['100%']],
      ['_', ['a_b']],
      ['1%0', []],
      ['\\', ['\\']],
      ["'", ["O'Neil"]],
      ["' or '1'='1", []],
    ] as const) {
      assert.deepEqual(await names(admin, { userName }), found, userName);
    }
  });

  test('deptId lists users with that main or additional department', async () => {
    const admin = await service.createTenant();
    const [one, two, none] = [
      await admin.createDepartment(),
      await admin.createDepartment(),
      await admin.createDepartment(),
    ];
    await admin.createUser({ userName: 'main', deptId: one });
    await admin.createUser({ userName: 'further', deptId: two, deptIds: [one] });
    await admin.createUser({ userName: 'elsewhere', deptId: two });
    assert.deepEqual(await names(admin, { deptId: one }), ['main', 'further']);
    assert.deepEqual(await names(admin, { deptId: two }), ['further', 'elsewhere']);
    for (const deptId of [none, '4000000000000', '9223372036854775807']) {
      assert.deepEqual(await names(admin, { deptId }), []);
    }
    for (const deptId of ['x', '-1', '1.5', '12345678901234567890']) {
      expectError(await admin.get(`${USERS}/list?deptId=${deptId}`), 400, 'INVALID_FIELD', { field: 'deptId' });
    }
  });

  test('a user must match status and all other filters, and empty filters are ignored', async () => {
    const admin = await service.createTenant();
    const deptId = await admin.createDepartment();
    await admin.createUser({ userName: 'off', status: '1', deptId });
    await admin.createUser({ userName: 'other', status: '1' });
    assert.deepEqual(await names(admin, { status: '0' }), ['boss']);
    assert.deepEqual(await names(admin, { status: '1' }), ['off', 'other']);
    assert.deepEqual(await names(admin, { status: '1', deptId, userName: 'f', tenantId: admin.tenantId }), ['off']);
    const empty = { userName: '', deptId: '', status: '', tenantId: '', pageNum: '' };
    assert.deepEqual(await names(admin, empty), ['boss', 'off', 'other']);
  });

  test('a page has 20 rows by default and at most 500, and total counts all rows', async () => {
    const admin = await service.createTenant();
    await Promise.all(Array.from({ length: 22 }, (_, index) => admin.createUser({ userName: String(index) })));
    await expectPages(admin, list, 23, (row) => row.userId);
    for (const [query, field] of invalidQueries) {
      expectError(await admin.get(`${USERS}/list?${query}`), 400, 'INVALID_FIELD', { field });
    }
  });
});

/** Expects that the pages together are the whole list in its order. */
async function expectPages(
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
