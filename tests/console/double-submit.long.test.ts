// Only with test:long: it repeats the rule for other forms and keys; double-submit.test.ts covers it for departments.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logInOnPage, navigate, resetToLogin, startConsole } from '../support/console.ts';
import { createCompany } from './departments-page.ts';
import { fillLogin } from './login-form.ts';
import { clickTwice, holdRequests, waitUntilSettled } from './page-actions.ts';
import { startSubmitting } from './submit-page.ts';

const { service, page, logInAsAdmin, holdCreateResponses, fillNewDepartment, fillNewTenant, childrenOf } =
  await startSubmitting(await startConsole());

test('a department without an order number is placed last, however quickly it is saved', async () => {
  const { admin, top } = await createCompany(service);
  await logInAsAdmin(admin, `/departments/${top}`);
  // The order number of the last child is read on save, not before. Hold that request until the form is being saved.
  const first = await holdRequests(page, 'GET', '/system/dept-api/list?*');
  const dialog = await fillNewDepartment('人事部');
  await dialog.getByRole('button', { name: '创建并继续新建' }).click();
  await dialog.getByRole('button', { name: '创建并继续新建', disabled: true }).waitFor();
  first.release();
  await page.getByRole('treeitem', { name: '人事部', exact: true }).waitFor();
  const second = await holdRequests(page, 'GET', '/system/dept-api/list?*');
  await dialog.getByLabel('部门名称').fill('财务部');
  await dialog.getByRole('button', { name: '创建', exact: true }).click();
  await dialog.locator('.ant-btn-loading').waitFor();
  second.release();
  await page.getByRole('article', { name: '财务部' }).waitFor();
  const last = (await admin.get(`/system/dept-api/${top}/children`)).data.rows.slice(-2);
  assert.deepEqual(
    last.map(({ deptName, orderNum }: Record<string, unknown>) => [deptName, orderNum]),
    [
      ['人事部', 4],
      ['财务部', 5],
    ],
  );
});

test('a double click creates one tenant', async () => {
  const { admin } = await createCompany(service);
  await logInAsAdmin(admin, '/tenants');
  await clickTwice(await fillNewTenant('一次公司'));
  await page.getByRole('heading', { level: 1, name: '一次公司', exact: true }).waitFor();
  const { data } = await admin.get(`/system/tenant-api/list?tenantName=${encodeURIComponent('一次公司')}`);
  assert.equal(data.total, 1);
});

test('a double click on the login button creates one session', async () => {
  await service.root.createUser({ userName: 'shuang' });
  await resetToLogin(page);
  await fillLogin(page, { username: 'shuang' });
  await clickTwice(page.getByRole('button', { name: '登录', exact: true }));
  await page.locator('.frame h1').waitFor();
  const { count } = await service.superuser`
    select from banyan.sessions where user_id = (select user_id from banyan.users where user_name = 'shuang')`;
  assert.equal(count, 1);
});

test('Enter creates one department when it is pressed again, held down or used by an input method', async () => {
  const { admin, top } = await createCompany(service);
  await logInAsAdmin(admin, `/departments/${top}`);
  const dialog = await fillNewDepartment('ren');
  // This Enter accepts the suggestion of an input method.
  await page.evaluate(
    "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, isComposing: true }))",
  );
  await dialog.getByLabel('部门名称').fill('人事');
  await navigate(page, '/home');
  await page.getByRole('heading', { level: 1, name: '首页' }).waitFor();
  await navigate(page, `/departments/${top}`);

  // The key press that opens the dialog must not submit the restored draft.
  await page.getByRole('button', { name: '新建下级' }).focus();
  await page.keyboard.down('Enter');
  await dialog.getByText('已恢复您上次未保存的内容').waitFor();
  await dialog.getByLabel('部门名称').and(page.locator(':focus')).waitFor();
  await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  await dialog.getByLabel('部门名称').fill('人事部');

  const { requests, release } = await holdCreateResponses('/system/dept-api');
  for (let times = 0; times < 3; times++) await page.keyboard.press('Enter');
  await dialog.locator('.ant-btn-loading').waitFor();
  await page.keyboard.press('Enter');
  release();
  await page.getByRole('article', { name: '人事部' }).waitFor();
  assert.equal(requests.length, 1);
  assert.deepEqual(await childrenOf(admin, top), ['研发部', '市场部', '旧部门', '人事部']);
});

test('Escape does not discard a department that is being saved, and its late response does not navigate away from another screen', async () => {
  const { admin, top } = await createCompany(service);
  await logInAsAdmin(admin, '/home');
  await page.getByRole('navigation').getByRole('link', { name: '部门' }).click();
  await page.getByRole('treeitem', { name: '总部', exact: true }).click();
  const first = await holdCreateResponses('/system/dept-api');
  const dialog = await fillNewDepartment('财务部');
  await dialog.getByRole('button', { name: '创建', exact: true }).click();
  await dialog.locator('.ant-btn-loading').waitFor();
  await page.keyboard.press('Escape');
  assert.equal(await page.getByRole('dialog').count(), 1, 'no confirmation is shown');
  assert.equal(await dialog.getByRole('button', { name: '取消' }).isDisabled(), true);
  await page.goBack();
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: '首页' }).waitFor();
  first.release();
  await page.getByText('部门“财务部”已创建').waitFor();
  await waitUntilSettled(page);
  assert.equal(new URL(page.url()).pathname, '/home');
  assert.deepEqual(await childrenOf(admin, top), ['研发部', '市场部', '旧部门', '财务部']);
});

test('the form of a new tenant cannot be left while the tenant is being created', async () => {
  await logInOnPage(page, {}, '/tenants');
  const create = await fillNewTenant('等待公司');
  const { requests, release } = await holdCreateResponses('/system/tenant-api');
  await create.click();
  await page.locator('.ant-btn-loading').waitFor();
  await page.getByRole('link', { name: '首页' }).click();
  assert.equal(await page.getByRole('dialog').count(), 0, 'no confirmation is shown');
  assert.equal(await page.getByRole('button', { name: '取消' }).isDisabled(), true);
  assert.equal(new URL(page.url()).pathname, '/tenants/new');
  release();
  await page.getByRole('heading', { level: 1, name: '等待公司', exact: true }).waitFor();
  assert.equal(requests.length, 1);
});
