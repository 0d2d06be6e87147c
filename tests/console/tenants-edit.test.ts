import assert from 'node:assert/strict';
import { test } from 'node:test';
import { avoidMidnight, dateInDays } from '../support/calendar.ts';
import {
  expectNoAxeViolations,
  expectNoCspViolations,
  logInOnPage,
  navigate,
  PHONE,
  startConsole,
} from '../support/console.ts';
import { PASSWORD } from '../support/service.ts';

await avoidMidnight();
const fixture = await startConsole();
const { root } = fixture.service;

const createTenant = (body: Record<string, unknown>) => root.create('/system/tenant-api', body);
const readTenant = async (id: string) => (await root.get(`/system/tenant-api/${id}`)).data;

/** Reads do not return these. */
const hiddenQuotas = { riskReportUsed: 40, zr: 3, credit: 12, pf: 1 };
const storedQuotas = async (code: string) => {
  const [row] = await fixture.service.superuser<[{ quotas: typeof hiddenQuotas }]>`
    select quotas from banyan.tenants where tenant_id = ${code}`;
  const { riskReportUsed, zr, credit, pf } = row.quotas;
  return { riskReportUsed, zr, credit, pf };
};

/** Returns the same day of the next year. The last day of February stays the last. */
function yearAfter(date: string): string {
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number);
  const isLastDay = new Date(Date.UTC(year, month - 1, day + 1)).getUTCDate() === 1;
  return new Date(isLastDay ? Date.UTC(year + 1, month, 0) : Date.UTC(year + 1, month - 1, day))
    .toISOString()
    .slice(0, 10);
}

// The tests share a small group of companies.
const group = await createTenant({
  tenantName: '榕树集团',
  companyName: '榕树集团有限公司',
  startTime: dateInDays(-400),
  endTime: dateInDays(700),
  contactUserName: '陈立',
  accountCount: 200,
  packageBo: { menuIds: '100,101,102' },
  quotaBo: { enterpriseQuery: 5000, riskReport: 300, ...hiddenQuotas },
  ruleBo: { modelZr: '{"min": 3, "max": 9}', catalogRw: '连续三个月逾期即预警' },
});
const { tenantId: groupCode } = await readTenant(group);
const south = await createTenant({
  tenantName: '华南分公司',
  tenantParent: groupCode,
  startTime: dateInDays(-200),
  endTime: dateInDays(21),
});
const north = await createTenant({
  tenantName: '华北分公司',
  tenantParent: groupCode,
  startTime: dateInDays(30),
  endTime: dateInDays(395),
});
await createTenant({ tenantName: '西部合作方', startTime: dateInDays(-500), endTime: dateInDays(-12), status: '1' });
await createTenant({ tenantName: '已到期分部', tenantParent: groupCode, endTime: dateInDays(-3) });
await createTenant({ tenantName: '停用分部', tenantParent: groupCode, endTime: dateInDays(40), status: '1' });

const page = await fixture.sharedPage();

test('tenants are found by name and by code, in the tree and in the table; the URL keeps the search', async () => {
  await logInOnPage(page, {}, '/tenants');
  await page.getByText('剩余 21 天').waitFor();
  await page.getByText('已到期 12 天').waitFor();
  await expectNoAxeViolations(page);
  await page.getByRole('searchbox', { name: '搜索租户' }).fill('华南');
  await page.getByText('共 1 个').waitFor();
  const { pathname, search } = new URL(page.url());
  await logInOnPage(page, {}, pathname + search, { language: 'en' });
  await page.getByText('1 in total').waitFor();
  await page.getByRole('link', { name: '华南分公司', exact: true }).waitFor();
  await page.getByRole('button', { name: '中文' }).click();
  await page.getByRole('searchbox', { name: '搜索租户' }).fill(groupCode);
  await page.getByRole('link', { name: '榕树集团', exact: true }).waitFor();

  // The keyboard expands the subtree and opens the tenant.
  await page.getByRole('tree', { name: '租户树' }).getByText('Banyan').waitFor();
  await page.getByRole('tree').focus();
  for (const key of ['Home', 'ArrowDown', 'ArrowRight']) await page.keyboard.press(key);
  await page.getByRole('tree').getByText('华南分公司').waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Space');
  await page.getByRole('heading', { level: 1, name: '华南分公司', exact: true }).waitFor();
  await page.getByRole('navigation', { name: '上级租户路径' }).getByText('榕树集团').waitFor();
});

