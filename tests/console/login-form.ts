import type { Page } from 'playwright-core';
import { type Credentials, loginHeading } from '../support/console.ts';
import { PASSWORD } from '../support/service.ts';

/** Helpers for the login form and the account menu. */

export async function fillLogin(
  page: Page,
  { tenantId = '000000', username = 'admin', password = PASSWORD }: Credentials = {},
) {
  await page.getByLabel(/租户编号|Tenant code/).fill(tenantId);
  await page.getByLabel(/用户名|User name/).fill(username);
  await page.getByLabel(/^(密码|Password)$/).fill(password);
}

export async function submitLogin(page: Page, credentials: Credentials = {}): Promise<void> {
  await fillLogin(page, credentials);
  await page.getByRole('button', { name: /^(登录|Log in)$/ }).click();
  await page.locator('.frame h1').waitFor();
}

/** Logs out with the account menu. */
export async function logOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^(用户：|Account: )/ }).click();
  await page.getByRole('menuitem', { name: /退出登录|Log out/ }).click();
  await loginHeading(page).waitFor();
}
