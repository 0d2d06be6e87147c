import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { PASSWORD } from '../harness.ts';
import { logIn, noCspViolations, noSeriousAxe, startConsole } from './harness.ts';

// So short that every few steps need a refresh.
const stage = await startConsole({ BANYAN_ACCESS_TOKEN_SECONDS: '2' });
const { superuser } = stage.service;

const makeUser = async (userName: string) => (await stage.service.logIn('000000', 'admin')).user({ userName });

/** With all that is read for it: what is still on its way would ask for a refresh, or for the password, by itself. */
async function openMe(page: Page, username: string) {
  await logIn(page, { username }, '/me');
  await page.getByText('当前会话').waitFor();
}

async function typePasswords(page: Page) {
  await page.getByLabel('旧密码').fill(PASSWORD);
  await page.getByLabel('新密码', { exact: true }).fill('another password');
  await page.getByLabel('再次输入新密码').fill('another password');
}

test('a session that ends in the middle of a form asks for the password over it, then the form is sent', async () => {
  const page = await stage.page();
  await makeUser('mei');
  await openMe(page, 'mei');
  await typePasswords(page);
  await superuser`delete from banyan.sessions where user_id = (select user_id from banyan.users where user_name = 'mei')`;
  await page.getByRole('button', { name: '修改密码' }).click();
  const dialog = page.getByRole('dialog', { name: '登录已过期' });
  await dialog.waitFor();
  await noSeriousAxe(page);
  await dialog.getByLabel('密码').fill('not my password');
  await page.keyboard.press('Enter');
  await dialog.getByText('租户、用户名或密码错误').waitFor();
  assert.equal(await page.getByLabel('再次输入新密码').inputValue(), 'another password', 'what was typed is there');
  await dialog.getByLabel('密码').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByText('密码已修改').waitFor();
  await stage.service.logIn('000000', 'mei', 'another password');
  noCspViolations(page);
});

test('tabs refresh in turn: none ends the session of the other', async () => {
  const first = await stage.page();
  await makeUser('lan');
  await logIn(first, { username: 'lan' }, '/me');
  const tabs = [first, await first.context().newPage(), await first.context().newPage()];
  for (let round = 0; round < 3; round++) {
    await Promise.all(tabs.map((page) => page.goto('/me')));
    await Promise.all(tabs.map((page) => page.getByRole('heading', { level: 1, name: '我的账户' }).waitFor()));
  }
});

test('a token that runs out on a slow line is exchanged, at login, in a tab that lends it and in one that comes back', async () => {
  const page = await stage.page();
  await makeUser('yu');
  let slow = 1;
  await page.context().route('**/auth/me', async (route) => {
    if (slow-- > 0) await setTimeout(2500);
    await route.continue();
  });
  await logIn(page, { username: 'yu' }, '/me');
  slow = 2;
  const lent = await page.context().newPage();
  await lent.goto('/me');
  await lent.getByRole('heading', { level: 1, name: '我的账户' }).waitFor();
  await lent.close();
  slow = 2;
  await page.reload();
  await page.getByRole('heading', { level: 1, name: '我的账户' }).waitFor();
});

test('a page that is left in the middle of a refresh does not end the session', async () => {
  const page = await stage.page();
  await makeUser('tao');
  await openMe(page, 'tao');
  await setTimeout(2100);
  await superuser.begin(async (tx) => {
    await tx`select from banyan.sessions where user_id = (select user_id from banyan.users where user_name = 'tao') for update`;
    const asked = page.waitForRequest(/auth\/refresh/);
    await page.getByRole('link', { name: '首页' }).click();
    await asked;
    await setTimeout(300);
    await page.goto('about:blank');
  });
  // Longer than the cookie before would be forgiven.
  await setTimeout(11_000);
  await page.goto('/me');
  await page.getByRole('heading', { level: 1, name: '我的账户' }).waitFor();
});

