import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { DESKTOP, type Who } from '../support/console.ts';
import { PASSWORD } from '../support/service.ts';

/**
 * One page for many tests: to load the console takes a second and a half of processor time, to change who is logged in
 * takes a tenth of that. Each test begins with `sitDown` or `toLogin`, so it does not matter what the one before left.
 */

interface Look {
  viewport?: { width: number; height: number };
  colorScheme?: 'light' | 'dark';
  language?: 'zh' | 'en';
}

/** Tells the console what another tab would tell it. */
const tell = (page: Page, news: object) =>
  page.evaluate(`(() => {
    const tabs = new BroadcastChannel('banyan.session');
    tabs.postMessage(${JSON.stringify(news)});
    tabs.close();
  })()`);

/** As when another tab chose it. It is not kept. */
const choose = (page: Page, key: string, newValue: string) =>
  page.evaluate(`dispatchEvent(new StorageEvent('storage', ${JSON.stringify({ key, newValue })}))`);

const loginOf = (page: Page) => page.getByRole('heading', { name: /^(登录榕树|Log in to Banyan)$/ });

/** The page and the other tabs of its browser, which learn what it learns. */
const tabsOf = (page: Page) =>
  page
    .context()
    .pages()
    .filter((tab) => tab.url() !== 'about:blank');

/** Brings the page to the login, with nobody logged in, nothing kept of the session before and nothing intercepted. */
export async function toLogin(page: Page, look: Look = {}): Promise<void> {
  const { viewport = DESKTOP, colorScheme = 'light', language = 'zh' } = look;
  for (const tab of [page.context(), ...page.context().pages()]) await tab.unrouteAll({ behavior: 'ignoreErrors' });
  await page.context().setOffline(false);
  await page.context().clearCookies();
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  // A new page, or one that broke under the test before.
  if ((await page.locator('.frame, .login').count()) === 0) await page.goto('/login');
  else await tell(page, { kind: 'out' });
  for (const tab of tabsOf(page)) await loginOf(tab).waitFor();
  await choose(page, 'banyan.language', language);
  await page.getByRole('heading', { name: language === 'zh' ? '登录榕树' : 'Log in to Banyan' }).waitFor();
}

/**
 * Somebody sits down at the page and is logged in, by a call that sets the cookie; then a place is opened. The page is
 * loaded only when it was not yet. What the page read before is forgotten, as with every logout.
 */
export async function sitDown(page: Page, who: Who = {}, place = '/home', look: Look = {}): Promise<void> {
  const { tenantId = '000000', username = 'admin', password = PASSWORD } = who;
  await toLogin(page, look);
  const data = { tenantId, username, password };
  const answer = await page.context().request.post('/auth/login?session=cookie', { data });
  assert.equal(answer.status(), 200, await answer.text());
  await tell(page, { kind: 'token', token: (await answer.json()).data.access_token });
  for (const tab of tabsOf(page)) await tab.locator('.frame h1').waitFor();
  if (place !== '/home') await goTo(page, place);
}

/** Goes to a place as a link does, without loading the page; also where nobody is logged in. The state is the router's. */
export const goTo = (page: Page, place: string) =>
  page.evaluate(`(() => {
    const state = { usr: null, key: 'visit', idx: (history.state?.idx ?? 0) + 1 };
    history.pushState(state, '', ${JSON.stringify(place)});
    dispatchEvent(new PopStateEvent('popstate', { state }));
  })()`);

/** Fills the login where the page stands. */
export async function fillLogin(
  page: Page,
  { tenantId = '000000', username = 'admin', password = PASSWORD }: Who = {},
) {
  await page.getByLabel(/租户编号|Tenant code/).fill(tenantId);
  await page.getByLabel(/用户名|User name/).fill(username);
  await page.getByLabel(/^(密码|Password)$/).fill(password);
}

/** Logs in as a person does, where the page stands. */
export async function logInHere(page: Page, who: Who = {}): Promise<void> {
  await fillLogin(page, who);
  await page.getByRole('button', { name: /^(登录|Log in)$/ }).click();
  await page.locator('.frame h1').waitFor();
}

export async function logOutHere(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^(账户：|Account: )/ }).click();
  await page.getByRole('menuitem', { name: /退出登录|Log out/ }).click();
  await loginOf(page).waitFor();
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
