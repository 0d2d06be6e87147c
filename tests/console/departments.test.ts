import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectNoCspViolations, shareConsole } from '../support/console.ts';
import { createCompany, credentialsOf, dragAndDrop, dragOver, expectOutline, row } from './departments-page.ts';

const fixture = await shareConsole();
const { service } = fixture;

test('departments are moved and reordered by dragging; an invalid target shows the reason before the drop', async () => {
  const { admin, market, research } = await createCompany(service);
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${market}`);
  await page.getByRole('article', { name: '市场部' }).waitFor();
  await row(page, '研发部').waitFor();
  await row(page, '研发部').locator('[data-act=toggle]').click();
  await expectOutline(page, ['1 总部', '2 研发部', '3 前端组', '3 后端组', '2 市场部', '2 旧部门停用']);
  // The keys and aria-activedescendant belong to the tree.
  assert.equal(await page.evaluate('document.activeElement.getAttribute("role")'), 'tree', 'a click focuses the tree');

  await dragOver(page, row(page, '研发部'), row(page, '前端组'), 'into');
  await page.getByText('不能移动到“研发部”的下级部门中').waitFor();
  await page.mouse.up();
  await dragOver(page, row(page, '研发部'), row(page, '市场部'), 'before');
  await page.getByText('位置没有变化').waitFor();
  await page.keyboard.press('Escape');
  await page.mouse.up();
  await dragOver(page, row(page, '市场部'), row(page, '旧部门 停用'), 'into');
  await page.getByText('该部门已停用，不能移入').waitFor();
  await page.keyboard.press('Escape');
  await page.getByText('该部门已停用，不能移入').waitFor({ state: 'detached' });
  await page.mouse.up();
  await expectOutline(page, ['1 总部', '2 研发部', '3 前端组', '3 后端组', '2 市场部', '2 旧部门停用']);

  await dragAndDrop(page, row(page, '后端组'), row(page, '前端组'), 'before');
  await page.getByText('顺序已保存').waitFor();
  await expectOutline(page, ['1 总部', '2 研发部', '3 后端组', '3 前端组', '2 市场部', '2 旧部门停用']);
  await dragAndDrop(page, row(page, '市场部'), row(page, '前端组'), 'into');
  await page.getByText('“市场部”已移动').waitFor();
  await expectOutline(page, ['1 总部', '2 研发部', '3 后端组', '3 前端组', '4 市场部', '2 旧部门停用']);
  await page.getByRole('navigation', { name: '上级路径' }).getByText('前端组').waitFor();
  await dragAndDrop(page, row(page, '市场部'), row(page, '研发部'), 'before');
  await expectOutline(page, ['1 总部', '2 市场部', '2 研发部', '3 后端组', '3 前端组', '2 旧部门停用']);
  assert.equal(
    (await admin.get(`/system/dept-api/${market}`)).data.parentId,
    Number((await admin.get(`/system/dept-api/${research}`)).data.parentId),
  );
  expectNoCspViolations(page);
});
