import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectNoAxeViolations, expectNoCspViolations, shareConsole } from '../support/console.ts';
import { card, cards, startChart } from './chart-page.ts';

const { fixture, credentials } = await startChart(await shareConsole());

test('the chart shows three levels with leaders and user counts; a card links to its department', async () => {
  const page = await fixture.logIn(credentials, '/chart');
  await card(page, '云杉科技有限公司').waitFor();
  // The first number counts the users of the whole branch.
  await card(page, '产品研发中心，负责人 陈晓东，3 人，直属 0 人').waitFor();
  await card(page, '前端组，未设置负责人，3 人').waitFor();
  await card(page, '旧系统组，停用').waitFor();
  assert.equal(await cards(page).count(), 16);
  assert.equal(await card(page, '移动端小组').count(), 0);
  await expectNoAxeViolations(page);

  await card(page, '市场与销售部').click();
  await page.getByRole('link', { name: '打开部门' }).click();
  await page.getByRole('heading', { level: 1, name: '部门' }).waitFor();
  assert.match(page.url(), /\/departments\/\d+$/);
  expectNoCspViolations(page);
});
