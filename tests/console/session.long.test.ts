// Only with test:long: it covers tokens that expire at a bad moment, and logouts in other tabs and in disabled tenants; session.test.ts covers expired, ended and shared sessions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { logInOnPage } from '../support/console.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';
import { logOut, submitLogin } from './login-form.ts';
import { waitUntilSettled } from './page-actions.ts';
import { startSessions } from './two-tabs.ts';

const { fixture, page, other, superuser, expireTokens, root, createUser, sessionsOf, logInOnBothTabs } =
  await startSessions();

const myAccount = (tab: Page) => tab.getByRole('heading', { level: 1, name: '个人中心' });

test('a token that expires on a slow connection is refreshed at login, in another tab and after a reload', async () => {
  const page = await fixture.newPage();
  await createUser('yu');
  let slowRequests = 1;
  await page.context().route('**/auth/me', async (route) => {
    if (slowRequests-- > 0) expireTokens();
    await route.continue();
  });
  await page.goto('/login?to=/me');
  await submitLogin(page, { username: 'yu' });
  await myAccount(page).waitFor();
  assert.ok(slowRequests <= 0);
  slowRequests = 2;
  const newTab = await page.context().newPage();
  await newTab.goto('/me');
  await myAccount(newTab).waitFor();
  assert.ok(slowRequests <= 0);
  await newTab.close();
  slowRequests = 2;
  await page.reload();
  await myAccount(page).waitFor();
  assert.ok(slowRequests <= 0);
  assert.equal((await sessionsOf('yu')).length, 1);
});

test('leaving the page while the token is being refreshed does not end the session', async () => {
  // Use a context with one tab: another tab would share its token.
  const page = await fixture.newPage();
  await createUser('tao');
  await logInOnPage(page, { username: 'tao' }, '/me');
  await page.getByText('当前设备').waitFor();
  const cookie = async () => (await page.context().cookies(`${fixture.service.base}/auth`))[0]?.value;
  const before = await cookie();
  expireTokens();
  await superuser.begin(async (tx) => {
    await tx`select from banyan.sessions where user_id = (select user_id from banyan.users where user_name = 'tao') for update`;
    await page.getByRole('navigation').getByRole('link', { name: '部门' }).click();
    await waitFor('the refresh waits for the lock on the session', async () => (await countLockWaits(tx)) > 0);
    await page.goto('about:blank');
  });
  await waitFor('the browser has the next cookie', async () => (await cookie()) !== before);
  // Make the refresh older than the time for which the previous cookie is accepted.
  await superuser`update banyan.sessions set last_used = last_used - interval '11 seconds'`;
  await page.goto('/me');
  await myAccount(page).waitFor();
});

test('a logout in one tab logs out all tabs', async () => {
  await createUser('zhu');
  await logInOnBothTabs({ username: 'zhu' }, '/home');
  await logOut(other);
  await page.getByRole('heading', { name: '登录榕树' }).waitFor();
});

test('a logout reaches a tab that is still loading', async () => {
  await createUser('hua');
  await logInOnPage(page, { username: 'hua' });
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await other.route('**/auth/me', async (route) => {
    const response = await route.fetch();
    await released;
    await route.fulfill({ response });
  });
  const requested = other.waitForRequest('**/auth/me');
  await other.goto('/home');
  await requested;
  await logOut(page);
  await other.getByRole('heading', { name: '登录榕树' }).waitFor();
  const received = other.waitForResponse('**/auth/me');
  release();
  await (await received).finished();
  await waitUntilSettled(other);
  await other.getByRole('heading', { name: '登录榕树' }).waitFor();
  assert.equal(await other.getByRole('button', { name: '用户：hua' }).count(), 0);
});

test('a logout with an expired token ends the session, and a reload does not restore it', async () => {
  await createUser('qiu');
  await logInOnPage(page, { username: 'qiu' });
  // Wait for the data of the screen: a request in flight would itself cause a refresh.
  await page.getByText('个人信息').waitFor();
  assert.equal((await sessionsOf('qiu')).length, 1);
  expireTokens();
  await logOut(page);
  assert.equal((await sessionsOf('qiu')).length, 0);
  await page.reload();
  await page.getByRole('heading', { name: '登录榕树' }).waitFor();
});

test('a logout while the tenant is disabled ends the session, and enabling the tenant does not restore it', async () => {
  const admin = await fixture.service.createTenant({ tenantName: '分公司' }, await root());
  const setStatus = async (status: string) => {
    const { code } = await (await root()).put('/system/tenant-api', { id: admin.id, tenantName: '分公司', status });
    assert.equal(code, 200);
  };
  await logInOnPage(page, { tenantId: admin.tenantId, username: 'boss' }, '/me');
  // Wait for the data: a request that finds the tenant disabled would open a password dialog over the menu.
  await page.getByText('当前设备').waitFor();
  const sessions = async () =>
    (await superuser`select from banyan.sessions where tenant_id = ${admin.tenantId}`).length;
  assert.equal(await sessions(), 2);
  await setStatus('1');
  await logOut(page);
  await setStatus('0');
  assert.deepEqual(await page.context().cookies(`${fixture.service.base}/auth`), []);
  assert.equal(await sessions(), 1, 'only the session of the API client is left');
});
