import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { dateInDays } from '../support/calendar.ts';
import {
  expectNoAxeViolations,
  expectNoCspViolations,
  logInOnPage,
  screenshot,
  startConsole,
} from '../support/console.ts';
import { PASSWORD } from '../support/service.ts';

const fixture = await startConsole();
const { root } = fixture.service;

const createTenant = (body: Record<string, unknown>) => root.create('/system/tenant-api', body);
const readTenant = async (id: string) => (await root.get(`/system/tenant-api/${id}`)).data;

const next = (page: Page) => page.getByRole('button', { name: '下一步' }).click();
const heading = (page: Page, level: number, name: string) => page.getByRole('heading', { level, name, exact: true });

/** Types a date into a date picker. */
async function fillDate(page: Page, label: string, date: string) {
  await page.getByLabel(label).fill(date);
  await page.keyboard.press('Enter');
}

test('a child tenant is created in steps; its administrator logs in and sees only their own tenant', async () => {
  const page = await fixture.logIn({}, '/tenants');
  await page.getByRole('button', { name: '新建租户' }).first().click();

  await heading(page, 2, '基本信息').waitFor();
  await next(page);
  await page.getByText('请输入租户名称').waitFor();
  await page.getByLabel('租户名称').fill('华东公司');
  await page.getByLabel('联系人').fill('王敏');
  await next(page);

  await heading(page, 2, '服务期与用户名额').waitFor();
  await fillDate(page, '开始日期', dateInDays(-10));
  await fillDate(page, '结束日期', dateInDays(-20));
  await next(page);
  await page.getByText('结束日期不能早于开始日期').waitFor();
  await fillDate(page, '结束日期', dateInDays(40));
  await page.getByLabel('不限').uncheck();
  await page.getByLabel('用户名额').fill('5');
  await expectNoAxeViolations(page);
  await screenshot(page, 'tenants-new');
  await next(page);

  await heading(page, 2, '套餐').waitFor();
  await page.getByLabel('授权菜单').fill('100');
  await page.keyboard.press('Enter');
  await page.getByLabel('授权菜单').fill('200,x7,');
  await next(page);
  await page.getByText('“x7”不是菜单编号').waitFor();
  await page.locator('.ant-select-selection-item[title=x7] .ant-select-selection-item-remove').click();
  await page.getByText('“x7”').waitFor({ state: 'detached' });
  await next(page);

  await heading(page, 2, '配额').waitFor();
  await page.getByLabel('企业查询').fill('1000');
  await next(page);

  await heading(page, 2, '规则').waitFor();
  await page.getByLabel('准入模型', { exact: true }).fill('{"min": 3');
  await next(page);
  await page.getByText('JSON 无效').first().waitFor();
  await page.getByLabel('准入模型', { exact: true }).fill('{"min": 3}');
  await page.getByText('JSON 有效').waitFor();
  await expectNoAxeViolations(page);
  await next(page);

  await heading(page, 2, '首个管理员').waitFor();
  await page.getByLabel('用户名').fill('wangmin');
  await page.getByLabel('密码', { exact: true }).fill(PASSWORD);
  await next(page);

  await heading(page, 2, '确认信息').waitFor();
  await page.getByRole('button', { name: '修改基本信息' }).click();
  assert.equal(await page.getByLabel('租户名称').inputValue(), '华东公司', 'going back keeps the input');
  await page.goBack();
  await heading(page, 2, '确认信息').waitFor();
  await page.getByText('wangmin').waitFor();
  await expectNoAxeViolations(page);
  await page.getByRole('button', { name: '创建租户' }).click();

  await heading(page, 1, '华东公司').waitFor();
  const notice = page.getByRole('status').filter({ hasText: '已创建' });
  await notice.getByText('wangmin').waitFor();
  await screenshot(page, 'tenants-created');
  await expectNoAxeViolations(page);
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
    [dateInDays(40), 5, '100, 200', 1000, '{"min": 3}'],
  );
  expectNoCspViolations(page);

  await createTenant({ tenantName: '不相干的租户' });
  await logInOnPage(page, { tenantId: created.tenantId, username: 'wangmin' }, '/tenants');
  await page.getByRole('link', { name: '华东公司', exact: true }).waitFor();
  await page.getByText('暂无下级租户').waitFor();
  await page.getByText('共 1 个').waitFor();
  assert.equal(await page.getByText('不相干的租户').count(), 0);
  await page.getByRole('link', { name: '华东公司', exact: true }).click();
  await page.getByText('这是您所在的租户').waitFor();
  assert.equal(await page.getByRole('button', { name: '编辑' }).count(), 0);
});
