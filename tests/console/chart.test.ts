import assert from 'node:assert/strict';
import { test } from 'node:test';
import { avoidMidnight } from '../support/calendar.ts';
import { expectAccessibleInLongRun, expectNoCspViolations, shareConsole } from '../support/console.ts';
import { card, cards, exportFile, selectDay, startChart, startPastChart } from './chart-page.ts';
import { credentialsOf } from './departments-page.ts';

await avoidMidnight();
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
  await expectAccessibleInLongRun(page);

  await card(page, '市场与销售部').click();
  await page.getByRole('link', { name: '打开部门' }).click();
  await page.getByRole('heading', { level: 1, name: '部门' }).waitFor();
  assert.match(page.url(), /\/departments\/\d+$/);
  expectNoCspViolations(page);
});

test('administrators open the chart as it was at the end of a day, with departments that were deleted later', async () => {
  const { admin, day } = await startPastChart(fixture);
  const page = await fixture.logIn(credentialsOf(admin), '/chart');
  await card(page, '新总部，负责人 王芳，1 人').waitFor();
  await selectDay(page, day);
  await page.getByRole('alert').getByText(`截至 ${day} 的部门`).waitFor();
  await card(page, '旧公司，租户').waitFor();
  // User counts are not shown: those of today would be wrong.
  await page.getByRole('treeitem', { name: '旧总部，负责人 王芳', exact: true }).waitFor();
  await card(page, '旧产线').waitFor();
  assert.equal(await card(page, '新车间').count(), 0);
  await expectAccessibleInLongRun(page);

  const svg = await exportFile(page, 'SVG');
  assert.equal(svg.name, `旧公司-组织架构图-${day}.svg`);
  assert.ok(svg.content.toString('utf8').includes(`>组织架构图 · 截至 ${day}<`));

  await card(page, '旧车间').click();
  const panel = page.getByRole('region', { name: '已选择的部门' });
  await panel.getByText('现已删除').waitFor();
  await panel.getByRole('link', { name: '查看当前信息' }).click();
  await page.getByRole('alert').getByText('旧车间').waitFor();
  await page.getByRole('button', { name: '恢复' }).waitFor();
  await page.goBack();

  await page.getByRole('link', { name: '以树形查看' }).click();
  await page
    .getByRole('tree', { name: `${day} 的组织架构` })
    .getByRole('treeitem', { name: '旧总部' })
    .waitFor();
  await page.getByRole('link', { name: '以组织架构图查看' }).click();
  await card(page, '旧车间').waitFor();
  await page.getByRole('button', { name: '回到今天' }).click();
  await page.waitForURL(/\/chart$/);
  await card(page, '新公司，租户，2 人').waitFor();
  await card(page, '新总部，负责人 王芳，1 人').waitFor();
  await card(page, '新车间').waitFor();
  expectNoCspViolations(page);
});
