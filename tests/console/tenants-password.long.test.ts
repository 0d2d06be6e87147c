// Only with test:long: it covers each way to leave the notice with a password; tenants.test.ts covers the notice, and import.test.ts the question before passwords are lost.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { expectNoCspViolations, logInOnPage, startConsole } from '../support/console.ts';
import { waitFor } from '../support/wait.ts';
import { holdRequests } from './page-actions.ts';

const fixture = await startConsole();
const { root } = fixture.service;

const createTenant = (body: Record<string, unknown>) => root.create('/system/tenant-api', body);
const heading = (page: Page, level: number, name: string) => page.getByRole('heading', { level, name, exact: true });

test('the password of a new administrator stays until the user closes the notice, confirms leaving it or logs out', async () => {
  await createTenant({ tenantName: '别的公司' });
  const page = await fixture.logIn({}, '/tenants');
  const notice = page.getByRole('status').filter({ hasText: '已创建' });
  const question = page.getByRole('dialog', { name: '离开后将无法再次查看，确定离开？' });
  const hidden = notice.getByText('这里不再显示');
  const createInConsole = async (name: string) => {
    await page.getByRole('button', { name: '新建租户' }).first().click();
    await page.getByLabel('租户名称').fill(name);
    await page.getByLabel('用户名', { exact: true }).fill('first');
    const password = await page.getByLabel('密码', { exact: true }).inputValue();
    await page.getByRole('button', { name: '创建租户' }).click();
    await notice.getByText(password, { exact: true }).waitFor();
    return notice.getByText(password, { exact: true });
  };
  const openInDrawer = async (name: string) => {
    await page.getByRole('button', { name: '显示租户树' }).click();
    await page.getByRole('tree').getByText(name).click();
  };
  const password = await createInConsole('密码公司');
  await page.setViewportSize({ width: 900, height: 900 });
  await page.getByRole('button', { name: '显示租户树' }).waitFor();
  await password.waitFor();
  // A click on the tenant that is shown would close the notice, too.
  for (const name of ['密码公司', '别的公司']) {
    await openInDrawer(name);
    await question.getByRole('button', { name: '留在此页' }).click();
    await question.waitFor({ state: 'hidden' });
    await password.waitFor();
  }
  await openInDrawer('别的公司');
  await question.getByRole('button', { name: '离开' }).click();
  await heading(page, 1, '别的公司').waitFor();
  await page.goBack();
  await hidden.waitFor();
  assert.equal(await password.count(), 0);

  await logInOnPage(page, {}, '/tenants');
  await createInConsole('读完公司');
  await notice.getByRole('button', { name: '知道了' }).click();
  await notice.waitFor({ state: 'detached' });
  await page.getByRole('link', { name: '首页' }).click();
  await heading(page, 1, '首页').waitFor();
  assert.equal(await question.count(), 0);

  await logInOnPage(page, {}, '/tenants');
  await createInConsole('退出公司');
  const { pathname } = new URL(page.url());
  await logInOnPage(page, {}, pathname);
  // Show the notice of this tenant again, as the history of the browser does.
  await page.evaluate(`{
    const state = { ...history.state, usr: { created: { username: 'first' } } };
    history.replaceState(state, '', location.href);
    dispatchEvent(new PopStateEvent('popstate', { state }));
  }`);
  await hidden.waitFor();
  expectNoCspViolations(page);
});

test('the notice shows the password that was sent, even if the form is edited meanwhile', async () => {
  const page = await fixture.logIn({}, '/tenants/new');
  await page.getByLabel('租户名称').fill('慢公司');
  await page.getByLabel('用户名', { exact: true }).fill('first');
  const field = page.getByLabel('密码', { exact: true });
  const password = await field.inputValue();
  const creation = await holdRequests(page, 'POST', '/system/tenant-api');
  await page.getByRole('button', { name: '创建租户' }).click();
  await waitFor('the request is sent', () => creation.requests.length === 1);
  await field.fill('edited too late');
  creation.release();
  const notice = page.getByRole('status').filter({ hasText: '已创建' });
  await notice.getByText(password, { exact: true }).waitFor();
});
