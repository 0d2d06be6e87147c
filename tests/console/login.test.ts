import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Response } from 'playwright-core';
import {
  expectAccessibleInLongRun,
  expectNoCspViolations,
  logInOnPage,
  logInViaApi,
  navigate,
  open,
  PHONE,
  resetToLogin,
  startConsole,
} from '../support/console.ts';
import { PASSWORD } from '../support/service.ts';
import { logOut, submitLogin } from './login-form.ts';

const fixture = await startConsole();
const shared = await fixture.sharedPage();

test('a wrong password shows an error, the right one logs in, a reload keeps the session and a logout ends it', async () => {
  const page = await fixture.newPage();
  let bytes = 0;
  const scripts: string[] = [];
  const countScriptBytes = (response: Response) => {
    if (!response.url().endsWith('.js')) return;
    assert.match(response.headers()['content-encoding'] ?? '', /br|gzip/, response.url());
    bytes += Number(response.headers()['content-length']);
    scripts.push(new URL(response.url()).pathname);
  };
  page.on('response', countScriptBytes);
  await open(page, '/');
  assert.match(page.url(), /\/login$/);
  assert.equal(await page.getByRole('alert').count(), 0, 'a visitor who was not logged in sees no message');
  await expectAccessibleInLongRun(page);
  await page.getByLabel('租户编号').fill('000000');
  await page.getByLabel('用户名').fill('admin');
  await page.getByLabel('密码', { exact: true }).fill('not my password');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('租户、用户名或密码错误').waitFor();
  await page.getByLabel('密码', { exact: true }).fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: '首页' }).waitFor();
  await expectAccessibleInLongRun(page);
  page.off('response', countScriptBytes);
  assert.ok(bytes > 100_000 && bytes < 300_000, `login and home loaded ${bytes} bytes of scripts`);
  const ofOtherScreens = /\/(chart|departments|tenants|people|changes|diff|webhooks|keys|quotas|me)-/;
  assert.deepEqual(
    scripts.filter((name) => ofOtherScreens.test(name)),
    [],
    'other screens load when they are opened',
  );

  await page.reload();
  await page.getByRole('heading', { level: 1, name: '首页' }).waitFor();

  await logOut(page);
  assert.equal(await page.getByLabel('租户编号').inputValue(), '000000', 'the tenant code is remembered');
  assert.equal(await page.getByRole('alert').count(), 0, 'a user who has logged out sees no message');
  await navigate(page, '/home');
  await page.waitForFunction("location.pathname === '/login'");
  await page.getByRole('heading', { name: '登录榕树' }).waitFor();
  expectNoCspViolations(page);
});

test('the login redirects only to paths of the console', async () => {
  const page = shared;
  // Log in as the same user first: a login after a session of another user leads to the home screen.
  await logInOnPage(page);
  for (const [to, path] of [
    ['/me', '/me'],
    ['//example.com/', '/home'],
  ]) {
    await resetToLogin(page);
    await navigate(page, `/login?to=${to}`);
    await logInViaApi(page);
    assert.equal(page.url(), `${fixture.service.base}${path}`);
  }
});

test('scripts cannot read the refresh token, and no token is stored', async () => {
  const page = shared;
  await resetToLogin(page);
  await submitLogin(page);
  assert.equal(await page.evaluate('document.cookie'), '');
  const stored = String(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })'));
  // An access token is a JWT.
  assert.doesNotMatch(stored, /eyJ/);
  const [cookie] = await page.context().cookies(`${fixture.service.base}/auth/refresh`);
  assert.equal(cookie?.httpOnly, true);
  assert.ok(cookie?.value && !stored.includes(cookie.value), stored);
});

test('switching the language changes screens and service messages and survives a reload', async () => {
  const page = shared;
  await resetToLogin(page);
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

test('on a phone every screen of the navigation opens and is not wider than the viewport', async () => {
  const page = shared;
  await logInOnPage(page, {}, '/home', { viewport: PHONE });
  for (const name of ['部门', '组织架构图', '人员', '租户', '首页']) {
    await page.getByRole('navigation').getByRole('link', { name }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, name);
  }
  await expectAccessibleInLongRun(page);
});
