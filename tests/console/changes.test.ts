import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { logIn, noCspViolations, noSeriousAxe, open, PHONE, screenshot, startConsole } from './harness.ts';

const stage = await startConsole();
const company = await stage.service.tenant({ tenantName: '榕树集团' });
const boss = { tenantId: company.tenantId, username: 'boss' };

// As the service: what it tells as text and what the browser works out are then the same.
const inZone = { timezoneId: 'Asia/Shanghai' };

const edit = async (id: number | string, changes: object) => {
  const { data } = await company.get(`/system/dept-api/${id}`);
  const { code } = await company.put('/system/dept-api', { ...data, ...changes });
  assert.equal(code, 200);
};

const head = await company.dept({ deptName: '总部' });
const research = await company.dept({ deptName: '研发部', parentId: head, leader: '兰' });
const market = await company.dept({ deptName: '市场部', parentId: head });
const design = await company.dept({ deptName: '设计组', parentId: market });
const closed = await company.dept({ deptName: '筹备组', parentId: head });
await company.user({ userName: 'lan', nickName: '兰', deptId: research });
await company.user({ userName: 'plain', nickName: '普通人', deptId: market });
const before = new Date().toISOString();
await edit(design, { parentId: research });
await edit(research, { deptName: '研究院', leader: '竹' });
await company.dept({ deptName: '客服部', parentId: head });
await company.delete(`/system/dept-api/${closed}`);

/** A part of the difference between two moments. */
const part = (page: Page, name: RegExp) => page.locator('.panel').filter({ has: page.getByRole('heading', { name }) });
/** What was created itself is a link; where it is, is none. */
const created = (page: Page, name: string) => part(page, /^新建/).getByRole('link', { name, exact: true });

test('home shows the last changes, without logins, and leads to the record', async () => {
  const page = await stage.page(inZone);
  await logIn(page, boss);
  const panel = page.locator('.panel').filter({ has: page.getByRole('heading', { name: '最近变更' }) });
  const rows = panel.getByRole('listitem');
  await rows.first().getByText('筹备组').waitFor();
  assert.equal(await rows.count(), 8);
  assert.match(await rows.first().innerText(), /删除\s*部门\s*筹备组\s*boss · \d{4}-/);
  assert.equal(await panel.getByText('登录').count(), 0);
  await noSeriousAxe(page);
  await rows.filter({ hasText: '研究院' }).getByRole('link', { name: '研究院' }).click();
  await page.getByRole('article', { name: '研究院' }).waitFor();
  await page.getByRole('tab', { name: '历史' }).click();
  const life = page.getByRole('region', { name: '历史' });
  await life.getByRole('row', { name: '部门名称 研发部 研究院' }).waitFor();
  await life.getByRole('row', { name: '上级部门 总部' }).waitFor();
  assert.equal(await life.getByRole('listitem').count(), 2);
  await noSeriousAxe(page);
  noCspViolations(page);
});

test('the audit list filters, pages, and shows what differs', async () => {
  const page = await stage.page(inZone);
  await logIn(page, boss);
  await page.getByRole('link', { name: '变更记录' }).click();
  const list = page.getByRole('region', { name: '变更' });
  await list.getByText('登录成功').first().waitFor();
  await list.getByRole('combobox', { name: '对象' }).click();
  await page.getByTitle('部门', { exact: true }).click();
  await page.waitForURL(/resource=department/);
  await list.getByText('登录成功').first().waitFor({ state: 'detached' });
  await list.getByRole('button', { name: '详情：部门 研究院' }).click();
  await list.getByRole('row', { name: '部门名称 研发部 研究院' }).waitFor();
  await list.getByRole('row', { name: '负责人 兰 竹' }).waitFor();
  assert.equal(await list.getByRole('row').count(), 3);
  await noSeriousAxe(page);
  await screenshot(page, 'changes');
  await list.getByRole('textbox', { name: '操作人' }).fill('nobody');
  await list.getByText('没有符合条件的变更').waitFor();
  await list.getByRole('button', { name: '清除筛选' }).click();
  await list.getByText('登录成功').first().waitFor();
  await list.getByLabel('到哪一天').fill('2020-01-01');
  await list.getByLabel('到哪一天').press('Enter');
  await list.getByText('没有符合条件的变更').waitFor();
  await open(page, `/changes?resource=department&resourceId=${design}`);
  await list.getByText('只看“设计组”的变更').waitFor();
  assert.equal(await list.getByRole('listitem').count(), 2);
  noCspViolations(page);
});

test('older changes come when asked for; an administrator above sees those of the tenants below, and of one of them', async () => {
  for (let n = 0; n < 30; n++) await edit(head, { orderNum: n + 1 });
  const page = await stage.page(inZone);
  await logIn(page, {}, '/changes');
  const list = page.getByRole('region', { name: '变更' });
  const rows = list.getByRole('listitem');
  await rows.first().waitFor();
  assert.equal(await rows.count(), 30);
  await list.getByRole('button', { name: '更早的变更' }).click();
  await rows.nth(30).waitFor();
  await list.getByRole('combobox', { name: '租户' }).click();
  await page.getByTitle(`榕树集团 ${company.tenantId}`).click();
  await page.waitForURL(/tenant=/);
  await rows
    .filter({ hasText: `租户 ${company.tenantId}` })
    .first()
    .waitFor();
  await list.getByRole('combobox', { name: '租户' }).click();
  await page.getByTitle('仅本租户').click();
  await rows.filter({ hasText: '总部' }).first().waitFor({ state: 'detached' });
});

