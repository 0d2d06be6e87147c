// Only with test:long: it needs tenants on three levels and their notices; changes.test.ts covers the audit log and the diff.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { avoidMidnight } from '../support/calendar.ts';
import { expectAccessibleInLongRun, expectNoCspViolations, logIn, PHONE, startConsole } from '../support/console.ts';
import { databaseTime } from '../support/expect.ts';
import { waitFor } from '../support/wait.ts';
import { createDepartments, credentialsOf, nameBoss } from './departments-page.ts';

/** The audit log and the diff name the records that rows refer to, without a request for each row. */

await avoidMidnight();
const fixture = await startConsole({}, { timing: { noticeMs: 20 } });
const { service } = fixture;

function recordRequests(page: Page, text: string): string[] {
  const urls: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes(text)) urls.push(new URL(request.url()).pathname + new URL(request.url()).search);
  });
  return urls;
}

test('the diff reads departments and users with one request each, and names operators and leaders', async () => {
  const admin = await service.createTenant();
  await nameBoss(admin, '高敏');
  const { left, right, closed } = await createDepartments(admin, {
    left: { deptName: '左区' },
    right: { deptName: '右区' },
    closed: { deptName: '旧区' },
  });
  const create = (userName: string, nickName: string, deptId = left) =>
    admin.createUser({ userName, nickName, deptId });
  const lan = await create('lan', '王兰');
  const zhu = await create('zhu', '李竹');
  const movers = [await create('m1', '甲一'), await create('m2', '甲二'), await create('m3', '甲三', closed)];
  assert.equal((await admin.patch(`/system/dept-api/${left}`, { leaderId: lan, leader: '负责人甲' })).code, 200);
  const from = await databaseTime(service);
  assert.equal((await admin.patch(`/system/dept-api/${left}`, { leaderId: zhu })).code, 200);
  for (const id of movers)
    assert.equal((await admin.patch(`/system/user-api/${id}`, { deptId: Number(right) })).code, 200);
  assert.equal((await admin.patch(`/system/user-api/${lan}`, { deptIds: [Number(right)] })).code, 200);
  assert.equal((await admin.delete(`/system/dept-api/${closed}`)).code, 200);
  const page = await fixture.newPage();
  const reads = recordRequests(page, '/batch-read');
  await logIn(page, credentialsOf(admin), `/changes/diff?from=${from}`);
  const moved = page.locator('.card').filter({ has: page.getByRole('heading', { name: '移动用户（3）' }) });
  await moved.getByText('左区').nth(1).waitFor();
  await moved.getByText('右区').nth(2).waitFor();
  await moved.getByText('操作人：高敏').nth(2).waitFor();
  // The department that the last user left is deleted, so it cannot be read any more.
  await moved.getByText('旧区').waitFor();
  await page.getByRole('row', { name: '关联用户 王兰 李竹' }).waitFor();
  await page
    .getByRole('row', { name: /^兼任部门/ })
    .getByText('右区')
    .waitFor();
  assert.deepEqual(reads.sort(), ['/system/dept-api/batch-read', '/system/user-api/batch-read']);
  await expectAccessibleInLongRun(page);
  expectNoCspViolations(page);
});

const group = await service.createTenant({ tenantName: '榕树集团' });
const shanghai = await service.createTenant({ tenantName: '上海分公司', quotaBo: { merchant: 10 } }, group);
const endTime = new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10);
const beijing = await service.createTenant({ tenantName: '北京分公司', endTime }, group);
await nameBoss(group, '高敏');
await nameBoss(shanghai, '周南');
const { lab, plant } = await createDepartments(shanghai, { lab: { deptName: '检测部' }, plant: { deptName: '工厂' } });
await shanghai.createDepartment({ deptName: '质量部' });
await shanghai.createUser({ userName: 'deputy', nickName: '陈北', roles: ['admin'] });
const deputy = await service.logIn(shanghai.tenantId, 'deputy');
const store = await deputy.createDepartment({ deptName: '仓储部' });
assert.equal((await deputy.patch(`/system/dept-api/${store}`, { parentId: Number(lab) })).code, 200);
assert.equal((await shanghai.patch(`/system/dept-api/${lab}`, { parentId: Number(plant) })).code, 200);
assert.equal(
  (await group.patch(`/system/dept-api/${plant}?tenantId=${shanghai.tenantId}`, { deptName: '一号工厂' })).code,
  200,
);
for (const amount of [8, 2])
  assert.equal((await shanghai.post('/system/quota-api/consume', { quota: 'merchant', amount })).code, 200);
