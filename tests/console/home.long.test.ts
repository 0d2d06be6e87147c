// Only with test:long: it covers other states of the home screen; home.test.ts covers the home screens of administrators and members.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { avoidMidnight, dateInDays } from '../support/calendar.ts';
import { expectAccessibleInLongRun, logInViaApi, PHONE, resetToLogin, startConsole } from '../support/console.ts';
import { credentialsOf } from './departments-page.ts';
import { startHome } from './home-page.ts';

await avoidMidnight();
const { fixture, credentials } = await startHome(await startConsole());
const empty = await fixture.service.createTenant({ tenantName: '新公司' });

test('the home screen of a tenant without departments shows the first steps and links to them', async () => {
  const page = await fixture.logIn(credentialsOf(empty));
  await page.getByRole('heading', { name: '快速开始' }).waitFor();
  await expectAccessibleInLongRun(page);
  await page.getByRole('link', { name: '新建用户' }).click();
  await page.getByRole('dialog', { name: '新建用户' }).waitFor();
  await page.goBack();
  await page.getByRole('link', { name: '新建第一个部门' }).click();
  await page.getByRole('heading', { level: 1, name: '部门' }).waitFor();
});

test("without child tenants, the home screen counts no tenants, and its to-do list says when the user's own tenant expires", async () => {
  const office = await fixture.service.createTenant({ tenantName: '办事处', endTime: dateInDays(20) });
  await office.createDepartment({ deptName: '前台' });
  const page = await fixture.logIn(credentialsOf(office));
  await page
    .locator('.home-to-do')
    .getByRole('listitem')
    .filter({ hasText: '办事处' })
    .getByText('剩余 20 天')
    .waitFor();
  const numbers = await page.getByRole('region', { name: '数据概览' }).getByRole('link').allInnerTexts();
  assert.deepEqual(
    numbers.map((text) => text.replace(/\s+/g, ' ')),
    ['部门 1', '用户 1'],
  );
  await expectAccessibleInLongRun(page);
});

test('the home screen fits on a phone in dark mode and in English', async () => {
  const page = await fixture.logIn(credentials, '/home', { viewport: PHONE, dark: true, language: 'en' });
  await page.getByRole('link', { name: 'Child tenants 3' }).waitFor();
  await page.getByText('User limit reached').waitFor();
  await page.getByText('no more users can be added').waitFor();
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  await expectAccessibleInLongRun(page);
});

test('a home screen that fails to load shows the error and can be retried', async () => {
  const page = await fixture.sharedPage();
  await resetToLogin(page);
  await page.route('**/system/overview-api', (route) =>
    route.fulfill({ status: 500, json: { code: 500, msg: '系统内部错误', data: { reason: 'INTERNAL' } } }),
  );
  await logInViaApi(page);
  await page.getByRole('alert').getByText('系统内部错误').waitFor();
  await page.unroute('**/system/overview-api');
  await page.getByRole('button', { name: '重试' }).click();
  await page.getByRole('region', { name: '数据概览' }).waitFor();
});
