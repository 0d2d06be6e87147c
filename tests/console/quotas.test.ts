import assert from 'node:assert/strict';
import { test } from 'node:test';
import { avoidMidnight } from '../support/calendar.ts';
import {
  expectNoAxeViolations,
  expectNoCspViolations,
  logInOnPage,
  PHONE,
  startConsole,
  visit,
} from '../support/console.ts';
import type { Client } from '../support/service.ts';
import { credentialsOf } from './departments-page.ts';

await avoidMidnight();
const fixture = await startConsole();
const { service } = fixture;
const page = await fixture.sharedPage();
const path = '/system/quota-api';

/** Writes uses of the last days, one a day, and counts them. The first is that of today. */
async function plantUses({ tenantId }: Client, quota: string, amounts: number[], users: number[] = []): Promise<void> {
  const uses = amounts.map((amount, n) => ({
    amount,
    days: n,
    user_id: users[n % users.length] ?? null,
    subject: `9131000${n % 3}MA1FL0000X`,
  }));
  await service.superuser`
    insert into banyan.quota_uses (tenant_id, use_id, quota, amount, subject, time, user_id, actor_tenant_id, counted)
    select ${tenantId}, nextval('banyan.quota_use_serial'), ${quota}, u.amount, u.subject,
      now() - u.days * interval '1 day', u.user_id, ${tenantId}, jsonb_build_object(${tenantId}::text, 0)
    from json_to_recordset(${JSON.stringify(uses)}::text::json) as u (amount bigint, days int, user_id bigint, subject text)
    order by u.days desc`;
  await service.superuser`
    insert into banyan.quota_counters (tenant_id, quota, used)
    values (${tenantId}, ${quota}, ${amounts.reduce((sum, amount) => sum + amount, 0)})`;
}

const operator = await service.createTenant({ tenantName: '榕树集团', quotaBo: { chainReport: 5 } });
const company = await service.createTenant(
  { tenantName: '上海分公司', quotaBo: { enterpriseQuery: 1000, riskReport: 200 } },
  operator,
);
const other = await service.createTenant({ tenantName: '北京分公司', quotaBo: { merchant: 50 } }, operator);
const idle = await service.createTenant({ tenantName: '广州分公司', quotaBo: { businessReport: 300 } }, operator);
const users = await Promise.all(
  [
    ['lan', '王兰'],
    ['zhu', '李竹'],
  ].map(async ([userName, nickName]) => Number(await company.createUser({ userName, nickName }))),
);
const AMOUNTS = Array.from({ length: 28 }, (_, n) => 18 + ((n * 7) % 13));
const USED = AMOUNTS.reduce((sum, amount) => sum + amount, 0);
await plantUses(company, 'enterpriseQuery', AMOUNTS, users);
await plantUses(other, 'merchant', [30, 18]);
await plantUses(idle, 'businessReport', [3]);
await operator.put(`${path}/apiCalls?tenantId=${company.tenantId}`, { total: 100_000, period: 'month', pooled: true });
await company.post(`${path}/reserve`, { quota: 'riskReport', amount: 15, seconds: 3600 });

const quotaOf = async (client: Client, quota: string) =>
  (await client.get(path)).data.find((each: { quota: string }) => each.quota === quota);
const rowOf = (name: string) => page.getByRole('row', { name: new RegExp(`^${name}`) });
const format = (value: number) => value.toLocaleString('en-US');

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
  assert.equal(await page.getByRole('button', { name: /调整/ }).count(), 0, 'nobody raises their own total');
  await expectNoAxeViolations(page);
  expectNoCspViolations(page);
});

