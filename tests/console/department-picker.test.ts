import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page, Request } from 'playwright-core';
import { expectNoAxeViolations, expectNoCspViolations, shareConsole } from '../support/console.ts';
import { createCompany, credentialsOf, pickerTree, row, selectInTree, waitForValue } from './departments-page.ts';

const fixture = await shareConsole();
const { service } = fixture;

/** Waits until `aria-activedescendant` of the focused field points to the row of this department. */
const expectActive = (page: Page, name: string) =>
  waitForValue(
    () =>
      page.evaluate<string | undefined>(
        "document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.querySelector('.tree-label')?.textContent",
      ),
    (active) => active === name,
  );

test('departments are selected in the tree with the mouse and with the keyboard, and by a search', async () => {
  const { admin, top, research, web, back, market } = await createCompany(service);
  const page = await fixture.logIn(credentialsOf(admin), '/people?person=new');
  const dialog = page.getByRole('dialog', { name: '新建用户' });
  await dialog.getByLabel('用户名').fill('lan');
  await dialog.getByRole('button', { name: '随机生成' }).click();
  const list = pickerTree(page);

  // With the mouse. Only what is expanded is loaded.
  const loaded: (string | undefined)[] = [];
  const recordLoaded = (request: Request) => {
    if (request.url().includes('/children')) loaded.push(/(\d+)\/children/.exec(request.url())?.[1]);
  };
  page.on('request', recordLoaded);
  const main = dialog.getByRole('combobox', { name: '主部门' });
  assert.equal(await main.getAttribute('aria-haspopup'), 'tree');
  await main.click();
  await row(list, '总部').locator('[data-act=toggle]').click();
  await row(list, '研发部').locator('[data-act=toggle]').click();
  await row(list, '前端组').click();
  await list.waitFor({ state: 'hidden' });
  await dialog.getByTitle('总部 / 研发部 / 前端组').waitFor();
  assert.deepEqual(loaded, ['0', top, research]);
  page.off('request', recordLoaded);

  // With the keyboard. The popup stays open, so that several can be selected.
  await dialog.getByRole('combobox', { name: '兼任部门' }).focus();
  await page.keyboard.press('ArrowDown');
  await expectActive(page, '总部');
  await page.keyboard.press('ArrowRight');
  await row(list, '研发部').waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await expectActive(page, '市场部');
  await page.keyboard.press('Enter');
  await row(list, '市场部').and(page.locator('[aria-checked=true]')).waitFor();
  await dialog.getByTitle('总部 / 市场部').waitFor();
  await expectNoAxeViolations(page);

  // By a search. Then the tree shows what was found.
  await page.keyboard.type('后端');
  await page.locator('.department-option', { hasText: '后端组' }).getByText('总部 / 研发部').waitFor();
  await list.waitFor({ state: 'detached' });
  await page.keyboard.press('Enter');
  await row(list, '后端组').and(page.locator('[aria-checked=true]')).waitFor();
  await page.keyboard.press('Escape');
  await list.waitFor({ state: 'hidden' });

  await dialog.getByRole('button', { name: '创建' }).click();
  await page.getByRole('dialog', { name: 'lan 的登录信息' }).waitFor();
  const { data } = await admin.get('/system/user-api/list?userName=lan');
  const [{ deptId, deptIds }] = data.rows;
  assert.deepEqual([deptId, deptIds.toSorted()], [Number(web), [Number(back), Number(market)].toSorted()]);
  expectNoCspViolations(page);
});

test('a picker does not select departments that are not allowed, and Escape closes only its popup', async () => {
  const { admin, research, market } = await createCompany(service);
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${research}`);
  await page.getByRole('button', { name: '移动…' }).click();
  const dialog = page.getByRole('dialog', { name: '移动“研发部”' });
  const field = dialog.getByRole('combobox', { name: '新的上级部门' });
  const list = pickerTree(page);
  await field.and(page.locator(':focus')).waitFor();
  await page.keyboard.press('ArrowDown');
  // The tree opens where the department is. It cannot be moved below itself or into a disabled one.
  const disabled = page.locator('[aria-disabled=true]');
  await row(list, '研发部').and(disabled).and(page.getByTitle('不能移动到自身之下')).waitFor();
  await row(list, '旧部门 停用').and(disabled).waitFor();
  await expectActive(page, '研发部');
  await page.keyboard.press('ArrowRight');
  await row(list, '前端组').and(disabled).waitFor();
  await page.keyboard.press('Enter');
  await expectNoAxeViolations(page);
  await page.keyboard.type('前端');
  await page.locator('.ant-select-item-option-disabled', { hasText: '前端组' }).waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.ant-select-item-option-disabled').waitFor({ state: 'hidden' });
  await page.keyboard.press('ArrowDown');
  await list.waitFor();
  await page.keyboard.press('Escape');
  await list.waitFor({ state: 'hidden' });
  const move = dialog.getByRole('button', { name: '移动', exact: true });
  assert.equal(await move.isDisabled(), true);

  await selectInTree(page, field, '市场部');
  await dialog.getByTitle('总部 / 市场部').waitFor();
  await move.click();
  await page.getByText('“研发部”已移动').waitFor();
  assert.equal((await admin.get(`/system/dept-api/${research}`)).data.parentId, Number(market));
});
