// Only with test:long: it repeats the login in other situations; login.test.ts covers the login, me.test.ts a new password and session.test.ts the end of a session.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectAccessibleInLongRun, logIn, logInByForm, open, startConsole } from '../support/console.ts';
import { PASSWORD } from '../support/service.ts';
import { fillLogin, logOut } from './login-form.ts';

const fixture = await startConsole();

test('a user who opens a link logs in and sees the linked screen', async () => {
  const page = await fixture.newPage();
  await logInByForm(page, {}, '/chart?zoom=2');
  await page.getByRole('heading', { level: 1, name: '组织架构图' }).waitFor();
  assert.equal(new URL(page.url()).pathname + new URL(page.url()).search, '/chart?zoom=2');
});

test('a user whose tenant is disabled or expired sees the reason at login and is logged in again once it is active', async () => {
  const { id, tenantId } = await fixture.service.createTenant({ tenantName: '停业公司' });
  const change = async (changes: object) => {
    const { code } = await fixture.service.root.put('/system/tenant-api', { id, tenantName: '停业公司', ...changes });
    assert.equal(code, 200);
  };
  const page = await fixture.newPage();
  const login = { tenantId, username: 'boss', password: PASSWORD };
  assert.equal((await page.context().request.post('/auth/login?session=cookie', { data: login })).status(), 200);
  const alert = page.getByRole('alert');
  await change({ status: '1' });
  await page.goto('/me');
  await alert.getByText('租户或其上级租户已被停用，请联系管理员').waitFor();
  await expectAccessibleInLongRun(page);
  await page.getByRole('button', { name: 'English' }).click();
  await change({ status: '0', endTime: '2020-01-01' });
  await page.reload();
  await alert
    .getByText('The service period of the tenant or of one of its ancestors has ended. Contact an administrator.')
    .waitFor();
  await change({ status: '0' });
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'My account' }).waitFor();
});

test('the keyboard skips the navigation and opens, closes and uses the account menu', async () => {
  const page = await fixture.newPage();
  await logIn(page);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.locator('main:focus').waitFor();
  const account = page.getByRole('button', { name: '用户：admin' });
  await account.press('Enter');
  await page.getByRole('menuitem', { name: '个人中心' }).and(page.locator(':focus')).waitFor();
  assert.equal(await account.getAttribute('aria-expanded'), 'true');
  await page.keyboard.press('Escape');
  await account.and(page.locator(':focus')).waitFor();
  assert.equal(await account.getAttribute('aria-expanded'), 'false');
  await account.press('Enter');
  await page.getByRole('menuitem', { name: '个人中心' }).press('Enter');
  await page.getByRole('heading', { level: 1, name: '个人中心' }).waitFor();
});

test('a user whose password an administrator has set must change it before the console opens, also after a reload', async () => {
  const admin = await fixture.service.createTenant();
  await admin.createUser({ userName: 'newcomer', mustChangePassword: true });
  const page = await fixture.newPage();
  await open(page, '/departments');
  await fillLogin(page, { tenantId: admin.tenantId, username: 'newcomer' });
  await page.getByRole('button', { name: '登录', exact: true }).click();
  await page.getByRole('heading', { name: '请修改密码' }).waitFor();
  await expectAccessibleInLongRun(page);
  await page.reload();
  await page.getByRole('heading', { name: '请修改密码' }).waitFor();
  const change = async (newPassword: string) => {
    await page.getByLabel('旧密码').fill(PASSWORD);
    await page.getByLabel('新密码', { exact: true }).fill(newPassword);
    await page.getByLabel('确认新密码').fill(newPassword);
    await page.getByRole('button', { name: '修改密码' }).click();
  };
  await change('password');
  await page.getByText('新密码过于常见').waitFor();
  await change('battery staple');
  await page.locator('.frame h1').waitFor();
  assert.match(page.url(), /\/departments/);
  await page.close();
});

test('the console works in a browser that forbids storage', async () => {
  const page = await fixture.newPage();
  await page.addInitScript(`for (const name of ['localStorage', 'sessionStorage'])
    Object.defineProperty(window, name, { get() { throw new DOMException('forbidden', 'SecurityError'); } });`);
  await logInByForm(page, {}, '/home');
  await page
    .getByRole('button', { name: 'English' })
    .or(page.getByRole('button', { name: '用户：admin' }))
    .first()
    .waitFor();
  await logOut(page);
});

test('the details of a failed login name the reason', async () => {
  const admin = await fixture.service.createTenant();
  const data = { tenantId: admin.tenantId, username: 'boss', password: 'a wrong password' };
  assert.equal((await fixture.service.anonymous.post('/auth/login', data)).status, 401);
  const page = await fixture.newPage();
  await logIn(page, { tenantId: admin.tenantId, username: 'boss' }, '/changes');
  const list = page.getByRole('region', { name: '变更', exact: true });
  const failure = list.getByRole('listitem').filter({ hasText: '登录失败' });
  await failure.getByRole('button', { name: /^详情/ }).click();
  await failure.getByText('用户名或密码错误').waitFor();
});
