// Only with test:long: it covers leaving the screen during an operation; people.test.ts covers operations on several users.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectAccessibleInLongRun, expectNoCspViolations, logInOnPage, startConsole } from '../support/console.ts';
import { peopleScreen } from './people-page.ts';

const fixture = await startConsole();

const page = await fixture.sharedPage();
const { topDialog, passwordOf } = peopleScreen(page);

/** Goes from home to the people screen and resets five passwords. The second write is held until `release` is called. */
async function startResettingPasswords() {
  const child = await fixture.service.createTenant({ tenantName: '密码公司' });
  await Promise.all([1, 2, 3, 4, 5].map((n) => child.createUser({ userName: `worker${n}` })));
  await logInOnPage(page, { tenantId: child.tenantId, username: 'boss' });
  await page.getByRole('navigation').getByRole('link', { name: '人员' }).click();
  for (const n of [1, 2, 3, 4, 5]) await page.getByRole('checkbox', { name: `选择 worker${n}` }).check();
  await page.getByRole('toolbar').getByRole('button', { name: '重置密码' }).click();
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const writes: unknown[] = [];
  await page.route('**/system/user-api', async (route) => {
    if (route.request().method() === 'PUT' && writes.push(route.request().postDataJSON()) === 2) await released;
    await route.continue();
  });
  let sent = 0;
  const second = page.waitForRequest((request) => request.method() === 'PUT' && ++sent === 2);
  await topDialog().getByRole('button', { name: '重置密码' }).click();
  await page.getByText('正在处理 1 / 5').waitFor();
  // Wait for the second write: leaving while the second user is only being read would stop before that write.
  await second;
  return { child, release, writes };
}

test('going back asks for confirmation while passwords are being reset and while they are shown', async () => {
  const { child, release } = await startResettingPasswords();
  await page.evaluate('history.back()');
  const running = page.getByRole('dialog', { name: '操作尚未完成，确定离开？' });
  await running.getByText('已生成的新密码将不再显示').waitFor();
  await expectAccessibleInLongRun(page);
  await running.getByRole('button', { name: '留在此页' }).click();
  await running.waitFor({ state: 'hidden' });
  release();
  await page.getByText('5 人全部完成').waitFor();
  await page.evaluate('history.back()');
  const shown = page.getByRole('dialog', { name: '离开后密码将不再显示，确定离开？' });
  await shown.getByRole('button', { name: '留在此页' }).click();
  await shown.waitFor({ state: 'hidden' });
  const password = await passwordOf('worker5').innerText();
  await fixture.service.logIn(child.tenantId, 'worker5', password);
  const beforeUnload = page.waitForEvent('dialog');
  await page.close({ runBeforeUnload: true });
  const question = await beforeUnload;
  assert.equal(question.type(), 'beforeunload');
  await question.dismiss();
  await page.evaluate('history.back()');
  await shown.getByRole('button', { name: '离开' }).click();
  await page.getByRole('heading', { level: 1, name: '首页' }).waitFor();
  assert.equal(await page.getByRole('dialog').count(), 0);
  expectNoCspViolations(page);
});

test('leaving the screen while passwords are being reset stops the operation', async () => {
  const { release, writes } = await startResettingPasswords();
  await page.evaluate('history.back()');
  await page.getByRole('dialog', { name: '操作尚未完成，确定离开？' }).getByRole('button', { name: '离开' }).click();
  await page.getByRole('heading', { level: 1, name: '首页' }).waitFor();
  // The console reloads the data on the screen when the operation ends, whatever its result.
  await page.getByText('用户名额').waitFor();
  const reloaded = page.waitForRequest('**/system/overview-api');
  release();
  await reloaded;
  assert.equal(writes.length, 2);
});

test('going back while the password of a new user is shown asks for confirmation', async () => {
  await logInOnPage(page, {}, '/people');
  await page.getByRole('button', { name: '新建用户' }).click();
  await topDialog().getByLabel('用户名').fill('onlyonce');
  await topDialog().getByRole('button', { name: '随机生成' }).click();
  await topDialog().getByRole('button', { name: '创建' }).click();
  const loginDetails = page.getByRole('dialog', { name: 'onlyonce 的登录信息' });
  await loginDetails.waitFor();
  await page.evaluate('history.back()');
  const question = page.getByRole('dialog', { name: '离开后密码将不再显示，确定离开？' });
  await question.getByRole('button', { name: '留在此页' }).click();
  await question.waitFor({ state: 'hidden' });
  await loginDetails.locator('code').waitFor();
  await page.evaluate('history.back()');
  await question.getByRole('button', { name: '离开' }).click();
  await loginDetails.waitFor({ state: 'hidden' });
});
