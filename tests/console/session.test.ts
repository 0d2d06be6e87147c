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
import { logInHere, logOutHere, untilSettled } from './desk.ts';

let aheadMs = 0;
const fixture = await startConsole({}, { tokenClockAheadMs: () => aheadMs });
const { superuser } = fixture.service;

/** All access tokens that were given so far expire. */
const expireTokens = () => {
  aheadMs += 3_600_000;
};

/** The administrator's token may have expired. */
const root = () => fixture.service.logIn('000000', 'admin');
const makeUser = async (userName: string) => (await root()).createUser({ userName });

const sessionsOf = (userName: string) => superuser<{ session_id: string }[]>`
  select session_id from banyan.sessions
  where user_id = (select user_id from banyan.users where user_name = ${userName} and tenant_id = '000000')`;

// Two tabs of one browser: they share the cookie, and learn of each other's logins.
const page = await fixture.sharedPage();
const other = await page.context().newPage();

/** Somebody is logged in, in both tabs. */
async function sitDownAtBoth(username: string, place: string) {
  await logInOnPage(page, { username }, place);
  if (other.url() === 'about:blank') await other.goto(place);
  else await navigate(other, place);
  await other.getByRole('button', { name: `用户：${username}` }).waitFor();
}

/** With all that is read for it: what is still on its way would ask for a refresh, or for the password, by itself. */
async function openMe(username: string) {
  await logInOnPage(page, { username }, '/me');
  await page.getByText('当前会话').waitFor();
}

const myAccount = (tab: Page) => tab.getByRole('heading', { level: 1, name: '个人中心' });

async function typePasswords() {
  await page.getByLabel('旧密码').fill(PASSWORD);
  await page.getByLabel('新密码', { exact: true }).fill('another password');
  await page.getByLabel('确认新密码').fill('another password');
}

test('a session that ends in the middle of a form asks for the password over it, then the form is sent', async () => {
  await makeUser('mei');
  await openMe('mei');
  await typePasswords();
  await superuser`delete from banyan.sessions where user_id = (select user_id from banyan.users where user_name = 'mei')`;
  await page.getByRole('button', { name: '修改密码' }).click();
  const dialog = page.getByRole('dialog', { name: '登录已过期' });
  await dialog.waitFor();
  await expectNoAxeViolations(page);
  await dialog.getByLabel('密码').fill('not my password');
  await page.keyboard.press('Enter');
  await dialog.getByText('租户、用户名或密码错误').waitFor();
  assert.equal(await page.getByLabel('确认新密码').inputValue(), 'another password', 'what was typed is there');
  await dialog.getByLabel('密码').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByText('密码已修改').waitFor();
  await fixture.service.logIn('000000', 'mei', 'another password');
  expectNoCspViolations(page);
});

test('tabs refresh in turn: none ends the session of the other', async () => {
  await makeUser('lan');
  await sitDownAtBoth('lan', '/home');
  const [before] = await sessionsOf('lan');
  let [inFlight, most, refreshes] = [0, 0, 0];
  await page.context().route('**/auth/refresh*', async (route) => {
    refreshes++;
    most = Math.max(most, ++inFlight);
    // Only the latest cookie is good, not the one before, which a browser may send again within ten seconds.
    await superuser`update banyan.sessions set previous_hash = null`;
    const response = await route.fetch();
    inFlight--;
    await route.fulfill({ response });
  });
  const tabs = [page, other];
  const places = [
    ['/me', '当前会话'],
    ['/departments', '暂无部门'],
  ] as const;
  // What a place shows once it was read.
  for (const [place, text] of places) {
    expireTokens();
    await Promise.all(tabs.map((tab) => navigate(tab, place)));
    await Promise.all(tabs.map((tab) => tab.getByText(text).first().waitFor()));
  }
  expireTokens();
  await Promise.all(tabs.map((tab) => tab.reload()));
  await Promise.all(tabs.map((tab) => tab.getByText('暂无部门').first().waitFor()));
  await page.context().unrouteAll({ behavior: 'wait' });
  assert.ok(refreshes >= 3, `${refreshes} refreshes`);
  assert.equal(most, 1, 'one at a time');
  assert.deepEqual([...(await sessionsOf('lan'))], [before], 'the session is the same all the time');
});

