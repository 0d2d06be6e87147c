import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { avoidMidnight } from '../support/calendar.ts';
import { expectNoAxeViolations, expectNoCspViolations, PHONE, startConsole, visit } from '../support/console.ts';
import type { Client } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import { createDepartments, credentialsOf } from './departments-page.ts';

await avoidMidnight();
const fixture = await startConsole();
const company = await fixture.service.createTenant({ tenantName: '榕树集团' });
const credentials = credentialsOf(company);

const edit = async (client: Client, id: number | string, changes: object) => {
  const { data } = await client.get(`/system/dept-api/${id}`);
  const { code } = await client.put('/system/dept-api', { ...data, ...changes });
  assert.equal(code, 200);
};

const { head, research, market, design, closed } = await createDepartments(company, {
  head: { deptName: '总部' },
  research: { parentRef: 'head', deptName: '研发部', leader: '兰' },
  market: { parentRef: 'head', deptName: '市场部' },
  design: { parentRef: 'market', deptName: '设计组' },
  closed: { parentRef: 'head', deptName: '筹备组' },
});
await company.createUser({ userName: 'lan', nickName: '兰', deptId: research });
await company.createUser({ userName: 'plain', nickName: '普通人', deptId: market });
await edit(company, head, { orderNum: 7 });
const beforeEdits = new Date().toISOString();
await edit(company, design, { parentId: research });
await edit(company, research, { deptName: '研究院', leader: '竹' });
await company.createDepartment({ deptName: '客服部', parentId: head });
await company.delete(`/system/dept-api/${closed}`);

/** Returns the card of the diff screen with this heading. */
const diffCard = (page: Page, name: RegExp) =>
  page.locator('.card').filter({ has: page.getByRole('heading', { name }) });
/** Returns the link to a created department. The name of its parent is plain text. */
const createdLink = (page: Page, name: string) => diffCard(page, /^新建/).getByRole('link', { name, exact: true });

test('the home screen lists the latest changes without logins and links to the changed record', async () => {
  const page = await fixture.logIn(credentials);
  const panel = page.locator('.card').filter({ has: page.getByRole('heading', { name: '最近变更' }) });
  const rows = panel.getByRole('listitem');
  await rows.first().getByText('筹备组').waitFor();
  assert.equal(await rows.count(), 8);
  assert.match(await rows.first().innerText(), /删除\s*部门\s*筹备组\s*boss · \d{4}-/);
  assert.equal(await panel.getByText('登录').count(), 0);
  await rows.filter({ hasText: '研究院' }).getByRole('link', { name: '研究院' }).click();
  await page.getByRole('article', { name: '研究院' }).waitFor();
  await page.getByRole('tab', { name: '变更历史' }).click();
  const history = page.getByRole('region', { name: '变更历史' });
  await history.getByRole('row', { name: '部门名称 研发部 研究院' }).waitFor();
  await history.getByRole('row', { name: '上级部门 总部' }).waitFor();
  assert.equal(await history.getByRole('listitem').count(), 2);
  await expectNoAxeViolations(page);
  expectNoCspViolations(page);
});

test('the audit log can be filtered and shows the changed fields of an entry', async () => {
  const page = await fixture.logIn(credentials);
  await page.getByRole('link', { name: '变更记录' }).click();
  const list = page.getByRole('region', { name: '变更' });
  await list.getByText('登录成功').first().waitFor();
  await list.getByRole('combobox', { name: '对象' }).click();
  await page.getByTitle('部门', { exact: true }).click();
  await page.waitForURL(/resource=department/);
  await list.getByText('登录成功').first().waitFor({ state: 'detached' });
  await list.getByRole('button', { name: '详情：部门 研究院' }).click();
  await list.getByRole('row', { name: '部门名称 研发部 研究院' }).waitFor();
  await list.getByRole('row', { name: '负责人 兰 竹' }).waitFor();
  assert.equal(await list.getByRole('row').count(), 3);
  await expectNoAxeViolations(page);
  // The row itself says what changed.
  const renamed = list.getByRole('listitem').filter({ hasText: '部门名称 研发部 → 研究院' });
  await renamed.getByText('负责人 兰 → 竹').waitFor();
  // The department moved: its parents are named.
  await list.getByRole('listitem').filter({ hasText: '上级部门 市场部 → 研究院' }).waitFor();
  await list.getByRole('combobox', { name: '操作人' }).fill('nobody');
  await list.getByText('没有符合条件的变更').waitFor();
  await list.getByRole('button', { name: '清除筛选' }).click();
  await list.getByText('登录成功').first().waitFor();
  await list.getByLabel('结束日期').fill('2020-01-01');
  await list.getByLabel('结束日期').press('Enter');
  await list.getByText('没有符合条件的变更').waitFor();
  await visit(page, `/changes?resource=department&resourceId=${design}`);
  await list.getByText('仅显示“设计组”的变更').waitFor();
  assert.equal(await list.getByRole('listitem').count(), 2);
  expectNoCspViolations(page);
});

