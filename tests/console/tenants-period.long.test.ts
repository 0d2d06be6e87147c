// Only with test:long: it covers the service period and the lists of tenants; home.test.ts covers a renewal, tenants.test.ts the list.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator } from 'playwright-core';
import { avoidMidnight, dateInDays } from '../support/calendar.ts';
import { expectAccessibleInLongRun, logInOnPage, navigate, PHONE } from '../support/console.ts';
import { waitFor } from '../support/wait.ts';
import { expectAlignedActions, holdRequests } from './page-actions.ts';
import { startTenants } from './tenants-page.ts';

await avoidMidnight();
const { fixture, root, page, createTenant, readTenant, group, north, chooseAction } = await startTenants();

/** Returns the same day of the next year. The last day of February stays the last. */
function yearAfter(date: string): string {
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number);
  const isLastDay = new Date(Date.UTC(year, month - 1, day + 1)).getUTCDate() === 1;
  return new Date(isLastDay ? Date.UTC(year + 1, month, 0) : Date.UTC(year + 1, month - 1, day))
    .toISOString()
    .slice(0, 10);
}

test('a tenant has the same state in the table, the tree, the timeline and on its own screen', async () => {
  await logInOnPage(page, {}, '/tenants');
  const row = (name: string) =>
    page.locator('tbody tr.ant-table-row', { has: page.getByRole('link', { name, exact: true }) });
  const states = [
    ['榕树集团', '服务中'],
    ['华南分公司', '即将到期'],
    ['已到期分部', '已到期'],
    ['华北分公司', '未开始'],
    ['停用分部', '停用'],
  ] as const;
  for (const [name, state] of states) assert.equal(await row(name).locator('.status-tag').innerText(), state);
  // The actions are aligned although not every tenant has the button for a renewal.
  await expectAlignedActions(page);
  await page.getByRole('tree').getByRole('treeitem', { name: '榕树集团' }).locator('.tree-caret').click();
  for (const [name, state] of states.slice(1))
    await page.getByRole('tree').getByRole('treeitem', { name }).getByText(state, { exact: true }).waitFor();
  await page.getByText('时间线', { exact: true }).click();
  const line = (name: string) =>
    page.getByRole('list', { name: '时间线' }).getByRole('listitem').filter({ hasText: name });
  await line('停用分部').waitFor();
  for (const [name, state] of states) assert.equal(await line(name).locator('.status-tag').innerText(), state);
  assert.equal(await line('停用分部').locator('.tenants-bar-disabled').count(), 1);
  await navigate(page, `/tenants/${north}`);
  await page.locator('.card', { hasText: '服务期' }).getByText('未开始', { exact: true }).waitFor();
});

test('the table and the timeline show the tenants that expire first at the top', async () => {
  await logInOnPage(page, {}, '/tenants');
  const firstRow = page.locator('tbody tr.ant-table-row').first();
  await firstRow.getByText('西部合作方').waitFor();
  await page.getByRole('columnheader', { name: /^结束日期/ }).click();
  await firstRow.getByText('Banyan').waitFor();
  await page.waitForURL(/sort=id/);
  // Move the pointer away: the tooltip of the header covers what is above it.
  await firstRow.hover();
  await page.getByText('时间线', { exact: true }).click();
  const lines = page.getByRole('list', { name: '时间线' }).getByRole('listitem');
  await lines.nth(0).getByText('已到期 12 天').waitFor();
  await lines.nth(2).getByText('剩余 21 天').waitFor();
  await expectAccessibleInLongRun(page);
  await page.getByRole('combobox', { name: '按结束日期筛选' }).click();
  await page.getByTitle('60 天内到期或已到期').click();
  await page.getByText('共 4 个').waitFor();
});

