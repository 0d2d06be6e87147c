// Only with test:long: it repeats conflicts between two administrators for each way to change the tree; departments-edit.test.ts covers one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { expectAccessibleInLongRun, startConsole } from '../support/console.ts';
import type { Client } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import {
  createCompany,
  createDepartments,
  credentialsOf,
  dragAndDrop,
  expectOutline,
  outline,
  row,
  selectInTree,
  tree,
  waitForValue,
} from './departments-page.ts';

/** Two administrators change one tree at the same time: one uses the page, the other the API. */

const fixture = await startConsole();
const { service } = fixture;

const updateDepartment = async (admin: Client, id: string | number, changes: object) => {
  const { data } = await admin.get(`/system/dept-api/${id}`);
  assert.equal((await admin.put('/system/dept-api', { ...data, ...changes })).code, 200);
};
const saveOrder = async (admin: Client, parentId: string, deptIds: string[]) =>
  assert.equal((await admin.put('/system/dept-api/order', { parentId, deptIds })).code, 200);
const childrenOf = async (admin: Client, id: string): Promise<string[]> =>
  (await admin.get(`/system/dept-api/${id}/children`)).data.rows.map(({ deptName }: { deptName: string }) => deptName);

/** Creates 总部 with 250 groups, more than the tree loads at once, and 分部 after it. */
async function createWideTree() {
  const admin = await service.createTenant();
  const { top, other } = await createDepartments(admin, {
    top: { deptName: '总部', orderNum: 1 },
    other: { deptName: '分部', orderNum: 2 },
    old: { parentRef: 'other', deptName: '老组', orderNum: 1 },
  });
  const departments = Array.from({ length: 250 }, (_, n) => ({ ref: `${n}`, deptName: `组 ${n}`, orderNum: n }));
  const { data } = await admin.post('/system/dept-api/bulk', { parentId: Number(top), departments });
  return { admin, top, other, groups: data.deptIds as number[] };
}

async function openBySearch(page: Page, name: string): Promise<void> {
  await page.getByLabel('搜索部门').fill(name);
  await page.getByRole('button', { name: new RegExp(`^${name}`) }).click();
  await page.getByRole('article', { name }).waitFor();
  await row(page, name).waitFor();
}

const LOAD_MORE = '2 加载更多部门';
/** Waits until the tree shows these rows after the first page of siblings. */
const expectEnd = (page: Page, lines: string[]) =>
  waitForValue(
    async () => (await outline(page)).join('|').split(`${LOAD_MORE}|`)[1],
    (now) => now === lines.join('|'),
  );