test('a logout in one tab is one in all', async () => {
  const first = await stage.page();
  await makeUser('zhu');
  await logIn(first, { username: 'zhu' });
  const second = await first.context().newPage();
  await second.goto('/home');
  await second.getByRole('button', { name: '账户：zhu' }).click();
  await second.getByRole('menuitem', { name: '退出登录' }).click();
  await first.getByRole('heading', { name: '登录榕树' }).waitFor();
});

test('a logout reaches a tab that is still loading', async () => {
  const first = await stage.page();
  await makeUser('hua');
  await logIn(first, { username: 'hua' });
  const second = await first.context().newPage();
  let tellNow = () => {};
  const later = new Promise<void>((resolve) => (tellNow = resolve));
  await second.route('**/auth/me', async (route) => {
    const response = await route.fetch();
    await later;
    await route.fulfill({ response });
  });
  const asked = second.waitForRequest('**/auth/me');
  await second.goto('/home');
  await asked;
  await first.getByRole('button', { name: '账户：hua' }).click();
  await first.getByRole('menuitem', { name: '退出登录' }).click();
  await second.getByRole('heading', { name: '登录榕树' }).waitFor();
  const told = second.waitForResponse('**/auth/me');
  tellNow();
  await (await told).finished();
  await setTimeout(500);
  await second.getByRole('heading', { name: '登录榕树' }).waitFor();
  assert.equal(await second.getByRole('button', { name: '账户：hua' }).count(), 0);
});

test('a logout after the token ran out ends the session: a reload does not bring it back', async () => {
  const page = await stage.page();
  await makeUser('qiu');
  await logIn(page, { username: 'qiu' });
  const sessions = () => superuser`
    select from banyan.sessions where user_id = (select user_id from banyan.users where user_name = 'qiu')`;
  assert.equal((await sessions()).length, 1);
  await setTimeout(2500);
  await page.getByRole('button', { name: '账户：qiu' }).click();
  await page.getByRole('menuitem', { name: '退出登录' }).click();
  await page.getByRole('heading', { name: '登录榕树' }).waitFor();
  assert.equal((await sessions()).length, 0);
  await page.reload();
  await page.getByRole('heading', { name: '登录榕树' }).waitFor();
});

test('a logout while the tenant is disabled ends the session: it is not back when the tenant is', async () => {
  const root = () => stage.service.logIn('000000', 'admin');
  // A token for each call: to make a tenant with its administrator may take longer than one is good.
  const administrator = { username: 'boss', password: PASSWORD };
  const id = await (await root()).make('/system/tenant-api', { tenantName: '分公司', ...administrator });
  const { tenantId } = (await (await root()).get(`/system/tenant-api/${id}`)).data;
  const page = await stage.page();
  await page.goto('/login?to=/me');
  await page.getByLabel('租户').fill(tenantId);
  await page.getByLabel('用户名').fill('boss');
  await page.getByLabel('密码').fill(PASSWORD);
  await page.keyboard.press('Enter');
  const account = page.getByRole('button', { name: '账户：boss' });
  // As above: a call that finds the token run out and the tenant disabled would ask for the password over the menu.
  await page.getByText('当前会话').waitFor();
  const change = async (status: string) => {
    const { code } = await (await root()).put('/system/tenant-api', { id, tenantName: '分公司', status });
    assert.equal(code, 200);
  };
  await change('1');
  await account.click();
  await page.getByRole('menuitem', { name: '退出登录' }).click();
  await page.getByRole('heading', { name: '登录榕树' }).waitFor();
  await change('0');
  await page.goto('/home');
  await page.getByRole('heading', { name: '登录榕树' }).waitFor();
  assert.deepEqual(await page.context().cookies(`${stage.service.base}/auth`), []);
});

test('a lost connection is said; what was sent arrives once it is back', async () => {
  const page = await stage.page();
  await makeUser('ju');
  await logIn(page, { username: 'ju' }, '/me');
  await typePasswords(page);
  await page.context().setOffline(true);
  await page.getByRole('button', { name: '修改密码' }).click();
  await page.getByText('连接已断开').waitFor();
  await page.context().setOffline(false);
  await page.getByText('密码已修改').waitFor();
  await page.getByText('连接已断开').waitFor({ state: 'detached' });
});
