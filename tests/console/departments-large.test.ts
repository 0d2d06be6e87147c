import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { plant } from '../trees.ts';
import { asBoss, row, tree, until } from './departments-page.ts';
import { noCspViolations, startConsole } from './harness.ts';

const stage = await startConsole();
const boss = await stage.service.tenant();

// 100,000 departments: ten at the top, and below the first of them 40,000 in one row; the others fan out by ten.
const FIRST = 10_000_000;
await plant(stage.service.superuser, boss.tenantId, {
  first: FIRST,
  count: 100_000,
  parentOf: 'case when n <= 10 then null when n <= 40010 then 1 else 2 + (n - 40011) / 10 end',
});

/** After each step: however many there are, few are in the page. */
async function few(page: Page): Promise<void> {
  const rows = await page.getByRole('treeitem').count();
  assert.ok(rows > 0 && rows < 500, `${rows} rows are in the page`);
}

test('100,000 departments open, scroll and are searched while few rows are in the page', async () => {
  const page = await stage.page();
  await asBoss(page, boss);
  await row(page, '部门 5').waitFor();
  await few(page);

  // The one with 40,000 children: scrolling reads on.
  await row(page, '部门 1').locator('[data-act=toggle]').click();
  const second = () => tree(page).locator('[aria-level="2"]').count();
  await until(page, second, (count) => count > 20);
  await few(page);
  const height = () => page.evaluate<number>("document.querySelector('[role=tree]').scrollHeight");
  let before = await height();
  for (let times = 0; times < 5; times++) {
    await page.evaluate("document.querySelector('[role=tree]').scrollTop = 1e9");
    before = await until(page, height, (now) => now > before);
    await few(page);
  }
  assert.ok(before > 1000 * 36, 'a thousand and more were read');

  // Searched: the path to the hit opens, far down among its siblings as well as deep down.
  await page.getByLabel('搜索部门').fill('部门 39999');
  await page.getByRole('button', { name: '部门 39999 部门 1' }).click();
  await page.getByRole('article', { name: '部门 39999' }).waitFor();
  await row(page, '部门 39999').waitFor();
  assert.equal(await row(page, '部门 39999').getAttribute('aria-level'), '2');
  await few(page);
  await page.getByLabel('搜索部门').fill('部门 99999');
  await page.getByRole('button', { name: /^部门 99999/ }).click();
  await row(page, '部门 99999').waitFor();
  assert.equal(await row(page, '部门 99999').getAttribute('aria-selected'), 'true');
  await few(page);
  noCspViolations(page);
});

test('a link to one of 100,000 opens there', async () => {
  const page = await stage.page();
  await asBoss(page, boss, `/departments/${FIRST + 77_777}`);
  await page.getByRole('article', { name: '部门 77777' }).waitFor();
  await row(page, '部门 77777').waitFor();
  const path = await page.getByRole('navigation', { name: '上级路径' }).getByRole('listitem').allTextContents();
  assert.equal(path.length, Number(await row(page, '部门 77777').getAttribute('aria-level')));
  await few(page);
  await page.getByLabel('搜索部门').fill('没有这样的部门');
  await page.getByText('没有名称包含“没有这样的部门”的部门').waitFor();
});
