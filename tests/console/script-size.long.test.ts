// Only with test:long: it measures the login screen and the home screen separately, each on a new page; login.test.ts measures their sum.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page, Response } from 'playwright-core';
import { createSession, open, startConsole } from '../support/console.ts';

const fixture = await startConsole();

/** The limit for the compressed scripts, which users with a slow connection have to wait for. */
const MAX_BYTES = 300_000;
/** Over plain HTTP, browsers do not accept Brotli, which is smaller. */
const gzipOnly = { extraHTTPHeaders: { 'accept-encoding': 'gzip' } };

/** Returns the compressed size of each script that is loaded during the action, by path. */
async function scriptsDuring(page: Page, action: () => Promise<void>): Promise<Map<string, number>> {
  const scripts = new Map<string, number>();
  const record = (response: Response) => {
    if (response.request().resourceType() !== 'script') return;
    const { 'content-encoding': encoding = 'none', 'content-length': size } = response.headers();
    assert.match(encoding, /gzip|br/, response.url());
    scripts.set(new URL(response.url()).pathname, Number(size));
  };
  page.on('response', record);
  await action();
  await page.waitForLoadState('networkidle');
  page.off('response', record);
  return scripts;
}

function expectSmall(scripts: Map<string, number>): void {
  const sum = [...scripts.values()].reduce((total, size) => total + size, 0);
  assert.ok(sum > 100_000 && sum < MAX_BYTES, `${sum} bytes: ${JSON.stringify([...scripts])}`);
}

test('the login screen loads less than 300 kB of scripts with gzip', async () => {
  const page = await fixture.newPage(gzipOnly);
  expectSmall(await scriptsDuring(page, () => open(page, '/')));
  await page.getByRole('button', { name: '登录' }).waitFor();
});

test('the home screen loads less than 300 kB of scripts with gzip; other screens load only when opened', async () => {
  const page = await fixture.newPage(gzipOnly);
  await createSession(page);
  const home = await scriptsDuring(page, () => open(page, '/home'));
  await page.getByRole('heading', { level: 1, name: '首页' }).waitFor();
  expectSmall(home);
  assert.deepEqual(
    [...home.keys()].filter((name) =>
      /\/(chart|departments|tenants|people|changes|diff|webhooks|keys|quotas|me)-/.test(name),
    ),
    [],
  );
  const chart = await scriptsDuring(page, async () => {
    await page.getByRole('link', { name: '组织架构图' }).click();
    await page.getByRole('heading', { level: 1, name: '组织架构图' }).waitFor();
  });
  assert.ok(
    [...chart.keys()].some((name) => name.includes('/chart-')),
    String([...chart.keys()]),
  );
});
