// Only with test:long: it repeats, for the members of a department, what people.test.ts covers; members.test.ts covers the page of a person.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { expectAccessibleInLongRun, PHONE, startConsole, visit } from '../support/console.ts';
import { PASSWORD } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import { createCompany, createMembers, credentialsOf, row, waitForValue } from './departments-page.ts';
import { holdMessage, undo } from './undo-message.ts';

const fixture = await startConsole();
const { service } = fixture;

const members = (page: Page) => page.getByRole('region', { name: '成员' });
const member = (page: Page, name: string) => members(page).getByRole('row', { name });
const names = async (page: Page) =>
  (await members(page).getByRole('row').getByRole('link').allTextContents()).filter((text) =>
    ['李雷', '韩梅梅', 'Jim Green', '魏华'].includes(text),
  );
const expectNames = (page: Page, expected: string[]) =>
  waitForValue(
    () => names(page),
    (now) => JSON.stringify(now) === JSON.stringify(expected),
  );
const countOf = (page: Page, name: string) => row(page, name).getAttribute('aria-description');
const chooseAction = async (page: Page, name: string, action: string) => {
  await member(page, name)
    .getByRole('button', { name: `更多操作：${name}` })
    .click();
  await page.getByRole('menuitem', { name: action }).click();
};
/** Finds the option by its class: its role does not tell antd's visible options from the hidden ones. */
const chooseUser = async (page: Page, text: string, name: string) => {
  await page.getByRole('dialog').getByRole('combobox').fill(text);
  await page.locator('.ant-select-item-option').filter({ hasText: name }).click();
};