test('the tree shows renames, deletions and moves of departments that were found beyond the first page of siblings', async () => {
  const { admin, other, groups } = await createWideTree();
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${groups[241]}`);
  await row(page, '组 241').waitFor();
  for (const name of ['组 242', '组 243', '组 244']) await openBySearch(page, name);
  await tree(page).focus();
  await page.keyboard.press('End');
  await row(page, '分部').locator('[data-act=toggle]').click();
  await expectEnd(page, ['2 组 241', '2 组 242', '2 组 243', '2 组 244', '1 分部', '2 老组']);

  await updateDepartment(admin, groups[241] as number, { deptName: '新名' });
  await admin.delete(`/system/dept-api/${groups[242]}`);
  await updateDepartment(admin, groups[243] as number, { parentId: Number(other), orderNum: 0 });
  await page.getByRole('button', { name: '刷新' }).click();
  await expectEnd(page, ['2 新名', '2 组 244', '1 分部', '2 组 243', '2 老组']);

  // The user's own changes are shown as well.
  await page.locator('#departments-edit').click();
  await page.getByLabel('部门名称').fill('改名');
  await page.getByRole('button', { name: '保存' }).click();
  await expectEnd(page, ['2 新名', '2 改名', '1 分部', '2 组 243', '2 老组']);
  await dragAndDrop(page, row(page, '新名'), row(page, '老组'), 'into');
  await page.getByText('“新名”已移动').waitFor();
  await row(page, '老组').locator('[data-act=toggle]').click();
  await expectEnd(page, ['2 改名', '1 分部', '2 组 243', '2 老组', '3 新名']);

  // A leaf that has got children in the meantime can be expanded.
  await admin.createDepartment({ deptName: '小组', parentId: groups[244] });
  await page.getByRole('button', { name: '刷新' }).click();
  await row(page, '改名').locator('[data-act=toggle] svg').click();
  await expectEnd(page, ['2 改名', '3 小组', '1 分部', '2 组 243', '2 老组', '3 新名']);
});

test('reordering keeps the order that someone else has saved since the page was loaded', async () => {
  const admin = await service.createTenant();
  const top = await admin.createDepartment({ deptName: '总部' });
  const [a, b, c, d, e] = (await Promise.all(
    ['甲', '乙', '丙', '丁', '戊'].map((deptName, n) =>
      admin.createDepartment({ deptName, parentId: top, orderNum: n }),
    ),
  )) as [string, string, string, string, string];
  const page = await fixture.logIn(credentialsOf(admin), '/departments');
  const drop = async (from: string, to: string, position: 'before' | 'after', shown: string[], expected: string[]) => {
    await expectOutline(page, ['1 总部', ...shown.map((name) => `2 ${name}`)]);
    await dragAndDrop(page, row(page, from), row(page, to), position);
    await expectOutline(page, ['1 总部', ...expected.map((name) => `2 ${name}`)]);
    assert.deepEqual(await childrenOf(admin, top), expected);
  };
  await row(page, '总部').locator('[data-act=toggle]').click();
  await expectOutline(page, ['1 总部', '2 甲', '2 乙', '2 丙', '2 丁', '2 戊']);
  await saveOrder(admin, top, [c, b, a]);
  await drop('戊', '丁', 'before', ['甲', '乙', '丙', '丁', '戊'], ['丙', '乙', '甲', '戊', '丁']);

  // The sibling to insert after is deleted, so the one before it is used. A new sibling keeps its position.
  await admin.createDepartment({ deptName: '己', parentId: top, orderNum: 0 });
  await admin.delete(`/system/dept-api/${b}`);
  await drop('丁', '乙', 'after', ['丙', '乙', '甲', '戊', '丁'], ['己', '丙', '丁', '甲', '戊']);

  // None of the visible siblings exists any more.
  await admin.delete(`/system/dept-api/${a},${c},${e}`);
  const first = (await admin.get(`/system/dept-api/${top}/children`)).data.rows[0].deptId;
  await admin.delete(`/system/dept-api/${first}`);
  await admin.createDepartment({ deptName: '庚', parentId: top, orderNum: 9 });
  await drop('丁', '丙', 'before', ['己', '丙', '丁', '甲', '戊'], ['庚', '丁']);

  // The move dialog behaves in the same way.
  await admin.createDepartment({ deptName: '辛', parentId: top, orderNum: 9 });
  await page.getByRole('button', { name: '刷新' }).click();
  await expectOutline(page, ['1 总部', '2 庚', '2 丁', '2 辛']);
  await row(page, '庚').click();
  await page.getByRole('button', { name: '移动…' }).click();
  const dialog = page.getByRole('dialog', { name: '移动“庚”' });
  await selectInTree(page, dialog.getByRole('combobox', { name: '新的上级部门' }), '总部');
  await dialog.getByLabel('位置').click();
  await page.getByTitle('排在最前').click();
  const confirm = dialog.getByRole('button', { name: '移动', exact: true });
  await waitFor('the present position cannot be saved', () => confirm.isDisabled());
  await dialog.getByLabel('位置').click();
  await page.getByTitle('排在“辛”之后').click();
  const x = await admin.createDepartment({ deptName: '壬', parentId: top });
  await saveOrder(admin, top, [x, d]);
  await confirm.click();
  await page.getByText('“庚”已移动').waitFor();
  assert.deepEqual(await childrenOf(admin, top), ['壬', '丁', '辛', '庚']);
});

test('a refresh also reloads collapsed subtrees', async () => {
  const { admin, top, web, back } = await createCompany(service);
  const page = await fixture.logIn(credentialsOf(admin), '/departments');
  const toggle = (name: string) => row(page, name).locator('[data-act=toggle]').click();
  await toggle('总部');
  await toggle('研发部');
  await expectOutline(page, ['1 总部', '2 研发部', '3 前端组', '3 后端组', '2 市场部', '2 旧部门停用']);
  await toggle('研发部');
  await toggle('总部');
  await admin.createDepartment({ deptName: '人事部', parentId: top, orderNum: 9 });
  await admin.delete(`/system/dept-api/${web}`);
  await updateDepartment(admin, back, { deptName: '平台组' });
  const read = page.waitForResponse('**/system/dept-api/0/children?*');
  await page.getByRole('button', { name: '刷新' }).click();
  await read;
  await toggle('总部');
  await toggle('研发部');
  await expectOutline(page, ['1 总部', '2 研发部', '3 平台组', '2 市场部', '2 旧部门停用', '2 人事部']);
});

test('deleting a subtree that contains the open department opens the parent of the subtree', async () => {
  const { admin, web } = await createCompany(service);
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${web}`);
  await page.getByRole('article', { name: '前端组' }).waitFor();
  await row(page, '前端组').waitFor();
  await tree(page).focus();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Delete');
  await page.getByRole('dialog', { name: '删除“研发部”？' }).getByRole('button', { name: '删除' }).click();
  const dialog = page.getByRole('dialog', { name: '无法删除“研发部”' });
  await dialog.getByText('我确认删除这 3 个部门').click();
  await dialog.getByRole('button', { name: '删除部门及其下级（3 个部门）' }).click();
  await page.getByRole('article', { name: '总部' }).waitFor();
  await expectOutline(page, ['1 总部', '2 市场部', '2 旧部门停用']);
});

test('an open department that someone else deletes is reported with a link to its nearest remaining ancestor', async () => {
  const { admin, top, research, web } = await createCompany(service);
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${web}`);
  await row(page, '前端组').waitFor();
  assert.equal((await admin.delete(`/system/dept-api/${research}?subtree=true`)).code, 200);
  await page.getByRole('button', { name: '刷新' }).click();
  const alert = page.getByRole('alert');
  await alert.getByText('“前端组”已被删除').waitFor();
  await expectOutline(page, ['1 总部', '2 市场部', '2 旧部门停用']);
  await expectAccessibleInLongRun(page);
  await alert.getByRole('link', { name: '转到“总部”' }).click();
  await page.getByRole('article', { name: '总部' }).waitFor();

  // No ancestor is left, so the link leads to the tree.
  assert.equal((await admin.delete(`/system/dept-api/${top}?subtree=true`)).code, 200);
  await page.getByRole('button', { name: 'English' }).click();
  await page.getByRole('button', { name: 'Refresh' }).click();
  await alert.getByText('“总部” was deleted').waitFor();
  await alert.getByRole('link', { name: 'Back to the department tree' }).click();
  await page.getByText('No departments yet').waitFor();

  // A member who opens a link to a deleted department sees the error of the service.
  await service.createMember(admin, { userName: 'reader' });
  await fixture.logIn({ ...credentialsOf(admin), username: 'reader' }, `/departments/${web}`, { language: 'en' });
  await alert.getByText('The department does not exist or has been deleted').waitFor();
  await alert.getByRole('link', { name: 'Back to the department tree' }).click();
  await page.waitForURL('**/departments');
});