test('the audit log loads older changes on demand; an administrator can filter it by descendant tenant', async () => {
  const branch = await fixture.service.createTenant({ tenantName: '分公司' });
  for (let n = 0; n < 31; n++) await branch.createDepartment({ deptName: `分公司部门 ${n}` });
  const page = await fixture.logIn({}, '/changes');
  const list = page.getByRole('region', { name: '变更' });
  const rows = list.getByRole('listitem');
  await rows.first().waitFor();
  assert.equal(await rows.count(), 30);
  await list.getByRole('button', { name: '更早的变更' }).click();
  await rows.nth(30).waitFor();
  await list.getByRole('combobox', { name: '租户' }).click();
  await page.getByTitle(`分公司 ${branch.tenantId}`).click();
  await page.waitForURL(/tenant=/);
  await rows.filter({ hasText: 'boss · 分公司' }).first().waitFor();
  await list.getByRole('combobox', { name: '租户' }).click();
  await page.getByTitle('仅本租户').click();
  await rows.filter({ hasText: '分公司部门' }).first().waitFor({ state: 'detached' });
});

test('the audit log has one row for one action, a heading for each day, and filters by action and person', async () => {
  const admin = await fixture.service.createTenant();
  const { top, left, right } = await createDepartments(admin, {
    top: { deptName: '厂区' },
    left: { parentRef: 'top', deptName: '左区' },
    right: { parentRef: 'top', deptName: '右区' },
  });
  for (const [n, deptId] of [left, left, right].entries())
    await admin.createUser({ userName: `worker${n}`, nickName: `工人${n}`, deptId });
  await admin.createUser({ userName: 'second', nickName: '李雷', roles: ['admin'] });
  const second = await fixture.service.logIn(admin.tenantId, 'second');
  assert.equal((await second.delete(`/system/dept-api/${top}?subtree=true&users=delete`)).code, 200);
  const page = await fixture.logIn(credentialsOf(admin), '/changes');
  const list = page.getByRole('region', { name: '变更', exact: true });
  const rows = list.getByRole('listitem');
  const deletion = rows.filter({ hasText: '删除 3 个部门' });
  await deletion.waitFor();
  assert.match(await deletion.innerText(), /删除 3 人/);
  await rows.filter({ hasText: '新建 3 个部门' }).waitFor();
  await list.getByRole('heading', { name: /^\d{4}-\d\d-\d\d 今天$/ }).waitFor();
  await deletion.getByRole('button', { name: /^详情/ }).first().click();
  await deletion.getByRole('button', { name: '详情：用户 工人1' }).waitFor();
  await expectNoAxeViolations(page);
  await deletion.getByRole('button', { name: '撤销此变更' }).click();
  await page
    .getByRole('dialog', { name: '撤销此变更？' })
    .getByRole('button', { name: /^撤\s*销$/ })
    .click();
  await page.getByText('变更已撤销').waitFor();
  assert.equal((await admin.get(`/system/dept-api/${top}/users?below=true`)).data.total, 3);
  // The person is found by a part of the name, and picked.
  await list.getByRole('combobox', { name: '操作人' }).fill('李');
  await page.getByTitle('李雷 second').click();
  await page.waitForURL(/user=second/);
  await rows.filter({ hasText: '新建 3 个部门' }).waitFor({ state: 'detached' });
  await deletion.waitFor();
  await list.getByRole('combobox', { name: '操作', exact: true }).click();
  await page.getByTitle('删除', { exact: true }).click();
  await page.waitForURL(/action=deleted/);
  await list.getByRole('button', { name: '最近 7 天' }).click();
  await page.waitForURL(/from=\d{4}-/);
  await waitFor('the rows of one day are shown', async () => {
    const days = await list.getByRole('heading', { level: 2 }).count();
    return days === 1 && (await deletion.count()) === 1;
  });
  expectNoCspViolations(page);
});

