// Only with test:long: each file that is read starts a worker thread; contract/import and contract/import-files test the rules with fewer files, and contract/quotas-pools the pools.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Cell, csv, importFile, xlsx } from '../support/import.ts';
import { shareService } from '../support/service.ts';
import { apply, outcomes, revert } from './imports.ts';

const service = await shareService();
const DEPTS = '/system/dept-api';
const USERS = '/system/user-api';

test('a preview reports the rows that exceed a pool of accounts, and names the tenant of the pool if the caller may see it', async () => {
  const above = await service.createTenant();
  const tenant = await service.createTenant({ accountCount: 4 }, above);
  const put = (total: number) =>
    service.root.put(`/system/quota-api/accounts?tenantId=${above.tenantId}`, { total, pooled: true });
  // The two administrators count.
  assert.equal((await put(4)).code, 200);
  const rows = [['用户名'], ['one'], ['two'], ['three'], ['four']];
  assert.deepEqual(await outcomes(tenant, 'user', rows), [
    ...['created', 'created', 'null QUOTA_EXHAUSTED'],
    'null ACCOUNT_LIMIT, null QUOTA_EXHAUSTED',
  ]);
  const own = await importFile(tenant, 'user', 'preview', csv(rows));
  assert.ok(!own.text.includes(above.tenantId), own.text);
  const query = `&tenantId=${tenant.tenantId}`;
  const acting = await importFile(above, 'user', 'preview', csv(rows), { query });
  assert.ok(acting.text.includes(`租户 ${above.tenantId} 的配额 accounts 已用完`), acting.text);
  assert.equal((await importFile(tenant, 'user', 'apply', csv(rows))).status, 400);
  await apply(tenant, 'user', rows.slice(0, 3));
  assert.deepEqual(await outcomes(tenant, 'user', [['用户名'], ['five']]), ['null QUOTA_EXHAUSTED']);
  // Users that already exist do not count again.
  assert.deepEqual(await outcomes(tenant, 'user', [['用户名'], ['one']]), ['unchanged']);
  assert.equal((await put(-1)).code, 200);
  assert.deepEqual(await outcomes(tenant, 'user', [['用户名'], ['five']]), ['created']);
});

test('many rows are previewed, imported and reverted', async () => {
  const tenant = await service.createTenant();
  const count = 100_000;
  const rows: Cell[][] = [['部门路径', '显示顺序', '联系电话']];
  for (let n = 0; n < count - 101; n++) rows.push([`总部/中心${n % 100}/部门${n}`, n, 13_800_000_000 + n]);
  for (let n = 0; n < 100; n++) rows.push([`总部/中心${n}`, n, null]);
  rows.push(['总部', 0, null]);
  const file = await xlsx(rows);
  const preview = await importFile(tenant, 'dept', 'preview', file);
  assert.equal(preview.data.created, count);
  assert.equal(preview.data.table.length, 500);
  const applied = await importFile(tenant, 'dept', 'apply', file);
  assert.equal(applied.data?.created, count, applied.text.slice(0, 500));
  assert.equal((await importFile(tenant, 'dept', 'preview', file)).data.unchanged, count);
  const reverted = await revert(tenant, applied);
  assert.equal(reverted.code, 200, reverted.text);
  assert.equal((await tenant.get(`${DEPTS}/list`)).data.total, 0);
});

test('many users are imported and changed, and both imports are reverted', async () => {
  const tenant = await service.createTenant();
  const [a, b] = [await tenant.createDepartment({ deptName: 'a' }), await tenant.createDepartment({ deptName: 'b' })];
  const count = 12_000;
  const file = (position: string, dept: string) =>
    xlsx([['用户名', '职务', '部门'], ...Array.from({ length: count }, (_, n) => [`user${n}`, position, dept])]);
  const membersOf = async (dept: string) =>
    (await tenant.get(`${USERS}/list?deptId=${dept}&pageSize=1`)).data as {
      total: number;
      rows: { position: string }[];
    };
  const created = await importFile(tenant, 'user', 'apply', await file('工程师', 'a'));
  assert.equal(created.data?.created, count, created.text.slice(0, 500));
  const changed = await importFile(tenant, 'user', 'apply', await file('高级工程师', 'b'));
  assert.equal(changed.data?.moved, count, changed.text.slice(0, 500));
  assert.deepEqual([(await membersOf(a)).total, (await membersOf(b)).total], [0, count]);
  assert.equal((await revert(tenant, changed)).code, 200);
  const before = await membersOf(a);
  assert.deepEqual([before.total, before.rows[0]?.position, (await membersOf(b)).total], [count, '工程师', 0]);
  assert.equal((await revert(tenant, created)).code, 200);
  assert.equal((await membersOf(a)).total, 0);
});

test('numbers and leading zeros are kept, full-width digits become ASCII digits, and spaces around values are removed', async () => {
  const client = await service.createTenant();
  const file = await xlsx([
    ['部门路径', '显示顺序', '联系电话', '状态'],
    ['　总部　', '１２', 13_800_138_000, ' 停用　'],
    ['销售部（北京）', 2, '００７', '正常'],
    ['A\\/B组', 3, '007', 'Normal'],
  ]);
  const { code, text } = await importFile(client, 'dept', 'apply', file);
  assert.equal(code, 200, text);
  const { data } = await client.get('/system/dept-api/list?sort=orderNum');
  assert.deepEqual(
    data.rows.map((dept: Record<string, unknown>) => [dept.deptName, dept.orderNum, dept.phone, dept.status]),
    [
      ['销售部（北京）', 2, '007', '0'],
      ['A/B组', 3, '007', '0'],
      ['总部', 12, '13800138000', '1'],
    ],
  );
});
