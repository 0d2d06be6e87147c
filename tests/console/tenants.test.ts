import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { dateInDays } from '../support/calendar.ts';
import { after } from '../support/cleanup.ts';
import { expectAccessibleInLongRun, expectNoCspViolations, logInOnPage, startConsole } from '../support/console.ts';
import { expectStaysOpen, holdRequests } from './page-actions.ts';

const menuNames = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'banyan-menus-')), 'menus.json');
fs.writeFileSync(menuNames, JSON.stringify({ 100: '系统管理', 300: '报表中心' }));
after(() => fs.rmSync(path.dirname(menuNames), { recursive: true }));
const fixture = await startConsole({ BANYAN_MENU_NAMES: menuNames });
const { root } = fixture.service;

const createTenant = (body: Record<string, unknown>) => root.create('/system/tenant-api', body);
const readTenant = async (id: string) => (await root.get(`/system/tenant-api/${id}`)).data;

const toggleSection = (page: Page, name: string) => page.locator('summary', { hasText: name }).click();
const heading = (page: Page, level: number, name: string) => page.getByRole('heading', { level, name, exact: true });

async function fillDate(page: Page, label: string, date: string) {
  await page.getByLabel(label).fill(date);
  await page.keyboard.press('Enter');
}

test('a child tenant is created on one page; its administrator logs in with the generated password and sees only their own tenant', async () => {
  const page = await fixture.logIn({}, '/tenants');
  await page.getByRole('button', { name: '新建租户' }).first().click();

  await page.getByLabel('租户名称').and(page.locator(':focus')).waitFor();
  await page.getByRole('button', { name: '创建租户' }).click();
  await page.getByText('请输入租户名称').waitFor();
  await page.getByText('请输入用户名', { exact: true }).waitFor();
  await page.getByLabel('租户名称').fill('华东公司');
  await fillDate(page, '开始日期', dateInDays(-10));
  await fillDate(page, '结束日期', dateInDays(-20));
  await page.getByText('结束日期不能早于开始日期').waitFor();
  const endTime = dateInDays(40);
  await fillDate(page, '结束日期', endTime);
  await page.getByLabel('不限').uncheck();
  await page.getByLabel('用户名额').fill('5');
  await page.getByLabel('用户名', { exact: true }).fill('wangmin');
  const password = await page.getByLabel('密码', { exact: true }).inputValue();
  assert.match(password, /^[a-zA-Z2-9]{16}$/);
  await expectAccessibleInLongRun(page);

  await toggleSection(page, '联系信息');
  await page.getByLabel('联系人').fill('王敏');
  await toggleSection(page, '套餐');
  await page.getByLabel('授权菜单').fill('报表');
  await page.locator('.ant-select-item-option', { hasText: '报表中心 300' }).click();
  await page.getByLabel('授权菜单').fill('100');
  await page.keyboard.press('Enter');
  await page.getByLabel('授权菜单').fill('200,x7,');
  await page.getByText('“x7”不是菜单编号').waitFor();
  await page.locator('.ant-select-selection-item[title=x7] .ant-select-selection-item-remove').click();
  await page.getByText('“x7”').waitFor({ state: 'detached' });
  await toggleSection(page, '配额');
  await page.getByLabel('企业查询').fill('1000');
  await toggleSection(page, '规则');
  const rule = page.getByLabel('准入模型', { exact: true });
  await rule.fill('{"min": 3');
  // A section with an error expands, and its field has the focus.
  await toggleSection(page, '规则');
  await rule.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: '创建租户' }).click();
  await rule.and(page.locator(':focus')).waitFor();
  await rule.fill('{"min": 3}');
  await page.getByText('JSON 有效').waitFor();
  await expectAccessibleInLongRun(page);
  await page.getByRole('button', { name: '创建租户' }).click();

  await heading(page, 1, '华东公司').waitFor();
  const notice = page.getByRole('status').filter({ hasText: '已创建' });
  await notice.getByText('wangmin').waitFor();
  await notice.getByText(password, { exact: true }).waitFor();
  await notice.getByText('只在此处显示一次').waitFor();
  await expectAccessibleInLongRun(page);
  const id = new URL(page.url()).pathname.split('/').at(-1) as string;
  const created = await readTenant(id);
  await notice.getByText(created.tenantId, { exact: true }).waitFor();
  await notice.getByText(`${fixture.service.base}/login`).waitFor();
  assert.deepEqual(
    [
      created.endTime,
      created.accountCount,
      created.packageBo.menuIds,
      created.quotaBo.enterpriseQuery,
      created.ruleBo.modelZr,
    ],
    [endTime, 5, '300, 100, 200', 1000, '{"min": 3}'],
  );
  // Menus are shown with their names in BANYAN_MENU_NAMES, those without a name with their ids.
  for (const menu of ['报表中心', '系统管理', '200']) await page.locator('.tenants-menus').getByText(menu).waitFor();
  expectNoCspViolations(page);

  await createTenant({ tenantName: '不相干的租户' });
  const login = await fixture.service.anonymous.post('/auth/login', {
    tenantId: created.tenantId,
    username: 'wangmin',
    password,
  });
  assert.equal(login.data.mustChangePassword, true, 'the password that the operator knows must be changed');
  await fixture.service.superuser`
    update banyan.users set must_change_password = false where tenant_id = ${created.tenantId}`;
  await logInOnPage(page, { tenantId: created.tenantId, username: 'wangmin', password }, '/tenants');
  await page.getByRole('link', { name: '华东公司', exact: true }).waitFor();
  await page.getByText('暂无下级租户').waitFor();
  await page.getByText('共 1 个').waitFor();
  assert.equal(await page.getByText('不相干的租户').count(), 0);
  await page.getByRole('link', { name: '华东公司', exact: true }).click();
  await page.getByText('这是您所在的租户').waitFor();
  assert.equal(await page.getByRole('button', { name: '编辑' }).count(), 0);
});