test('a tenant is renewed by a month, by a year or until a date, in the list and on its screen', async () => {
  const id = await createTenant({ tenantName: '续期公司', startTime: '2023-03-01', endTime: '2099-02-28' });
  const ended = await createTenant({ tenantName: '过期公司', endTime: dateInDays(-40) });
  const versions = async () =>
    (await root.get(`/system/change-api/list?resource=tenant&resourceId=${id}`)).data.rows.length;
  await logInOnPage(page, {}, `/tenants/${id}`);
  await page.getByRole('button', { name: '续期：续期公司' }).click();
  const dialog = page.getByRole('dialog', { name: '为“续期公司”续期' });
  await dialog.getByText('当前结束日期：2099-02-28').waitFor();
  await dialog.locator('input:focus').waitFor();
  await dialog.getByLabel('+1 个月（至 2099-03-31）').check();
  await expectAccessibleInLongRun(page);
  await dialog.getByRole('button', { name: '续期' }).click();
  await page.getByText('“续期公司”已续期至 2099-03-31').waitFor();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByText('2023-03-01 至 2099-03-31').waitFor();

  // A concurrent renewal is a conflict. A concurrent change of another field is not.
  const before = await versions();
  await page.getByRole('button', { name: '续期：续期公司' }).click();
  await dialog.getByText('当前结束日期：2099-03-31').waitFor();
  await root.patch(`/system/tenant-api/${id}`, { contactUserName: '别人' });
  await dialog.getByLabel('指定日期').check();
  await dialog.getByLabel('结束日期').fill('2099-03-31');
  await dialog.getByLabel('结束日期').press('Tab');
  await dialog.getByRole('button', { name: '续期' }).click();
  await page.getByText('内容没有变化，无需保存').waitFor();
  await dialog.waitFor({ state: 'hidden' });
  assert.equal(await versions(), before + 1, 'a renewal that changes nothing writes nothing');
  await page.getByRole('button', { name: '续期：续期公司' }).click();
  await dialog.getByLabel('+1 年（至 2100-03-31）').waitFor();
  await root.patch(`/system/tenant-api/${id}`, { contactUserName: '又一次' });
  await dialog.getByRole('button', { name: '续期' }).click();
  await page.getByText('“续期公司”已续期至 2100-03-31').waitFor();
  await dialog.waitFor({ state: 'hidden' });
  assert.deepEqual([(await readTenant(id)).endTime, (await readTenant(id)).contactUserName], ['2100-03-31', '又一次']);
  await page.getByRole('button', { name: '续期：续期公司' }).click();
  await dialog.getByText('当前结束日期：2100-03-31').waitFor();
  await root.patch(`/system/tenant-api/${id}`, { endTime: '2098-01-01' });
  await dialog.getByRole('button', { name: '续期' }).click();
  const conflict = page.getByRole('dialog', { name: '内容已被他人修改' });
  await conflict.getByText('2098-01-01').waitFor();
  await conflict.getByRole('button', { name: '使用对方的版本' }).click();
  await dialog.getByText('当前结束日期：2098-01-01').waitFor();
  await dialog.getByRole('button', { name: '取消' }).click();
  assert.equal((await readTenant(id)).endTime, '2098-01-01');

  await logInOnPage(page, {}, '/tenants?q=过期公司');
  const renew = page.getByRole('button', { name: '续期：过期公司' });
  await renew.click();
  const late = page.getByRole('dialog', { name: '为“过期公司”续期' });
  await late.getByText('从今天起重新计算').waitFor();
  await late.getByRole('button', { name: '续期' }).click();
  await page.getByText(/“过期公司”已续期至/).waitFor();
  // The year begins today, so its last day is the day before today in the next year.
  assert.equal((await readTenant(ended)).endTime, yearAfter(dateInDays(-1)));
  await late.waitFor({ state: 'hidden' });
  await renew.waitFor({ state: 'hidden' });

  // The date is prefilled with one that renews the tenant, and days in the past cannot be selected.
  await root.patch(`/system/tenant-api/${ended}`, { endTime: dateInDays(-40) });
  await logInOnPage(page, {}, '/tenants?q=过期公司');
  await renew.click();
  await late.getByLabel('指定日期').check();
  assert.equal(await late.getByLabel('结束日期').inputValue(), yearAfter(dateInDays(-1)));
  await late.getByLabel('结束日期').fill(dateInDays(-1));
  await late.getByLabel('结束日期').press('Tab');
  // The field resets an invalid date a moment after it has lost the focus.
  await waitFor(
    'the date is reset',
    async () => (await late.getByLabel('结束日期').inputValue()) === yearAfter(dateInDays(-1)),
  );
  await late.getByRole('button', { name: '续期' }).click();
  await page.getByText(/“过期公司”已续期至/).waitFor();
  assert.equal((await readTenant(ended)).endTime, yearAfter(dateInDays(-1)));
});

