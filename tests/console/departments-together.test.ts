import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Client } from '../harness.ts';
import { asBoss, drag, outline, row, tree, until } from './departments-page.ts';
import { startConsole } from './harness.ts';

/** Two administrators, one tree: the page of one, and what the other does meanwhile. */

const stage = await startConsole();
const { service } = stage;

const change = async (boss: Client, id: string | number, what: object) => {
  const { data } = await boss.get(`/system/dept-api/${id}`);
  assert.equal((await boss.put('/system/dept-api', { ...data, ...what })).code, 200);
};

/** 总部 with 250 groups, more than the tree reads at once, and 分部 after it. */
async function wide() {
  const boss = await service.tenant();
  const top = await boss.dept({ deptName: '总部', orderNum: 1 });
  const other = await boss.dept({ deptName: '分部', orderNum: 2 });
  await boss.dept({ deptName: '老组', parentId: other, orderNum: 1 });
  const departments = Array.from({ length: 250 }, (_, n) => ({ ref: `${n}`, deptName: `组 ${n}`, orderNum: n }));
  const { data } = await boss.post('/system/dept-api/bulk', { parentId: Number(top), departments });
  return { boss, top, other, groups: data.deptIds as number[] };
}

async function find(page: Page, name: string): Promise<void> {
  await page.getByLabel('搜索部门').fill(name);
  await page.getByRole('button', { name: new RegExp(`^${name}`) }).click();
  await page.getByRole('article', { name }).waitFor();
  await row(page, name).waitFor();
}

const MORE = '2 加载更多部门';
/** The end of the tree: what was found beyond the first page, and what follows. */
const ends = (page: Page, lines: string[]) =>
  until(
    page,
    async () => (await outline(page)).join('|').split(`${MORE}|`)[1],
    (now) => now === lines.join('|'),
  );

test('what was found beyond the first page of siblings is renamed, deleted and moved like everything else', async () => {
  const { boss, other, groups } = await wide();
  const page = await stage.page();
  await asBoss(page, boss, `/departments/${groups[241]}`);
  await row(page, '组 241').waitFor();
  for (const name of ['组 242', '组 243', '组 244']) await find(page, name);
  await tree(page).focus();
  await page.keyboard.press('End');
  await row(page, '分部').locator('[data-act=toggle]').click();
  await ends(page, ['2 组 241', '2 组 242', '2 组 243', '2 组 244', '1 分部', '2 老组']);

  await change(boss, groups[241] as number, { deptName: '新名' });
  await boss.delete(`/system/dept-api/${groups[242]}`);
  await change(boss, groups[243] as number, { parentId: Number(other), orderNum: 0 });
  await page.getByRole('button', { name: '刷新' }).click();
  await ends(page, ['2 新名', '2 组 244', '1 分部', '2 组 243', '2 老组']);

  // One's own doings likewise.
  await page.getByRole('button', { name: '编辑' }).click();
  await page.getByLabel('部门名称').fill('改名');
  await page.getByRole('button', { name: '保存' }).click();
  await ends(page, ['2 新名', '2 改名', '1 分部', '2 组 243', '2 老组']);
  await drag(page, row(page, '新名'), row(page, '老组'), 'into');
  await page.getByText('“新名”已移动').waitFor();
  await row(page, '老组').locator('[data-act=toggle]').click();
  await ends(page, ['2 改名', '1 分部', '2 组 243', '2 老组', '3 新名']);

  // A leaf that got children meanwhile can be opened.
  await boss.dept({ deptName: '小组', parentId: groups[244] });
  await page.getByRole('button', { name: '刷新' }).click();
  await row(page, '改名').locator('[data-act=toggle] svg').click();
  await ends(page, ['2 改名', '3 小组', '1 分部', '2 组 243', '2 老组', '3 新名']);
});
