import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { logIn, logInOnPage, startConsole } from '../support/console.ts';

/** A screen's files come when it is first opened: what if they do not. */

const fixture = await startConsole();
// Not the page that all files share: another file may have opened these screens there.
const fresh = await fixture.newPage();

const broken = (page: Page) => page.getByRole('alert').getByText('页面出错');

/** Counts how often the whole page is fetched. */
function countLoads(page: Page) {
  const loads = { count: 0 };
  page.on('request', (request) => {
    if (request.isNavigationRequest()) loads.count++;
  });
  return loads;
}

/** Each screen is opened by one test only, so that its files were never there before. */
const opened = (page: Page, name: string) => page.getByRole('navigation').getByRole('link', { name }).click();
const title = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

test('a screen that is first opened without a connection comes when it is back', async () => {
  const page = fresh;
  await logInOnPage(page);
  await page.context().setOffline(true);
  const failed = page.waitForEvent('requestfailed', (request) => request.url().includes('/assets/people-'));
  await opened(page, '人员');
  await failed;
  await page.getByText('连接已断开').waitFor();
  assert.equal(await broken(page).count(), 0);
  await page.context().setOffline(false);
  await title(page, '人员').waitFor();
  await page.getByText('连接已断开').waitFor({ state: 'detached' });
});

for (const { what, files, name, sheet } of [
  { what: 'script', files: '**/assets/chart-*.js', name: '组织架构图', sheet: '/chart-' },
  { what: 'style sheet', files: '**/assets/departments-*.css', name: '部门', sheet: '/departments-' },
])
  test(`a ${what} that did not come at first does not break its screen`, async () => {
    const page = fresh;
    await logInOnPage(page);
    await page.route(files, (route) => route.abort(), { times: 1 });
    const failed = page.waitForEvent('requestfailed', (request) => request.url().includes(sheet));
    await opened(page, name);
    await failed;
    await title(page, name).waitFor();
    // A sheet that did not come is in the list, too, and its rules cannot be read.
    const sheets = await page.evaluate<string[]>(`Array.from(document.styleSheets).flatMap((sheet) => {
      try {
        return sheet.cssRules.length > 0 ? [String(sheet.href)] : [];
      } catch {
        return [];
      }
    })`);
    assert.ok(
      sheets.some((href) => href.includes(sheet)),
      String(sheets),
    );
  });

test('a screen whose files are gone since an update of the service comes with the new page', async () => {
  const page = await fixture.newPage();
  await logIn(page);
  const loads = countLoads(page);
  await page.route('**/assets/chart-*.js', (route) =>
    loads.count === 0 ? route.fulfill({ status: 404 }) : route.continue(),
  );
  await opened(page, '组织架构图');
  await title(page, '组织架构图').waitFor();
  assert.equal(loads.count, 1);
});

test('a screen whose files are gone for good says so, and does not load the page over and over', async () => {
  const page = await fixture.newPage();
  await logIn(page);
  const loads = countLoads(page);
  await page.route('**/assets/chart-*.js', (route) => route.fulfill({ status: 404 }));
  await opened(page, '组织架构图');
  await broken(page).waitFor();
  await opened(page, '首页');
  await title(page, '首页').waitFor();
  assert.equal(loads.count, 1);
});
