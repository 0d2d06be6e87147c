import type { Page } from 'playwright-core';
import { type ConsoleFixture, type PageSettings, waitForEffects } from '../support/console.ts';

/** Helpers for tests of the global search: Ctrl+K, or the button in the header. */

export const dialog = (page: Page) => page.getByRole('dialog', { name: /^(全局搜索|Search everything)$/ });
export const field = (page: Page) => dialog(page).getByRole('combobox');
export const options = (page: Page) => dialog(page).getByRole('option');
export const selected = (page: Page) => dialog(page).getByRole('option', { selected: true });

export async function openSearch(page: Page, text = ''): Promise<void> {
  await waitForEffects(page);
  await page.keyboard.press('Control+K');
  await field(page).waitFor();
  if (text) await field(page).fill(text);
}

/** Creates two departments with the same name below different parents, a person and a child tenant. */
export async function startSearch(fixture: ConsoleFixture) {
  const { service } = fixture;
  const admin = await service.createTenant({ tenantName: '华星集团' });
  const suzhou = await admin.createDepartment({ deptName: '苏州工厂' });
  const workshop = await admin.createDepartment({ deptName: '装配车间', parentId: suzhou });
  const wuxi = await admin.createDepartment({ deptName: '无锡工厂' });
  await admin.createDepartment({ deptName: '装配车间', parentId: wuxi });
  const person = await admin.createUser({
    ...{ userName: 'wjli', nickName: '李文杰', phone: '13812345678', position: '生产经理', deptId: workshop },
  });
  const child = await service.createTenant({ tenantName: '精工科技' }, admin);

  const logIn = (path = '/home', settings: PageSettings = {}) =>
    fixture.logIn({ tenantId: admin.tenantId, username: 'boss' }, path, settings);
  return { fixture, service, admin, workshop, wuxi, person, child, logIn };
}