await waitFor('all notices are recorded', async () => {
  const { data } = await group.get('/system/change-api/list?resource=notice');
  return new Set(data.rows.map(({ after }: { after: object }) => JSON.stringify(after))).size === 3;
});

test('the audit log names tenants, operators and departments of other tenants, without a request for each row', async () => {
  const page = await fixture.newPage();
  const reads = recordRequests(page, '/system/');
  await logIn(page, credentialsOf(group), '/changes');
  const rows = page.getByRole('region', { name: '变更', exact: true }).getByRole('listitem');
  const created = rows.filter({ hasText: '质量部' });
  await created.getByText('周南 · 上海分公司').waitFor();
  assert.equal(await created.getByText('周南 · 上海分公司').getAttribute('title'), `boss ${shanghai.tenantId}`);
  await rows.filter({ hasText: '上级部门 顶级 → 一号工厂' }).waitFor();
  await rows.filter({ hasText: '上级部门 顶级 → 检测部' }).getByText('陈北 · 上海分公司').waitFor();
  const renamed = rows.filter({ hasText: '部门名称 工厂 → 一号工厂' });
  await renamed.getByText('高敏', { exact: true }).waitFor();
  const tenant = renamed.getByText('租户 上海分公司', { exact: true });
  assert.equal(await tenant.getAttribute('title'), shanghai.tenantId);
  const names = reads.filter((url) => /batch-read|tenant-api/.test(url)).sort();
  assert.deepEqual([...new Set(names)], names, 'nothing is read twice');
  const inShanghai = `batch-read?tenantId=${shanghai.tenantId}`;
  for (const read of ['tenant-api/tree', 'user-api/batch-read', `user-api/${inShanghai}`, `dept-api/${inShanghai}`])
    assert.ok(names.includes(`/system/${read}`), `${read} in ${names}`);
  // The details show the user name of the operator and the code of the tenant.
  await renamed.getByRole('button', { name: '详情：部门 一号工厂' }).click();
  await renamed.getByText('操作人账号：boss').waitFor();
  await renamed.getByText(`租户编号：${shanghai.tenantId}`).waitFor();
  await expectAccessibleInLongRun(page);
  expectNoCspViolations(page);
});

test('the audit log says what a notice warns about, in both languages', async () => {
  const open = async (language: 'zh' | 'en') => {
    const page = await fixture.logIn(credentialsOf(group), '/changes?resource=notice', { language, viewport: PHONE });
    const rows = page.getByRole('region', { name: /^(变更|Changes)$/ }).getByRole('listitem');
    await rows
      .getByText(/上海分公司/)
      .first()
      .waitFor();
    return { page, rows };
  };
  const { rows } = await open('zh');
  await rows.getByRole('link', { name: '客商管理：用量已达 80%（8 / 10）' }).first().waitFor();
  await rows.getByRole('link', { name: '客商管理：已用完（10 / 10）' }).first().waitFor();
  await rows
    .getByRole('link', { name: `服务将于 ${endTime} 到期，剩余不超过 7 天` })
    .first()
    .waitFor();
  const tenant = rows.filter({ hasText: endTime }).getByText('租户 北京分公司', { exact: true }).first();
  assert.equal(await tenant.getAttribute('title'), beijing.tenantId);
  const { page, rows: english } = await open('en');
  await english.getByRole('link', { name: 'Customers and suppliers: 80% reached (8 of 10)' }).first().waitFor();
  await english
    .getByRole('link', { name: `Service ends on ${endTime}, at most 7 days left` })
    .first()
    .waitFor();
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  await expectAccessibleInLongRun(page);
  await english.getByRole('link', { name: 'Customers and suppliers: used up (10 of 10)' }).first().click();
  await page.waitForURL(`**/quotas/merchant?tenantId=${shanghai.tenantId}`);
});

test('with too many tenants for one tree, the audit log reads the tenants that it names one by one', async () => {
  const page = await fixture.newPage();
  await page.route('**/system/tenant-api/tree*', (route) =>
    route.fulfill({
      status: 400,
      json: { code: 400, msg: '', data: { reason: 'TENANT_TREE_TOO_LARGE', limit: 10_000 } },
    }),
  );
  const reads = recordRequests(page, '/system/tenant-api/list');
  await logIn(page, credentialsOf(group), '/changes');
  const rows = page.getByRole('region', { name: '变更', exact: true }).getByRole('listitem');
  await rows.filter({ hasText: '质量部' }).getByText('周南 · 上海分公司').waitFor();
  await rows.filter({ hasText: '上级部门 顶级 → 一号工厂' }).waitFor();
  assert.deepEqual([...new Set(reads)], reads, 'nothing is read twice');
});
