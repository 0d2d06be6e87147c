// Only with test:long: it needs pages that have not loaded the screens yet; session.test.ts covers a lost connection, contract/console-files.test.ts unknown addresses.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { logIn, logInByForm, logInOnPage, startConsole } from '../support/console.ts';

/** The files of a screen load when it is first opened. All tests but the last make that fail. */

const fixture = await startConsole();
// Do not use the shared page: another test file may have opened these screens there.
const ownPage = await fixture.newPage();

const errorMessage = (page: Page) => page.getByRole('alert').getByText('页面出错');

/** Counts how often the whole page is loaded. */
function countLoads(page: Page) {
  const loads = { count: 0 };
  page.on('request', (request) => {
    if (request.isNavigationRequest()) loads.count++;
  });
  return loads;
}

/** Opens a screen. On each page only one test opens a given screen, so that its files are not loaded yet. */
const openScreen = (page: Page, name: string) => page.getByRole('navigation').getByRole('link', { name }).click();
const title = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });
test('a screen first opened while offline loads once the connection is back', async () => {
  const page = ownPage;
  await logInOnPage(page);
  await page.context().setOffline(true);
  const failed = page.waitForEvent('requestfailed', (request) => request.url().includes('/assets/people-'));
  await openScreen(page, '人员');
  await failed;
  await page.getByText('连接已断开').waitFor();
  assert.equal(await errorMessage(page).count(), 0);
  await page.context().setOffline(false);
  await title(page, '人员').waitFor();
  await page.getByText('连接已断开').waitFor({ state: 'detached' });
});

for (const { fileType, files, name, sheet } of [
  { fileType: 'script', files: '**/assets/chart-*.js', name: '组织架构图', sheet: '/chart-' },
  { fileType: 'style sheet', files: '**/assets/departments-*.css', name: '部门', sheet: '/departments-' },
])
  test(`a screen recovers when its ${fileType} fails to load at first`, async () => {
    const page = ownPage;
    await logInOnPage(page);
    await page.route(files, (route) => route.abort(), { times: 1 });
    const failed = page.waitForEvent('requestfailed', (request) => request.url().includes(sheet));
    await openScreen(page, name);
    await failed;
    await title(page, name).waitFor();
    // A style sheet that failed to load is listed too, but its rules cannot be read.
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

test('a screen whose files were removed by an update of the service loads after one page reload', async () => {
  const page = await fixture.newPage();
  await logIn(page);
  const loads = countLoads(page);
  await page.route('**/assets/chart-*.js', (route) =>
    loads.count === 0 ? route.fulfill({ status: 404 }) : route.continue(),
  );
  await openScreen(page, '组织架构图');
  await title(page, '组织架构图').waitFor();
  assert.equal(loads.count, 1);
});

test('a screen whose files are missing shows an error and does not reload the page repeatedly', async () => {
  const page = await fixture.newPage();
  await logIn(page);
  const loads = countLoads(page);
  await page.route('**/assets/chart-*.js', (route) => route.fulfill({ status: 404 }));
  await openScreen(page, '组织架构图');
  await errorMessage(page).waitFor();
  await openScreen(page, '首页');
  await title(page, '首页').waitFor();
  assert.equal(loads.count, 1);
});

test('an unknown address shows the navigation and that there is no such page, with the status 404', async () => {
  const page = await fixture.newPage();
  await logInByForm(page, {}, '/hooks');
  for (const at of ['/hooks', '/home/foo']) {
    const response = await page.goto(at);
    assert.equal(response?.status(), 404, at);
    await title(page, '页面不存在').waitFor();
    await page.getByRole('navigation').getByRole('link', { name: '首页' }).waitFor();
  }
  await page.close();
});
