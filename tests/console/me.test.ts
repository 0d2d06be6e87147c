import assert from 'node:assert/strict';
import { test } from 'node:test';
import { version } from '../../server/version.ts';
import { expectAccessibleInLongRun, expectNoCspViolations, logInOnPage, startConsole } from '../support/console.ts';
import { expectError } from '../support/expect.ts';
import { PASSWORD } from '../support/service.ts';

const fixture = await startConsole();
const { root } = fixture.service;
const page = await fixture.sharedPage();

/** Creates an administrator for one test, so that no test ends the sessions of another. */
async function createAdministrator(userName: string) {
  await root.createUser({ userName, roles: ['admin'] });
  return { username: userName };
}

test('a user sees the version of the service and can change their password; errors are reported at their fields', async () => {
  await logInOnPage(page, await createAdministrator('mei'), '/me');
  await page.getByText(version, { exact: true }).waitFor();
  await page.getByLabel('旧密码').fill('not my password');
  await page.getByLabel('新密码', { exact: true }).fill('another password');
  await page.getByLabel('确认新密码').fill('another passwort');
  await page.getByRole('button', { name: '修改密码' }).click();
  await page.getByText('两次输入的新密码不一致').waitFor();
  await page.getByLabel('确认新密码').fill('another password');
  await page.getByRole('button', { name: '修改密码' }).click();
  const oldPassword = page.locator('.ant-form-item', { has: page.getByLabel('旧密码') });
  await oldPassword.getByText('旧密码错误').waitFor();
  await page.getByLabel('旧密码').fill(PASSWORD);
  await page.getByLabel('新密码', { exact: true }).fill('password123');
  await page.getByLabel('确认新密码').fill('password123');
  await page.getByRole('button', { name: '修改密码' }).click();
  // The message names the field by its label: the service calls it newPassword.
  await page.getByText('新密码过于常见').waitFor();
  await page.getByLabel('新密码', { exact: true }).fill('another password');
  await page.getByLabel('确认新密码').fill('another password');
  await page.getByRole('button', { name: '修改密码' }).click();
  await page.getByText('密码已修改').waitFor();
  await fixture.service.logIn('000000', 'mei', 'another password');
  expectNoCspViolations(page);
});

test('a user can list their sessions and end one or all of them', async () => {
  const credentials = await createAdministrator('lan');
  const otherClient = await fixture.service.logIn('000000', 'lan');
  await logInOnPage(page, credentials, '/me');
  await page.getByText('当前设备').waitFor();
  await expectAccessibleInLongRun(page);
  await page.getByRole('button', { name: /^退出登录/ }).click();
  await page.getByText('该设备已退出登录').waitFor();
  await page.getByRole('button', { name: /^退出登录/ }).waitFor({ state: 'detached' });
  expectError(await otherClient.get('/auth/me'), 401, 'SESSION_ENDED');

  const thirdClient = await fixture.service.logIn('000000', 'lan');
  await page.getByRole('button', { name: '退出所有设备' }).click();
  await page.getByRole('dialog').getByRole('button', { name: '退出所有设备' }).click();
  await page.getByRole('heading', { name: '登录榕树' }).waitFor();
  assert.equal((await thirdClient.get('/auth/me')).code, 401);
});