test('the diff between two points in time lists created, moved, renamed and deleted departments', async () => {
  const page = await fixture.logIn(credentials, `/changes/diff?from=${beforeEdits}`);
  await diffCard(page, /^移动（1）/)
    .getByText('设计组')
    .waitFor();
  assert.match(await diffCard(page, /^移动/).innerText(), /从\s*总部 \/ 市场部\s*移动到\s*总部 \/ 研究院/);
  assert.match(await diffCard(page, /^重命名（1）/).innerText(), /研发部\s*改为\s*研究院/);
  assert.match(await diffCard(page, /^新建（1）/).innerText(), /客服部\s*总部/);
  assert.match(await diffCard(page, /^删除（1）/).innerText(), /筹备组\s*总部/);
  await diffCard(page, /^其他修改/)
    .getByRole('row', { name: '负责人 兰 竹' })
    .waitFor();
  // It says who, and includes users.
  await diffCard(page, /^移动/).getByText('操作人：boss').waitFor();
  await expectNoAxeViolations(page);
  await page.getByRole('button', { name: '最近 7 天' }).click();
  await createdLink(page, '总部').waitFor();
  const choose = async (label: string, time: string, shown: RegExp) => {
    await page.getByLabel(label, { exact: true }).fill(time);
    await page.getByLabel(label, { exact: true }).press('Enter');
    await page.waitForURL(shown);
  };
  await choose('开始时间', '2022-01-01 00:00:00', /from=202[12]-/);
  // Change the URL before the screen renders it, as on a slow machine: the value in the URL must be kept.
  await page.evaluate("history.replaceState(history.state, '', '?from=2020-01-01T00:00:00.000Z')");
  await choose('结束时间', '2020-01-02 12:00:00', /to=2020-/);
  assert.match(page.url(), /from=2020-.*to=2020-/);
  await page.getByText('该时间段内部门无变化').waitFor();
  await choose('结束时间', '2019-01-02 00:00:00', /to=2019-/);
  await page.getByRole('alert').getByText('结束时间不能早于开始时间').waitFor();
  expectNoCspViolations(page);
});

test('the diff lists users who were created, moved, changed or deleted, and who did it', async () => {
  const admin = await fixture.service.createTenant();
  const { left, right } = await createDepartments(admin, { left: { deptName: '左区' }, right: { deptName: '右区' } });
  const create = (userName: string, nickName: string) => admin.createUser({ userName, nickName, deptId: left });
  const [moved, edited, gone] = [await create('m', '甲一'), await create('e', '乙二'), await create('g', '丙三')];
  const from = new Date().toISOString();
  const editUser = async (id: string, changes: object) => {
    const { data } = await admin.get(`/system/user-api/${id}`);
    assert.equal((await admin.put('/system/user-api', { ...data, ...changes })).code, 200);
  };
  await editUser(moved, { deptId: right });
  await editUser(edited, { phone: '13900000001' });
  assert.equal((await admin.delete(`/system/user-api/${gone}`)).code, 200);
  await create('n', '丁四');
  const page = await fixture.logIn(credentialsOf(admin), `/changes/diff?from=${from}`);
  const moves = diffCard(page, /^移动用户（1）/);
  await moves.getByText('左区').waitFor();
  assert.match(await moves.innerText(), /甲一\s*操作人：boss\s*左区\s*→\s*右区/);
  await diffCard(page, /^修改用户（1）/)
    .getByText('13900000001')
    .waitFor();
  await diffCard(page, /^删除用户（1）/)
    .getByText('丙三')
    .waitFor();
  await diffCard(page, /^新建用户（1）/)
    .getByText('丁四')
    .waitFor();
  await expectNoAxeViolations(page);
});

test('the tree can be opened as it was at the end of a day', async () => {
  const admin = await fixture.service.createTenant();
  const { top, low } = await createDepartments(admin, {
    top: { deptName: '旧总部' },
    low: { parentRef: 'top', deptName: '旧车间' },
  });
  const { superuser } = fixture.service;
  // The ledger takes the time from the database.
  await superuser`update banyan.changes set time = time - interval '3 days' where tenant_id = ${admin.tenantId}`;
  await edit(admin, top, { deptName: '新总部' });
  assert.equal((await admin.delete(`/system/dept-api/${low}`)).code, 200);
  const page = await fixture.logIn(credentialsOf(admin), '/changes');
  await page.getByRole('link', { name: '历史组织架构' }).click();
  const dayOf = (daysAgo: number) =>
    page.evaluate(`new Date(Date.now() - ${daysAgo} * 86400000).toLocaleDateString('sv')`) as Promise<string>;
  const day = await dayOf(1);
  await visit(page, `/changes/tree?day=${day}`);
  const past = page.getByRole('tree', { name: `${day} 的组织架构` });
  await past.getByRole('treeitem', { name: '旧总部' }).waitFor();
  await past.getByRole('treeitem', { name: '旧车间' }).waitFor();
  await expectNoAxeViolations(page);
  await page.getByLabel('日期').fill(await dayOf(0));
  await page.getByLabel('日期').press('Enter');
  await page.getByRole('treeitem', { name: '新总部' }).waitFor();
  assert.equal(await page.getByRole('treeitem').count(), 1);
  expectNoCspViolations(page);
});

