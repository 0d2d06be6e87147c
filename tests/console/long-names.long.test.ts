// Only with test:long: it measures many screens with long names; login.test.ts covers the width of the screens on a phone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { dateInDays } from '../support/calendar.ts';
import { DESKTOP, logInOnPage, navigate, PHONE, startConsole } from '../support/console.ts';
import { expectOk } from '../support/expect.ts';
import { waitFor } from '../support/wait.ts';
import { waitForAnimations } from './page-actions.ts';

/** The screens below are tested with names of the maximum length, without spaces. */

const fixture = await startConsole({ BANYAN_WEBHOOK_NETWORKS: 'loopback' });
const { service } = fixture;
const page = await fixture.sharedPage();

const pendingRequests = new Set<object>();
page.on('request', (request) => pendingRequests.add(request));
page.on('requestfinished', (request) => pendingRequests.delete(request));
page.on('requestfailed', (request) => pendingRequests.delete(request));

/** Returns elements that are outside the window, scroll sideways, or are truncated without a tooltip that shows the full text. */
const findOverflows = (page: Page) =>
  page.evaluate(`(() => {
    const describe = (element) => element.tagName + '.' + element.className + ' ' + element.textContent.slice(0, 30);
    const clips = (element) => getComputedStyle(element).overflowX !== 'visible';
    const found = document.documentElement.scrollWidth > innerWidth ? ['the page'] : [];
    for (const element of document.querySelectorAll('.frame *, .ant-modal *')) {
      if (element.closest('svg, .chart-canvas') || !element.checkVisibility()) continue;
      if (/auto|scroll/.test(getComputedStyle(element).overflowX) && element.scrollWidth > element.clientWidth + 1)
        found.push('scrolls: ' + describe(element));
      const truncated = getComputedStyle(element).textOverflow === 'ellipsis' && element.scrollWidth > element.clientWidth + 1;
      const full = element.closest('[title]')?.title ?? '';
      if (truncated && !full.includes(element.textContent)) found.push('truncated without a tooltip: ' + describe(element));
      const { left, right } = element.getBoundingClientRect();
      let ancestor = element.parentElement;
      while (ancestor && !clips(ancestor)) ancestor = ancestor.parentElement;
      if (!ancestor && (right > innerWidth + 1 || left < -1)) found.push('outside the window: ' + describe(element));
    }
    return found;
  })()`) as Promise<string[]>;

const NAMES = [
  { kind: 'one long word', word: 'Unternehmensverwaltung' },
  { kind: 'Chinese without spaces', word: '榕树组织管理服务有限责任公司' },
];

/** Opens a screen and waits until its data is loaded and its animations have ended. */
async function openScreen(path: string, heading: string): Promise<void> {
  await navigate(page, path);
  await page.locator('.frame h1', { hasText: heading }).waitFor();
  await waitFor(`${path} has loaded`, async () => {
    await waitForAnimations(page);
    return pendingRequests.size === 0 && (await page.locator('.state[role=status], .ant-skeleton').count()) === 0;
  });
}

