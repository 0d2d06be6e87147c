import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { PASSWORD } from '../harness.ts';
import { company } from './departments-page.ts';
import { logIn, noCspViolations, startConsole } from './harness.ts';

/** What a session leaves behind for the next person at the same desk: nothing. */

const stage = await startConsole();
const { service } = stage;
const { root } = service;

const administrator = (userName: string) => root.user({ userName, roles: ['admin'] });
const addressOf = (page: Page) => page.url().slice(service.base.length);
const drafts = (page: Page) =>
  page.evaluate("Object.keys(sessionStorage).filter((key) => key.startsWith('banyan.draft')).length");

async function logOut(page: Page) {
  await page.getByRole('button', { name: /^账户：/ }).click();
  await page.getByRole('menuitem', { name: '退出登录' }).click();
  await page.getByRole('heading', { name: '登录榕树' }).waitFor();
}

/** In another tab, as somebody does who forgot this one. */
async function logOutElsewhere(page: Page) {
  const other = await page.context().newPage();
  await other.goto('/home');
  await logOut(other);
  await other.close();
  await page.getByRole('heading', { name: '登录榕树' }).waitFor();
}

/** Where the page stands, unlike the harness's, which opens a place first. */
async function logInHere(page: Page, username: string, tenantId = '000000') {
  await page.getByLabel('租户编号').fill(tenantId);
  await page.getByLabel('用户名').fill(username);
  await page.getByLabel('密码', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: '登录', exact: true }).click();
  await page.locator('.frame h1').waitFor();
}

async function askToDelete(page: Page, name: string) {
  await page.getByRole('heading', { level: 1, name }).waitFor();
  await page.getByRole('button', { name: /^更多操作/ }).click();
  await page.getByRole('menuitem', { name: '删除', exact: true }).click();
  await page.getByRole('dialog', { name: `删除“${name}”？` }).waitFor();
}

test('a question that one person was asked is not answered by the next', async () => {
  await administrator('wen');
  await administrator('bai');
  const tenant = await root.make('/system/tenant-api', { tenantName: '留下的租户' });
  const page = await stage.page();
  await logIn(page, { username: 'wen' }, `/tenants/${tenant}`);
  await askToDelete(page, '留下的租户');
  await logOutElsewhere(page);
  assert.equal(await page.getByRole('dialog').count(), 0, 'nothing is asked over the login');
  await logInHere(page, 'bai');
  assert.equal(await page.getByRole('dialog').count(), 0);
  assert.equal((await root.get(`/system/tenant-api/${tenant}`)).code, 200);
  noCspViolations(page);
});

test('neither what two people wrote nor "log out everywhere?" is left over the login', async () => {
  const { boss, market } = await company(service);
  const page = await stage.page();
  await logIn(page, { tenantId: boss.tenantId, username: 'boss' }, `/departments/${market}`);
  await page.getByRole('button', { name: '编辑' }).click();
  await page.getByLabel('部门名称').fill('我写的部门');
  const { data } = await boss.get(`/system/dept-api/${market}`);
  await boss.put('/system/dept-api', { ...data, leader: '别人写的' });
  await page.getByRole('button', { name: '保存' }).click();
  await page.getByRole('cell', { name: '别人写的' }).waitFor();
  await logOutElsewhere(page);
  assert.equal(await page.getByRole('dialog').count(), 0);
  assert.equal(await page.getByText('别人写的').count(), 0);

  await logInHere(page, 'boss', boss.tenantId);
  await page.goto('/me');
  await page.getByRole('button', { name: '在所有地方退出' }).click();
  await page.getByRole('dialog').waitFor();
  await logOutElsewhere(page);
  assert.equal(await page.getByRole('dialog').count(), 0);
  assert.equal((await boss.get('/auth/me')).code, 200);
});

test('the way back leaves no question behind', async () => {
  await administrator('hui');
  const { boss, top } = await company(service);
  const tenant = await root.make('/system/tenant-api', { tenantName: '回头的租户' });
  const page = await stage.page();
  await logIn(page, { username: 'hui' }, `/tenants?q=${encodeURIComponent('回头')}`);
  await page.getByRole('link', { name: '回头的租户', exact: true }).click();
  await askToDelete(page, '回头的租户');
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: '租户', exact: true }).waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal((await root.get(`/system/tenant-api/${tenant}`)).code, 200);

  const his = await stage.page();
  await logIn(his, { tenantId: boss.tenantId, username: 'boss' });
  await his.getByRole('navigation').getByRole('link', { name: '部门' }).click();
  await his.getByRole('treeitem', { name: '总部', exact: true }).click();
  await his.getByRole('button', { name: '编辑' }).click();
  await his.getByLabel('部门名称').fill('我写的部门');
  const { data } = await boss.get(`/system/dept-api/${top}`);
  await boss.put('/system/dept-api', { ...data, leader: '别人写的' });
  await his.getByRole('button', { name: '保存' }).click();
  await his.getByRole('cell', { name: '别人写的' }).waitFor();
  await his.goBack();
  await his.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal((await boss.get(`/system/dept-api/${top}`)).data.deptName, '总部');
});

test('who logs out leaves no trace of where he was; the next person begins at home', async () => {
  await administrator('lin');
  await administrator('tan');
  const page = await stage.page();
  await logIn(page, { username: 'lin' }, '/people?q=secret');
  const other = await page.context().newPage();
  await other.goto('/tenants?q=secret');
  await other.locator('.frame h1').waitFor();
  await logOut(page);
  await other.getByRole('heading', { name: '登录榕树' }).waitFor();
  assert.deepEqual([addressOf(page), addressOf(other)], ['/login', '/login']);
  await logInHere(page, 'tan');
  assert.equal(addressOf(page), '/home');
  await other.locator('.frame h1').waitFor();
  assert.equal(addressOf(other), '/home');
});

test('after a session that ended by itself its owner is where he was, and somebody else is not', async () => {
  await administrator('gao');
  await administrator('xie');
  const page = await stage.page();
  const ended = async () => {
    await page.context().clearCookies();
    await page.goto('/people?q=secret');
    await page.getByRole('heading', { name: '登录榕树' }).waitFor();
  };
  await logIn(page, { username: 'gao' });
  await ended();
  await logInHere(page, 'gao');
  assert.equal(addressOf(page), '/people?q=secret');
  await ended();
  await logInHere(page, 'xie');
  assert.equal(addressOf(page), '/home');
});

test('what was typed and not saved is gone with a logout, in every tab', async () => {
  const { boss, top } = await company(service);
  const page = await stage.page();
  await logIn(page, { tenantId: boss.tenantId, username: 'boss' }, `/departments/${top}`);
  await page.getByRole('button', { name: '新建下级' }).click();
  await page.getByRole('dialog').getByLabel('部门名称').fill('秘密部门');
  assert.equal(await drafts(page), 1);
  const other = await page.context().newPage();
  await other.goto(`/departments/${top}`);
  await other.getByRole('button', { name: '编辑' }).click();
  await other.getByLabel('部门名称').fill('另一个秘密');
  assert.equal(await drafts(other), 1);
  // Also where the screen that it was typed into was not opened since.
  await page.goto('/home');
  await logOut(page);
  await other.getByRole('heading', { name: '登录榕树' }).waitFor();
  assert.deepEqual([await drafts(page), await drafts(other)], [0, 0]);
});
