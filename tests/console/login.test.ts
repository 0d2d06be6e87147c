import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Response } from 'playwright-core';
import {
  expectNoAxeViolations,
  expectNoCspViolations,
  logIn,
  logInByForm,
  logInOnPage,
  navigate,
  open,
  PHONE,
  resetToLogin,
  screenshot,
  startConsole,
} from '../support/console.ts';
import { PASSWORD } from '../support/service.ts';
import { logInHere, logOutHere } from './desk.ts';

const fixture = await startConsole();
const shared = await fixture.sharedPage();

test('first login: a wrong password is told in words, the right one opens, a reload keeps it, logging out ends it; the scripts take less than 300 kB', async () => {
  const page = await fixture.newPage();
  let bytes = 0;
  const count = (answer: Response) => {
    if (!answer.url().endsWith('.js')) return;
    assert.match(answer.headers()['content-encoding'] ?? '', /br|gzip/, answer.url());
    bytes += Number(answer.headers()['content-length']);
  };
  page.on('response', count);
  await open(page, '/');
  assert.match(page.url(), /\/login$/);
  await expectNoAxeViolations(page);
  await screenshot(page, 'login');
  await page.getByLabel('租户编号').fill('000000');
  await page.getByLabel('用户名').fill('admin');
  await page.getByLabel('密码', { exact: true }).fill('not my password');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('租户、用户名或密码错误').waitFor();
  await page.getByLabel('密码', { exact: true }).fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: '首页' }).waitFor();
  await expectNoAxeViolations(page);
  page.off('response', count);
  assert.ok(bytes > 100_000 && bytes < 300_000, `login and home together took ${bytes} bytes of script`);

  await page.reload();
  await page.getByRole('heading', { level: 1, name: '首页' }).waitFor();

  await logOutHere(page);
  assert.equal(await page.getByLabel('租户编号').inputValue(), '000000', 'the tenant is remembered');
  assert.equal(await page.getByRole('alert').count(), 0, 'whoever left on purpose is told nothing');
  await page.goto('/home');
  await page.getByRole('heading', { name: '登录榕树' }).waitFor();
  assert.equal(await page.getByRole('alert').count(), 0, 'nor is somebody who was not logged in');
  expectNoCspViolations(page);
});

test('whoever is sent a link logs in and is there', async () => {
  const page = await fixture.newPage();
  await logInByForm(page, {}, '/chart?zoom=2');
  await page.getByRole('heading', { level: 1, name: '组织架构图' }).waitFor();
  assert.equal(new URL(page.url()).pathname + new URL(page.url()).search, '/chart?zoom=2');
});

test('a login leads nowhere but into the console', async () => {
  const page = shared;
  // Whoever was here before was somebody else: the next person would begin at home.
  await logInOnPage(page);
  for (const [to, place] of [
    ['/me', '/me'],
    ['//example.com/', '/home'],
  ]) {
    await resetToLogin(page);
    await navigate(page, `/login?to=${to}`);
    await logInHere(page);
    assert.equal(page.url(), `${fixture.service.base}${place}`);
  }
});

test('no script can read the refresh token, and none is stored', async () => {
  const page = shared;
  await resetToLogin(page);
  await logInHere(page);
  assert.equal(await page.evaluate('document.cookie'), '');
  assert.doesNotMatch(String(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')), /eyJ/);
  const [cookie] = await page.context().cookies(`${fixture.service.base}/auth/refresh`);
  assert.equal(cookie?.httpOnly, true);
});

test('the language is switched, for the screens and for what the service says, and is kept', async () => {
  const page = await fixture.newPage();
  await open(page, '/login');
  await page.getByRole('button', { name: 'English' }).click();
  await page.getByRole('heading', { name: 'Log in to Banyan' }).waitFor();
  await page.getByLabel('Tenant code').fill('000000');
  await page.getByLabel('User name').fill('admin');
  await page.getByLabel('Password', { exact: true }).fill('not my password');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('The tenant, user name or password is wrong.').waitFor();
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  assert.equal(await page.evaluate('document.documentElement.lang'), 'en');
  await page.getByRole('button', { name: '中文' }).click();
  await page.getByRole('heading', { level: 1, name: '首页' }).waitFor();
  assert.match(await page.title(), /^首页/);
});

test('on a phone all places are within reach, and nothing is wider than the screen', async () => {
  const page = shared;
  await resetToLogin(page, { viewport: PHONE });
  await logInHere(page);
  for (const place of ['部门', '组织架构图', '人员', '租户', '首页']) {
    await page.getByRole('navigation').getByRole('link', { name: place }).click();
    await page.getByRole('heading', { level: 1, name: place }).waitFor();
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, place);
  }
  await expectNoAxeViolations(page);
});

test('whoever is shut out while he is logged in is told why at the login, and is in again when it is over', async () => {
  const { id, tenantId } = await fixture.service.createTenant({ tenantName: '停业公司' });
  const change = async (what: object) => {
    const { code } = await fixture.service.root.put('/system/tenant-api', { id, tenantName: '停业公司', ...what });
    assert.equal(code, 200);
  };
  const page = await fixture.newPage();
  const login = { tenantId, username: 'boss', password: PASSWORD };
  assert.equal((await page.context().request.post('/auth/login?session=cookie', { data: login })).status(), 200);
  const alert = page.getByRole('alert');
  await change({ status: '1' });
  await page.goto('/me');
  await alert.getByText('租户或其上级租户已被停用，请联系管理员').waitFor();
  await expectNoAxeViolations(page);
  await page.getByRole('button', { name: 'English' }).click();
  await change({ status: '0', endTime: '2020-01-01' });
  await page.reload();
  await alert
    .getByText('The service period of the tenant or of one of its parent tenants has ended. Contact its administrator.')
    .waitFor();
  await change({ status: '0' });
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'My account' }).waitFor();
});

test('by keyboard: past the menu to the content, into the account menu and back', async () => {
  const page = await fixture.newPage();
  await logIn(page);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.locator('main:focus').waitFor();
  const account = page.getByRole('button', { name: '用户：admin' });
  await account.press('Enter');
  await page.getByRole('menuitem', { name: '个人中心' }).and(page.locator(':focus')).waitFor();
  assert.equal(await account.getAttribute('aria-expanded'), 'true');
  await page.keyboard.press('Escape');
  await account.and(page.locator(':focus')).waitFor();
  assert.equal(await account.getAttribute('aria-expanded'), 'false');
  await account.press('Enter');
  await page.getByRole('menuitem', { name: '个人中心' }).press('Enter');
  await page.getByRole('heading', { level: 1, name: '个人中心' }).waitFor();
});
