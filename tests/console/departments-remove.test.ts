import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import {
  expectNoAxeViolations,
  expectNoCspViolations,
  type PageSettings,
  screenshot,
  startConsole,
} from '../support/console.ts';
import { bossOf, createDepartments, row, shows, tree } from './departments-page.ts';

const fixture = await startConsole();
const { service } = fixture;

async function company() {
  const boss = await service.createTenant({ tenantName: '榕树科技', accountCount: -1 });
  const ids = await createDepartments(boss, {
    top: { deptName: '总部' },
    research: { parentRef: 'top', deptName: '研发部', orderNum: 1 },
    web: { parentRef: 'research', deptName: '前端组', orderNum: 1 },
    market: { parentRef: 'top', deptName: '市场部', orderNum: 2 },
  });
  return { boss, ...ids };
}

test('a department with people is not deleted; they are moved, then it is', async () => {
  const { boss, top, research, market } = await company();
  const userId = await boss.createUser({ userName: 'mei', nickName: '韩梅梅', deptId: market, phone: '13900000001' });
  await boss.createUser({
    userName: 'lei',
    nickName: '李雷',
    deptId: top,
    deptIds: [market, research],
    email: 'l@example.com',
  });
  const page = await fixture.logIn(bossOf(boss), `/departments/${market}`);
  await page.getByRole('button', { name: '删除' }).click();
  await page.getByRole('dialog', { name: '删除“市场部”？' }).getByRole('button', { name: '删除' }).click();
  const dialog = page.getByRole('dialog', { name: '无法删除“市场部”' });
  await dialog.getByText('该部门有 2 名用户，请先将其移动到其他部门。').waitFor();
  await dialog.getByText('韩梅梅').waitFor();
  await expectNoAxeViolations(page);
  await screenshot(page, 'departments-people-here');
  assert.equal(await row(dialog, '市场部').getAttribute('aria-disabled'), 'true');
  await row(dialog, '研发部').click();
  await dialog.getByText('已选择：研发部').waitFor();
  await dialog.getByRole('button', { name: '移动 2 名用户并删除' }).click();
  await page.getByText('部门已删除').waitFor();
  await shows(page, ['1 总部', '2 研发部']);
  await page.getByRole('article', { name: '总部' }).waitFor();
  await tree(page).and(page.locator(':focus')).waitFor();
  const { data: mei } = await boss.get(`/system/user-api/${userId}`);
  assert.deepEqual([mei.deptId, mei.phone, mei.nickName], [Number(research), '13900000001', '韩梅梅']);
  const { data: there } = await boss.get(`/system/dept-api/${research}/users`);
  assert.deepEqual(
    there.rows.map(({ userName, deptId, deptIds }: { userName: string; deptId: number; deptIds: number[] }) => [
      userName,
      deptId,
      deptIds,
    ]),
    [
      ['mei', Number(research), []],
      ['lei', Number(top), [Number(research)]],
    ],
  );
  expectNoCspViolations(page);
});

/** Four people on their way out of 市场部: one is moved, and the second write is held until it is let go. */
async function movingPeople(look: PageSettings = {}) {
  const { boss, market } = await company();
  await Promise.all([1, 2, 3, 4].map((n) => boss.createUser({ userName: `worker${n}`, deptId: market })));
  const page = await fixture.logIn(bossOf(boss), '/home', look);
  await page.getByRole('navigation').getByRole('link', { name: '部门' }).click();
  await row(page, '总部').locator('[data-act=toggle]').click();
  await row(page, '市场部').click();
  await page.getByRole('article', { name: '市场部' }).getByRole('button', { name: '删除' }).click();
  await page.getByRole('dialog', { name: '删除“市场部”？' }).getByRole('button', { name: '删除' }).click();
  const dialog = page.getByRole('dialog', { name: '无法删除“市场部”' });
  await row(dialog, '研发部').click();
  let letGo = () => {};
  const left = new Promise<void>((resolve) => (letGo = resolve));
  let writes = 0;
  await page.route('**/system/user-api', async (route) => {
    if (route.request().method() === 'PUT' && ++writes === 2) await left;
    await route.continue();
  });
  let asked = 0;
  const second = page.waitForRequest((request) => request.method() === 'PUT' && ++asked === 2);
  await dialog.getByRole('button', { name: '移动 4 名用户并删除' }).click();
  await dialog.getByText('正在移动用户：1 / 4').waitFor();
  // The second is only being read at first: who leaves by then stops before him.
  await second;
  const stopped = async () => {
    await page.getByText('已停止：已移动 2 名用户，部门未删除').waitFor();
    assert.equal(writes, 2);
    assert.equal((await boss.get(`/system/dept-api/${market}`)).code, 200);
    assert.equal((await boss.get(`/system/dept-api/${market}/users`)).data.total, 2);
  };
  return { page, dialog, letGo, stopped };
}

const waysOut: { way: string; out: (page: Page) => Promise<unknown> }[] = [
  { way: 'Cancel', out: (page) => page.getByRole('dialog').getByRole('button', { name: '取消' }).click() },
  { way: 'Escape', out: (page) => page.keyboard.press('Escape') },
  { way: 'the cross', out: (page) => page.getByRole('dialog').locator('.ant-modal-close').click() },
  { way: 'the browser’s Back', out: (page) => page.evaluate('history.go(-2)') },
];