test('a department shows the members of its branch, or only its own, with their other departments', async () => {
  const { admin, research, market, mei } = await createMembers(service);
  await admin.patch(`/system/user-api/${mei}`, { phone: '020-12345678#802' });
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${research}`);
  await expectNames(page, ['李雷', '韩梅梅', 'Jim Green']);
  await members(page).getByText('成员 3 人，其中直属 1 人').waitFor();
  assert.equal(await member(page, '李雷').getByText('研发总监').count(), 1);
  const phone = member(page, '李雷').getByRole('link', { name: '139 0000 0001' });
  assert.equal(await phone.getAttribute('href'), 'tel:13900000001');
  const withExtension = member(page, 'Jim Green').getByRole('link', { name: '0512-62345678 转 801' });
  assert.equal(await withExtension.getAttribute('href'), 'tel:051262345678,801');
  const withHash = member(page, '韩梅梅').getByRole('link', { name: '020-12345678#802' });
  assert.equal(await withHash.getAttribute('href'), 'tel:02012345678,802');
  const other = member(page, '韩梅梅').getByRole('link', { name: '总部 / 市场部' });
  assert.equal(await other.getAttribute('href'), `/departments/${market}`);
  assert.equal(await member(page, 'Jim Green').getByText('停用').count(), 1);
  assert.equal(await member(page, 'Jim Green').getByText('JG').count(), 1);
  // The facts are shown in one line; number, order and last change are collapsed.
  const facts = page.getByRole('article', { name: '研发部' }).locator('.departments-facts');
  assert.equal(await facts.textContent(), '负责人李雷');
  assert.equal(await page.getByText('部门编号').isVisible(), false);
  await page.getByText('更多信息').click();
  await page.getByText('部门编号').waitFor();
  await expectAccessibleInLongRun(page);

  await page.getByRole('switch', { name: '含下级' }).click();
  await expectNames(page, ['李雷']);
  assert.match(page.url(), /direct=true/);
  await page.getByRole('switch', { name: '含下级' }).click();
  await page.getByLabel('搜索成员').fill('mei');
  await expectNames(page, ['韩梅梅']);
  const download = page.waitForEvent('download');
  await page.getByRole('region', { name: '成员' }).getByRole('button', { name: '导出' }).click();
  await page.getByRole('menuitem', { name: /csv/i }).click();
  const chunks: Buffer[] = [];
  for await (const chunk of await (await download).createReadStream()) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  assert.deepEqual([text.includes('韩梅梅'), text.includes('李雷')], [true, false]);

  const small = await fixture.logIn(credentialsOf(admin), `/departments/${research}`, { viewport: PHONE, dark: true });
  await members(small).getByRole('link', { name: '韩梅梅' }).waitFor();
  assert.equal(await small.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  await expectAccessibleInLongRun(small);
});

test('users are created in, added to and removed from a department on its page, and the tree counts them', async () => {
  const { admin, research, back, market, lead, mei, jim } = await createMembers(service);
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${market}`);
  await waitFor('the tree shows the counts', async () => (await countOf(page, '市场部')) === '1 人');
  assert.equal(await countOf(page, '总部'), '3 人');
  await page.getByRole('button', { name: '添加成员' }).click();
  const form = page.getByRole('dialog', { name: '新建用户' });
  await form.getByLabel('用户名').fill('wei');
  await form.getByLabel('姓名').fill('魏华');
  await form.getByRole('button', { name: '随机生成' }).click();
  await form.getByRole('button', { name: '创建' }).click();
  const credentials = page.getByRole('dialog', { name: 'wei 的登录信息' });
  await credentials.getByRole('button', { name: '关闭' }).last().click();
  await credentials.waitFor({ state: 'detached' });
  await expectNames(page, ['韩梅梅', '魏华']);
  await waitFor('the tree shows the new member', async () => (await countOf(page, '市场部')) === '2 人');
  // This row is in another list, which is loaded by a separate request.
  await waitFor('the tree counts them above, too', async () => (await countOf(page, '总部')) === '4 人');

  // An additional department leaves the main one as it is.
  await page.getByRole('button', { name: '移入' }).click();
  const join = page.getByRole('dialog', { name: '移入“市场部”' });
  await chooseUser(page, 'jim', 'Jim Green');
  await join.getByText('作为兼任部门').click();
  await expectAccessibleInLongRun(page);
  await join.getByRole('button', { name: '移入' }).click();
  await page.getByText('已移入：Jim Green').waitFor();
  await expectNames(page, ['韩梅梅', 'Jim Green', '魏华']);
  const departmentsOf = async (id: string) => {
    const { deptId, deptIds } = (await admin.get(`/system/user-api/${id}`)).data;
    return [deptId, ...deptIds].filter((each) => each !== null).map(String);
  };
  assert.deepEqual(await departmentsOf(jim), [back, market]);

  // A new main department replaces the previous one.
  await page.getByRole('button', { name: '移入' }).click();
  await chooseUser(page, '李雷', '李雷');
  await join.getByText('作为主部门').click();
  await join.getByRole('button', { name: '移入' }).click();
  await page.getByText('已移入：李雷').waitFor();
  assert.deepEqual(await departmentsOf(lead), [market]);

  await expectNames(page, ['李雷', '韩梅梅', 'Jim Green', '魏华']);
  await chooseAction(page, '李雷', '移出部门');
  await page.getByRole('dialog', { name: '将 李雷 移出“市场部”？' }).getByRole('button', { name: '移出' }).click();
  await page.getByText('已移出：李雷').waitFor();
  assert.deepEqual(await departmentsOf(lead), []);
  await member(page, '韩梅梅').getByRole('checkbox').check();
  await member(page, 'Jim Green').getByRole('checkbox').check();
  await page.getByRole('toolbar').getByRole('button', { name: '移出部门' }).click();
  await page.getByRole('dialog', { name: '将 2 名用户移出“市场部”？' }).getByRole('button', { name: '移出' }).click();
  await page.getByText('已移出：2 名用户').waitFor();
  await expectNames(page, ['魏华']);
  assert.deepEqual([await departmentsOf(mei), await departmentsOf(jim)], [[back], [back]]);
  // Members of a department below do not belong to this one, so they cannot leave it.
  await visit(page, `/departments/${research}`);
  await expectNames(page, ['韩梅梅', 'Jim Green']);
  await member(page, '韩梅梅').getByRole('button', { name: '更多操作：韩梅梅' }).click();
  await page.getByRole('menuitem', { name: '移动到部门' }).waitFor();
  assert.equal(await page.getByRole('menuitem', { name: '移出部门' }).count(), 0);
});

