// Only with test:long: it repeats a rule for the list of people; members.test.ts covers sorting by a header.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectAccessible, logInOnPage, shareConsole } from '../support/console.ts';
import { PASSWORD } from '../support/service.ts';
import { credentialsOf } from './departments-page.ts';

const fixture = await shareConsole();
const page = await fixture.sharedPage();

test('a click on a header sorts the list; the order is in the URL and is kept when the page or a filter changes', async () => {
  const company = await fixture.service.createTenant();
  const numbers = Array.from({ length: 22 }, (_, n) => n + 10);
  const users = numbers.map((n) => ({ ref: `${n}`, userName: `u${n}`, nickName: `名${99 - n}`, password: PASSWORD }));
  assert.equal((await company.post('/system/user-api/bulk', { users })).code, 200);
  const header = (name: RegExp) => page.getByRole('columnheader', { name });
  const expectRow = (at: number, text: string) => page.getByRole('row').nth(at).filter({ hasText: text }).waitFor();
  const expectSorted = (order: string, column: string) =>
    page.locator(`th[aria-sort=${order}]`, { hasText: column }).waitFor();
  const params = () => Object.fromEntries(new URL(page.url()).searchParams);

  await logInOnPage(page, credentialsOf(company), '/people?sort=-userName');
  await expectSorted('descending', '用户名');
  await expectRow(1, 'u31');
  // The next click on this column removes the sort order: users are sorted by id.
  await header(/^用户名/).click();
  await expectRow(1, 'boss');
  assert.deepEqual(params(), {});
  await header(/^姓名/).click();
  await expectSorted('ascending', '姓名');
  await expectRow(1, 'boss');
  await expectRow(2, '名68');
  await page.getByRole('listitem', { name: '2', exact: true }).click();
  await expectRow(1, '名87');
  assert.deepEqual(params(), { sort: 'nickName', page: '2' });

  await header(/^创建时间/).press('Enter');
  await expectSorted('descending', '创建时间');
  await expectRow(1, 'u31');
  assert.deepEqual(params(), { sort: '-createTime' });
  await page.getByLabel('搜索用户名、姓名或手机号').fill('名8');
  await page.getByText('共 10 人').waitFor();
  await expectRow(1, 'u19');
  assert.deepEqual(params(), { q: '名8', sort: '-createTime' });
  await expectAccessible(page);
});