test('a start time typed while the diff is loading is kept when the diff arrives', async () => {
  const page = await fixture.logIn(credentials);
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/system/dept-api/diff?*', async (route) => {
    await released;
    await route.continue();
  });
  await visit(page, `/changes/diff?from=${beforeEdits}`);
  const field = page.getByLabel('开始时间', { exact: true });
  await field.fill('2020-01-01 00:00:00');
  release();
  await page.getByRole('heading', { name: '重命名（1）' }).waitFor();
  assert.equal(await field.inputValue(), '2020-01-01 00:00:00');
  await field.press('Enter');
  await page.waitForURL(/from=20(19|20)-/);
  await createdLink(page, '总部').waitFor();
});

test('a change can be reverted; if a later change conflicts with it, an error says so', async () => {
  const other = await fixture.service.createTenant();
  const { from, to, moved } = await createDepartments(other, {
    from: { deptName: '市场部' },
    to: { deptName: '研究院' },
    moved: { parentRef: 'from', deptName: '设计组' },
  });
  await edit(other, moved, { parentId: to });
  const page = await fixture.logIn(credentialsOf(other), `/changes?resource=department&resourceId=${moved}`);
  const dialog = page.getByRole('dialog', { name: '撤销此变更？' });
  const row = (action: string) => page.getByRole('listitem').filter({ has: page.getByText(action, { exact: true }) });
  await row('新建').getByRole('button', { name: '详情：部门 设计组' }).click();
  await row('新建').getByRole('button', { name: '撤销此变更' }).click();
  await dialog.getByRole('button', { name: /^撤\s*销$/ }).click();
  await dialog.getByRole('alert').getByText('存在后续变更').waitFor();
  await expectNoAxeViolations(page);
  await dialog
    .getByRole('button', { name: /^关\s*闭$/ })
    .last()
    .click();
  await row('移动').getByRole('button', { name: '详情：部门 设计组' }).click();
  await row('移动').getByRole('button', { name: '撤销此变更' }).click();
  await dialog.getByRole('button', { name: /^撤\s*销$/ }).click();
  await page.getByText('变更已撤销').waitFor();
  await row('移动').nth(1).waitFor();
  const { data } = await other.get(`/system/dept-api/${moved}`);
  assert.equal(String(data.parentId), from);
});

test('the audit log and the diff fit on a phone in English', async () => {
  const page = await fixture.logIn(credentials, '/home', { viewport: PHONE, language: 'en' });
  await page.getByRole('button', { name: 'Account: boss' }).click();
  await page.getByRole('menuitem', { name: 'Changes' }).click();
  await page.getByRole('heading', { level: 1, name: 'Changes' }).waitFor();
  await page.getByRole('button', { name: 'Details: Department 总部' }).first().click();
  await page.getByRole('row', { name: /^Display order|^Order/ }).waitFor();
  const fits = () => page.evaluate('document.documentElement.scrollWidth <= innerWidth');
  assert.equal(await fits(), true);
  await expectNoAxeViolations(page);
  await visit(page, `/changes/diff?from=${beforeEdits}`);
  await page.getByRole('heading', { name: 'Renamed (1)' }).waitFor();
  assert.equal(await fits(), true);
  await expectNoAxeViolations(page);
});

test('a member cannot see changes, diffs or the history of a department', async () => {
  const page = await fixture.logIn({ tenantId: company.tenantId, username: 'plain' });
  await page.getByText('您好，普通人').waitFor();
  assert.equal(await page.getByText('最近变更').count(), 0);
  assert.equal(await page.getByRole('link', { name: '变更记录' }).count(), 0);
  for (const path of ['/changes', `/changes/diff?from=${beforeEdits}`]) {
    await visit(page, path);
    await page.getByText('仅管理员可访问此页面').waitFor();
  }
  await visit(page, `/departments/${research}?tab=history`);
  await page.getByRole('tab', { name: '下级部门' }).waitFor();
  assert.equal(await page.getByRole('tab', { name: '变更历史' }).count(), 0);
});
