import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectNoCspViolations, shareConsole } from '../support/console.ts';
import { waitFor } from '../support/wait.ts';
import { dialog, field, openSearch, options, selected, startSearch } from './search-page.ts';

const { fixture, service, admin, person, logIn } = await startSearch(await shareConsole());

test('a person is found by the first letters of their pinyin and opened with Enter', async () => {
  const page = await logIn();
  await openSearch(page, 'lwj');
  await dialog(page).getByRole('option', { name: '李文杰' }).waitFor();
  assert.match((await selected(page).textContent()) ?? '', /李文杰.*苏州工厂 \/ 装配车间 · 生产经理/);
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/people/${person}`);
  assert.equal(await dialog(page).count(), 0);
  expectNoCspViolations(page);
});

test('the screens that no menu lists are found by their names', async () => {
  const page = await logIn();
  for (const [text, name, path] of [
    ['已删除', '已删除', '/deleted'],
    ['lszzjg', '历史组织架构', '/changes/tree'],
    ['compare', '组织架构对比', '/changes/diff'],
  ] as const) {
    await openSearch(page, text);
    await dialog(page).getByRole('option', { name }).click();
    await page.waitForURL(`**${path}*`);
  }
  // For the last of these screens, the menu marks the audit log.
  await page.getByRole('navigation', { name: '主菜单' }).locator('a.active', { hasText: '变更记录' }).waitFor();
});

test('members search departments, and are offered no actions of administrators', async () => {
  const member = await service.createMember(admin);
  const { userName } = (await member.get('/auth/me')).data.user;
  const page = await fixture.logIn({ tenantId: admin.tenantId, username: userName }, '/home');
  await openSearch(page, '工厂');
  await waitFor('both factories are shown', async () => (await options(page).count()) === 2);
  await field(page).fill('新建');
  await dialog(page).getByText('未找到“新建”').waitFor();
});
