// Only with test:long: it covers pools, archived uses, new quotas and phones; quotas.test.ts covers the page of a quota and the quotas of child tenants.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { avoidMidnight } from '../support/calendar.ts';
import {
  expectAccessibleInLongRun,
  expectNoCspViolations,
  logInOnPage,
  PHONE,
  startConsole,
  visit,
} from '../support/console.ts';
import { expectOk } from '../support/expect.ts';
import { credentialsOf } from './departments-page.ts';
import { QUOTAS, startQuotas, USED } from './quotas-page.ts';

await avoidMidnight();
const { service, page, parent, company, third, rowOf, quotaOf } = await startQuotas(await startConsole());

test('the quotas of a tenant show what is used, reserved and left, and when they reset', async () => {
  await logInOnPage(page, credentialsOf(company), '/quotas');
  const meter = rowOf('企业查询').getByRole('meter', { name: '企业查询' });
  assert.equal(await meter.getAttribute('aria-valuetext'), `${USED} / 1,000`);
  await rowOf('风险评估表').getByRole('cell', { name: '15', exact: true }).waitFor();
  await rowOf('风险评估表').getByRole('cell', { name: '185', exact: true }).waitFor();
  await rowOf('客商管理').getByText('未分配').waitFor();
  await rowOf('apiCalls').getByText('与下级共享').waitFor();
  await rowOf('apiCalls').getByText('每月重置').waitFor();
  await rowOf('apiCalls')
    .getByText(/下次 \d{4}-\d{2}-01 00:00/)
    .waitFor();
  assert.equal(await page.getByRole('button', { name: /调整/ }).count(), 0, 'a tenant cannot raise its own total');
  await expectAccessibleInLongRun(page);
  expectNoCspViolations(page);
});

test('an error of older uses is shown below the uses until another attempt succeeds', async () => {
  await logInOnPage(page, credentialsOf(company), '/quotas/enterpriseQuery');
  const uses = page.locator('.quotas-uses li');
  await uses.nth(19).waitFor();
  const error = { code: 500, msg: '系统内部错误', data: { reason: 'INTERNAL' } };
  await page.route('**/quota-api/uses?*', (route) => route.fulfill({ status: 500, json: error }));
  await page.getByRole('button', { name: '加载更早的记录' }).click();
  await page.getByRole('alert').getByText('系统内部错误').waitFor();
  assert.equal(await uses.count(), 20);
  await page.unroute('**/quota-api/uses?*');
  await page.getByRole('button', { name: '加载更早的记录' }).click();
  await uses.nth(27).waitFor();
  await page.getByRole('alert').waitFor({ state: 'detached' });
});

test('an archived use has no button to refund it', async () => {
  await service.superuser`
    insert into banyan.quota_uses_archive (tenant_id, use_id, quota, amount, subject, time, day, actor_tenant_id, counted)
    select ${third.tenantId}, 1, 'businessReport', 7, 'long ago', t.time, t.time::date, ${third.tenantId}, '{}'
    from (select now() - interval '1 year' as time) t`;
  await logInOnPage(page, credentialsOf(third), '/quotas/businessReport');
  const [recent, archived] = ['91310000MA1FL0000X', 'long ago'].map((subject) =>
    page.locator('.quotas-uses li', { hasText: subject }),
  );
  await recent?.getByRole('button', { name: /^退还/ }).waitFor();
  await archived?.getByText('已归档').waitFor();
  assert.equal(await archived?.getByRole('button').count(), 0);
});

