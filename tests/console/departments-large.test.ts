import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { expectNoCspViolations, startConsole } from '../support/console.ts';
import { scale } from '../support/scale.ts';
import { insertDepartments } from '../support/trees.ts';
import { bossOf, row, tree, waitForView } from './departments-page.ts';

const fixture = await startConsole();
const boss = await fixture.service.createTenant();

// Ten at the top, and below the first of them many in one row; the others fan out by ten.
const FIRST = 10_000_000;
const COUNT = scale(10_000, 100_000);
const ROW = COUNT * 0.4;
/** Deep down, and not disabled. */
const LAST = COUNT - 2;
const LINKED = COUNT - 3;
await insertDepartments(fixture.service.superuser, boss.tenantId, {
  first: FIRST,
  count: COUNT,
  parentOf: `case when n <= 10 then null when n <= ${ROW + 10} then 1 else 2 + (n - ${ROW + 11}) / 10 end`,
});

/** After each step: however many there are, few are in the page. */
async function few(page: Page): Promise<void> {
  const rows = await page.getByRole('treeitem').count();
  assert.ok(rows > 0 && rows < 500, `${rows} rows are in the page`);
}

test(`${COUNT} departments open, scroll and are searched while few rows are in the page`, async () => {
  const page = await fixture.logIn(bossOf(boss), '/departments');
  await row(page, '部门 5').waitFor();
  await few(page);

  // The one with many children: scrolling reads on.
  await row(page, '部门 1').locator('[data-act=toggle]').click();
  const second = () => tree(page).locator('[aria-level="2"]').count();
  await waitForView(second, (count) => count > 20);
  await few(page);
  const height = () => page.evaluate<number>("document.querySelector('[role=tree]').scrollHeight");
  let before = await height();
  for (let times = 0; times < 5; times++) {
    await page.evaluate("document.querySelector('[role=tree]').scrollTop = 1e9");
    before = await waitForView(height, (now) => now > before);
    await few(page);
  }
  assert.ok(before > 1000 * 36, 'a thousand and more were read');

  // Searched: the path to the hit opens, far down among its siblings as well as deep down.
  await page.getByLabel('搜索部门').fill(`部门 ${ROW - 1}`);
  await page.getByRole('button', { name: `部门 ${ROW - 1} 部门 1` }).click();
  await page.getByRole('article', { name: `部门 ${ROW - 1}` }).waitFor();
  await row(page, `部门 ${ROW - 1}`).waitFor();
  assert.equal(await row(page, `部门 ${ROW - 1}`).getAttribute('aria-level'), '2');
  await few(page);
  await page.getByLabel('搜索部门').fill(`部门 ${LAST}`);
  await page.getByRole('button', { name: new RegExp(`^部门 ${LAST}`) }).click();
  await row(page, `部门 ${LAST}`).waitFor();
  assert.equal(await row(page, `部门 ${LAST}`).getAttribute('aria-selected'), 'true');
  await few(page);
  expectNoCspViolations(page);
});

test(`a link to one of ${COUNT} departments opens there`, async () => {
  const page = await fixture.logIn(bossOf(boss), `/departments/${FIRST + LINKED}`);
  await page.getByRole('article', { name: `部门 ${LINKED}` }).waitFor();
  await row(page, `部门 ${LINKED}`).waitFor();
  const path = await page.getByRole('navigation', { name: '上级路径' }).getByRole('listitem').allTextContents();
  assert.equal(path.length, Number(await row(page, `部门 ${LINKED}`).getAttribute('aria-level')));
  await few(page);
  await page.getByLabel('搜索部门').fill('没有这样的部门');
  await page.getByText('未找到名称包含“没有这样的部门”的部门').waitFor();
});