test('when the current page of a list of members no longer exists, the last one is shown; once the page exists again, it can be opened', async () => {
  const { admin, market } = await createCompany(service);
  for (let n = 1; n <= 21; n++) await admin.createUser({ userName: `u${n}`, nickName: `成员${n}`, deptId: market });
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${market}`);
  await member(page, '成员20').waitFor();
  await members(page).getByRole('listitem', { name: '2', exact: true }).click();
  await member(page, '成员21').waitFor();
  await member(page, '成员20').waitFor({ state: 'detached' });
  await chooseAction(page, '成员21', '移出部门');
  await page.getByRole('dialog', { name: '将 成员21 移出“市场部”？' }).getByRole('button', { name: '移出' }).click();
  await holdMessage(page, '已移出：成员21');
  await members(page).getByText('成员 20 人', { exact: true }).waitFor();
  await member(page, '成员20').waitFor();
  assert.equal(await member(page, '成员21').count(), 0);
  // The page exists again after the change is undone, and can be opened.
  await undo(page, '已移出：成员21');
  await members(page).getByText('成员 21 人', { exact: true }).waitFor();
  await members(page).getByRole('listitem', { name: '2', exact: true }).click();
  await member(page, '成员21').waitFor();
});

test('the list of members has pages of a chosen size; page, filters and order are in the URL, on a phone the order too', async () => {
  const { admin, market } = await createCompany(service);
  const users = Array.from({ length: 45 }, (_, n) => ({
    ...{ ref: `${n}`, userName: `u${n + 10}`, nickName: `成员${n + 10}`, password: PASSWORD, deptId: market },
    ...(n < 21 ? {} : { status: '1' }),
  }));
  assert.equal((await admin.post('/system/user-api/bulk', { users })).code, 200);
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${market}?page=3&sort=-nickName`);
  const params = () => Object.fromEntries(new URL(page.url()).searchParams);
  const checkboxes = members(page).getByRole('checkbox', { name: /^选择 / });
  await member(page, '成员10').waitFor();
  assert.equal(await checkboxes.count(), 5);
  await members(page).getByRole('button', { name: '行高' }).click();
  await page.getByRole('menuitem', { name: '紧凑' }).click();
  await members(page).locator('.ant-table-small').waitFor();
  // Another filter starts at the first page.
  await members(page).getByRole('combobox', { name: '状态' }).click();
  await page.getByTitle('正常', { exact: true }).click();
  await members(page).getByText('共 21 人').waitFor();
  await member(page, '成员30').waitFor();
  assert.deepEqual(params(), { sort: '-nickName', status: '0' });
  await expectAccessibleInLongRun(page);
  await members(page).locator('.ant-pagination-options .ant-select').click();
  await page.locator('.ant-select-item-option').filter({ hasText: '50' }).click();
  await waitForValue(
    () => checkboxes.count(),
    (count) => count === 21,
  );
  // Like the page, the filter belongs to one department.
  await row(page, '研发部').click();
  await members(page).getByText('该部门及其下级暂无成员').waitFor();
  assert.deepEqual(params(), {});

  const small = await fixture.logIn(credentialsOf(admin), `/departments/${market}`, { viewport: PHONE });
  await members(small).getByRole('combobox', { name: '排序' }).click();
  await small.getByTitle('姓名降序', { exact: true }).click();
  await members(small).getByRole('listitem').first().getByText('成员54').waitFor();
  await members(small).getByText('停用', { exact: true }).first().waitFor();
  assert.deepEqual(params(), { sort: '-nickName' });
  assert.equal(await small.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  await expectAccessibleInLongRun(small);
});