test('all fields of a tenant can be edited, quotas that no read returns keep their values, and a reload keeps the draft', async () => {
  await logInOnPage(page, {}, `/tenants/${group}`);
  await page.getByText('连续三个月逾期即预警').waitFor({ state: 'attached' });
  await expectNoAxeViolations(page);
  await page.getByRole('button', { name: '编辑' }).click();
  await page.getByLabel('租户名称').fill('榕树控股');
  await page.getByLabel('授权菜单').fill('103');
  await page.keyboard.press('Enter');
  await expectNoAxeViolations(page);

  await page.getByRole('link', { name: '首页' }).click();
  await page.getByRole('dialog').getByRole('button', { name: '继续填写' }).click();
  await page.reload();
  await page.getByText('已恢复您上次未保存的内容').waitFor();
  assert.equal(await page.getByLabel('租户名称').inputValue(), '榕树控股');

  await page.getByLabel('结束日期').fill(dateInDays(-900));
  await page.keyboard.press('Enter');
  await page.getByText('结束日期不能早于开始日期').waitFor();
  await page.getByLabel('结束日期').fill(dateInDays(701));
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: '保存' }).click();
  await page.getByRole('heading', { level: 1, name: '榕树控股', exact: true }).waitFor();
  const saved = await readTenant(group);
  assert.deepEqual(
    [saved.endTime, saved.packageBo.menuIds, saved.accountCount, saved.quotaBo.riskReport, saved.ruleBo.modelZr],
    [dateInDays(701), '100, 101, 102, 103', 200, 300, '{"min": 3, "max": 9}'],
  );
  assert.deepEqual(await storedQuotas(groupCode), hiddenQuotas);
  expectNoCspViolations(page);
});

test('saving a tenant that someone else has edited shows the conflict', async () => {
  await logInOnPage(page, {}, `/tenants/${south}/edit`);
  await page.getByLabel('联系人').fill('我写的');
  await root.put('/system/tenant-api', { ...(await readTenant(south)), contactUserName: '别人写的' });
  await page.getByRole('button', { name: '保存' }).click();
  const conflict = page.getByRole('dialog', { name: '内容已被他人修改' });
  await conflict.getByText('别人写的').waitFor();
  await expectNoAxeViolations(page);
  await conflict.getByRole('button', { name: '使用对方的版本' }).click();
  await conflict.waitFor({ state: 'detached' });
  assert.equal(await page.getByLabel('联系人').inputValue(), '别人写的');
  await page.getByLabel('联系人').fill('商量好的');
  await page.getByRole('button', { name: '保存' }).click();
  await page.getByRole('heading', { level: 1, name: '华南分公司', exact: true }).waitFor();
  assert.equal((await readTenant(south)).contactUserName, '商量好的');
});

test('the conflict dialog shows the parents of a moved tenant by name', async () => {
  const moved = await createTenant({ tenantName: '搬迁公司', tenantParent: groupCode });
  const { tenantId: westCode } = await readTenant(await createTenant({ tenantName: '西北控股' }));
  await logInOnPage(page, {}, `/tenants/${moved}/edit`);
  await page.getByLabel('联系人').fill('我写的');
  await root.patch(`/system/tenant-api/${moved}`, { tenantParent: westCode });
  await page.getByRole('button', { name: '保存' }).click();
  const conflict = page.getByRole('dialog', { name: '内容已被他人修改' });
  const { tenantName: groupName } = await readTenant(group);
  await conflict.getByRole('row', { name: `上级租户 西北控股 ${westCode} ${groupName} ${groupCode}` }).waitFor();
  await conflict.getByRole('button', { name: '使用对方的版本' }).click();
  await conflict.waitFor({ state: 'detached' });
  assert.equal((await readTenant(moved)).tenantParent, westCode);
  await page.getByRole('button', { name: '取消' }).click();
  await page.getByRole('heading', { level: 1, name: '搬迁公司', exact: true }).waitFor();
});

const chooseAction = async (name: string) => {
  await page.getByRole('button', { name: /^更多操作/ }).click();
  await page.getByRole('menuitem', { name, exact: true }).click();
};