test('a renewal keeps the end of a month, and otherwise the day if the month has it', async () => {
  const id = await createTenant({ tenantName: '月末公司' });
  await logInOnPage(page, {}, '/tenants?q=月末公司');
  for (const [endTime, inOneMonth, inOneYear] of [
    ['2095-01-31', '2095-02-28', '2096-01-31'],
    ['2095-01-30', '2095-02-28', '2096-01-30'],
    ['2095-02-28', '2095-03-31', '2096-02-29'],
    ['2096-02-28', '2096-03-28', '2097-02-28'],
    ['2096-02-29', '2096-03-31', '2097-02-28'],
    ['2095-12-15', '2096-01-15', '2096-12-15'],
  ] as const) {
    await root.patch(`/system/tenant-api/${id}`, { endTime });
    await chooseAction('续期');
    const dialog = page.getByRole('dialog', { name: '为“月末公司”续期' });
    await dialog.getByText(`当前结束日期：${endTime}`).waitFor();
    await dialog.getByLabel(`+1 个月（至 ${inOneMonth}）`).waitFor();
    await dialog.getByLabel(`+1 年（至 ${inOneYear}）`).waitFor();
    await dialog.getByRole('button', { name: '取消' }).click();
    await dialog.waitFor({ state: 'hidden' });
  }
});

test('the list shows the number of users and the user limit, which is changed in a dialog', async () => {
  const company = await fixture.service.createTenant({ tenantName: '名额公司', accountCount: 2 });
  await company.createUser({ userName: 'second' });
  await logInOnPage(page, {}, '/tenants?q=名额公司');
  const row = page.locator('tbody tr.ant-table-row', { hasText: '名额公司' });
  await row.getByText('2 / 2', { exact: true }).waitFor();
  await row.getByText('上级 Banyan').waitFor();
  await chooseAction('调整名额');
  const dialog = page.getByRole('dialog', { name: '调整“名额公司”的用户名额' });
  await dialog.getByText('已用 2 个').waitFor();
  await dialog.getByLabel('用户名额').fill('1');
  await dialog.getByText('低于已用数量').waitFor();
  await dialog.getByLabel('用户名额').fill('30');
  await expectAccessibleInLongRun(page);
  await dialog.getByRole('button', { name: '保存' }).click();
  await page.getByText('“名额公司”的用户名额已调整为 30').waitFor();
  await row.getByText('2 / 30', { exact: true }).waitFor();
  await dialog.waitFor({ state: 'hidden' });
  await row.getByRole('link', { name: '名额公司', exact: true }).click();
  await page.getByRole('button', { name: '调整名额：名额公司' }).click();
  await dialog.getByLabel('不限').check();
  await dialog.getByRole('button', { name: '保存' }).click();
  await page.getByText('2 / 不限').waitFor();
  assert.equal((await readTenant(company.id)).accountCount, -1);
});

