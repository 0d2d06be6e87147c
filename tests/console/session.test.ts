import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectAccessibleInLongRun, expectNoCspViolations, logInOnPage, navigate } from '../support/console.ts';
import { isLong, scale } from '../support/scale.ts';
import { PASSWORD } from '../support/service.ts';
import { logOut, submitLogin } from './login-form.ts';
import { startSessions } from './two-tabs.ts';

const { fixture, page, other, superuser, pathOf, expireTokens, createUser, sessionsOf, logInOnBothTabs } =
  await startSessions();

/** Opens the account screen and waits for its data: a request in flight would itself cause a refresh or a password dialog. */
async function openAccount(username: string) {
  await logInOnPage(page, { username }, '/me');
  await page.getByText('当前设备').waitFor();
}

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
  await expectAccessibleInLongRun(page);
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

test('an internal error of the service while the token is refreshed does not end the session', async () => {
  await createUser('hua');
  await openAccount('hua');
  await page.route(
    '**/auth/refresh*',
    (route) => route.fulfill({ status: 500, json: { code: 500, msg: 'x', data: {} } }),
    {
      times: 1,
    },
  );
  await page.reload();
  await page.getByText('当前设备').waitFor();
});

test('a logout clears the URL in both tabs, and the next user starts at the home screen', async () => {
  await createUser('lin', ['admin']);
  await createUser('tan', ['admin']);
  await logInOnBothTabs({ username: 'lin' }, '/people?q=secret', '/tenants?q=secret');
  await page.getByRole('heading', { level: 1, name: '人员' }).waitFor();
  await other.getByRole('heading', { level: 1, name: '租户' }).waitFor();
  await logOut(page);
  await other.getByRole('heading', { name: '登录榕树' }).waitFor();
  assert.deepEqual([pathOf(page), pathOf(other)], ['/login', '/login']);
  await submitLogin(page, { username: 'tan' });
  assert.equal(pathOf(page), '/home');
  await other.locator('.frame h1').waitFor();
  assert.equal(pathOf(other), '/home');
});

test('two tabs refresh their token one at a time, and neither ends the session of the other', async () => {
  await createUser('lan');
  await logInOnBothTabs({ username: 'lan' }, '/home');
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
  // Wait for the text that each screen shows once it has loaded. The everyday run opens one screen.
  for (const [path, text] of screens.slice(0, scale(1, screens.length))) {
    expireTokens();
    await Promise.all(tabs.map((tab) => navigate(tab, path)));
    await Promise.all(tabs.map((tab) => tab.getByText(text).first().waitFor()));
  }
  if (isLong) {
    expireTokens();
    await Promise.all(tabs.map((tab) => tab.reload()));
    await Promise.all(tabs.map((tab) => tab.getByText('暂无部门').first().waitFor()));
  }
  await page.context().unrouteAll({ behavior: 'wait' });
  assert.ok(refreshes >= scale(1, 3), `${refreshes} refreshes`);
  assert.equal(maxInFlight, 1, 'refreshes run one at a time');
  assert.deepEqual([...(await sessionsOf('lan'))], [before], 'the session stays the same');
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
