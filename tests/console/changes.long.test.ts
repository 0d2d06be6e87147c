// Only with test:long: it repeats rules of the audit log and of the diff on other screens and for users; changes.test.ts covers both.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { avoidMidnight } from '../support/calendar.ts';
import { expectAccessibleInLongRun, expectNoCspViolations, PHONE, startConsole, visit } from '../support/console.ts';
import { databaseTime } from '../support/expect.ts';
import { asTenant } from '../support/service.ts';
import { createdLink, diffCard, editDepartment, startChanges } from './changes-page.ts';
import { createDepartments, credentialsOf } from './departments-page.ts';

await avoidMidnight();
const { fixture, company, credentials, research, design, beforeEdits } = await startChanges(await startConsole());

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
  await expectAccessibleInLongRun(page);
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
  await expectAccessibleInLongRun(page);
  // The row itself says what changed.
  const renamed = list.getByRole('listitem').filter({ hasText: '部门名称 研发部 → 研究院' });
  await renamed.getByText('负责人 兰 → 竹').waitFor();
  // The row of the department that was moved names both parents.
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

test('rows that a filter has hidden are not highlighted when they are shown again', async () => {
  const page = await fixture.logIn(credentials, '/changes');
  const list = page.getByRole('region', { name: '变更', exact: true });
  const login = list.getByText('登录成功').first();
  await login.waitFor();
  await list.getByRole('combobox', { name: '对象' }).click();
  await page.getByTitle('部门', { exact: true }).click();
  await login.waitFor({ state: 'detached' });
  await list.getByRole('button', { name: '详情：部门 研究院' }).waitFor();
  await page.goBack();
  await login.waitFor();
  assert.equal(await list.locator('.changes-new').count(), 0);
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

test('the diff lists users who were created, moved, changed or deleted, and the operator of a move', async () => {
  const admin = await fixture.service.createTenant();
  const { left, right } = await createDepartments(admin, { left: { deptName: '左区' }, right: { deptName: '右区' } });
  const create = (userName: string, nickName: string) => admin.createUser({ userName, nickName, deptId: left });
  const [moved, edited, gone] = [await create('m', '甲一'), await create('e', '乙二'), await create('g', '丙三')];
  const from = await databaseTime(fixture.service);
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
  await expectAccessibleInLongRun(page);
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
  await editDepartment(other, moved, { parentId: to });
  const page = await fixture.logIn(credentialsOf(other), `/changes?resource=department&resourceId=${moved}`);
  const dialog = page.getByRole('dialog', { name: '撤销此变更？' });
  const row = (action: string) => page.getByRole('listitem').filter({ has: page.getByText(action, { exact: true }) });
  await row('新建').getByRole('button', { name: '详情：部门 设计组' }).click();
  await row('新建').getByRole('button', { name: '撤销此变更' }).click();
  await dialog.getByRole('button', { name: /^撤\s*销$/ }).click();
  await dialog.getByRole('alert').getByText('存在后续变更').waitFor();
  await expectAccessibleInLongRun(page);
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

test('the changes of a batch without a request id are listed, however many changes follow', async () => {
  const { service } = fixture;
  const admin = await service.createTenant();
  const { tenantId } = admin;
  await asTenant(service.owner, tenantId, async (tx) => {
    const rows = ['甲部', '乙部', '丙部'].map((name, n) => ({
      ...{ tenant_id: tenantId, dept_id: 5_000_000 + n, dept_name: name, create_by: 'import' },
      parent_id: n === 0 ? null : 5_000_000,
    }));
    await tx`insert into departments ${tx(rows)}`;
  });
  const departments = Array.from({ length: 201 }, (_, n) => [`later${n}`, { deptName: `后来的部门 ${n}` }]);
  await createDepartments(admin, Object.fromEntries(departments));
  const page = await fixture.logIn(credentialsOf(admin), '/changes');
  const batch = page.getByRole('listitem').filter({ has: page.getByRole('button', { name: '详情：新建 3 个部门' }) });
  await batch.getByText('甲部 等').waitFor();
  await batch.getByRole('button', { name: '详情：新建 3 个部门' }).click();
  const changes = batch.locator('.changes-batch').getByRole('listitem');
  await changes.nth(2).waitFor();
  assert.equal(await changes.count(), 3);
  for (const name of ['甲部', '乙部', '丙部']) await changes.getByRole('link', { name, exact: true }).waitFor();
  assert.equal(await batch.getByText('项变更').count(), 0);
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
  await expectAccessibleInLongRun(page);
  await visit(page, `/changes/diff?from=${beforeEdits}`);
  await page.getByRole('heading', { name: 'Renamed (1)' }).waitFor();
  assert.equal(await fits(), true);
  await expectAccessibleInLongRun(page);
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