test('after a conflict, the dialogs for the user limit and the renewal show the version of the other administrator', async () => {
  const id = await createTenant({ tenantName: '冲突公司', accountCount: 5, endTime: '2099-01-31' });
  await logInOnPage(page, {}, `/tenants/${id}`);
  const conflict = page.getByRole('dialog', { name: '内容已被他人修改' });
  /** Saves while another administrator changes the tenant, and chooses their version. */
  const useTheirs = async (save: Locator, change: object) => {
    await root.patch(`/system/tenant-api/${id}`, change);
    await save.click();
    await conflict.getByRole('button', { name: '使用对方的版本' }).click();
    await conflict.waitFor({ state: 'hidden' });
  };
  await page.getByRole('button', { name: '调整名额：冲突公司' }).click();
  const limitDialog = page.getByRole('dialog', { name: '调整“冲突公司”的用户名额' });
  const limit = limitDialog.getByLabel('用户名额');
  const save = limitDialog.getByRole('button', { name: '保存' });
  await limit.fill('30');
  await useTheirs(save, { accountCount: 20 });
  assert.equal(await limit.inputValue(), '20');
  await limit.fill('40');
  await useTheirs(save, { accountCount: -1 });
  assert.equal(await limitDialog.getByLabel('不限').isChecked(), true);
  await limitDialog.getByLabel('不限').uncheck();
  await limit.fill('5');
  await save.click();
  await page.getByText('“冲突公司”的用户名额已调整为 5').waitFor();
  await limitDialog.waitFor({ state: 'hidden' });
  assert.equal((await readTenant(id)).accountCount, 5);

  await page.getByRole('button', { name: '续期：冲突公司' }).click();
  const renewal = page.getByRole('dialog', { name: '为“冲突公司”续期' });
  await renewal.getByLabel('+1 个月（至 2099-02-28）').check();
  await useTheirs(renewal.getByRole('button', { name: '续期' }), { endTime: '2099-06-30' });
  assert.equal(await renewal.getByLabel('+1 年（至 2100-06-30）').isChecked(), true);
  await renewal.getByLabel('指定日期').check();
  assert.equal(await renewal.getByLabel('结束日期').inputValue(), '2100-06-30');
});

test('a member cannot open the tenants screen', async () => {
  await root.createUser({ userName: 'mei' });
  await logInOnPage(page, { username: 'mei' });
  assert.equal(await page.getByRole('navigation').getByRole('link', { name: '租户' }).count(), 0);
  await navigate(page, `/tenants/${group}`);
  await page.getByText('仅管理员可访问此页面').waitFor();
});

test('on a phone in dark mode the tenant screens are accessible and not wider than the viewport', async () => {
  await logInOnPage(page, {}, '/tenants', { viewport: PHONE, dark: true });
  const expectFits = async (screen: string) => {
    await expectAccessibleInLongRun(page);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, screen);
  };
  await page.getByRole('link', { name: '华南分公司', exact: true }).waitFor();
  const item = page.locator('.tenants-phone-list li', { hasText: '华南分公司' });
  for (const text of ['即将到期', dateInDays(21), '剩余 21 天']) await item.getByText(text, { exact: true }).waitFor();
  await item.getByRole('button', { name: '续期：华南分公司' }).waitFor();
  await expectFits('list');
  await page.getByText('时间线', { exact: true }).click();
  await page.getByRole('list', { name: '时间线' }).waitFor();
  await expectFits('timeline');
  await page.getByRole('button', { name: '显示租户树' }).click();
  await page.getByRole('tree').getByText('西部合作方').click();
  await page.getByRole('heading', { level: 1, name: '西部合作方' }).waitFor();
  await expectFits('detail');
  await navigate(page, `/tenants/${north}/edit`);
  await page.getByLabel('预警目录规则', { exact: true }).waitFor();
  await expectFits('edit');
  await navigate(page, '/tenants/new');
  await page.getByRole('heading', { level: 2, name: '首个管理员' }).waitFor();
  await expectFits('new');
});

test('the list shows that another page is loading, and its last page when the current one no longer exists', async () => {
  for (let n = 1; n <= 21; n++) await createTenant({ tenantName: `翻页公司 ${n}` });
  await logInOnPage(page, {}, '/tenants?q=翻页公司&status=0');
  await page.getByText('共 21 个').waitFor();
  const rows = page.locator('tbody tr.ant-table-row');
  assert.equal(await rows.count(), 20);
  const second = await holdRequests(page, 'GET', '/system/tenant-api/list?*');
  await page.getByRole('listitem', { name: '2', exact: true }).click();
  await page.locator('.ant-table-wrapper .ant-spin-spinning').waitFor();
  second.release();
  await rows.nth(1).waitFor({ state: 'detached' });
  await chooseAction('停用');
  await page.getByRole('dialog').getByRole('button', { name: '停用', exact: true }).click();
  await rows.nth(19).waitFor();
  await page.getByText('共 20 个').waitFor();
  assert.equal(new URL(page.url()).searchParams.get('page'), null);
});
