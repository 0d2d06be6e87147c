// Only with test:long: it covers further results, keys and themes; search.test.ts covers searches by administrators and members.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectAccessibleInLongRun, PHONE, startConsole } from '../support/console.ts';
import { waitFor } from '../support/wait.ts';
import { dialog, field, openSearch, options, selected, startSearch } from './search-page.ts';

const { workshop, wuxi, child, logIn } = await startSearch(await startConsole());

test('words of the path find a department, and arrow keys choose among the results', async () => {
  const page = await logIn();
  await openSearch(page, '装配');
  await waitFor('both workshops are shown', async () => (await options(page).count()) === 2);
  await page.keyboard.press('ArrowDown');
  assert.match((await selected(page).textContent()) ?? '', /无锡工厂/);
  const active = await field(page).getAttribute('aria-activedescendant');
  assert.equal(active, await selected(page).getAttribute('id'));
  await page.keyboard.press('ArrowDown');
  assert.match((await selected(page).textContent()) ?? '', /苏州工厂/);
  await field(page).fill('苏州 装配');
  await waitFor('one workshop is shown', async () => (await options(page).count()) === 1);
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/departments/${workshop}`);
});

test('a tenant is found by pinyin, and what was opened is offered again', async () => {
  const page = await logIn();
  await openSearch(page, 'jinggong');
  await dialog(page).getByRole('option', { name: '精工科技' }).click();
  await page.waitForURL(`**/tenants/${child.id}`);
  await page.getByRole('heading', { level: 1, name: '精工科技' }).waitFor();
  await openSearch(page);
  await dialog(page).getByRole('group', { name: '最近打开' }).getByRole('option', { name: '精工科技' }).waitFor();
});

test('screens and actions are found without the service, by pinyin and in both languages', async () => {
  const page = await logIn();
  await page.route('**/system/search-api*', (route) => route.abort());
  await openSearch(page, 'zzjgt');
  await dialog(page).getByRole('group', { name: '页面' }).getByRole('option', { name: '组织架构图' }).waitFor();
  await field(page).fill('import users');
  await dialog(page).getByRole('group', { name: '操作' }).getByRole('option', { name: '导入用户' }).click();
  await page.waitForURL('**/import/people');
  await page.unroute('**/system/search-api*');
});

test('the action for a new department opens its form', async () => {
  const page = await logIn();
  await openSearch(page, 'xjbm');
  await dialog(page).getByRole('option', { name: '新建部门' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: /新建/ }).waitFor();
  await page.keyboard.press('Escape');
  assert.ok(page.url().endsWith('/departments'));
});

test('Escape closes the search and returns the focus to the button', async () => {
  const page = await logIn();
  await page.getByRole('button', { name: '搜索 Ctrl K' }).click();
  await field(page).waitFor();
  assert.equal(await page.evaluate('document.activeElement.getAttribute("role")'), 'combobox');
  await page.keyboard.press('Escape');
  await waitFor('the search is closed', async () => (await dialog(page).count()) === 0);
  assert.equal(await page.evaluate('document.activeElement.ariaLabel'), '搜索 Ctrl K');
});

test('results of an older text are not shown for the next one', async () => {
  const page = await logIn();
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/search-api\?.*q=lwj/, async (route) => {
    await held;
    await route.continue().catch(() => undefined);
  });
  await openSearch(page);
  const requested = page.waitForRequest(/search-api\?.*q=lwj/);
  await field(page).fill('lwj');
  const request = await requested;
  const failed = page.waitForEvent('requestfailed', (each) => each === request);
  await field(page).fill('无锡');
  await failed;
  release();
  await dialog(page).getByRole('option', { name: '无锡工厂' }).waitFor();
  assert.equal(await dialog(page).getByRole('option', { name: '李文杰' }).count(), 0);
  await page.unroute(/search-api\?.*q=lwj/);
});

test('Enter waits for the results of the text that was typed last', async () => {
  const page = await logIn();
  await openSearch(page, 'lwj');
  await dialog(page).getByRole('option', { name: '李文杰' }).waitFor();
  await field(page).fill('无锡');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/departments/${wuxi}`);
});

test('Enter pressed before the first results arrive opens the first of them', async () => {
  const page = await logIn();
  await openSearch(page, '');
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/system/search-api?*', async (route) => {
    await released;
    await route.continue();
  });
  await field(page).fill('无锡');
  await page.keyboard.press('Enter');
  release();
  await page.waitForURL(`**/departments/${wuxi}`);
});

for (const [what, settings] of [
  ['on a phone', { viewport: PHONE }],
  ['in the dark theme, in English', { dark: true, language: 'en' }],
] as const) {
  test(`the search is accessible ${what}`, async () => {
    const page = await logIn('/home', settings);
    await page.getByRole('button', { name: /^(搜索|Search) Ctrl K$/ }).click();
    await field(page).fill('j');
    await options(page).first().waitFor();
    await expectAccessibleInLongRun(page);
    await field(page).fill('李文杰');
    await dialog(page).getByRole('option', { name: '李文杰' }).waitFor();
    await expectAccessibleInLongRun(page);
    await page.keyboard.press('Escape');
  });
}