test('the page of a quota has a curve with its limit, sums by user and subject, and refunds a use', async () => {
  await logInOnPage(page, credentialsOf(company), '/quotas');
  await page.getByRole('link', { name: '企业查询' }).click();
  await page.getByRole('heading', { level: 1, name: '企业查询' }).waitFor();
  const chart = page.getByRole('img', { name: /^企业查询的用量曲线/ });
  await chart.waitFor();
  assert.match(String(await chart.getAttribute('aria-label')), new RegExp(`累计 ${USED}，总量 1,000$`));
  const days = page.getByRole('region', { name: '每日数据' });
  await page.getByText('每日数据').click();
  assert.deepEqual(await days.getByRole('row').nth(1).getByRole('cell').allInnerTexts(), [
    String(AMOUNTS[0]),
    String(USED),
  ]);
  // Each user has every second use.
  const ofFirst = AMOUNTS.filter((_, n) => n % 2 === 0).reduce((sum, amount) => sum + amount, 0);
  await page.getByRole('row', { name: new RegExp(`^王兰 ${ofFirst}`) }).waitFor();
  await page.getByText('每日数据').click();
  await expectNoAxeViolations(page);
  await page.getByRole('combobox', { name: '统计维度' }).press('Enter');
  await page.locator('.ant-select-item-option', { hasText: '对象' }).click();
  await page.getByRole('row', { name: /^91310001MA1FL0000X/ }).waitFor();
  await page.getByText('近 90 天').click();
  await page.waitForURL('**/quotas/enterpriseQuery?by=subject&days=90');

  const last = page.locator('.quotas-uses li').first();
  await last.getByText('王兰').waitFor();
  await last.getByRole('button', { name: /^退还/ }).click();
  const dialog = page.getByRole('dialog', { name: `退还 ${AMOUNTS[0]}？` });
  await expectNoAxeViolations(page);
  await dialog.getByRole('button', { name: '退还' }).click();
  await last.getByText(/^已退还$/).waitFor();
  await last.getByText('boss 于').waitFor();
  assert.equal(await last.getByRole('button').count(), 0, 'a use is refunded once');
  await page
    .getByRole('meter', { name: '企业查询' })
    .and(page.locator(`[aria-valuenow="${USED - (AMOUNTS[0] ?? 0)}"]`))
    .waitFor();
  assert.equal((await quotaOf(company, 'enterpriseQuery')).used, USED - (AMOUNTS[0] ?? 0));
  expectNoCspViolations(page);
});

test('an archived use has no button to refund it', async () => {
  await service.superuser`
    insert into banyan.quota_uses_archive (tenant_id, use_id, quota, amount, subject, time, actor_tenant_id, counted)
    select ${idle.tenantId}, 1, 'businessReport', 7, 'long ago', now() - interval '1 year', ${idle.tenantId}, '{}'`;
  await logInOnPage(page, credentialsOf(idle), '/quotas/businessReport');
  const [recent, archived] = ['91310000MA1FL0000X', 'long ago'].map((subject) =>
    page.locator('.quotas-uses li', { hasText: subject }),
  );
  await recent?.getByRole('button', { name: /^退还/ }).waitFor();
  await archived?.getByText('已归档').waitFor();
  assert.equal(await archived?.getByRole('button').count(), 0);
});

test('an operator sees what runs out first below, and raises a total in place', async () => {
  await logInOnPage(page, credentialsOf(operator), '/quotas?view=below');
  const rows = page.getByRole('region', { name: '下级租户' }).locator('tbody tr.ant-table-row');
  await rows.first().waitFor();
  const tenants = await rows.locator('td:first-child a').allInnerTexts();
  assert.deepEqual(tenants, ['北京分公司', '上海分公司', '广州分公司', '上海分公司']);
  const first = rows.first();
  await first.getByText('48 / 50 即将用完').waitFor();
  await first.getByText(/约 1 天后/).waitFor();
  await expectNoAxeViolations(page);
  await first.getByRole('button', { name: '调整总量：客商管理' }).click();
  const field = first.getByRole('spinbutton', { name: '客商管理的总量' });
  await field.fill('500');
  await expectNoAxeViolations(page);
  await field.press('Enter');
  await page.getByText('“客商管理”的总量已调整').waitFor();
  await rows.filter({ hasText: '客商管理' }).getByText('48 / 500').waitFor();
  assert.equal((await quotaOf(other, 'merchant')).total, 500);
  await rows.filter({ hasText: '客商管理' }).getByRole('link', { name: '客商管理' }).click();
  await page.getByRole('heading', { level: 1, name: '客商管理' }).waitFor();
  await page.getByRole('img', { name: /总量 500$/ }).waitFor();
  await page.getByRole('link', { name: '← 北京分公司' }).click();
  await page.getByRole('heading', { level: 1, name: '北京分公司' }).waitFor();
  expectNoCspViolations(page);
});