for (const { kind, word } of NAMES)
  test(`a name of 100 characters fits on the measured screens: ${kind}`, async () => {
    const long = (length: number) => word.repeat(100).slice(0, length);
    const admin = await service.createTenant({ tenantName: long(100), companyName: long(100), endTime: dateInDays(1) });
    const child = await service.createTenant(
      { tenantName: long(99), endTime: dateInDays(1), accountCount: 1, quotaBo: { merchant: 5 } },
      admin,
    );
    const closed = await service.createTenant({ tenantName: long(98) }, admin);
    expectOk(await admin.delete(`/system/tenant-api/${closed.id}`));
    const use = await child.post('/system/quota-api/consume', { quota: 'merchant', amount: 1, subject: long(200) });
    assert.equal(use.code, 200, use.text);
    const dept = await admin.createDepartment({ deptName: long(100), leader: long(50) });
    await admin.createDepartment({ deptName: long(99), parentId: dept });
    const deleted = await admin.createDepartment({ deptName: long(98), parentId: dept });
    expectOk(await admin.delete(`/system/dept-api/${deleted}`));
    const user = { userName: long(50), nickName: long(50), email: `${long(50)}@example.com`, roles: ['admin'] };
    const person = await admin.createUser({ ...user, deptId: dept });
    await admin.createUser({ userName: long(49), nickName: long(50), deptId: dept });
    const gone = await admin.createUser({ userName: long(48), nickName: long(50) });
    expectOk(await admin.delete(`/system/user-api/${gone}`));
    const url = `http://127.0.0.1/${'x'.repeat(1900)}`;
    const webhook = await admin.create('/system/webhook-api', { name: long(100), url, status: '1' });
    const networks = Array.from({ length: 20 }, (_, n) => `2001:db8:${n}:2:3:4:5:6`);
    const key = await admin.create('/system/key-api', {
      keyName: long(100),
      permissions: ['dept:read'],
      addresses: networks,
    });
    // The path and the heading of each screen.
    const screens: [path: string, heading: string][] = [
      ['/home', '首页'],
      [`/departments/${dept}`, '部门'],
      [`/chart/${dept}`, '组织架构图'],
      ['/people', '人员'],
      [`/people?person=${person}`, '人员'],
      [`/people?tenantId=${child.tenantId}`, '人员'],
      [`/people/${person}`, long(50)],
      ['/import/people', '导入用户'],
      ['/tenants', '租户'],
      [`/tenants/${child.id}`, long(99)],
      [`/tenants/${child.id}/edit`, long(99)],
      ['/tenants/new', '新建租户'],
      ['/quotas', '配额'],
      [`/quotas/merchant?tenantId=${child.tenantId}`, '客商管理'],
      ['/changes', '变更'],
      ['/changes/diff', '组织架构对比'],
      [`/changes/tree?day=${dateInDays(0)}`, '历史组织架构'],
      ['/deleted', '已删除'],
      ['/deleted/user', '已删除'],
      ['/deleted/tenant', '已删除'],
      [`/webhooks/${webhook}`, long(100)],
      ['/webhooks', 'Webhook'],
      [`/webhooks?form=${webhook}`, 'Webhook'],
      ['/keys', 'API 密钥'],
      [`/keys?key=${key}`, 'API 密钥'],
      ['/me', '个人中心'],
    ];
    const overflows: Record<string, string[]> = {};
    const check = async (path: string, heading: string, condition: string) => {
      await openScreen(path, heading);
      const found = await findOverflows(page);
      if (found.length > 0) overflows[`${path} ${condition}`] = found;
    };
    const { tenantId } = admin;
    for (const viewport of [DESKTOP, PHONE]) {
      await logInOnPage(page, { tenantId, username: user.userName }, '/home', { viewport });
      for (const [path, heading] of screens) await check(path, heading, `at ${viewport.width} px`);
    }
    await logInOnPage(page, { tenantId, username: long(49) }, '/home', { viewport: PHONE });
    await check('/home', '首页', 'as a member');
    assert.deepEqual(overflows, {});
  });

test('on a phone, the labels of the navigation do not touch, in either language', async () => {
  const viewport = { width: 360, height: 740 };
  for (const language of ['en', 'zh'] as const) {
    await logInOnPage(page, {}, '/home', { viewport, language });
    const boxes = (await page.evaluate(`[...document.querySelectorAll('.navigation a > span:last-child')]
      .filter((name) => name.checkVisibility()).map((name) => name.getBoundingClientRect().toJSON())`)) as {
      left: number;
      right: number;
    }[];
    assert.equal(boxes.length, 5);
    for (const [n, { left }] of boxes.entries())
      assert.ok(n === 0 || left - (boxes[n - 1]?.right ?? 0) >= 8, `${language}: ${JSON.stringify(boxes)}`);
    assert.ok((boxes.at(-1)?.right ?? 0) <= viewport.width, JSON.stringify(boxes));
  }
});
