import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page, Response } from 'playwright-core';
import { createSession, open, startConsole } from '../support/console.ts';

const fixture = await startConsole();

/** What somebody waits for on a slow line, as it was packed on the way. */
const AT_MOST = 300_000;
/** Over plain HTTP browsers ask for nothing better than gzip; Brotli is smaller still. */
const plain = { extraHTTPHeaders: { 'accept-encoding': 'gzip' } };

/** The scripts that came while somebody did something, by name, with their packed size. */
async function scriptsDuring(page: Page, something: () => Promise<void>): Promise<Map<string, number>> {
  const scripts = new Map<string, number>();
  const note = (answer: Response) => {
    if (answer.request().resourceType() !== 'script') return;
    const { 'content-encoding': packing = 'none', 'content-length': size } = answer.headers();
    assert.match(packing, /gzip|br/, answer.url());
    scripts.set(new URL(answer.url()).pathname, Number(size));
  };
  page.on('response', note);
  await something();
  await page.waitForLoadState('networkidle');
  page.off('response', note);
  return scripts;
}

function isSmall(scripts: Map<string, number>): void {
  const sum = [...scripts.values()].reduce((total, size) => total + size, 0);
  assert.ok(sum > 100_000 && sum < AT_MOST, `${sum} bytes: ${JSON.stringify([...scripts])}`);
}

test('the login is less than 300 kB of script even in gzip', async () => {
  const page = await fixture.newPage(plain);
  isSmall(await scriptsDuring(page, () => open(page, '/')));
  await page.getByRole('button', { name: '登录' }).waitFor();
});

test('home is less than 300 kB of script even in gzip; another screen comes when it is opened, not before', async () => {
  const page = await fixture.newPage(plain);
  await createSession(page);
  const home = await scriptsDuring(page, () => open(page, '/home'));
  await page.getByRole('heading', { level: 1, name: '首页' }).waitFor();
  isSmall(home);
  assert.deepEqual(
    [...home.keys()].filter((name) => /\/(chart|departments|tenants|people|changes|diff|me)-/.test(name)),
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
