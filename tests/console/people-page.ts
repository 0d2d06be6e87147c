import type { Page } from 'playwright-core';
import type { ConsoleFixture } from '../support/console.ts';
import type { Client } from '../support/service.ts';

/** Creates three departments in the tenant of an administrator. Returns helpers for tests of the People screen. */
export async function startPeople(fixture: ConsoleFixture, admin: Client) {
  const headquarters = await admin.createDepartment({ deptName: '总部' });
  const engineering = await admin.createDepartment({ deptName: '研发部', parentId: headquarters });
  const sales = await admin.createDepartment({ deptName: '销售部' });
  const page = await fixture.sharedPage();
  const recordOf = async (id: string) => (await admin.get(`/system/user-api/${id}`)).data;
  return { page, headquarters, engineering, sales, recordOf, ...peopleScreen(page) };
}

/** Returns helpers for tests of the People screen on this page. */
export function peopleScreen(page: Page) {
  const rowOf = (name: string) => page.getByRole('row', { name });
  const topDialog = () => page.locator('.ant-modal-wrap:visible').last();

  /** Returns the new password shown for a user. Matches the whole user name: a part of it may occur in another password. */
  const passwordOf = (userName: string) =>
    topDialog()
      .locator('dl')
      .filter({ has: page.getByText(userName, { exact: true }) })
      .locator('code');

  /** Opens the menu of a user with the keyboard and chooses an action. */
  async function chooseAction(name: string, action: string) {
    await page.getByRole('button', { name: `更多操作：${name}` }).press('Enter');
    await page.getByRole('menuitem', { name: action }).press('Enter');
    await topDialog().waitFor();
  }

  async function chooseDepartment(label: string, part: string, name: string) {
    const field = topDialog().getByLabel(label, { exact: true });
    await field.fill(part);
    await page.locator('.department-option', { hasText: name }).waitFor();
    await page.locator('.department-option').filter({ hasNotText: name }).first().waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
  }

  return { rowOf, topDialog, passwordOf, chooseAction, chooseDepartment };
}