test('a tenant with child tenants is deleted only after they are moved to another one', async () => {
  const old = await createTenant({ tenantName: '旧集团' });
  const { tenantId } = await readTenant(old);
  const child = await createTenant({ tenantName: '待移动', tenantParent: tenantId });
  await logInOnPage(page, {}, `/tenants/${old}`);
  await page.getByRole('heading', { level: 1, name: '旧集团' }).waitFor();
  await chooseAction('删除');
  await page.getByRole('dialog', { name: '删除“旧集团”？' }).getByRole('button', { name: '删除' }).click();
  const errorDialog = page.getByRole('dialog', { name: '“旧集团”还有下级租户' });
  await errorDialog.getByText('存在下级租户，不允许删除').waitFor();
  await expectNoAxeViolations(page);
  await errorDialog.getByRole('button', { name: '待移动' }).click();
  await page.getByRole('heading', { level: 1, name: '待移动' }).waitFor();

  // The keyboard opens the menu and the dialog, and Escape returns the focus to the button.
  const more = page.getByRole('button', { name: /^更多操作/ });
  await more.focus();
  await page.keyboard.press('Enter');
  for (const item of ['编辑', '续期', '调整名额', '新建下级租户', '移动']) {
    await page.locator('[role=menuitem]:focus', { hasText: item }).waitFor();
    await page.keyboard.press(item === '移动' ? 'Enter' : 'ArrowDown');
  }
  await page.getByRole('dialog', { name: '移动“待移动”' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.locator('button:focus', { hasText: '更多' }).waitFor();

  await chooseAction('移动');
  const move = page.getByRole('dialog', { name: '移动“待移动”' });
  await move.getByLabel('上级租户').fill('待移动');
  await page.getByText('不可选：该租户自身或其下级').waitFor();
  await move.getByLabel('上级租户').fill('榕树');
  await page.getByTitle(`榕树控股 ${groupCode}`).click();
  await move.getByRole('button', { name: '移动' }).click();
  await page.getByText('已移动').waitFor();
  assert.equal((await readTenant(child)).tenantParent, groupCode);

  await navigate(page, `/tenants/${old}`);
  await page.getByRole('heading', { level: 1, name: '旧集团' }).waitFor();
  await chooseAction('删除');
  await page.getByRole('dialog', { name: '删除“旧集团”？' }).getByRole('button', { name: '删除' }).click();
  // The list that opens has a link with the same text.
  await page.locator('.undo-message', { hasText: '已删除' }).waitFor();
  await page.getByRole('heading', { level: 1, name: '租户' }).waitFor();
  assert.equal((await root.get(`/system/tenant-api/${old}`)).code, 404);
});

test('users of a disabled tenant cannot log in until it is enabled', async () => {
  await fixture.service.createTenant({ tenantName: '停用试验', quotaBo: hiddenQuotas });
  await logInOnPage(page, {}, '/tenants?q=停用试验');
  await page.getByRole('link', { name: '停用试验', exact: true }).click();
  // Wait for the screen of the tenant: its row in the list has the same menu.
  await page.getByRole('heading', { level: 1, name: '停用试验' }).waitFor();
  await chooseAction('停用');
  await page.getByRole('dialog').getByRole('button', { name: '停用' }).click();
  await page.getByText('租户已停用，').waitFor();
  const { tenantId } = await readTenant(new URL(page.url()).pathname.split('/').at(-1) as string);
  const response = await fixture.service.anonymous.post('/auth/login', {
    tenantId,
    username: 'boss',
    password: PASSWORD,
  });
  assert.equal(response.code, 403);
  // A dialog that closes restores the focus, which would close the menu.
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await chooseAction('启用');
  await page.getByRole('dialog').getByRole('button', { name: '启用' }).click();
  await page.getByText('租户已停用，').waitFor({ state: 'detached' });
  await fixture.service.logIn(tenantId, 'boss');
  assert.deepEqual(await storedQuotas(tenantId), hiddenQuotas);
});

test('a tenant has the same state in the table, the tree, the timeline and on its own screen', async () => {
  await logInOnPage(page, {}, '/tenants');
  const row = (name: string) =>
    page.locator('tbody tr.ant-table-row', { has: page.getByRole('link', { name, exact: true }) });
  const states = [
    ['榕树控股', '服务中'],
    ['华南分公司', '即将到期'],
    ['已到期分部', '已到期'],
    ['华北分公司', '未开始'],
    ['停用分部', '停用'],
  ] as const;
  for (const [name, state] of states) assert.equal(await row(name).locator('.status-tag').innerText(), state);
  await page.getByRole('tree').getByRole('treeitem', { name: '榕树控股' }).locator('.tree-caret').click();
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
  await page.getByRole('columnheader', { name: /^到期/ }).click();
  await firstRow.getByText('Banyan').waitFor();
  await page.waitForURL(/sort=id/);
  await page.getByText('时间线', { exact: true }).click();
  const lines = page.getByRole('list', { name: '时间线' }).getByRole('listitem');
  await lines.nth(0).getByText('已到期 12 天').waitFor();
  await lines.nth(2).getByText('剩余 21 天').waitFor();
  await expectNoAxeViolations(page);
  await page.getByRole('combobox', { name: '按到期时间筛选' }).click();
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
  const dialog = page.getByRole('dialog', { name: '续期“续期公司”' });
  await dialog.getByText('当前结束日期：2099-02-28').waitFor();
  await dialog.locator('input:focus').waitFor();
  await dialog.getByLabel('+1 月（至 2099-03-31）').check();
  await expectNoAxeViolations(page);
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
  const late = page.getByRole('dialog', { name: '续期“过期公司”' });
  await late.getByText('从今天起重新计算').waitFor();
  await late.getByRole('button', { name: '续期' }).click();
  await page.getByText(/“过期公司”已续期至/).waitFor();
  // The year begins today, so that its last day is the day before today in the next year.
  assert.equal((await readTenant(ended)).endTime, yearAfter(dateInDays(-1)));
  await late.waitFor({ state: 'hidden' });
  await renew.waitFor({ state: 'hidden' });
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
    const dialog = page.getByRole('dialog', { name: '续期“月末公司”' });
    await dialog.getByText(`当前结束日期：${endTime}`).waitFor();
    await dialog.getByLabel(`+1 月（至 ${inOneMonth}）`).waitFor();
    await dialog.getByLabel(`+1 年（至 ${inOneYear}）`).waitFor();
    await dialog.getByRole('button', { name: '取消' }).click();
    await dialog.waitFor({ state: 'hidden' });
  }
});

test('the list shows used and allowed users; the limit is changed in a dialog', async () => {
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
  await expectNoAxeViolations(page);
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
    await expectNoAxeViolations(page);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, screen);
  };
  await page.getByRole('link', { name: '华南分公司', exact: true }).waitFor();
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
