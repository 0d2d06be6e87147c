import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  expectNoAxeViolations,
  expectNoCspViolations,
  logIn,
  logInOnPage,
  PHONE,
  screenshot,
  startConsole,
} from '../support/console.ts';
import { expectError } from '../support/expect.ts';
import { PASSWORD } from '../support/service.ts';

const fixture = await startConsole();
const { root } = fixture.service;
const page = await fixture.sharedPage();

/** Somebody of his own for each test, so that no test ends another's sessions. */
async function somebody(userName: string) {
  await root.createUser({ userName, roles: ['admin'] });
  return { username: userName };
}

test('the password is changed; a wrong old one is told beside its field', async () => {
  await logInOnPage(page, await somebody('mei'), '/me');
  await page.getByLabel('旧密码').fill('not my password');
  await page.getByLabel('新密码', { exact: true }).fill('another password');
  await page.getByLabel('确认新密码').fill('another passwort');
  await page.getByRole('button', { name: '修改密码' }).click();
  await page.getByText('两次输入的新密码不一致').waitFor();
  await page.getByLabel('确认新密码').fill('another password');
  await page.getByRole('button', { name: '修改密码' }).click();
  await page.getByText('旧密码错误').waitFor();
  await page.getByLabel('旧密码').fill(PASSWORD);
  await page.getByRole('button', { name: '修改密码' }).click();
  await page.getByText('密码已修改').waitFor();
  await fixture.service.logIn('000000', 'mei', 'another password');
  expectNoCspViolations(page);
});

test('sessions are listed and ended, one and all of them', async () => {
  const who = await somebody('lan');
  const there = await fixture.service.logIn('000000', 'lan');
  await logInOnPage(page, who, '/me');
  await page.getByText('当前会话').waitFor();
  await expectNoAxeViolations(page);
  await screenshot(page, 'me');
  await page.getByRole('button', { name: /^结束会话/ }).click();
  await page.getByText('会话已结束').waitFor();
  await page.getByRole('button', { name: /^结束会话/ }).waitFor({ state: 'detached' });
  expectError(await there.get('/auth/me'), 401, 'SESSION_ENDED');

  const third = await fixture.service.logIn('000000', 'lan');
  await page.getByRole('button', { name: '退出所有设备' }).click();
  await page.getByRole('dialog').getByRole('button', { name: '退出所有设备' }).click();
  await page.getByRole('heading', { name: '登录榕树' }).waitFor();
  assert.equal((await third.get('/auth/me')).code, 401);
});

test('light and dark are chosen and kept; both can be read', async () => {
  // A browser of its own: the choice is kept in it.
  const page = await fixture.newPage({ viewport: PHONE });
  await logIn(page, {}, '/me');
  await page.getByText('深色').click();
  await page.locator('html[data-theme=dark]').waitFor();
  await page.reload();
  await page.locator('html[data-theme=dark]').waitFor();
  await page.getByText('当前会话').waitFor();
  await expectNoAxeViolations(page);
  await screenshot(page, 'me-dark-phone');
});

test('nothing moves for who asked the system for little motion', async () => {
  await somebody('qin');
  const movements = async (reducedMotion: 'reduce' | 'no-preference') => {
    await logInOnPage(page, { username: 'qin' }, '/me');
    await page.emulateMedia({ reducedMotion });
    await page.getByText('当前会话').waitFor();
    await page.evaluate(`moved = [];
      for (const kind of ['animationstart', 'transitionstart'])
        addEventListener(kind, ({ target, propertyName, animationName }) => moved.push([target.className, propertyName, animationName].join(' ')), true);`);
    await page.getByRole('button', { name: '退出所有设备' }).click();
    await page.getByRole('dialog').getByRole('button', { name: '取消' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    return (await page.evaluate('moved')) as string[];
  };
  assert.notDeepEqual(await movements('no-preference'), []);
  assert.deepEqual(await movements('reduce'), []);
});
