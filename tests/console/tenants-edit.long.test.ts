// Only with test:long: it covers further ways to change a tenant; tenants.test.ts and unchanged-saves.test.ts cover creating, editing, moving and disabling.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { avoidMidnight, dateInDays } from '../support/calendar.ts';
import { expectAccessibleInLongRun, expectNoCspViolations, logInOnPage, navigate } from '../support/console.ts';
import { PASSWORD } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import { holdRequests } from './page-actions.ts';
import { openSearch } from './search-page.ts';
import { HIDDEN_QUOTAS, startTenants } from './tenants-page.ts';

await avoidMidnight();
const { fixture, root, page, createTenant, readTenant, group, groupCode, south, storedQuotas, chooseAction } =
  await startTenants();

test('tenants are found by name and by code, and opened in the tree with the keyboard; the URL keeps the search', async () => {
  await logInOnPage(page, {}, '/tenants');
  await page.getByText('剩余 21 天').waitFor();
  await page.getByText('已到期 12 天').waitFor();
  await expectAccessibleInLongRun(page);
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

test('an empty list of tenants offers to clear all filters', async () => {
  await logInOnPage(page, {}, `/tenants?q=${encodeURIComponent('华南')}&status=1&ends=30&parent=${groupCode}`);
  await page.getByText('未找到租户').waitFor();
  await expectAccessibleInLongRun(page);
  await page.getByRole('button', { name: '清除筛选' }).click();
  await page.getByRole('link', { name: '西部合作方', exact: true }).waitFor();
  assert.equal(new URL(page.url()).search, '');
  assert.equal(await page.getByRole('searchbox', { name: '搜索租户' }).inputValue(), '');
});

test('fields of a tenant can be edited, quotas that no read returns keep their values, and a reload keeps the draft', async () => {
  await logInOnPage(page, {}, `/tenants/${group}`);
  await page.locator('pre').getByText('连续三个月逾期即预警').waitFor({ state: 'attached' });
  await expectAccessibleInLongRun(page);
  await page.getByRole('button', { name: '编辑' }).click();
  await page.getByLabel('租户名称').fill('榕树控股');
  await page.getByLabel('授权菜单').fill('103');
  await page.keyboard.press('Enter');
  await expectAccessibleInLongRun(page);

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
  assert.deepEqual(await storedQuotas(groupCode), HIDDEN_QUOTAS);
  expectNoCspViolations(page);
});

test('formatting a rule changes neither its numbers nor repeated names', async () => {
  const id = await createTenant({
    tenantName: '规则公司',
    ruleBo: { modelZr: '{"id":12345678901234567890,"min":[1.0],"min":{}}' },
  });
  const formatted = '{\n  "id": 12345678901234567890,\n  "min": [\n    1.0\n  ],\n  "min": {}\n}';
  await logInOnPage(page, {}, `/tenants/${id}`);
  assert.equal(await page.locator('.tenants-rule-details pre').textContent(), formatted);
  await page.getByRole('button', { name: '编辑' }).click();
  await page.getByRole('button', { name: '格式化：准入模型' }).click();
  assert.equal(await page.getByLabel('准入模型', { exact: true }).inputValue(), formatted);
});

test('the form of a new tenant starts again when it is opened for another parent', async () => {
  await logInOnPage(page, {}, `/tenants/new?parent=${groupCode}`);
  const form = page.locator('.tenants-form');
  await form.getByText(groupCode).waitFor();
  await page.getByLabel('租户名称').fill('未保存');
  await openSearch(page, '新建租户');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: '放弃已填写的内容？' }).getByRole('button', { name: '放弃' }).click();
  await form.getByText('000000').waitFor();
  assert.equal(await page.getByLabel('租户名称').inputValue(), '');
});

test('saving a tenant that someone else has edited shows the conflict', async () => {
  await logInOnPage(page, {}, `/tenants/${south}/edit`);
  await page.getByLabel('联系人').fill('我写的');
  await root.put('/system/tenant-api', { ...(await readTenant(south)), contactUserName: '别人写的' });
  await page.getByRole('button', { name: '保存' }).click();
  const conflict = page.getByRole('dialog', { name: '内容已被他人修改' });
  await conflict.getByText('别人写的').waitFor();
  await expectAccessibleInLongRun(page);
  await conflict.getByRole('button', { name: '使用对方的版本' }).click();
  await conflict.waitFor({ state: 'detached' });
  assert.equal(await page.getByLabel('联系人').inputValue(), '别人写的');
  await page.getByLabel('联系人').fill('商量好的');
  await page.getByRole('button', { name: '保存' }).click();
  await page.getByRole('heading', { level: 1, name: '华南分公司', exact: true }).waitFor();
  assert.equal((await readTenant(south)).contactUserName, '商量好的');
});

test('Enter selects no parent that an earlier search has found', async () => {
  const moved = await createTenant({ tenantName: '改隶公司', tenantParent: groupCode });
  await logInOnPage(page, {}, `/tenants/${moved}`);
  await page.getByRole('heading', { level: 1, name: '改隶公司' }).waitFor();
  await chooseAction('移动');
  const move = page.getByRole('dialog', { name: '移动“改隶公司”' });
  const field = move.getByLabel('上级租户');
  await field.fill('华北');
  await page.locator('.ant-select-item-option', { hasText: '华北分公司' }).waitFor();
  const search = await holdRequests(page, 'GET', '/system/tenant-api/list?*keyword=*');
  await field.fill('华南');
  await waitFor('the service is asked', () => search.requests.length > 0);
  await page.keyboard.press('Enter');
  assert.equal(await move.getByRole('button', { name: '移动' }).isDisabled(), true);
  search.release();
  await field.fill('华南');
  await page.locator('.ant-select-item-option', { hasText: '华南分公司' }).click();
  await move.getByRole('button', { name: '移动' }).click();
  await page.getByText('已移动').waitFor();
  assert.equal((await readTenant(moved)).tenantParent, (await readTenant(south)).tenantId);
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
  await expectAccessibleInLongRun(page);
  await errorDialog.getByRole('button', { name: '待移动' }).click();
  await page.getByRole('heading', { level: 1, name: '待移动' }).waitFor();

  // The keyboard opens the menu and the dialog, and Escape returns the focus to the button.
  const more = page.getByRole('button', { name: /^更多操作/ });
  await more.focus();
  await page.keyboard.press('Enter');
  for (const item of ['编辑', '续期', '调整名额', '新建下级租户', '导入部门', '导入用户', '移动']) {
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
  await fixture.service.createTenant({ tenantName: '停用试验', quotaBo: HIDDEN_QUOTAS });
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
  assert.deepEqual(await storedQuotas(tenantId), HIDDEN_QUOTAS);
});
