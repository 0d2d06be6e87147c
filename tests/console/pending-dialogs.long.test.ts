// Only with test:long: it repeats a rule for each dialog; tenants.test.ts covers it for the dialogs that move and disable a tenant.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logInOnPage, startConsole } from '../support/console.ts';
import { PASSWORD } from '../support/service.ts';
import { createCompany, selectInTree } from './departments-page.ts';
import { clickTwice, expectStaysOpen, holdRequests } from './page-actions.ts';

/** A request in flight cannot be cancelled: its dialog stays open until the response arrives, and sends it only once. */

const fixture = await startConsole();
const { service } = fixture;
const { root, superuser } = service;
const page = await fixture.sharedPage();

test('the dialog of a user who is being created stays open, and their password is shown', async () => {
  await logInOnPage(page, {}, '/people');
  await page.getByRole('button', { name: '新建用户' }).click();
  const dialog = page.getByRole('dialog', { name: '新建用户' });
  await dialog.getByLabel('用户名').fill('waited');
  await dialog.getByRole('button', { name: '随机生成' }).click();
  const { requests, release } = await holdRequests(page, 'POST', '/system/user-api');
  await dialog.getByRole('button', { name: '创建' }).click();
  await expectStaysOpen(page, dialog);
  await page.evaluate(
    'new Promise((resolve) => { addEventListener("popstate", resolve, { once: true }); history.back(); })',
  );
  release();
  const loginDetails = page.getByRole('dialog', { name: 'waited 的登录信息' });
  await service.logIn('000000', 'waited', await loginDetails.locator('code').innerText());
  assert.equal(requests.length, 1);
});

test('the move dialog of a department stays open while it is being saved and after an error', async () => {
  const { admin, web, market } = await createCompany(service);
  await logInOnPage(page, { tenantId: admin.tenantId, username: 'boss' }, `/departments/${web}`);
  await page.getByRole('button', { name: '移动…' }).click();
  const dialog = page.getByRole('dialog', { name: '移动“前端组”' });
  await selectInTree(page, dialog.getByRole('combobox', { name: '新的上级部门' }), '市场部');
  const { requests, release } = await holdRequests(page, 'PUT', '/system/dept-api');
  await dialog.getByRole('button', { name: '移动', exact: true }).click();
  await expectStaysOpen(page, dialog);
  await admin.delete(`/system/dept-api/${market}`);
  release();
  await page.getByRole('alert').waitFor();
  assert.equal(requests.length, 1);
  await dialog.getByRole('button', { name: '取消' }).click();
  await dialog.waitFor({ state: 'hidden' });
});

test('the dialogs that delete a department and its subtree stay open during the request', async () => {
  const { admin, research } = await createCompany(service);
  await logInOnPage(page, { tenantId: admin.tenantId, username: 'boss' }, `/departments/${research}`);
  await page.getByRole('article').getByRole('button', { name: '删除' }).click();
  const question = page.getByRole('dialog', { name: '删除“研发部”？' });
  const first = await holdRequests(page, 'DELETE', `/system/dept-api/${research}`);
  await question.getByRole('button', { name: '删除' }).click();
  await expectStaysOpen(page, question);
  first.release();
  const dialog = page.getByRole('dialog', { name: '无法删除“研发部”' });
  await dialog.getByText('我确认删除这 3 个部门').click();
  const branch = await holdRequests(page, 'DELETE', `/system/dept-api/${research}?subtree=true`);
  await dialog.getByRole('button', { name: '删除部门及其下级（3 个部门）' }).click();
  await expectStaysOpen(page, dialog);
  branch.release();
  await page.getByRole('article', { name: '总部' }).waitFor();
});

test('the dialog that reverts a change stays open during the request', async () => {
  const { admin, web } = await createCompany(service);
  await logInOnPage(
    page,
    { tenantId: admin.tenantId, username: 'boss' },
    `/changes?resource=department&resourceId=${web}`,
  );
  await page.getByRole('button', { name: '详情：部门 前端组' }).click();
  await page.getByRole('button', { name: '撤销此变更' }).click();
  const dialog = page.getByRole('dialog', { name: '撤销此变更？' });
  const { requests, release } = await holdRequests(page, 'POST', '/system/change-api/*/revert');
  await dialog.getByRole('button', { name: '撤销', exact: true }).click();
  await expectStaysOpen(page, dialog);
  release();
  await page.getByText('变更已撤销').waitFor();
  assert.equal(requests.length, 1);
});

test('a double click deletes a user once and logs in again once', async () => {
  await root.createUser({ userName: 'twice', nickName: '周两次' });
  await root.createUser({ userName: 'back', roles: ['admin'] });
  await logInOnPage(page, { username: 'back' }, '/people?q=twice');
  await page.getByRole('button', { name: '更多操作：周两次' }).press('Enter');
  await page.getByRole('menuitem', { name: '删除' }).press('Enter');
  const { requests, release } = await holdRequests(page, 'DELETE', '/system/user-api/*');
  await clickTwice(page.getByRole('dialog').getByRole('button', { name: '删除' }));
  release();
  await page.getByText('没有符合条件的用户').waitFor();
  assert.equal(requests.length, 1);

  const sessions = () => superuser`
    select from banyan.sessions where user_id = (select user_id from banyan.users where user_name = 'back')`;
  await superuser`delete from banyan.sessions where user_id = (select user_id from banyan.users where user_name = 'back')`;
  await page.getByRole('navigation').getByRole('link', { name: '部门' }).click();
  const dialog = page.getByRole('dialog', { name: '登录已过期' });
  await dialog.getByLabel('密码').fill(PASSWORD);
  const login = await holdRequests(page, 'POST', '/auth/login?*');
  await clickTwice(dialog.getByRole('button', { name: '登录并继续' }));
  await dialog.locator('.ant-btn-loading').waitFor();
  assert.equal(await dialog.getByRole('button', { name: '使用其他用户登录' }).isDisabled(), true);
  login.release();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByText('暂无部门').waitFor();
  assert.equal((await sessions()).length, 1);
});
