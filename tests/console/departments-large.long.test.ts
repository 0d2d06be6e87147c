// Only with test:long: it needs 100,000 departments; departments.test.ts covers the tree.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { expectNoCspViolations, startConsole } from '../support/console.ts';
import { insertDepartments } from '../support/trees.ts';
import { credentialsOf, pickerTree, row, tree, waitForValue } from './departments-page.ts';

const fixture = await startConsole();
const admin = await fixture.service.createTenant();

// There are ten top-level departments. The first has many children; departments 2 to 6000, on two levels, have ten each.
const FIRST = 10_000_000;
const COUNT = 100_000;
const CHILDREN = COUNT * 0.4;
/** A department on the third level that is not disabled. */
const LAST = COUNT - 2;
const LINKED = COUNT - 3;
await insertDepartments(fixture.service.superuser, admin.tenantId, {
  first: FIRST,
  count: COUNT,
  parentOf: `case when n <= 10 then null when n <= ${CHILDREN + 10} then 1 else 2 + (n - ${CHILDREN + 11}) / 10 end`,
});

/** Expects that the tree renders few rows, however many departments there are. */
async function expectFewRows(page: Page): Promise<void> {
  const rows = await page.getByRole('treeitem').count();
  assert.ok(rows > 0 && rows < 500, `${rows} rows are rendered`);
}

test(`a tree of ${COUNT} departments opens, scrolls and can be searched with few rows in the DOM`, async () => {
  const page = await fixture.logIn(credentialsOf(admin), '/departments');
  await row(page, '部门 5').waitFor();
  await expectFewRows(page);

  // Scrolling loads more of the many children of the first department.
  await row(page, '部门 1').locator('[data-act=toggle]').click();
  const countSecondLevel = () => tree(page).locator('[aria-level="2"]').count();
  await waitForValue(countSecondLevel, (count) => count > 20);
  await expectFewRows(page);
  const height = () => page.evaluate<number>("document.querySelector('[role=tree]').scrollHeight");
  let before = await height();
  for (let n = 0; n < 5; n++) {
    await page.evaluate("document.querySelector('[role=tree]').scrollTop = 1e9");
    before = await waitForValue(height, (now) => now > before);
    await expectFewRows(page);
  }
  assert.ok(before > 1000 * 36, 'more than 1,000 rows were loaded');

  // A search result is shown in the tree, whether it is a late sibling or on the third level.
  await page.getByLabel('搜索部门').fill(`部门 ${CHILDREN - 1}`);
  await page.getByRole('button', { name: `部门 ${CHILDREN - 1} 部门 1` }).click();
  await page.getByRole('article', { name: `部门 ${CHILDREN - 1}` }).waitFor();
  await row(page, `部门 ${CHILDREN - 1}`).waitFor();
  assert.equal(await row(page, `部门 ${CHILDREN - 1}`).getAttribute('aria-level'), '2');
  await expectFewRows(page);
  await page.getByLabel('搜索部门').fill(`部门 ${LAST}`);
  await page.getByRole('button', { name: new RegExp(`^部门 ${LAST}`) }).click();
  await row(page, `部门 ${LAST}`).waitFor();
  assert.equal(await row(page, `部门 ${LAST}`).getAttribute('aria-selected'), 'true');
  await expectFewRows(page);
  expectNoCspViolations(page);
});

test('PageDown moves by the visible rows, and ArrowLeft leaves a top-level department where it is', async () => {
  const page = await fixture.logIn(credentialsOf(admin), '/departments');
  await row(page, '部门 1').locator('[data-act=toggle]').click();
  await waitForValue(
    () => tree(page).locator('[aria-level="2"]').count(),
    (count) => count > 20,
  );
  await tree(page).focus();
  const activeRow = () =>
    page.evaluate<number>(`(() => {
      const tree = document.querySelector('[role=tree]');
      return document.getElementById(tree.getAttribute('aria-activedescendant')).offsetTop / 36;
    })()`);
  for (const key of ['Home', 'ArrowDown', 'ArrowDown', 'ArrowLeft']) await page.keyboard.press(key);
  await waitForValue(activeRow, (index) => index === 2);
  const visible = await page.evaluate<number>("Math.floor(document.querySelector('[role=tree]').clientHeight / 36)");
  assert.ok(visible > 5, `${visible}`);
  for (const key of ['Home', 'PageDown']) await page.keyboard.press(key);
  await waitForValue(activeRow, (index) => index === visible);
});

test(`a link to one of ${COUNT} departments opens it in the tree`, async () => {
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${FIRST + LINKED}`);
  await page.getByRole('article', { name: `部门 ${LINKED}` }).waitFor();
  await row(page, `部门 ${LINKED}`).waitFor();
  const path = await page.getByRole('navigation', { name: '上级路径' }).getByRole('listitem').allTextContents();
  assert.equal(path.length, Number(await row(page, `部门 ${LINKED}`).getAttribute('aria-level')));
  await expectFewRows(page);
  await page.getByLabel('搜索部门').fill('没有这样的部门');
  await page.getByText('未找到名称包含“没有这样的部门”的部门').waitFor();
});

test(`a picker shows a tree of ${COUNT} departments with few rows in the DOM, and finds one of them`, async () => {
  const page = await fixture.logIn(credentialsOf(admin), '/people?person=new');
  const dialog = page.getByRole('dialog');
  const field = dialog.getByRole('combobox', { name: '主部门' });
  await field.click();
  await row(pickerTree(page), '部门 1').locator('[data-act=toggle]').click();
  const countSecondLevel = () => pickerTree(page).locator('[aria-level="2"]').count();
  await waitForValue(countSecondLevel, (count) => count > 5);
  await expectFewRows(page);
  const height = () => pickerTree(page).evaluate((element: { scrollHeight: number }) => element.scrollHeight);
  const before = await height();
  await pickerTree(page).evaluate((element: { scrollTop: number }) => {
    element.scrollTop = 1e9;
  });
  await waitForValue(height, (now) => now > before);
  await expectFewRows(page);

  await field.fill(`部门 ${LAST}`);
  await page.locator('.department-option').first().waitFor();
  await page.keyboard.press('Enter');
  await dialog.getByTitle(new RegExp(`^部门 .* / 部门 ${LAST}$`)).waitFor();
  // It opens where the selected department is.
  await field.click();
  await row(pickerTree(page), `部门 ${LAST}`).and(page.locator('[aria-selected=true]')).waitFor();
  await expectFewRows(page);
});