test('rows of the tree have a menu, which also opens with the keyboard, and a button that adds a child', async () => {
  const { admin, research } = await createMembers(service);
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${research}`);
  await row(page, '研发部').hover();
  await row(page, '研发部').getByTitle('在“研发部”下新建部门').click();
  await page.getByRole('dialog', { name: '在“研发部”下新建部门' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await row(page, '市场部').hover();
  await row(page, '市场部').getByTitle('“市场部”的操作').click();
  await page.getByRole('menuitem', { name: '删除' }).waitFor();
  await expectAccessibleInLongRun(page);
  await page.getByRole('menuitem', { name: '移动…' }).click();
  await page.getByRole('dialog', { name: '移动“市场部”' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  // A disabled department has no button that adds a child.
  const disabled = page.getByRole('treeitem', { name: /^旧部门/ });
  await disabled.hover();
  await disabled.getByTitle('“旧部门”的操作').waitFor();
  assert.equal(await disabled.getByTitle('在“旧部门”下新建部门').count(), 0);

  await page.getByRole('tree', { name: '组织架构' }).focus();
  await page.keyboard.press('Shift+F10');
  await page.getByRole('menuitem', { name: '查看成员' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('menuitem', { name: '查看成员' }).waitFor({ state: 'hidden' });
  assert.equal(await page.evaluate('document.activeElement.getAttribute("role")'), 'tree');
});

test('administrators cannot end all of their own sessions on their own user page', async () => {
  const { admin } = await createMembers(service);
  const { userId } = (await admin.get('/auth/me')).data.user;
  const page = await fixture.logIn(credentialsOf(admin), `/people/${userId}`);
  const sessions = page.getByRole('list', { name: '登录设备' });
  await sessions.getByText('当前设备').waitFor();
  assert.equal(await page.getByRole('button', { name: '退出所有设备' }).count(), 0);
});

test('the page of a deleted person says so, shows their history and restores them', async () => {
  const { admin, mei } = await createMembers(service);
  const page = await fixture.logIn(credentialsOf(admin), `/people/${mei}`);
  await page.getByRole('button', { name: '更多操作：韩梅梅' }).click();
  await page.getByRole('menuitem', { name: '删除' }).click();
  await page.getByRole('dialog').getByRole('button', { name: '删除' }).click();
  // The page stays open and offers to restore them.
  await page.getByRole('button', { name: '恢复' }).waitFor();
  await visit(page, '/changes');
  await page.getByRole('link', { name: '韩梅梅' }).first().click();
  await page.getByText('“韩梅梅”已被删除').waitFor();
  await page.getByRole('list', { name: '变更历史' }).getByText('删除').waitFor();
  await expectAccessibleInLongRun(page);
  await page.getByRole('button', { name: '恢复' }).click();
  await page.getByRole('region', { name: '韩梅梅' }).waitFor();
  assert.equal((await admin.get(`/system/user-api/${mei}`)).status, 200);
  await visit(page, '/people/999999999999');
  await page.getByRole('heading', { level: 1, name: '页面不存在' }).waitFor();
});

test('an administrator of a parent tenant opens the page of a user in a child tenant; members cannot open the page', async () => {
  const { admin, mei } = await createMembers(service);
  const page = await fixture.logIn({}, `/people?tenantId=${admin.tenantId}`);
  await page.getByRole('link', { name: '韩梅梅' }).click();
  await page.getByRole('region', { name: '韩梅梅' }).waitFor();
  assert.equal(new URL(page.url()).search, `?tenantId=${admin.tenantId}`);
  await page.getByText('此处不显示其他租户的部门').waitFor();
  await page.getByText('当前没有登录的设备').waitFor();
  await expectAccessibleInLongRun(page);
  const credentials = { tenantId: admin.tenantId, username: 'mei' };
  const own = await fixture.logIn(credentials, `/people/${mei}`);
  await own.getByText('仅管理员可访问此页面').waitFor();
  assert.equal(await own.getByRole('region', { name: '韩梅梅' }).count(), 0);
});
