// Only with test:long: it checks details of several screens; search.test.ts covers the search, export.test.ts the lists and texts.test.ts the texts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, startConsole } from '../support/console.ts';
import { PASSWORD } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import { createDepartments, credentialsOf } from './departments-page.ts';

const fixture = await startConsole();
const company = await fixture.service.createTenant({
  accountCount: 9,
  quotaBo: { enterpriseQuery: 12, annualReportQuery: 1, chainReport: 1, businessReport: 1, riskReport: 1, merchant: 1 },
});
const credentials = credentialsOf(company);
// There are more results than fit on one page, and the exact match is the last of them.
const names = Array.from({ length: 60 }, (_, n) => [`d${n}`, { deptName: `第 ${n} 研发部`, orderNum: n }]);
const { exact, sales } = await createDepartments(company, {
  ...Object.fromEntries(names),
  exact: { deptName: '研发部', orderNum: 1000 },
  sales: { deptName: '销售部', orderNum: 1001 },
});

test('the department that has exactly the searched name comes first in the tree panel and in pickers, and more results can be loaded', async () => {
  const page = await fixture.logIn(credentials, `/departments/${sales}`);
  await page.getByRole('textbox', { name: '搜索部门' }).fill('研发部');
  const results = page.locator('button.departments-result');
  await results.nth(49).waitFor();
  assert.equal(await results.first().locator('span').first().innerText(), '研发部');

  const expectExactFirst = async (label: string, loadMore: () => Promise<void>) => {
    await page.getByRole('dialog').getByLabel(label, { exact: true }).fill('研发部');
    const options = page.locator('.department-option');
    await options.nth(1).waitFor();
    assert.equal((await options.first().innerText()).split('\n')[0]?.trim(), '研发部');
    const hint = page.getByText('已显示前 51 个结果，可输入更完整的名称');
    await hint.waitFor();
    await loadMore();
    await hint.waitFor({ state: 'detached' });
    await page.keyboard.press('ArrowUp');
    await options.getByText('第 58 研发部').waitFor();
  };
  await page.getByRole('button', { name: '移动…' }).click();
  await expectExactFirst('新的上级部门', () => page.keyboard.press('PageDown'));
  await fixture.logIn(credentials, '/people');
  await page.getByRole('button', { name: '新建用户' }).click();
  await expectExactFirst('主部门', () => page.getByRole('button', { name: '加载更多结果' }).click());
});

test('the audit log filters by part of a user name while it is typed', async () => {
  const page = await fixture.logIn(credentials, '/changes');
  const list = page.getByRole('region', { name: '变更' });
  await list.getByRole('listitem').first().waitFor();
  const filtered = page.waitForResponse(/[?&]byPart=OS(&|$)/);
  await list.getByRole('combobox', { name: '操作人' }).fill('OS');
  await (await filtered).finished();
  await list.getByRole('listitem').first().waitFor();
  await list.getByRole('combobox', { name: '操作人' }).fill('osx');
  await list.getByText('没有符合条件的变更').waitFor();
});

test('lists of names have the punctuation of the language', async () => {
  await company.createUser({ userName: 'two', deptId: exact, deptIds: [sales] });
  const page = await fixture.logIn(credentials, '/people?q=two', { language: 'en' });
  await page.getByRole('row', { name: 'two' }).getByText('研发部, 销售部', { exact: true }).waitFor();
  await fixture.logIn(credentials, '/people?q=two');
  await page.getByRole('row', { name: 'two' }).getByText('研发部、销售部', { exact: true }).waitFor();
});

test('a limit has the same name on the home screen and on the screen of its tenant', async () => {
  for (const language of ['zh', 'en'] as const) {
    const page = await fixture.logIn(credentials, '/home', { language });
    const shown = page.locator('.usage > span:first-child');
    await shown.nth(6).waitFor();
    const onHome = await shown.allInnerTexts();
    await fixture.logIn(credentials, `/tenants/${company.id}`, { language });
    for (const name of onHome) await page.getByText(name, { exact: true }).first().waitFor();
  }
});

test('another page of a list starts at the top; page size and row height are kept on this device', async () => {
  for (let n = 0; n < 41; n++) await company.create('/system/tenant-api', { tenantName: `门店 ${n}` });
  const page = await fixture.logIn(credentials, '/tenants', { viewport: { width: 1280, height: 500 } });
  const rows = page.locator('tbody tr.ant-table-row');
  await rows.nth(19).waitFor();
  await page.getByRole('listitem', { name: '2', exact: true }).click();
  await page.waitForURL(/page=2/);
  await page.waitForFunction('scrollY === 0');
  await page.getByRole('listitem', { name: '1', exact: true }).click();
  await page.locator('.ant-pagination-options .ant-select').click();
  await page.locator('.ant-select-item-option', { hasText: '50' }).click();
  await rows.nth(41).waitFor();
  const height = async () => (await rows.first().boundingBox())?.height ?? 0;
  const before = await height();
  await page.getByRole('button', { name: '行高' }).click();
  await page.getByRole('menuitem', { name: '紧凑' }).click();
  await waitFor('the rows are less high', async () => (await height()) < before);
  await page.reload();
  await rows.nth(41).waitFor();
  assert.ok((await height()) < before);
});

test('a phone number that looks wrong is pointed out, and Escape leaves the form of a department', async () => {
  const page = await fixture.logIn(credentials, `/departments/${sales}`);
  await page.locator('#departments-edit').click();
  const form = page.getByRole('form', { name: /销售部/ });
  const phone = form.getByLabel('联系电话');
  for (const wrong of ['1381234567', 'abc', '12']) {
    await phone.fill(wrong);
    await form.getByText('请检查号码').waitFor();
  }
  for (const right of [
    '13812345678',
    '+86 138 1234 5678',
    '0512-62345678 转 801',
    '(010) 6234 5678',
    '400-820-8820',
    '',
  ]) {
    await phone.fill(right);
    await form.getByText('请检查号码').waitFor({ state: 'detached' });
  }
  await page.keyboard.press('Escape');
  await form.waitFor({ state: 'detached' });

  // Changes are not discarded without a question.
  await page.locator('#departments-edit').click();
  await phone.fill('1');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog', { name: '放弃已填写的内容？' }).getByRole('button', { name: '继续填写' }).click();
  await form.getByRole('button', { name: '保存' }).click();
  await page.getByText('部门已保存').waitFor();
});

test('texts can be copied on plain http, where the Clipboard API is missing', async () => {
  const page = await fixture.newPage();
  await page.addInitScript(`
    delete Navigator.prototype.clipboard;
    document.addEventListener('copy', () => { window.copiedText = document.activeElement.value; });
  `);
  await page.context().request.post('/auth/login?session=cookie', {
    data: { tenantId: company.tenantId, username: 'boss', password: PASSWORD },
  });
  await open(page, '/changes/diff');
  assert.equal(await page.evaluate('navigator.clipboard'), undefined);
  await page.getByRole('button', { name: '复制链接' }).click();
  await page.getByText('链接已复制').waitFor();
  assert.match(String(await page.evaluate('window.copiedText')), /\/changes\/diff\?from=/);
  await open(page, '/tenants/new');
  await page.getByLabel('租户名称').fill('新租户');
  await page.getByLabel('用户名', { exact: true }).fill('first');
  await page.getByLabel('密码', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: '创建租户' }).click();
  await page.getByRole('button', { name: '复制登录信息' }).click();
  await page.getByText('已复制').waitFor();
  assert.match(String(await page.evaluate('window.copiedText')), /用户名：first/);
});
