import assert from 'node:assert/strict';
import { test } from 'node:test';
import { avoidMidnight } from '../support/calendar.ts';
import { expectAccessibleInLongRun, expectNoCspViolations, shareConsole, visit } from '../support/console.ts';
import { waitFor } from '../support/wait.ts';
import { createdLink, diffCard, editDepartment, startChanges } from './changes-page.ts';
import { createDepartments, credentialsOf } from './departments-page.ts';

await avoidMidnight();
const { fixture, credentials, beforeEdits } = await startChanges(await shareConsole());

test('the audit log has one row for one action, a heading with the day, and filters by action and person', async () => {
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
  const beforeDeletion = new Date().toISOString();
  assert.equal((await second.delete(`/system/dept-api/${top}?subtree=true&users=delete`)).code, 200);
  const page = await fixture.logIn(credentialsOf(admin), '/changes');
  const list = page.getByRole('region', { name: '变更', exact: true });
  const rows = list.getByRole('listitem');
  const deletion = rows.filter({ hasText: '删除 3 个部门' });
  await deletion.waitFor();
  assert.match(await deletion.innerText(), /删除 3 名用户/);
  await rows.filter({ hasText: '新建 3 个部门' }).waitFor();
  await list.getByRole('heading', { name: /^\d{4}-\d\d-\d\d 今天$/ }).waitFor();
  // The row has the name of the topmost department.
  await deletion.getByText('厂区 等').waitFor();
  await deletion.getByRole('button', { name: /^详情/ }).first().click();
  await deletion.getByRole('button', { name: '详情：用户 工人1' }).waitFor();
  await expectAccessibleInLongRun(page);
  await deletion.getByRole('button', { name: '撤销此变更' }).click();
  await page
    .getByRole('dialog', { name: '撤销此变更？' })
    .getByRole('button', { name: /^撤\s*销$/ })
    .click();
  await page.getByText('变更已撤销').waitFor();
  assert.equal((await admin.get(`/system/dept-api/${top}/users?below=true`)).data.total, 3);
  // Departments and users that were deleted and restored have not changed.
  await visit(page, `/changes/diff?from=${beforeDeletion}`);
  await page.getByText('该时间段内部门和用户均无变化').waitFor();
  await visit(page, '/changes');
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
  // Another type of record offers its own actions.
  await list.getByRole('combobox', { name: '对象' }).click();
  await page.getByTitle('登录', { exact: true }).click();
  await page.waitForURL((url) => !url.searchParams.has('action'));
  await list.getByRole('combobox', { name: '操作', exact: true }).click();
  await page.getByTitle('登录失败', { exact: true }).click();
  await page.waitForURL(/action=refused/);
  await page.getByText('没有符合条件的变更').waitFor();
  // A date that does not exist is ignored.
  await visit(page, '/changes?to=2020-02-31');
  await deletion.waitFor();
  assert.equal(await list.getByLabel('结束日期').inputValue(), '');
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
  // The diff names the user who made the change.
  await diffCard(page, /^移动/).getByText('操作人：boss').waitFor();
  await expectAccessibleInLongRun(page);
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
  await page.getByText('该时间段内部门和用户均无变化').waitFor();
  await choose('结束时间', '2019-01-02 00:00:00', /to=2019-/);
  await page.getByRole('alert').getByText('结束时间不能早于开始时间').waitFor();
  expectNoCspViolations(page);
});

test('the tree can be opened as it was at the end of a day', async () => {
  const admin = await fixture.service.createTenant();
  const { top, low } = await createDepartments(admin, {
    top: { deptName: '旧总部' },
    low: { parentRef: 'top', deptName: '旧车间' },
  });
  const { superuser } = fixture.service;
  // The database sets the times in the ledger, so only SQL can move them into the past.
  await superuser`update banyan.changes set time = time - interval '3 days' where tenant_id = ${admin.tenantId}`;
  await editDepartment(admin, top, { deptName: '新总部' });
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
  await expectAccessibleInLongRun(page);
  await page.getByLabel('日期').fill(await dayOf(0));
  await page.getByLabel('日期').press('Enter');
  await page.getByRole('treeitem', { name: '新总部' }).waitFor();
  assert.equal(await page.getByRole('treeitem').count(), 1);
  expectNoCspViolations(page);
});
