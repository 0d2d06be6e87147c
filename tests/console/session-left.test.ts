import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Credentials, expectNoCspViolations, logInOnPage, navigate, startConsole } from '../support/console.ts';
import { company } from './departments-page.ts';
import { logInHere, logOutHere } from './desk.ts';

/** What a session leaves behind for the next person at the same desk: nothing. */

const fixture = await startConsole();
const { service } = fixture;
const { root } = service;

// Two tabs of one browser: they share the cookie, and learn of each other's logins.
const page = await fixture.sharedPage();
const other = await page.context().newPage();

const administrator = (userName: string) => root.createUser({ userName, roles: ['admin'] });
const addressOf = (page: Page) => page.url().slice(service.base.length);
const drafts = (page: Page) =>
  page.evaluate("Object.keys(sessionStorage).filter((key) => key.startsWith('banyan.draft')).length");

/** Somebody is logged in, in both tabs. */
async function sitDownAtBoth(who: Credentials, place: string, otherPlace = '/home') {
  await logInOnPage(page, who, place);
  if (other.url() === 'about:blank') await other.goto(otherPlace);
  else await navigate(other, otherPlace);
  await other.getByRole('button', { name: `用户：${who.username}` }).waitFor();
}

/** In the other tab, as somebody does who forgot this one. */
async function logOutElsewhere() {
  await logOutHere(other);
  await page.getByRole('heading', { name: '登录榕树' }).waitFor();
}

async function askToDelete(name: string) {
  await page.getByRole('heading', { level: 1, name }).waitFor();
  await page.getByRole('button', { name: /^更多操作/ }).click();
  await page.getByRole('menuitem', { name: '删除', exact: true }).click();
  await page.getByRole('dialog', { name: `删除“${name}”？` }).waitFor();
}

test('a question that one person was asked is not answered by the next', async () => {
  await administrator('wen');
  await administrator('bai');
  const tenant = await root.create('/system/tenant-api', { tenantName: '留下的租户' });
  await sitDownAtBoth({ username: 'wen' }, `/tenants/${tenant}`);
  await askToDelete('留下的租户');
  await logOutElsewhere();
  assert.equal(await page.getByRole('dialog').count(), 0, 'nothing is asked over the login');
  await logInHere(page, { username: 'bai' });
  assert.equal(await page.getByRole('dialog').count(), 0);
  assert.equal((await root.get(`/system/tenant-api/${tenant}`)).code, 200);
  expectNoCspViolations(page);
});

test('neither what two people wrote nor "log out everywhere?" is left over the login', async () => {
  const { boss, market } = await company(service);
  const who = { tenantId: boss.tenantId, username: 'boss' };
  await sitDownAtBoth(who, `/departments/${market}`);
  await page.getByRole('button', { name: '编辑' }).click();
  await page.getByLabel('部门名称').fill('我写的部门');
  const { data } = await boss.get(`/system/dept-api/${market}`);
  await boss.put('/system/dept-api', { ...data, leader: '别人写的' });
  await page.getByRole('button', { name: '保存' }).click();
  await page.getByRole('cell', { name: '别人写的' }).waitFor();
  await logOutElsewhere();
  assert.equal(await page.getByRole('dialog').count(), 0);
  assert.equal(await page.getByText('别人写的').count(), 0);

  await sitDownAtBoth(who, '/me');
  await page.getByRole('button', { name: '退出所有设备' }).click();
  await page.getByRole('dialog').waitFor();
  await logOutElsewhere();
  assert.equal(await page.getByRole('dialog').count(), 0);
  assert.equal((await boss.get('/auth/me')).code, 200);
});

test('the way back leaves no question behind', async () => {
  await administrator('hui');
  const { boss, top } = await company(service);
  const tenant = await root.create('/system/tenant-api', { tenantName: '回头的租户' });
  await logInOnPage(page, { username: 'hui' }, `/tenants?q=${encodeURIComponent('回头')}`);
  await page.getByRole('link', { name: '回头的租户', exact: true }).click();
  await askToDelete('回头的租户');
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: '租户', exact: true }).waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal((await root.get(`/system/tenant-api/${tenant}`)).code, 200);

  await logInOnPage(page, { tenantId: boss.tenantId, username: 'boss' });
  await page.getByRole('navigation').getByRole('link', { name: '部门' }).click();
  await page.getByRole('treeitem', { name: '总部', exact: true }).click();
  await page.getByRole('button', { name: '编辑' }).click();
  await page.getByLabel('部门名称').fill('我写的部门');
  const { data } = await boss.get(`/system/dept-api/${top}`);
  await boss.put('/system/dept-api', { ...data, leader: '别人写的' });
  await page.getByRole('button', { name: '保存' }).click();
  await page.getByRole('cell', { name: '别人写的' }).waitFor();
  await page.goBack();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal((await boss.get(`/system/dept-api/${top}`)).data.deptName, '总部');
});

test('who logs out leaves no trace of where he was; the next person begins at home', async () => {
  await administrator('lin');
  await administrator('tan');
  await sitDownAtBoth({ username: 'lin' }, '/people?q=secret', '/tenants?q=secret');
  await page.getByRole('heading', { level: 1, name: '人员' }).waitFor();
  await other.getByRole('heading', { level: 1, name: '租户' }).waitFor();
  await logOutHere(page);
  await other.getByRole('heading', { name: '登录榕树' }).waitFor();
  assert.deepEqual([addressOf(page), addressOf(other)], ['/login', '/login']);
  await logInHere(page, { username: 'tan' });
  assert.equal(addressOf(page), '/home');
  await other.locator('.frame h1').waitFor();
  assert.equal(addressOf(other), '/home');
});

test('after a session that ended by itself its owner is where he was, and somebody else is not', async () => {
  await administrator('gao');
  await administrator('xie');
  // In a browser with this one tab: another would lend its token.
  const page = await fixture.newPage();
  const ended = async () => {
    await page.context().clearCookies();
    await page.goto('/people?q=secret');
    await page.getByRole('heading', { name: '登录榕树' }).waitFor();
  };
  await ended();
  await logInHere(page, { username: 'gao' });
  assert.equal(addressOf(page), '/people?q=secret');
  await ended();
  await logInHere(page, { username: 'gao' });
  assert.equal(addressOf(page), '/people?q=secret');
  await ended();
  await logInHere(page, { username: 'xie' });
  assert.equal(addressOf(page), '/home');
});

test('what was typed and not saved is gone with a logout, in every tab', async () => {
  const { boss, top } = await company(service);
  const place = `/departments/${top}`;
  await sitDownAtBoth({ tenantId: boss.tenantId, username: 'boss' }, place, place);
  await page.getByRole('button', { name: '新建下级' }).click();
  await page.getByRole('dialog').getByLabel('部门名称').fill('秘密部门');
  assert.equal(await drafts(page), 1);
  await other.getByRole('button', { name: '编辑' }).click();
  await other.getByLabel('部门名称').fill('另一个秘密');
  assert.equal(await drafts(other), 1);
  // Also where the screen that it was typed into is not shown any more.
  await navigate(page, '/home');
  await page.getByRole('heading', { level: 1, name: '首页' }).waitFor();
  assert.equal(await drafts(page), 1);
  await logOutHere(page);
  await other.getByRole('heading', { name: '登录榕树' }).waitFor();
  assert.deepEqual([await drafts(page), await drafts(other)], [0, 0]);
});