test('the difference of two moments shows what was created, moved, renamed and deleted', async () => {
  const page = await stage.page(inZone);
  await logIn(page, boss, `/changes/diff?from=${before}`);
  await part(page, /^移动（1）/)
    .getByText('设计组')
    .waitFor();
  assert.match(await part(page, /^移动/).innerText(), /从\s*总部 \/ 市场部\s*移到\s*总部 \/ 研究院/);
  assert.match(await part(page, /^改名（1）/).innerText(), /研发部\s*变为\s*研究院/);
  assert.match(await part(page, /^新建（1）/).innerText(), /客服部\s*总部/);
  assert.match(await part(page, /^删除（1）/).innerText(), /筹备组\s*总部/);
  await part(page, /^其他修改/)
    .getByRole('row', { name: '负责人 兰 竹' })
    .waitFor();
  await noSeriousAxe(page);
  await screenshot(page, 'changes-diff');
  await page.getByRole('button', { name: '最近一周' }).click();
  await created(page, '总部').waitFor();
  const choose = async (label: string, moment: string, shown: RegExp) => {
    await page.getByLabel(label, { exact: true }).fill(moment);
    await page.getByLabel(label, { exact: true }).press('Enter');
    await page.waitForURL(shown);
  };
  // A slow machine: the second is chosen before the first is on the screen.
  const debugging = await page.context().newCDPSession(page);
  await debugging.send('Emulation.setCPUThrottlingRate', { rate: 10 });
  await choose('从', '2020-01-01 00:00:00', /from=20(19|20)-/);
  await choose('到', '2020-01-02 00:00:00', /to=20(19|20)-/);
  await page.getByText('这段时间里，部门没有变化').waitFor();
  await debugging.send('Emulation.setCPUThrottlingRate', { rate: 1 });
  assert.match(page.url(), /from=20(19|20)-.*to=20(19|20)-/);
  await choose('到', '2019-01-02 00:00:00', /to=2019-/);
  await page.getByRole('alert').getByText('“到”不能早于“从”').waitFor();
  noCspViolations(page);
});

test('a moment that is typed while the difference is being read is not taken back when it comes', async () => {
  const page = await stage.page(inZone);
  let tellNow = () => {};
  const later = new Promise<void>((resolve) => (tellNow = resolve));
  await page.route('**/system/dept-api/diff?*', async (route) => {
    await later;
    await route.continue();
  });
  await logIn(page, boss, `/changes/diff?from=${before}`);
  const field = page.getByLabel('从', { exact: true });
  await field.fill('2020-01-01 00:00:00');
  tellNow();
  await page.getByRole('heading', { name: '改名（1）' }).waitFor();
  assert.equal(await field.inputValue(), '2020-01-01 00:00:00');
  await field.press('Enter');
  await page.waitForURL(/from=20(19|20)-/);
  await created(page, '总部').waitFor();
});

test('a change is reverted, unless a later one contradicts it, which is said', async () => {
  const page = await stage.page(inZone);
  await logIn(page, boss, `/changes?resource=department&resourceId=${design}`);
  const dialog = page.getByRole('dialog', { name: '撤销此变更？' });
  const row = (did: string) => page.getByRole('listitem').filter({ has: page.getByText(did, { exact: true }) });
  await row('新建').getByRole('button', { name: '详情：部门 设计组' }).click();
  await row('新建').getByRole('button', { name: '撤销此变更' }).click();
  await dialog.getByRole('button', { name: /^撤\s*销$/ }).click();
  await dialog.getByRole('alert').getByText('此后又有变更').waitFor();
  await noSeriousAxe(page);
  await dialog
    .getByRole('button', { name: /^关\s*闭$/ })
    .last()
    .click();
  await row('移动').getByRole('button', { name: '详情：部门 设计组' }).click();
  await row('移动').getByRole('button', { name: '撤销此变更' }).click();
  await dialog.getByRole('button', { name: /^撤\s*销$/ }).click();
  await page.getByText('变更已撤销').waitFor();
  await row('移动').nth(1).waitFor();
  const { data } = await company.get(`/system/dept-api/${design}`);
  assert.equal(String(data.parentId), String(market));
});

test('on a phone, in English', async () => {
  const page = await stage.page({ ...inZone, viewport: PHONE, locale: 'en-US' });
  await logIn(page, boss);
  await page.getByRole('button', { name: 'Account: boss' }).click();
  await page.getByRole('menuitem', { name: 'Changes' }).click();
  await page.getByRole('heading', { level: 1, name: 'Changes' }).waitFor();
  await page.getByRole('button', { name: 'Details: Department 总部' }).first().click();
  await page.getByRole('row', { name: /^Display order|^Order/ }).waitFor();
  const fits = () => page.evaluate('document.documentElement.scrollWidth <= innerWidth');
  assert.equal(await fits(), true);
  await noSeriousAxe(page);
  await screenshot(page, 'changes-phone');
  await open(page, `/changes/diff?from=${before}`);
  await page.getByRole('heading', { name: 'Renamed (1)' }).waitFor();
  assert.equal(await fits(), true);
  await noSeriousAxe(page);
  await screenshot(page, 'changes-diff-phone');
});

test('a member sees none of it', async () => {
  const page = await stage.page(inZone);
  await logIn(page, { tenantId: company.tenantId, username: 'plain' });
  await page.getByText('您好，普通人').waitFor();
  assert.equal(await page.getByText('最近变更').count(), 0);
  assert.equal(await page.getByRole('link', { name: '变更记录' }).count(), 0);
  for (const place of ['/changes', `/changes/diff?from=${before}`]) {
    await open(page, place);
    await page.getByText('此页面仅供管理员使用').waitFor();
  }
  await open(page, `/departments/${research}?tab=history`);
  await page.getByRole('tab', { name: '下级部门' }).waitFor();
  assert.equal(await page.getByRole('tab', { name: '历史' }).count(), 0);
});
