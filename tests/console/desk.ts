import type { Page } from 'playwright-core';
import { type Credentials, loginHeading } from '../support/console.ts';
import { PASSWORD } from '../support/service.ts';

/** What people do at the login and in the frame around every screen. */

/** Fills the login where the page stands. */
export async function fillLogin(
  page: Page,
  { tenantId = '000000', username = 'admin', password = PASSWORD }: Credentials = {},
) {
  await page.getByLabel(/租户编号|Tenant code/).fill(tenantId);
  await page.getByLabel(/用户名|User name/).fill(username);
  await page.getByLabel(/^(密码|Password)$/).fill(password);
}

/** Logs in as a person does, where the page stands. */
export async function logInHere(page: Page, who: Credentials = {}): Promise<void> {
  await fillLogin(page, who);
  await page.getByRole('button', { name: /^(登录|Log in)$/ }).click();
  await page.locator('.frame h1').waitFor();
}

export async function logOutHere(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^(用户：|Account: )/ }).click();
  await page.getByRole('menuitem', { name: /退出登录|Log out/ }).click();
  await loginHeading(page).waitFor();
}

/**
 * Shows that nothing more comes of what the page was told before: it asks the service several times, one after another,
 * and draws. A call that the page had made upon an answer would have been sent before these.
 */
export const untilSettled = (page: Page) =>
  page.evaluate(`(async () => {
    for (let times = 0; times < 5; times++) {
      await (await fetch('/version')).text();
      await new Promise(requestAnimationFrame);
    }
  })()`);
