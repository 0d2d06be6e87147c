import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import {
  expectNoAxeViolations,
  expectNoCspViolations,
  logInOnPage,
  navigate,
  startConsole,
} from '../support/console.ts';
import { PASSWORD } from '../support/service.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';
import { logOut, submitLogin } from './login-form.ts';
import { waitUntilSettled } from './page-actions.ts';

let aheadMs = 0;
const fixture = await startConsole({}, { tokenClockAheadMs: () => aheadMs });
const { superuser } = fixture.service;

/** Expires all access tokens issued so far. */
const expireTokens = () => {
  aheadMs += 3_600_000;
};

/** Logs the administrator in again: their token may have expired. */
const root = () => fixture.service.logIn('000000', 'admin');
const createUser = async (userName: string) => (await root()).createUser({ userName });

const sessionsOf = (userName: string) => superuser<{ session_id: string }[]>`
  select session_id from banyan.sessions
  where user_id = (select user_id from banyan.users where user_name = ${userName} and tenant_id = '000000')`;

// Two tabs of one browser share the cookie and are notified of each other's logins.
const page = await fixture.sharedPage();
const other = await page.context().newPage();

/** Logs a user in on both tabs. */
async function logInOnBothTabs(username: string, path: string) {
  await logInOnPage(page, { username }, path);
  if (other.url() === 'about:blank') await other.goto(path);
  else await navigate(other, path);
  await other.getByRole('button', { name: `用户：${username}` }).waitFor();
}

/** Opens the account screen and waits for its data: a request in flight would itself cause a refresh or a password dialog. */
async function openAccount(username: string) {
  await logInOnPage(page, { username }, '/me');
  await page.getByText('当前设备').waitFor();
}

const myAccount = (tab: Page) => tab.getByRole('heading', { level: 1, name: '个人中心' });

async function fillPasswords() {
  await page.getByLabel('旧密码').fill(PASSWORD);
  await page.getByLabel('新密码', { exact: true }).fill('another password');
  await page.getByLabel('确认新密码').fill('another password');
}

test('a form submitted after the session has ended asks for the password and is then sent', async () => {
  await createUser('mei');
  await openAccount('mei');
  await fillPasswords();
  await superuser`delete from banyan.sessions where user_id = (select user_id from banyan.users where user_name = 'mei')`;
  await page.getByRole('button', { name: '修改密码' }).click();
  const dialog = page.getByRole('dialog', { name: '登录已过期' });
  await dialog.waitFor();
  await expectNoAxeViolations(page);
  await dialog.getByLabel('密码').fill('not my password');
  await page.keyboard.press('Enter');
  await dialog.getByText('租户、用户名或密码错误').waitFor();
  assert.equal(await page.getByLabel('确认新密码').inputValue(), 'another password', 'the input is kept');
  await dialog.getByLabel('密码').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByText('密码已修改').waitFor();
  await fixture.service.logIn('000000', 'mei', 'another password');
  expectNoCspViolations(page);
});

test('tabs refresh one at a time, and none ends the session of the other', async () => {
  await createUser('lan');
  await logInOnBothTabs('lan', '/home');
  const [before] = await sessionsOf('lan');
  let [inFlight, maxInFlight, refreshes] = [0, 0, 0];
  await page.context().route('**/auth/refresh*', async (route) => {
    refreshes++;
    maxInFlight = Math.max(maxInFlight, ++inFlight);
    // Accept only the latest cookie: usually the previous one is accepted for another ten seconds.
    await superuser`update banyan.sessions set previous_hash = null`;
    const response = await route.fetch();
    inFlight--;
    await route.fulfill({ response });
  });
  const tabs = [page, other];
  const screens = [
    ['/me', '当前设备'],
    ['/departments', '暂无部门'],
  ] as const;
  // Wait for the text that each screen shows once it has loaded.
  for (const [path, text] of screens) {
    expireTokens();
    await Promise.all(tabs.map((tab) => navigate(tab, path)));
    await Promise.all(tabs.map((tab) => tab.getByText(text).first().waitFor()));
  }
  expireTokens();
  await Promise.all(tabs.map((tab) => tab.reload()));
  await Promise.all(tabs.map((tab) => tab.getByText('暂无部门').first().waitFor()));
  await page.context().unrouteAll({ behavior: 'wait' });
  assert.ok(refreshes >= 3, `${refreshes} refreshes`);
  assert.equal(maxInFlight, 1, 'refreshes run one at a time');
  assert.deepEqual([...(await sessionsOf('lan'))], [before], 'the session stays the same');
});

test('a token that expires on a slow connection is refreshed at login, in a tab that borrows it and after a reload', async () => {
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
  const borrower = await page.context().newPage();
  await borrower.goto('/me');
  await myAccount(borrower).waitFor();
  assert.ok(slowRequests <= 0);
  await borrower.close();
  slowRequests = 2;
  await page.reload();
  await myAccount(page).waitFor();
  assert.ok(slowRequests <= 0);
  assert.equal((await sessionsOf('yu')).length, 1);
});

test('leaving the page during a refresh does not end the session', async () => {
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
  await logInOnBothTabs('zhu', '/home');
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
  // Wait for the data of the screen, as `openAccount` does.
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

test('a lost connection is reported, and a submitted form is sent once it is back', async () => {
  await createUser('ju');
  await openAccount('ju');
  await fillPasswords();
  await page.context().setOffline(true);
  await page.getByRole('button', { name: '修改密码' }).click();
  await page.getByText('连接已断开').waitFor();
  await page.context().setOffline(false);
  await page.getByText('密码已修改').waitFor();
  await page.getByText('连接已断开').waitFor({ state: 'detached' });
  await fixture.service.logIn('000000', 'ju', 'another password');
});
