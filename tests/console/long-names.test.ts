import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { DESKTOP, logIn, open, PHONE, startConsole } from './harness.ts';

/** Names as long as the service takes them, without a space, on every screen that shows them. */

const stage = await startConsole();
const { service } = stage;

const tomorrow = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Shanghai' }).format(Date.now() + 86_400_000);

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

const NAMES = { 'one long word': 'Unternehmensverwaltung', 'Chinese without a break': '榕树组织管理服务有限责任公司' };

for (const [kind, word] of Object.entries(NAMES))
  test(`${kind} of a hundred letters fits on every screen`, async () => {
    const long = (letters: number) => word.repeat(100).slice(0, letters);
    const boss = await service.tenant({ tenantName: long(100), companyName: long(100), endTime: tomorrow });
    const below = await service.tenant({ tenantName: long(99), endTime: tomorrow, accountCount: 1 }, boss);
    const dept = await boss.dept({ deptName: long(100), leader: long(50) });
    await boss.dept({ deptName: long(99), parentId: dept });
    const user = { userName: long(50), nickName: long(50), email: `${long(50)}@example.com`, roles: ['admin'] };
    const person = await boss.user({ ...user, deptId: dept });
    await boss.user({ userName: long(49), nickName: long(50), deptId: dept });
    const ofTenants = ['/tenants', `/tenants/${below.id}`, `/tenants/${below.id}/edit`];
    const ofPeople = ['/people', `/people?person=${person}`, `/people?tenantId=${below.tenantId}`];
    const places = ['/home', `/departments/${dept}`, `/chart/${dept}`, ...ofPeople, ...ofTenants, '/changes', '/me'];
    const wide: Record<string, string[]> = {};
    const visit = async (page: Page, all: string[], who: string) => {
      for (const place of all) {
        await open(page, place);
        await page.waitForLoadState('networkidle');
        const found = await tooWide(page);
        if (found.length > 0) wide[`${place} ${who}`] = found;
      }
    };
    for (const viewport of [DESKTOP, PHONE]) {
      const page = await stage.page({ viewport });
      await logIn(page, { tenantId: boss.tenantId, username: user.userName });
      await visit(page, places, `${viewport.width} wide`);
    }
    const phone = await stage.page({ viewport: PHONE });
    await logIn(phone, { tenantId: boss.tenantId, username: long(49) });
    await visit(phone, ['/home'], 'as a member');
    assert.deepEqual(wide, {});
  });
