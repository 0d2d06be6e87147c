// Only with test:long: it repeats the cleanup for dialogs, drafts and expired sessions; session.test.ts covers the logout and the next user.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { expectNoCspViolations, logInOnPage, navigate } from '../support/console.ts';
import { createCompany } from './departments-page.ts';
import { logOut, submitLogin } from './login-form.ts';
import { startTwoTabs } from './two-tabs.ts';

const { fixture, page, other, pathOf, logInOnBothTabs } = await startTwoTabs();
const { service } = fixture;
const { root } = service;

const createAdministrator = (userName: string) => root.createUser({ userName, roles: ['admin'] });

const countDrafts = (page: Page) =>
  page.evaluate("Object.keys(sessionStorage).filter((key) => key.startsWith('banyan.draft')).length");

async function logOutInOtherTab() {
  await logOut(other);
  await page.getByRole('heading', { name: '登录榕树' }).waitFor();
}

async function openDeleteDialog(name: string) {
  await page.getByRole('heading', { level: 1, name }).waitFor();
  await page.getByRole('button', { name: /^更多操作/ }).click();
  await page.getByRole('menuitem', { name: '删除', exact: true }).click();
  await page.getByRole('dialog', { name: `删除“${name}”？` }).waitFor();
}

test('a confirmation that one user has left open is not shown to the next user', async () => {
  await createAdministrator('wen');
  await createAdministrator('bai');
  const tenant = await root.create('/system/tenant-api', { tenantName: '留下的租户' });
  await logInOnBothTabs({ username: 'wen' }, `/tenants/${tenant}`);
  await openDeleteDialog('留下的租户');
  await logOutInOtherTab();
  assert.equal(await page.getByRole('dialog').count(), 0, 'no dialog is open over the login');
  await submitLogin(page, { username: 'bai' });
  assert.equal(await page.getByRole('dialog').count(), 0);
  assert.equal((await root.get(`/system/tenant-api/${tenant}`)).code, 200);
  expectNoCspViolations(page);
});

test('a logout in another tab closes the conflict dialog and the "log out everywhere" dialog', async () => {
  const { admin, market } = await createCompany(service);
  const credentials = { tenantId: admin.tenantId, username: 'boss' };
  await logInOnBothTabs(credentials, `/departments/${market}`);
  await page.locator('#departments-edit').click();
  await page.getByLabel('部门名称').fill('我写的部门');
  const { data } = await admin.get(`/system/dept-api/${market}`);
  await admin.put('/system/dept-api', { ...data, leader: '别人写的' });
  await page.getByRole('button', { name: '保存' }).click();
  await page.getByRole('cell', { name: '别人写的' }).waitFor();
  await logOutInOtherTab();
  assert.equal(await page.getByRole('dialog').count(), 0);
  assert.equal(await page.getByText('别人写的').count(), 0);

  await logInOnBothTabs(credentials, '/me');
  await page.getByRole('button', { name: '退出所有设备' }).click();
  await page.getByRole('dialog').waitFor();
  await logOutInOtherTab();
  assert.equal(await page.getByRole('dialog').count(), 0);
  assert.equal((await admin.get('/auth/me')).code, 200);
});

test('going back closes an open dialog', async () => {
  await createAdministrator('hui');
  const { admin, top } = await createCompany(service);
  const tenant = await root.create('/system/tenant-api', { tenantName: '回头的租户' });
  await logInOnPage(page, { username: 'hui' }, `/tenants?q=${encodeURIComponent('回头')}`);
  await page.getByRole('link', { name: '回头的租户', exact: true }).click();
  await openDeleteDialog('回头的租户');
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: '租户', exact: true }).waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal((await root.get(`/system/tenant-api/${tenant}`)).code, 200);

  await logInOnPage(page, { tenantId: admin.tenantId, username: 'boss' });
  await page.getByRole('navigation').getByRole('link', { name: '部门' }).click();
  await page.getByRole('treeitem', { name: '总部', exact: true }).click();
  await page.locator('#departments-edit').click();
  await page.getByLabel('部门名称').fill('我写的部门');
  const { data } = await admin.get(`/system/dept-api/${top}`);
  await admin.put('/system/dept-api', { ...data, leader: '别人写的' });
  await page.getByRole('button', { name: '保存' }).click();
  await page.getByRole('cell', { name: '别人写的' }).waitFor();
  await page.goBack();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal((await admin.get(`/system/dept-api/${top}`)).data.deptName, '总部');
});

test('after a session has expired, the same user returns to their screen and another user starts at home', async () => {
  await createAdministrator('gao');
  await createAdministrator('xie');
  // Use a context with one tab: another tab would share its token.
  const page = await fixture.newPage();
  const expireSession = async () => {
    await page.context().clearCookies();
    await page.goto('/people?q=secret');
    await page.getByRole('heading', { name: '登录榕树' }).waitFor();
  };
  await expireSession();
  await submitLogin(page, { username: 'gao' });
  assert.equal(pathOf(page), '/people?q=secret');
  await expireSession();
  await submitLogin(page, { username: 'gao' });
  assert.equal(pathOf(page), '/people?q=secret');
  await expireSession();
  await submitLogin(page, { username: 'xie' });
  assert.equal(pathOf(page), '/home');
});

test('a logout deletes unsaved drafts in every tab', async () => {
  const { admin, top } = await createCompany(service);
  const path = `/departments/${top}`;
  await logInOnBothTabs({ tenantId: admin.tenantId, username: 'boss' }, path, path);
  await page.getByRole('button', { name: '新建下级' }).click();
  await page.getByRole('dialog').getByLabel('部门名称').fill('秘密部门');
  assert.equal(await countDrafts(page), 1);
  await other.locator('#departments-edit').click();
  await other.getByLabel('部门名称').fill('另一个秘密');
  assert.equal(await countDrafts(other), 1);
  // The draft must also be deleted when its screen is no longer open.
  await navigate(page, '/home');
  await page.getByRole('heading', { level: 1, name: '首页' }).waitFor();
  assert.equal(await countDrafts(page), 1);
  await logOut(page);
  await other.getByRole('heading', { name: '登录榕树' }).waitFor();
  assert.deepEqual([await countDrafts(page), await countDrafts(other)], [0, 0]);
});
