import assert from 'node:assert/strict';
import { test } from 'node:test';
import { avoidMidnight } from '../support/calendar.ts';
import { expectAccessibleInLongRun, expectNoCspViolations, logInOnPage, shareConsole } from '../support/console.ts';
import { credentialsOf } from './departments-page.ts';
import { AMOUNTS, startQuotas, USED } from './quotas-page.ts';

await avoidMidnight();
const { page, parent, company, other, quotaOf } = await startQuotas(await shareConsole());

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
  // The uses alternate between the two users.
  const ofFirst = AMOUNTS.filter((_, n) => n % 2 === 0).reduce((sum, amount) => sum + amount, 0);
  await page.getByRole('row', { name: new RegExp(`^王兰 ${ofFirst}`) }).waitFor();
  await page.getByText('每日数据').click();
  await expectAccessibleInLongRun(page);
  await page.getByRole('combobox', { name: '统计维度' }).press('Enter');
  await page.locator('.ant-select-item-option', { hasText: '对象' }).click();
  await page.getByRole('row', { name: /^91310001MA1FL0000X/ }).waitFor();
  await page.getByText('近 90 天').click();
  await page.waitForURL('**/quotas/enterpriseQuery?by=subject&days=90');

  const latestUse = page.locator('.quotas-uses li').first();
  await latestUse.getByText('王兰').waitFor();
  await latestUse.getByRole('button', { name: /^退还/ }).click();
  const dialog = page.getByRole('dialog', { name: `退还 ${AMOUNTS[0]}？` });
  await expectAccessibleInLongRun(page);
  await dialog.getByRole('button', { name: '退还' }).click();
  await latestUse.getByText(/^已退还$/).waitFor();
  await latestUse.getByText('boss 于').waitFor();
  assert.equal(await latestUse.getByRole('button').count(), 0, 'a use is refunded once');
  await page
    .getByRole('meter', { name: '企业查询' })
    .and(page.locator(`[aria-valuenow="${USED - (AMOUNTS[0] ?? 0)}"]`))
    .waitFor();
  assert.equal((await quotaOf(company, 'enterpriseQuery')).used, USED - (AMOUNTS[0] ?? 0));
  expectNoCspViolations(page);
});

test('the quotas of child tenants that run out first are at the top, and a total can be raised in place', async () => {
  await logInOnPage(page, credentialsOf(parent), '/quotas?view=below');
  const rows = page.getByRole('region', { name: '下级租户' }).locator('tbody tr.ant-table-row');
  await rows.first().waitFor();
  const tenants = await rows.locator('td:first-child a').allInnerTexts();
  assert.deepEqual(tenants, ['北京分公司', '上海分公司', '广州分公司', '上海分公司']);
  const first = rows.first();
  await first.getByText('48 / 50 即将用完').waitFor();
  await first.getByText(/约 1 天后/).waitFor();
  await expectAccessibleInLongRun(page);
  const adjust = first.getByRole('button', { name: '调整总量：客商管理' });
  await adjust.click();
  const field = first.getByRole('spinbutton', { name: '客商管理的总量' });
  await field.press('Escape');
  await adjust.and(page.locator(':focus')).waitFor();
  await adjust.press('Enter');
  await field.fill('500');
  await expectAccessibleInLongRun(page);
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
