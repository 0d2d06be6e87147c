import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PASSWORD } from '../harness.ts';
import { logIn, noCspViolations, noSeriousAxe, PHONE, screenshot, startConsole } from './harness.ts';

const stage = await startConsole();
const { root } = stage.service;

/** Somebody of his own for each test, so that no test ends another's sessions. */
async function somebody(userName: string) {
  await root.user({ userName, roles: ['admin'] });
  return { username: userName };
}

test('the password is changed; a wrong old one is told beside its field', async () => {
  const page = await stage.page();
  const who = await somebody('mei');
  await logIn(page, who, '/me');
  await page.getByLabel('旧密码').fill('not my password');
  await page.getByLabel('新密码', { exact: true }).fill('another password');
  await page.getByLabel('再次输入新密码').fill('another passwort');
  await page.getByRole('button', { name: '修改密码' }).click();
  await page.getByText('两次输入的新密码不一致').waitFor();
  await page.getByLabel('再次输入新密码').fill('another password');
  await page.getByRole('button', { name: '修改密码' }).click();
  await page.getByText('旧密码错误').waitFor();
  await page.getByLabel('旧密码').fill(PASSWORD);
  await page.getByRole('button', { name: '修改密码' }).click();
  await page.getByText('密码已修改').waitFor();
  await stage.service.logIn('000000', 'mei', 'another password');
  noCspViolations(page);
});

test('sessions are listed and ended, one and all of them', async () => {
  const who = await somebody('lan');
  const [here, there] = [await stage.page(), await stage.page()];
  await logIn(there, who);
  await logIn(here, who, '/me');
  await here.getByText('当前会话').waitFor();
  await noSeriousAxe(here);
  await screenshot(here, 'me');
  await here.getByRole('button', { name: /^结束会话/ }).click();
  await here.getByText('会话已结束').waitFor();
  await here.getByRole('button', { name: /^结束会话/ }).waitFor({ state: 'detached' });
  await there.reload();
  await there.getByRole('heading', { name: '登录榕树' }).waitFor();

  const third = await stage.service.logIn('000000', 'lan');
  await here.getByRole('button', { name: '在所有地方退出' }).click();
  await here.getByRole('dialog').getByRole('button', { name: '在所有地方退出' }).click();
  await here.getByRole('heading', { name: '登录榕树' }).waitFor();
  assert.equal((await third.get('/auth/me')).code, 401);
});

test('light and dark are chosen and kept; both can be read', async () => {
  const page = await stage.page({ viewport: PHONE });
  await logIn(page, {}, '/me');
  await page.getByText('深色').click();
  await page.locator('html[data-theme=dark]').waitFor();
  await page.reload();
  await page.locator('html[data-theme=dark]').waitFor();
  await page.getByText('当前会话').waitFor();
  await noSeriousAxe(page);
  await screenshot(page, 'me-dark-phone');
});

test('nothing moves for who asked the system for little motion', async () => {
  await somebody('qin');
  const movements = async (reducedMotion: 'reduce' | 'no-preference') => {
    const page = await stage.page({ reducedMotion });
    await logIn(page, { username: 'qin' }, '/me');
    await page.getByText('当前会话').waitFor();
    await page.evaluate(`moved = [];
      for (const kind of ['animationstart', 'transitionstart'])
        addEventListener(kind, ({ target, propertyName, animationName }) => moved.push([target.className, propertyName, animationName].join(' ')), true);`);
    await page.getByRole('button', { name: '在所有地方退出' }).click();
    await page.getByRole('dialog').getByRole('button', { name: '取消' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    return (await page.evaluate('moved')) as string[];
  };
  assert.notDeepEqual(await movements('no-preference'), []);
  assert.deepEqual(await movements('reduce'), []);
});