for (const { way, out } of waysOut)
  test(`people on their way out of a department are stopped by ${way}, and it is not deleted`, async () => {
    const { page, dialog, letGo, stopped } = await movingPeople();
    await out(page);
    await dialog.waitFor({ state: 'hidden' });
    letGo();
    await stopped();
  });

test('people on their way out of a department are stopped at once, not when the dialog has faded out', async () => {
  const { page, dialog, letGo, stopped } = await movingPeople({ motion: true });
  const debugging = await page.context().newCDPSession(page);
  await debugging.send('Animation.enable');
  // So slowly that all of them could be moved meanwhile.
  await debugging.send('Animation.setPlaybackRate', { playbackRate: 0.02 });
  await dialog.getByRole('button', { name: '取消' }).click();
  letGo();
  await stopped();
  await debugging.send('Animation.setPlaybackRate', { playbackRate: 1 });
});

test('a department with children is not deleted; they are shown, or go with it on purpose', async () => {
  const { boss, top, research, web, market } = await company();
  await boss.createUser({ userName: 'mei', nickName: '韩梅梅', deptId: web });
  const page = await fixture.logIn(bossOf(boss), `/departments/${research}`);
  const begin = async () => {
    const question = page.getByRole('dialog', { name: '删除“研发部”？' });
    await page.getByRole('button', { name: '删除' }).click();
    await question.getByRole('button', { name: '删除' }).click();
    // While it goes away it would take the click that is meant for the next.
    await question.waitFor({ state: 'detached' });
  };
  await begin();
  const dialog = page.getByRole('dialog', { name: '无法删除“研发部”' });
  await dialog.getByText('该部门有下级部门（前端组），其下共有 1 个部门。').waitFor();
  await expectNoAxeViolations(page);
  await dialog.getByRole('button', { name: '查看下级部门' }).click();
  await page.getByRole('tabpanel').getByRole('link', { name: '前端组' }).waitFor();
  await dialog.waitFor({ state: 'detached' });

  await begin();
  const branch = dialog.getByRole('button', { name: '删除部门及其下级（2 个部门）' });
  assert.equal(await branch.isDisabled(), true);
  await dialog.getByText('我确认删除这 2 个部门').click();
  await branch.click();
  // Somebody is further down in it: the same way onward.
  await dialog.getByText('该部门及其下级有 1 名用户，请先将其移动到其他部门。').waitFor();
  await row(dialog, '市场部').click();
  await dialog.getByRole('button', { name: '移动 1 名用户并删除' }).click();
  await page.getByText('部门已删除').waitFor();
  await shows(page, ['1 总部', '2 市场部']);
  assert.equal((await boss.get(`/system/dept-api/${web}`)).code, 404);
  assert.equal((await boss.get(`/system/dept-api/${market}/users`)).data.total, 1);
  assert.equal((await boss.get(`/system/dept-api/${top}`)).code, 200);
});

test('several are deleted at once; those that cannot be are named, the others go without them', async () => {
  const { boss, top } = await company();
  await boss.post('/system/dept-api/bulk', {
    parentId: Number(top),
    departments: [1, 2, 3].map((n) => ({ ref: `${n}`, deptName: `小组 ${n}`, orderNum: 10 + n })),
  });
  const page = await fixture.logIn(bossOf(boss), `/departments/${top}`);
  await row(page, '总部').locator('[data-act=toggle]').click();
  await row(page, '小组 1').waitFor();
  await page.getByRole('button', { name: '多选' }).click();
  for (const name of ['研发部', '小组 1', '小组 3']) await row(page, name).locator('[data-act=mark]').click();
  await page.getByText('已选择 3 项').waitFor();
  assert.equal(await row(page, '小组 3').getAttribute('aria-checked'), 'true');
  await expectNoAxeViolations(page);
  await page.getByRole('button', { name: '批量删除' }).click();
  const dialog = page.getByRole('dialog', { name: '删除选中的 3 个部门？' });
  await dialog.getByRole('button', { name: '删除', exact: true }).click();
  await dialog.getByText('存在下级部门,不允许删除').waitFor();
  await dialog.getByText('其中 1 个部门无法删除，因此所有部门均未删除。').waitFor();
  await dialog.getByRole('button', { name: '查看“研发部”的下级' }).waitFor();
  await dialog.getByRole('button', { name: '只删除其余 2 个' }).click();
  await page.getByText('2 个部门已删除').waitFor();
  await shows(page, ['1 总部', '2 研发部', '2 市场部', '2 小组 2']);
  await page.getByText('已选择 1 项').waitFor();

  // By keyboard: Space marks, Delete deletes what is marked.
  await page.getByRole('button', { name: '退出多选' }).click();
  await tree(page).focus();
  await page.keyboard.press('End');
  await page.keyboard.press('Space');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Space');
  await page.keyboard.press('Delete');
  await page.getByRole('dialog', { name: '删除选中的 2 个部门？' }).waitFor();
  await page.getByRole('dialog').getByRole('button', { name: '删除' }).and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('2 个部门已删除').nth(0).waitFor();
  await shows(page, ['1 总部', '2 研发部']);
});