test('an administrator of the parent tenant adds a quota and changes totals, also of a quota in the tenant record', async () => {
  await logInOnPage(page, credentialsOf(parent), `/tenants/${company.id}`);
  await page.getByRole('button', { name: '添加配额' }).click();
  const dialog = page.getByRole('dialog', { name: '添加配额' });
  await dialog.getByRole('button', { name: '添加' }).click();
  await dialog.getByText('请输入名称').waitFor();
  await dialog.getByText('请输入总量，或选择不限').waitFor();
  await dialog.getByLabel('名称').fill('apiCalls');
  await dialog.getByText('该租户已有此配额').waitFor();
  await dialog.getByLabel('名称').fill('smsMessages');
  await dialog.getByLabel('总量').fill('2000');
  await dialog.getByRole('combobox', { name: '周期' }).press('Enter');
  await page.locator('.ant-select-item-option', { hasText: '每年重置' }).click();
  await dialog.getByRole('checkbox', { name: '与下级租户共享' }).check();
  await dialog.getByLabel('已用').fill('120');
  await expectAccessibleInLongRun(page);
  await dialog.getByRole('button', { name: '添加' }).click();
  await rowOf('smsMessages').getByText('120 / 2,000').waitFor();
  const { resetTime: _, ...added } = await quotaOf(company, 'smsMessages');
  const settings = { period: 'year', pooled: true };
  assert.deepEqual(added, { quota: 'smsMessages', total: 2000, used: 120, reserved: 0, left: 1880, ...settings });

  await rowOf('smsMessages').getByRole('button', { name: '调整总量：smsMessages' }).click();
  await rowOf('smsMessages').getByRole('spinbutton').fill('3000');
  await rowOf('smsMessages').getByRole('button', { name: '保存' }).click();
  await rowOf('smsMessages').getByText('120 / 3,000').waitFor();
  const { total, period, pooled } = await quotaOf(company, 'smsMessages');
  assert.deepEqual({ total, period, pooled }, { total: 3000, ...settings }, 'the other settings stay');

  await rowOf('年报查询').getByRole('button', { name: '设置：年报查询' }).click();
  const form = page.getByRole('dialog', { name: '设置“年报查询”' });
  await form.getByLabel('总量').fill('');
  await form.getByRole('button', { name: '保存' }).click();
  await form.getByText('请输入总量', { exact: true }).waitFor();
  await form.getByRole('button', { name: '取消' }).click();
  await form.waitFor({ state: 'detached' });

  await rowOf('年报查询').getByRole('button', { name: '调整总量：年报查询' }).click();
  await rowOf('年报查询').getByRole('spinbutton').fill('40');
  await page.keyboard.press('Escape');
  await rowOf('年报查询').getByText('未分配').waitFor();
  await rowOf('年报查询').getByRole('button', { name: '调整总量：年报查询' }).click();
  await rowOf('年报查询').getByRole('spinbutton').fill('40');
  await page.keyboard.press('Enter');
  await rowOf('年报查询').getByText('0 / 40').waitFor();
  assert.equal((await parent.get(`/system/tenant-api/${company.id}`)).data.quotaBo.annualReportQuery, 40);
  await expectAccessibleInLongRun(page);
  await visit(page, `/tenants/${parent.id}`);
  await rowOf('供应链报告').waitFor();
  assert.equal(
    await page.getByRole('button', { name: /添加配额|调整总量/ }).count(),
    0,
    'a tenant cannot set its own quotas',
  );
  expectNoCspViolations(page);
});

test('a total that is changed in place keeps the period and the sharing that someone else has set meanwhile', async () => {
  const reports = `${QUOTAS}/reports?tenantId=${third.tenantId}`;
  expectOk(await parent.put(reports, { total: 10 }));
  await logInOnPage(page, credentialsOf(parent), `/tenants/${third.id}`);
  await rowOf('reports').getByRole('button', { name: '调整总量：reports' }).click();
  expectOk(await parent.put(reports, { total: 10, period: 'month', pooled: true }));
  await rowOf('reports').getByRole('spinbutton').fill('20');
  await page.keyboard.press('Enter');
  await rowOf('reports').getByText('0 / 20').waitFor();
  const { total, period, pooled } = await quotaOf(third, 'reports');
  assert.deepEqual({ total, period, pooled }, { total: 20, period: 'month', pooled: true });
});

test('a pool shows the uses of the tenants below in its curve and by tenant', async () => {
  const branch = await service.createTenant({ tenantName: '上海一部' }, company);
  assert.equal((await branch.post(`${QUOTAS}/consume`, { quota: 'apiCalls', amount: 70 })).code, 200);
  assert.equal((await company.post(`${QUOTAS}/consume`, { quota: 'apiCalls', amount: 30 })).code, 200);
  await logInOnPage(page, credentialsOf(company), '/quotas/apiCalls?by=tenant');
  await page.getByRole('row', { name: new RegExp(`^上海一部 ${branch.tenantId} 70 70.0%`) }).waitFor();
  await page.getByRole('row', { name: new RegExp(`^上海分公司 ${company.tenantId} 30 30.0%`) }).waitFor();
  await page.getByRole('img', { name: /累计 100，总量 100,000$/ }).waitFor();
  await page.getByText('重置前不会用完').waitFor();
});

test('the quota screens are accessible on a phone, in the dark theme and in English', async () => {
  await logInOnPage(page, credentialsOf(company), '/quotas', { viewport: PHONE, dark: true });
  await page.getByRole('link', { name: '企业查询' }).waitFor();
  await expectAccessibleInLongRun(page);
  await page.getByRole('link', { name: '企业查询' }).click();
  await page.getByRole('img', { name: /用量曲线/ }).waitFor();
  await page.locator('.quotas-uses li').first().getByText('王兰').waitFor();
  await expectAccessibleInLongRun(page);
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  await logInOnPage(page, credentialsOf(parent), '/quotas?view=below', { viewport: PHONE, language: 'en' });
  await page.locator('.quotas-list li').first().getByRole('button', { name: 'Adjust the total of' }).waitFor();
  await expectAccessibleInLongRun(page);
  await logInOnPage(page, credentialsOf(company), '/quotas/enterpriseQuery', { dark: true, language: 'en' });
  await page.getByRole('img', { name: /^Usage of Enterprise queries: .* Total 1,000$/ }).waitFor();
  await page.getByText(`${USED} / 1,000`).waitFor();
  await expectAccessibleInLongRun(page);
  expectNoCspViolations(page);
});

test('a member sees no quotas', async () => {
  await company.createUser({ userName: 'member' });
  await logInOnPage(page, { tenantId: company.tenantId, username: 'member' }, '/quotas');
  await page.getByText('仅管理员可访问此页面').waitFor();
  assert.equal(await page.getByRole('link', { name: '配额' }).count(), 0);
});
