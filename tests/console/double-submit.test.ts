import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectNoCspViolations, shareConsole } from '../support/console.ts';
import { createCompany } from './departments-page.ts';
import { clickTwice } from './page-actions.ts';
import { startSubmitting } from './submit-page.ts';

/** A form is submitted once, whatever the user clicks or presses in the meantime. */

const { service, page, logInAsAdmin, fillNewDepartment, childrenOf } = await startSubmitting(await shareConsole());

test('a double click creates one department', async () => {
  const { admin, top } = await createCompany(service);
  await logInAsAdmin(admin, `/departments/${top}`);
  const dialog = await fillNewDepartment('人事部');
  await clickTwice(dialog.getByRole('button', { name: '创建', exact: true }));
  await page.getByRole('article', { name: '人事部' }).waitFor();
  assert.deepEqual(await childrenOf(admin, top), ['研发部', '市场部', '旧部门', '人事部']);
  expectNoCspViolations(page);
});

test('a department is created once when its response is lost and the request is sent again', async () => {
  const { admin, top } = await createCompany(service);
  await logInAsAdmin(admin, `/departments/${top}`);
  const keys: (string | undefined)[] = [];
  await page.route('**/system/dept-api', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    keys.push(route.request().headers()['idempotency-key']);
    if (keys.length > 1) return route.continue();
    await route.fetch();
    await route.abort();
  });
  const dialog = await fillNewDepartment('人事部');
  const failed = page.waitForEvent('requestfailed');
  await dialog.getByRole('button', { name: '创建', exact: true }).click();
  await failed;
  // The console retries when the browser reports that it is online.
  await page.evaluate("dispatchEvent(new Event('online'))");
  await page.getByRole('article', { name: '人事部' }).waitFor();
  assert.deepEqual(await childrenOf(admin, top), ['研发部', '市场部', '旧部门', '人事部']);
  assert.equal(keys.length, 2);
});