test('an administrator above adds a quota to a tenant and changes totals of both kinds', async () => {
  await logInOnPage(page, credentialsOf(operator), `/tenants/${company.id}`);
  await page.getByRole('button', { name: '添加配额' }).click();
  const dialog = page.getByRole('dialog', { name: '添加配额' });
  await dialog.getByRole('button', { name: '添加' }).click();
  await dialog.getByText('请输入名称').waitFor();
  await dialog.getByLabel('名称').fill('apiCalls');
  await dialog.getByText('该租户已有此配额').waitFor();
  await dialog.getByLabel('名称').fill('smsMessages');
  await dialog.getByLabel('总量').fill('2000');
  await dialog.getByRole('combobox', { name: '周期' }).press('Enter');
  await page.locator('.ant-select-item-option', { hasText: '每年重置' }).click();
  await dialog.getByRole('checkbox', { name: '与下级租户共享' }).check();
  await dialog.getByLabel('已用').fill('120');
  await expectNoAxeViolations(page);
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

  await rowOf('年报查询').getByRole('button', { name: '调整总量：年报查询' }).click();
  await rowOf('年报查询').getByRole('spinbutton').fill('40');
  await page.keyboard.press('Escape');
  await rowOf('年报查询').getByText('未分配').waitFor();
  await rowOf('年报查询').getByRole('button', { name: '调整总量：年报查询' }).click();
  await rowOf('年报查询').getByRole('spinbutton').fill('40');
  await page.keyboard.press('Enter');
  await rowOf('年报查询').getByText('0 / 40').waitFor();
  assert.equal((await operator.get(`/system/tenant-api/${company.id}`)).data.quotaBo.annualReportQuery, 40);
  await expectNoAxeViolations(page);
  await visit(page, `/tenants/${operator.id}`);
  await rowOf('产业链报告').waitFor();
  assert.equal(
    await page.getByRole('button', { name: /添加配额|调整总量/ }).count(),
    0,
    'nobody sets their own quotas',
  );
  expectNoCspViolations(page);
});

test('a pool shows the uses of the tenants below in its curve and by tenant', async () => {
  const branch = await service.createTenant({ tenantName: '上海一部' }, company);
  assert.equal((await branch.post(`${path}/consume`, { quota: 'apiCalls', amount: 70 })).code, 200);
  assert.equal((await company.post(`${path}/consume`, { quota: 'apiCalls', amount: 30 })).code, 200);
  await logInOnPage(page, credentialsOf(company), '/quotas/apiCalls?by=tenant');
  await page.getByRole('row', { name: new RegExp(`^上海一部 ${branch.tenantId} 70 70.0%`) }).waitFor();
  await page.getByRole('row', { name: new RegExp(`^上海分公司 ${company.tenantId} 30 30.0%`) }).waitFor();
  await page.getByRole('img', { name: /累计 100，总量 100,000$/ }).waitFor();
  await page.getByText('重置前不会用完').waitFor();
});

test('the screens of quotas are accessible on a phone, in the dark theme and in English', async () => {
  await logInOnPage(page, credentialsOf(company), '/quotas', { viewport: PHONE, dark: true });
  await page.getByRole('link', { name: '企业查询' }).waitFor();
  await expectNoAxeViolations(page);
  await page.getByRole('link', { name: '企业查询' }).click();
  await page.getByRole('img', { name: /用量曲线/ }).waitFor();
  await page.locator('.quotas-uses li').first().getByText('王兰').waitFor();
  await expectNoAxeViolations(page);
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  await logInOnPage(page, credentialsOf(operator), '/quotas?view=below', { viewport: PHONE, language: 'en' });
  await page.locator('.quotas-list li').first().getByRole('button', { name: 'Adjust the total of' }).waitFor();
  await expectNoAxeViolations(page);
  await logInOnPage(page, credentialsOf(company), '/quotas/enterpriseQuery', { dark: true, language: 'en' });
  await page.getByRole('img', { name: /^Usage of Enterprise queries: .* Total 1,000$/ }).waitFor();
  await page.getByText(`${format(USED - (AMOUNTS[0] ?? 0))} / 1,000`).waitFor();
  await expectNoAxeViolations(page);
  expectNoCspViolations(page);
});

test('a member sees no quotas', async () => {
  await company.createUser({ userName: 'member' });
  await logInOnPage(page, { tenantId: company.tenantId, username: 'member' }, '/quotas');
  await page.getByText('仅管理员可访问此页面').waitFor();
  assert.equal(await page.getByRole('link', { name: '配额' }).count(), 0);
});
