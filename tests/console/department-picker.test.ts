import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Request } from 'playwright-core';
import { expectAccessibleInLongRun, expectNoCspViolations, shareConsole } from '../support/console.ts';
import { createCompany, credentialsOf, expectActive, pickerTree, row } from './departments-page.ts';

const fixture = await shareConsole();
const { service } = fixture;

test('departments are selected in the tree with the mouse and with the keyboard, and by a search', async () => {
  const { admin, top, research, web, back, market } = await createCompany(service);
  const page = await fixture.logIn(credentialsOf(admin), '/people?person=new');
  const dialog = page.getByRole('dialog', { name: '新建用户' });
  await dialog.getByLabel('用户名').fill('lan');
  await dialog.getByRole('button', { name: '随机生成' }).click();
  const list = pickerTree(page);

  // Select with the mouse: only what is expanded is loaded.
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

  // Select with the keyboard: the popup stays open, so that several can be selected.
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
  await expectAccessibleInLongRun(page);

  // Select a search result: then the tree shows it.
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
