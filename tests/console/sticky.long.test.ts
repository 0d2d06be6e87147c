// Only with test:long: it measures tables while the page scrolls; other files cover what they contain.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { expectAccessibleInLongRun, logInOnPage, PHONE, startConsole } from '../support/console.ts';
import { PASSWORD } from '../support/service.ts';
import { credentialsOf } from './departments-page.ts';

const fixture = await startConsole();
const admin = await fixture.service.createTenant();
const deptId = await admin.createDepartment({ deptName: '总部' });
const users = Array.from({ length: 19 }, (_, n) => ({ ref: `${n}`, userName: `u${n}`, password: PASSWORD, deptId }));
assert.equal((await admin.post('/system/user-api/bulk', { users })).code, 200);
const page = await fixture.sharedPage();

const scrollToEnd = (screen: Page) => screen.evaluate('window.scrollTo(0, document.documentElement.scrollHeight)');
const boxOf = async (locator: Locator) => {
  const box = await locator.boundingBox();
  assert.ok(box);
  return { top: Math.round(box.y), bottom: Math.round(box.y + box.height) };
};
const pageHeader = () => boxOf(page.getByRole('banner'));
const tableHeader = () => boxOf(page.locator('.ant-table-thead'));
const expectOnTop = async (locator: Locator) => {
  // A trial click fails if another element covers the middle of this one.
  await locator.click({ trial: true });
};

for (const [screen, path] of [
  ['people', '/people'],
  ['members', `/departments/${deptId}`],
] as const)
  test(`the header of the table and the actions on selected users stay visible while the page scrolls: ${screen}`, async () => {
    await logInOnPage(page, credentialsOf(admin), path);
    await page.getByRole('checkbox', { name: '选择 u3' }).check();
    const toolbar = page.getByRole('toolbar');
    await toolbar.waitFor();
    for (const width of [1440, 1280]) {
      await page.setViewportSize({ width, height: 600 });
      await scrollToEnd(page);
      const bar = await boxOf(toolbar);
      assert.equal(bar.top, (await pageHeader()).bottom, `${width} px`);
      assert.equal((await tableHeader()).top, bar.bottom, `${width} px`);
      await expectOnTop(toolbar.getByRole('button', { name: '停用' }));
      await expectOnTop(page.getByRole('checkbox', { name: '全选当页' }));
      await expectAccessibleInLongRun(page);
    }
    await toolbar.getByRole('button', { name: '取消选择' }).click();
    await toolbar.waitFor({ state: 'detached' });
    await scrollToEnd(page);
    assert.equal((await tableHeader()).top, (await pageHeader()).bottom);
    // In a narrow window the table scrolls sideways, not the page, and its header is not sticky.
    await page.setViewportSize({ width: 1000, height: 600 });
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  });

test('on a phone the actions on selected users are one line that stays visible', async () => {
  await logInOnPage(page, credentialsOf(admin), '/people', { viewport: PHONE });
  await page.getByRole('checkbox', { name: '选择 u3' }).check();
  await scrollToEnd(page);
  const bar = await boxOf(page.getByRole('toolbar'));
  assert.equal(bar.top, (await pageHeader()).bottom);
  assert.ok(bar.bottom - bar.top < 60, `${bar.bottom - bar.top} px`);
  await expectOnTop(page.getByRole('toolbar').getByRole('button', { name: '删除' }));
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  await expectAccessibleInLongRun(page);
});

test('the header of the list of tenants stays visible while the page scrolls', async () => {
  for (let n = 0; n < 10; n++) await fixture.service.createTenant({ tenantName: `分公司 ${n}` }, admin);
  await logInOnPage(page, credentialsOf(admin), '/tenants');
  await page.getByText('共 11 个').waitFor();
  for (const width of [1440, 1280]) {
    await page.setViewportSize({ width, height: 600 });
    await scrollToEnd(page);
    assert.equal((await tableHeader()).top, (await pageHeader()).bottom, `${width} px`);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  }
  await expectAccessibleInLongRun(page);
});