test('the dialogs that move and disable a tenant stay open during the request', async () => {
  const { service } = fixture;
  const page = await fixture.sharedPage();
  const parent = await service.createTenant({ tenantName: '上级公司' });
  const { id } = await service.createTenant({ tenantName: '慢公司' });
  await logInOnPage(page, {}, `/tenants/${id}`);
  const chooseAction = async (action: string) => {
    await page.getByRole('button', { name: /^更多.*慢公司/ }).click();
    await page.getByRole('menuitem', { name: action, exact: true }).click();
    return page.getByRole('dialog');
  };
  const move = await chooseAction('移动');
  await move.getByLabel('上级租户').fill(parent.tenantId);
  await page.getByTitle(`上级公司 ${parent.tenantId}`).click();
  const moving = await holdRequests(page, 'PUT', '/system/tenant-api');
  await move.getByRole('button', { name: '移动', exact: true }).click();
  await expectStaysOpen(page, move);
  moving.release();
  await move.waitFor({ state: 'hidden' });
  const disable = await chooseAction('停用');
  const disabling = await holdRequests(page, 'PUT', '/system/tenant-api');
  await disable.getByRole('button', { name: '停用', exact: true }).click();
  await expectStaysOpen(page, disable);
  disabling.release();
  await disable.waitFor({ state: 'hidden' });
  const { data } = await root.get(`/system/tenant-api/${id}`);
  assert.deepEqual([data.tenantParent, data.status], [parent.tenantId, '1']);
});

test('after a tenant is deleted from its row, the list keeps its filters, order and page', async () => {
  const names = Array.from({ length: 22 }, (_, n) => `到期 ${n + 1}`);
  for (const tenantName of names) await createTenant({ tenantName, endTime: dateInDays(10) });
  const page = await fixture.logIn({}, '/tenants?ends=30&sort=id&page=2');
  await page.getByRole('button', { name: '更多操作：到期 22' }).click();
  await page.getByRole('menuitem', { name: '删除', exact: true }).click();
  await page.getByRole('dialog', { name: '删除“到期 22”？' }).getByRole('button', { name: '删除' }).click();
  await page.locator('.undo-message', { hasText: '已删除' }).waitFor();
  await page.getByRole('row', { name: '到期 22' }).waitFor({ state: 'detached' });
  await page.getByRole('row', { name: '到期 21' }).waitFor();
  const { pathname, search } = new URL(page.url());
  assert.equal(pathname + search, '/tenants?ends=30&sort=id&page=2');
});
