import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectAccessibleInLongRun, expectNoCspViolations, shareConsole } from '../support/console.ts';
import { waitFor } from '../support/wait.ts';
import { createCompany, credentialsOf, expectOutline, row, waitForValue } from './departments-page.ts';
import { COMPANY_OUTLINE, holdMessage, undo } from './undo-message.ts';

const fixture = await shareConsole();
const { service } = fixture;

test('the message after a deletion undoes it: departments and their users come back together', async () => {
  const { admin, research, web, back } = await createCompany(service);
  for (const [n, deptId] of [research, web, web, back].entries())
    await admin.createUser({ userName: `worker${n}`, deptId });
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${web}`);
  await expectOutline(page, COMPANY_OUTLINE);
  await row(page, '研发部').click();
  await page.getByRole('article', { name: '研发部' }).getByRole('button', { name: '删除' }).click();
  await page.getByRole('dialog', { name: '删除“研发部”？' }).getByRole('button', { name: '删除' }).click();
  const dialog = page.getByRole('dialog', { name: '无法删除“研发部”' });
  await dialog.getByRole('checkbox', { name: '我确认删除这 3 个部门' }).check();
  await dialog.getByRole('button', { name: '删除部门及其下级（3 个部门）' }).click();
  await dialog.getByRole('radio', { name: '一并删除用户' }).click();
  await dialog.getByRole('button', { name: '删除部门及用户' }).click();
  await holdMessage(page, '部门已删除');
  await expectOutline(page, ['1 总部', '2 市场部', '2 旧部门停用']);
  assert.equal((await admin.get('/system/user-api/list')).data.total, 1);
  await expectAccessibleInLongRun(page);
  await undo(page, '部门已删除');
  // The tree shows them without a reload.
  await expectOutline(page, COMPANY_OUTLINE);
  assert.equal((await admin.get(`/system/dept-api/${research}/users?below=true`)).data.total, 4);
  expectNoCspViolations(page);
});

test('an administrator undoes a change to a user of a child tenant', async () => {
  const { admin } = await createCompany(service);
  const child = await service.createTenant({ tenantName: '子公司' }, admin);
  const userId = await child.createUser({ userName: 'wang', nickName: '王五' });
  const page = await fixture.logIn(credentialsOf(admin), `/people?tenantId=${child.tenantId}&person=${userId}`);
  const form = page.getByRole('dialog');
  await form.getByLabel('姓名').fill('王六');
  await form.getByRole('button', { name: '保存' }).click();
  await holdMessage(page);
  const readName = async () => (await child.get(`/system/user-api/${userId}`)).data.nickName;
  assert.equal(await readName(), '王六');
  await undo(page, '王六');
  await waitForValue(readName, (name) => name === '王五');
  await waitFor('the table shows the former name', async () => (await page.getByText('王五').count()) > 0);
});

test('a change is reverted in the history of a department, and the tree shows it', async () => {
  const { admin, web } = await createCompany(service);
  assert.equal((await admin.patch(`/system/dept-api/${web}`, { deptName: '改名组' })).code, 200);
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${web}?tab=history`);
  await row(page, '改名组').waitFor();
  const history = page.getByRole('list', { name: '变更历史' });
  const renaming = history.getByRole('listitem').filter({ has: page.getByText('修改', { exact: true }) });
  await renaming.getByRole('button', { name: '撤销此变更' }).click();
  await page.getByRole('dialog', { name: '撤销此变更？' }).getByRole('button', { name: '撤销', exact: true }).click();
  await page.getByText('变更已撤销').waitFor();
  await row(page, '前端组').waitFor();
  await history.getByRole('row', { name: '部门名称 改名组 前端组' }).waitFor();
});
