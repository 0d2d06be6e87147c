import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Route } from 'playwright-core';
import { logInOnPage, navigate, startConsole } from '../support/console.ts';
import { logInHere, logOutHere, untilSettled } from './desk.ts';

const fixture = await startConsole();
const { superuser } = fixture.service;

// Two tabs of one browser: they share the cookie, and learn of each other's logins.
const page = await fixture.sharedPage();
const second = await page.context().newPage();

/** A tenant with two administrators, of whom boss sits at both tabs, and four workers. */
async function twoAdministrators(place: (market: string) => string) {
  const boss = await fixture.service.createTenant({ tenantName: '换人' });
  const { tenantId } = boss;
  const [market] = await Promise.all([
    boss.createDepartment({ deptName: '市场部' }),
    boss.createDepartment({ deptName: '研发部' }),
    boss.createUser({ userName: 'other', roles: ['admin'] }),
  ]);
  for (const n of [1, 2, 3, 4]) await boss.createUser({ userName: `worker${n}`, deptId: market });
  await logInOnPage(page, { tenantId, username: 'boss' }, place(market));
  if (second.url() === 'about:blank') await second.goto('/home');
  else await navigate(second, '/home');
  return { tenantId, market };
}

/** In the other tab boss logs out and the other one logs in, which this tab learns. */
async function handOver(tenantId: string) {
  await second.getByRole('button', { name: '用户：boss' }).waitFor();
  await logOutHere(second);
  await logInHere(second, { tenantId, username: 'other' });
  await page.getByRole('button', { name: '用户：other' }).waitFor();
  // The home of the next person, with all that it reads.
  await page.getByText('用户名额').waitFor();
}

/** What this page asks to be changed from now on. */
function changesFromNowOn(): string[] {
  const changes: string[] = [];
  page.on('request', (request) => {
    if (['PUT', 'DELETE'].includes(request.method())) changes.push(`${request.method()} ${request.url()}`);
  });
  return changes;
}

/** What becomes of the write that is on its way meanwhile. */
const fates: { fate: string; befall: (route: Route) => Promise<void> }[] = [
  { fate: 'done', befall: (route) => route.fulfill({ json: { code: 200, msg: '', data: null } }) },
  { fate: 'refused', befall: (route) => route.continue() },
  { fate: 'lost', befall: (route) => route.abort() },
];

for (const { fate, befall } of fates)
  test(`what is done with many does not go on as the next person, when a write on its way is ${fate}`, async () => {
    const { tenantId } = await twoAdministrators(() => '/people?q=worker');
    await page.getByRole('checkbox', { name: '选择 worker4' }).waitFor();
    await page.getByRole('checkbox', { name: '选择本页全部' }).check();
    await page.getByRole('toolbar').getByRole('button', { name: '停用' }).click();
    let letGo = () => {};
    const handedOver = new Promise<void>((resolve) => (letGo = resolve));
    let hold = () => {};
    const held = new Promise<void>((resolve) => (hold = resolve));
    let writes = 0;
    await page.route('**/system/user-api', async (route) => {
      if (route.request().method() !== 'PUT' || ++writes !== 2) return route.continue();
      hold();
      await handedOver;
      await befall(route);
    });
    await page.getByRole('dialog').getByRole('button', { name: '停用' }).click();
    await page.getByText('正在处理 1 / 4').waitFor();
    await held;
    await handOver(tenantId);
    const changes = changesFromNowOn();
    // What is on the screen is read again when all is over, however it went.
    const over = page.waitForRequest('**/system/overview-api');
    const failed = fate === 'lost' && page.waitForEvent('requestfailed');
    letGo();
    // The write is tried again when the service is there again, which the browser says.
    if (await failed) await page.evaluate("dispatchEvent(new Event('online'))");
    await over;
    await untilSettled(page);
    assert.deepEqual(changes, []);
    const disabled = await superuser`
      select user_name, update_by from banyan.users where tenant_id = ${tenantId} and status = '1'`;
    assert.deepEqual([...disabled], [{ user_name: 'worker1', update_by: 'boss' }]);
  });

test('people on their way out of a department are not moved on by the next person, nor is it deleted', async () => {
  const { tenantId } = await twoAdministrators((market) => `/departments/${market}`);
  await page.getByRole('article').getByRole('button', { name: '删除' }).click();
  await page.getByRole('dialog').getByRole('button', { name: '删除' }).click();
  const dialog = page.getByRole('dialog', { name: '无法删除“市场部”' });
  await dialog.getByRole('treeitem', { name: '研发部' }).click();
  let letGo = () => {};
  const handedOver = new Promise<void>((resolve) => (letGo = resolve));
  let read = () => {};
  const secondRead = new Promise<void>((resolve) => (read = resolve));
  let reads = 0;
  // A read that was answered before, and is heard after.
  await page.route(/user-api\/\d+$/, async (route) => {
    if (++reads !== 2) return route.continue();
    const response = await route.fetch();
    read();
    await handedOver;
    await route.fulfill({ response });
  });
  await dialog.getByRole('button', { name: '移动 4 名用户并删除' }).click();
  await dialog.getByText('正在移动用户：1 / 4').waitFor();
  await secondRead;
  await handOver(tenantId);
  const changes = changesFromNowOn();
  const heard = page.waitForResponse(/user-api\/\d+$/);
  letGo();
  await (await heard).finished();
  await untilSettled(page);
  assert.deepEqual(changes, []);
  const changed = await superuser`
    select user_name, update_by from banyan.users where tenant_id = ${tenantId} and update_by <> ''`;
  assert.deepEqual([...changed], [{ user_name: 'worker1', update_by: 'boss' }]);
});
