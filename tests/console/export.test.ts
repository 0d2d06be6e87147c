import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { expectAccessibleInLongRun, navigate, shareConsole } from '../support/console.ts';
import { csvRowsOf, sheetsOf } from '../support/sheets.ts';
import { credentialsOf } from './departments-page.ts';

const fixture = await shareConsole();
const admin = await fixture.service.createTenant();
const head = await admin.createDepartment({ deptName: '总部' });
await admin.createDepartment({ deptName: '研发部', parentId: head, phone: '+86 138-0000-0000' });
for (const userName of ['anna', 'ben']) await admin.createUser({ userName, position: '生产经理', deptId: head });
await fixture.service.createTenant({ tenantName: '分公司' }, admin);

/** Chooses a format in the menu of the export button and returns the file. */
async function exportFile(page: Page, button: string, format: string) {
  const download = page.waitForEvent('download');
  // The message disappears after a few seconds, so wait for both at the same time.
  const message = page
    .getByText(/^(已导出|Exported) /)
    .first()
    .waitFor();
  await page.getByRole('button', { name: button }).press('Enter');
  await page.getByRole('menuitem', { name: format }).press('Enter');
  const [file] = await Promise.all([download, message]);
  return { name: file.suggestedFilename(), content: fs.readFileSync(await file.path()) };
}

test('people, departments and tenants are exported as the list shows them', async () => {
  const page = await fixture.logIn(credentialsOf(admin), '/people?q=ann');
  await page.getByRole('row', { name: 'anna' }).waitFor();
  const people = await exportFile(page, '导出', 'Excel');
  assert.equal(people.name, '用户.xlsx');
  await expectAccessibleInLongRun(page);
  const [sheet] = await sheetsOf(people.content);
  assert.deepEqual(
    sheet?.rows.map((row) => row.slice(1, 5)),
    [
      ['用户名', '姓名', '职务', '部门'],
      ['anna', undefined, '生产经理', '总部'],
    ].map((row) => row.map((cell) => cell ?? null)),
  );

  await navigate(page, '/departments');
  await page.getByRole('treeitem', { name: '总部' }).waitFor();
  assert.equal(csvRowsOf((await exportFile(page, '导出', 'CSV')).content).length, 3);
  await page.getByLabel('搜索部门').fill('研发');
  await page.locator('button.departments-result').waitFor();
  const found = await exportFile(page, '导出', 'CSV');
  assert.deepEqual([found.name, csvRowsOf(found.content).length], ['部门.csv', 2]);
  assert.equal(csvRowsOf(found.content)[1]?.[1], '总部/研发部');

  await navigate(page, '/tenants');
  await page.getByRole('row', { name: '分公司' }).waitFor();
  assert.equal(csvRowsOf((await exportFile(page, '导出', 'CSV')).content).length, 3);
});

test('an exported file is in the language of the console, and an export that fails shows the error', async () => {
  const page = await fixture.logIn(credentialsOf(admin), '/people', { language: 'en' });
  await page.getByRole('row', { name: 'anna' }).waitFor();
  const { name, content } = await exportFile(page, 'Export', 'CSV');
  assert.deepEqual([name, csvRowsOf(content)[0]?.[1]], ['Users.csv', 'User name']);
  const body = JSON.stringify({ code: 503, msg: 'The service is busy.', data: { reason: 'TOO_BUSY' } });
  await page.route('**/user-api/export*', (route) => route.fulfill({ status: 503, body }));
  await page.getByRole('button', { name: 'Export' }).press('Enter');
  await page.getByRole('menuitem', { name: 'Excel' }).press('Enter');
  await page.getByRole('alert').getByText('The service is busy.').waitFor();
  await page.unroute('**/user-api/export*');
});