test('a token that expires on a slow line is exchanged, at login, in a tab that borrows it and in one that comes back', async () => {
  const page = await fixture.newPage();
  await makeUser('yu');
  let slow = 1;
  await page.context().route('**/auth/me', async (route) => {
    if (slow-- > 0) expireTokens();
    await route.continue();
  });
  await page.goto('/login?to=/me');
  await logInHere(page, { username: 'yu' });
  await myAccount(page).waitFor();
  assert.ok(slow <= 0);
  slow = 2;
  const borrower = await page.context().newPage();
  await borrower.goto('/me');
  await myAccount(borrower).waitFor();
  assert.ok(slow <= 0);
  await borrower.close();
  slow = 2;
  await page.reload();
  await myAccount(page).waitFor();
  assert.ok(slow <= 0);
  assert.equal((await sessionsOf('yu')).length, 1);
});

test('a page that is left in the middle of a refresh does not end the session', async () => {
  // In a browser with this one tab: another would lend its token.
  const page = await fixture.newPage();
  await makeUser('tao');
  await logInOnPage(page, { username: 'tao' }, '/me');
  await page.getByText('当前会话').waitFor();
  const cookie = async () => (await page.context().cookies(`${fixture.service.base}/auth`))[0]?.value;
  const before = await cookie();
  expireTokens();
  await superuser.begin(async (tx) => {
    await tx`select from banyan.sessions where user_id = (select user_id from banyan.users where user_name = 'tao') for update`;
    await page.getByRole('navigation').getByRole('link', { name: '部门' }).click();
    await waitFor('the refresh waits for the session', async () => (await countLockWaits(tx)) > 0);
    await page.goto('about:blank');
  });
  await waitFor('the browser has the next cookie', async () => (await cookie()) !== before);
  // Longer ago than the cookie before would be forgiven.
  await superuser`update banyan.sessions set last_used = last_used - interval '11 seconds'`;
  await page.goto('/me');
  await myAccount(page).waitFor();
});

test('a logout in one tab is one in all', async () => {
  await makeUser('zhu');
  await sitDownAtBoth('zhu', '/home');
  await logOutHere(other);
  await page.getByRole('heading', { name: '登录榕树' }).waitFor();
});

test('a logout reaches a tab that is still loading', async () => {
  await makeUser('hua');
  await logInOnPage(page, { username: 'hua' });
  let tellNow = () => {};
  const later = new Promise<void>((resolve) => (tellNow = resolve));
  await other.route('**/auth/me', async (route) => {
    const response = await route.fetch();
    await later;
    await route.fulfill({ response });
  });
  const asked = other.waitForRequest('**/auth/me');
  await other.goto('/home');
  await asked;
  await logOutHere(page);
  await other.getByRole('heading', { name: '登录榕树' }).waitFor();
  const told = other.waitForResponse('**/auth/me');
  tellNow();
  await (await told).finished();
  await untilSettled(other);
  await other.getByRole('heading', { name: '登录榕树' }).waitFor();
  assert.equal(await other.getByRole('button', { name: '用户：hua' }).count(), 0);
});

test('a logout after the token expired ends the session: a reload does not bring it back', async () => {
  await makeUser('qiu');
  await logInOnPage(page, { username: 'qiu' });
  // With all that is read for it, as above.
  await page.getByText('个人信息').waitFor();
  assert.equal((await sessionsOf('qiu')).length, 1);
  expireTokens();
  await logOutHere(page);
  assert.equal((await sessionsOf('qiu')).length, 0);
  await page.reload();
  await page.getByRole('heading', { name: '登录榕树' }).waitFor();
});

test('a logout while the tenant is disabled ends the session: it is not back when the tenant is', async () => {
  const boss = await fixture.service.createTenant({ tenantName: '分公司' }, await root());
  const change = async (status: string) => {
    const { code } = await (await root()).put('/system/tenant-api', { id: boss.id, tenantName: '分公司', status });
    assert.equal(code, 200);
  };
  await logInOnPage(page, { tenantId: boss.tenantId, username: 'boss' }, '/me');
  // A call that finds the tenant disabled would ask for the password over the menu.
  await page.getByText('当前会话').waitFor();
  const sessions = async () => (await superuser`select from banyan.sessions where tenant_id = ${boss.tenantId}`).length;
  assert.equal(await sessions(), 2);
  await change('1');
  await logOutHere(page);
  await change('0');
  assert.deepEqual(await page.context().cookies(`${fixture.service.base}/auth`), []);
  assert.equal(await sessions(), 1, 'only that of the API client is left');
});

test('a lost connection is said; what was sent arrives once it is back', async () => {
  await makeUser('ju');
  await openMe('ju');
  await typePasswords();
  await page.context().setOffline(true);
  await page.getByRole('button', { name: '修改密码' }).click();
  await page.getByText('连接已断开').waitFor();
  await page.context().setOffline(false);
  await page.getByText('密码已修改').waitFor();
  await page.getByText('连接已断开').waitFor({ state: 'detached' });
  await fixture.service.logIn('000000', 'ju', 'another password');
});
