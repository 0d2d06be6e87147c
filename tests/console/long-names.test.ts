import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { dateInDays } from '../support/calendar.ts';
import { DESKTOP, logInOnPage, navigate, PHONE, startConsole } from '../support/console.ts';
import { isLong } from '../support/scale.ts';
import { waitFor } from '../support/wait.ts';
import { untilStill } from './hands.ts';

/** Names as long as the service takes them, without a space, on every screen that shows them. */

const fixture = await startConsole();
const { service } = fixture;
const page = await fixture.sharedPage();

const unanswered = new Set<object>();
page.on('request', (request) => unanswered.add(request));
page.on('requestfinished', (request) => unanswered.delete(request));
page.on('requestfailed', (request) => unanswered.delete(request));

/** What reaches beyond the window, or beyond something that scrolls sideways for it. What is cut has a tooltip with all of it. */
const tooWide = (page: Page) =>
  page.evaluate(`(() => {
    const told = (element) => element.tagName + '.' + element.className + ' ' + element.textContent.slice(0, 30);
    const clips = (element) => getComputedStyle(element).overflowX !== 'visible';
    const found = document.documentElement.scrollWidth > innerWidth ? ['the page'] : [];
    for (const element of document.querySelectorAll('.frame *, .ant-modal *')) {
      if (element.closest('svg, .chart-canvas') || !element.checkVisibility()) continue;
      if (/auto|scroll/.test(getComputedStyle(element).overflowX) && element.scrollWidth > element.clientWidth + 1)
        found.push('scrolls: ' + told(element));
      const cut = getComputedStyle(element).textOverflow === 'ellipsis' && element.scrollWidth > element.clientWidth + 1;
      const full = element.closest('[title]')?.title ?? '';
      if (cut && !full.includes(element.textContent)) found.push('cut without a tooltip: ' + told(element));
      const { left, right } = element.getBoundingClientRect();
      let around = element.parentElement;
      while (around && !clips(around)) around = around.parentElement;
      if (!around && (right > innerWidth + 1 || left < -1)) found.push('beyond: ' + told(element));
    }
    return found;
  })()`) as Promise<string[]>;

/** Each kind of name where it is the harder one; in the long run everywhere. */
const NAMES = [
  { kind: 'one long word', word: 'Unternehmensverwaltung', viewports: isLong ? [DESKTOP, PHONE] : [PHONE] },
  {
    kind: 'Chinese without a break',
    word: '榕树组织管理服务有限责任公司',
    viewports: isLong ? [DESKTOP, PHONE] : [DESKTOP],
  },
];

/** Waits until the place shows what it read, in its final form. */
async function arrive(place: string, landmark: string): Promise<void> {
  await navigate(page, place);
  await page.locator('.frame h1', { hasText: landmark }).waitFor();
  await waitFor(`${place} has read all it shows`, async () => {
    await untilStill(page);
    return unanswered.size === 0 && (await page.locator('.state[role=status], .ant-skeleton').count()) === 0;
  });
}

for (const { kind, word, viewports } of NAMES)
  test(`${kind} of a hundred letters fits on every screen`, async () => {
    const long = (letters: number) => word.repeat(100).slice(0, letters);
    const boss = await service.createTenant({ tenantName: long(100), companyName: long(100), endTime: dateInDays(1) });
    const below = await service.createTenant({ tenantName: long(99), endTime: dateInDays(1), accountCount: 1 }, boss);
    const dept = await boss.createDepartment({ deptName: long(100), leader: long(50) });
    await boss.createDepartment({ deptName: long(99), parentId: dept });
    const user = { userName: long(50), nickName: long(50), email: `${long(50)}@example.com`, roles: ['admin'] };
    const person = await boss.createUser({ ...user, deptId: dept });
    await boss.createUser({ userName: long(49), nickName: long(50), deptId: dept });
    // Each place, and what its heading says.
    const places: [place: string, heading: string][] = [
      ['/home', '首页'],
      [`/departments/${dept}`, '部门'],
      [`/chart/${dept}`, '组织架构图'],
      ['/people', '人员'],
      [`/people?person=${person}`, '人员'],
      [`/people?tenantId=${below.tenantId}`, '人员'],
      ['/tenants', '租户'],
      [`/tenants/${below.id}`, long(99)],
      [`/tenants/${below.id}/edit`, long(99)],
      ['/changes', '变更'],
      ['/me', '个人中心'],
    ];
    const wide: Record<string, string[]> = {};
    const look = async (place: string, heading: string, who: string) => {
      await arrive(place, heading);
      const found = await tooWide(page);
      if (found.length > 0) wide[`${place} ${who}`] = found;
    };
    const { tenantId } = boss;
    for (const viewport of viewports) {
      await logInOnPage(page, { tenantId, username: user.userName }, '/home', { viewport });
      for (const [place, heading] of places) await look(place, heading, `${viewport.width} wide`);
    }
    await logInOnPage(page, { tenantId, username: long(49) }, '/home', { viewport: PHONE });
    await look('/home', '首页', 'as a member');
    assert.deepEqual(wide, {});
  });
