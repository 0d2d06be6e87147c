import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { logIn, startConsole } from './harness.ts';

/** A screen's files come when it is first opened: what if they do not. */

const stage = await startConsole();

const openChart = (page: Page) => page.getByRole('link', { name: '组织图' }).click();
const chart = (page: Page) => page.getByRole('heading', { level: 1, name: '组织图' });
const broken = (page: Page) => page.getByRole('alert').getByText('这个页面出了问题');

/** Counts how often the whole page is fetched. */
function countLoads(page: Page) {
  const loads = { count: 0 };
  page.on('request', (request) => {
    if (request.isNavigationRequest()) loads.count++;
  });
  return loads;
}

test('a screen that is first opened without a connection comes when it is back', async () => {
  const page = await stage.page();
  await logIn(page);
  await page.context().setOffline(true);
  const failed = page.waitForEvent('requestfailed', (request) => request.url().includes('/assets/chart-'));
  await openChart(page);
  await failed;
  await page.getByText('连接已断开').waitFor();
  assert.equal(await broken(page).count(), 0);
  await page.context().setOffline(false);
  await chart(page).waitFor();
  await page.getByText('连接已断开').waitFor({ state: 'detached' });
});

for (const [what, files] of [
  ['script', '**/assets/chart-*.js'],
  ['style sheet', '**/assets/chart-*.css'],
] as const)
  test(`a ${what} that did not come at first does not break its screen`, async () => {
    const page = await stage.page();
    await logIn(page);
    await page.route(files, (route) => route.abort(), { times: 1 });
    const failed = page.waitForEvent('requestfailed');
    await openChart(page);
    await failed;
    await chart(page).waitFor();
    const sheets = await page.evaluate<string[]>('Array.from(document.styleSheets, ({ href }) => String(href))');
    assert.ok(
      sheets.some((href) => href.includes('/chart-')),
      String(sheets),
    );
  });

test('a screen whose files are gone since an update of the service comes with the new page', async () => {
  const page = await stage.page();
  await logIn(page);
  const loads = countLoads(page);
  await page.route('**/assets/chart-*.js', (route) =>
    loads.count === 0 ? route.fulfill({ status: 404 }) : route.continue(),
  );
  await openChart(page);
  await chart(page).waitFor();
  assert.equal(loads.count, 1);
});

test('a screen whose files are gone for good says so, and does not load the page over and over', async () => {
  const page = await stage.page();
  await logIn(page);
  const loads = countLoads(page);
  await page.route('**/assets/chart-*.js', (route) => route.fulfill({ status: 404 }));
  await openChart(page);
  await broken(page).waitFor();
  await page.waitForLoadState('networkidle');
  assert.equal(loads.count, 1);
  await page.getByRole('link', { name: '首页' }).click();
  await page.getByRole('heading', { level: 1, name: '首页' }).waitFor();
});
