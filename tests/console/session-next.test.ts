import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Page, Route } from 'playwright-core';
import { logIn, open, startConsole } from './harness.ts';

const stage = await startConsole();
const { superuser } = stage.service;

/** A tenant with two administrators, of whom boss sits there, and four workers. */
async function twoAdministrators() {
  const boss = await stage.service.tenant({ tenantName: '换人' });
  const { tenantId } = boss;
  const market = await boss.dept({ deptName: '市场部' });
  await boss.dept({ deptName: '研发部' });
  await boss.user({ userName: 'other', roles: ['admin'] });
  for (const n of [1, 2, 3, 4]) await boss.user({ userName: `worker${n}`, deptId: market });
  const page = await stage.page();
  await logIn(page, { tenantId, username: 'boss' });
  return { tenantId, market, page };
}

/** In another tab boss logs out and the other one logs in, which this tab learns. */
async function handOver(page: Page, tenantId: string) {
  const second = await page.context().newPage();
  await second.goto('/home');
  await second.getByRole('button', { name: '账户：boss' }).click();
  await second.getByRole('menuitem', { name: '退出登录' }).click();
  await second.getByRole('heading', { name: '登录榕树' }).waitFor();
  await logIn(second, { tenantId, username: 'other' });
  await page.getByRole('button', { name: '账户：other' }).waitFor();
}

/** Nothing is changed from now on, for as long as a lost write takes to be tried again. */
async function changesNothing(page: Page, letGo: () => void) {
  const changes: string[] = [];
  page.on('request', (request) => {
    if (['PUT', 'DELETE'].includes(request.method())) changes.push(`${request.method()} ${request.url()}`);
  });
  letGo();
  await setTimeout(4000);
  assert.deepEqual(changes, []);
}

/** What becomes of the write that is on its way meanwhile. */
const fates: { fate: string; befall: (route: Route) => Promise<void> }[] = [
  { fate: 'done', befall: (route) => route.fulfill({ json: { code: 200, msg: '', data: null } }) },
  { fate: 'refused', befall: (route) => route.continue() },
  { fate: 'lost', befall: (route) => route.abort() },
];

for (const { fate, befall } of fates)
  test(`what is done with many does not go on as the next person, when a write on its way is ${fate}`, async () => {
    const { tenantId, page } = await twoAdministrators();
    await open(page, '/people?q=worker');
    await page.getByRole('checkbox', { name: '选择本页全部' }).check();
    await page.getByRole('toolbar').getByRole('button', { name: '停用' }).click();
    let letGo = () => {};
    const handedOver = new Promise<void>((resolve) => (letGo = resolve));
    let writes = 0;
    await page.route('**/system/user-api', async (route) => {
      if (route.request().method() !== 'PUT' || ++writes !== 2) return route.continue();
      await handedOver;
      await befall(route);
    });
    await page.getByRole('dialog').getByRole('button', { name: '停用' }).click();
    await page.getByText('正在处理 1 / 4').waitFor();
    await handOver(page, tenantId);
    await changesNothing(page, letGo);
    const disabled = await superuser`
      select user_name, update_by from banyan.users where tenant_id = ${tenantId} and status = '1'`;
    assert.deepEqual([...disabled], [{ user_name: 'worker1', update_by: 'boss' }]);
  });

test('people on their way out of a department are not moved on by the next person, nor is it deleted', async () => {
  const { tenantId, market, page } = await twoAdministrators();
  await open(page, `/departments/${market}`);
  await page.getByRole('article').getByRole('button', { name: '删除' }).click();
  await page.getByRole('dialog').getByRole('button', { name: '删除' }).click();
  const dialog = page.getByRole('dialog', { name: '“市场部”现在不能删除' });
  await dialog.getByRole('treeitem', { name: '研发部' }).click();
  let letGo = () => {};
  const handedOver = new Promise<void>((resolve) => (letGo = resolve));
  let reads = 0;
  // A read that was answered before, and is heard after.
  await page.route(/user-api\/\d+$/, async (route) => {
    if (++reads !== 2) return route.continue();
    const response = await route.fetch();
    await handedOver;
    await route.fulfill({ response });
  });
  await dialog.getByRole('button', { name: '移动 4 人并删除' }).click();
  await dialog.getByText('正在移动人员：1 / 4').waitFor();
  await handOver(page, tenantId);
  await changesNothing(page, letGo);
  const changed = await superuser`
    select user_name, update_by from banyan.users where tenant_id = ${tenantId} and update_by <> ''`;
  assert.deepEqual([...changed], [{ user_name: 'worker1', update_by: 'boss' }]);
});
