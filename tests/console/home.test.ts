import assert from 'node:assert/strict';
import { test } from 'node:test';
import { avoidMidnight, dateInDays } from '../support/calendar.ts';
import {
  expectNoAxeViolations,
  expectNoCspViolations,
  logInViaApi,
  PHONE,
  resetToLogin,
  startConsole,
} from '../support/console.ts';
import { PASSWORD } from '../support/service.ts';
import { createDepartments, credentialsOf } from './departments-page.ts';

await avoidMidnight();
const fixture = await startConsole();
const { root } = fixture.service;

const empty = await fixture.service.createTenant({ tenantName: '新公司' });
const company = await fixture.service.createTenant({
  tenantName: '榕树集团',
  endTime: dateInDays(40),
  accountCount: 5,
  quotaBo: { enterpriseQuery: 1200, riskReport: 100, riskReportUsed: 85 },
});
const credentials = credentialsOf(company);
const { head } = await createDepartments(company, {
  head: { deptName: '总部' },
  research: { deptName: '研发部', parentRef: 'head' },
  market: { deptName: '市场部', parentRef: 'head' },
  finance: { deptName: '财务部', parentRef: 'head' },
});
const createChildTenant = (body: Record<string, unknown>) =>
  company.create('/system/tenant-api', { username: 'boss', password: PASSWORD, ...body });
await Promise.all([
  ...['lan', 'zhu', 'ju'].map((userName) => company.createUser({ userName, deptId: head })),
  createChildTenant({ tenantName: '上海分公司', endTime: dateInDays(9), accountCount: 20 }),
  createChildTenant({ tenantName: '北京分公司', endTime: dateInDays(-3) }),
  createChildTenant({ tenantName: '广州分公司', endTime: dateInDays(200), accountCount: 1 }),
]);

test('the home screen of a tenant without departments shows the first steps and links to them', async () => {
  const page = await fixture.logIn(credentialsOf(empty));
  await page.getByRole('heading', { name: '快速开始' }).waitFor();
  await expectNoAxeViolations(page);
  await page.getByRole('link', { name: '添加用户' }).click();
  await page.getByRole('dialog', { name: '新建用户' }).waitFor();
  await page.goBack();
  await page.getByRole('link', { name: '新建第一个部门' }).click();
  await page.getByRole('heading', { level: 1, name: '部门' }).waitFor();
});

test('the home screen shows counts, warns of expiring tenants and exhausted limits, and links to them', async () => {
  const page = await fixture.logIn(credentials);
  const numbers = page.getByRole('region', { name: '数据概览' });
  await numbers.getByRole('link', { name: '部门 4' }).waitFor();
  await numbers.getByRole('link', { name: '用户 4' }).waitFor();
  await numbers.getByRole('link', { name: '下级租户 3' }).waitFor();
  await numbers.getByRole('link', { name: '即将到期或已到期的租户 3' }).waitFor();
  assert.equal(await page.getByRole('heading', { name: '快速开始' }).count(), 0);

  const accounts = page.getByRole('meter', { name: '用户名额' }).last();
  assert.equal(await accounts.getAttribute('aria-valuetext'), '4 / 5 即将用完');
  assert.equal(
    await page.getByRole('meter', { name: '风险评估表' }).getAttribute('aria-valuetext'),
    '85 / 100 即将用完',
  );
  await page.getByText('0 / 1,200').waitFor();

  const listItem = (name: string) => page.locator('.home-to-do').getByRole('listitem').filter({ hasText: name });
  await listItem('北京分公司').getByText('已到期 3 天').waitFor();
  await listItem('上海分公司').getByText('剩余 9 天').waitFor();
  await listItem('榕树集团').getByText('本租户').waitFor();
  await listItem('广州分公司').getByText('1 / 1 已用完').waitFor();
  await expectNoAxeViolations(page);
  const widths = (await page.evaluate(
    "[...document.querySelectorAll('.home-figure')].map((figure) => Math.round(figure.getBoundingClientRect().width))",
  )) as number[];
  assert.equal(new Set(widths).size, 1, 'the figures fill one row');

  // What has to be done is done here: the list is shorter afterwards.
  await page.getByRole('button', { name: '续期：北京分公司' }).click();
  const renewal = page.getByRole('dialog', { name: '续期“北京分公司”' });
  await renewal.getByRole('button', { name: '续期' }).click();
  await listItem('北京分公司').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: '调整名额：广州分公司' }).click();
  const seats = page.getByRole('dialog', { name: '调整“广州分公司”的用户名额' });
  await seats.getByLabel('用户名额').fill('2');
  await seats.getByRole('button', { name: '保存' }).click();
  await listItem('广州分公司').waitFor({ state: 'detached' });
  await numbers.getByRole('link', { name: '即将到期或已到期的租户 2' }).click();
  await page.getByText('共 2 个').waitFor();
  expectNoCspViolations(page);
});

test('the home screen fits on a phone in dark mode and in English', async () => {
  const page = await fixture.logIn(credentials, '/home', { viewport: PHONE, dark: true, language: 'en' });
  await page.getByRole('link', { name: 'Child tenants 3' }).waitFor();
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  await expectNoAxeViolations(page);
});

test('the home screen of a member shows their own data and nothing about tenants', async () => {
  const dept = await root.createDepartment({ deptName: '成员部' });
  await root.createUser({ userName: 'plain', nickName: '普通人', deptId: dept });
  const page = await fixture.logIn({ username: 'plain' });
  await page.getByText('您好，普通人').waitFor();
  await page.getByRole('link', { name: '成员部' }).waitFor();
  await page.getByRole('link', { name: '部门 1' }).waitFor();
  for (const name of ['待处理', '用量']) assert.equal(await page.getByRole('heading', { name }).count(), 0, name);
  await expectNoAxeViolations(page);
  await page.getByRole('link', { name: '密码与登录设备' }).click();
  await page.getByRole('heading', { level: 1, name: '个人中心' }).waitFor();
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
