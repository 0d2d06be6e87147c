import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Route } from 'playwright-core';
import { logInOnPage, navigate, shareConsole } from '../support/console.ts';
import { scale } from '../support/scale.ts';
import { logOut, submitLogin } from './login-form.ts';
import { waitUntilSettled } from './page-actions.ts';

const fixture = await shareConsole();
const { superuser } = fixture.service;

// Two tabs of one browser share the cookie and are notified of each other's logins.
const page = await fixture.sharedPage();
const second = await page.context().newPage();

/** Creates a tenant with two administrators and four workers, and logs boss in on both tabs. The first tab lists the workers. */
async function createTenantAndLogIn() {
  const admin = await fixture.service.createTenant({ tenantName: '换人' });
  const { tenantId } = admin;
  const [market] = await Promise.all([
    admin.createDepartment({ deptName: '市场部' }),
    admin.createDepartment({ deptName: '研发部' }),
    admin.createUser({ userName: 'other', roles: ['admin'] }),
  ]);
  for (const n of [1, 2, 3, 4]) await admin.createUser({ userName: `worker${n}`, deptId: market });
  await logInOnPage(page, { tenantId, username: 'boss' }, '/people?q=worker');
  if (second.url() === 'about:blank') await second.goto('/home');
  else await navigate(second, '/home');
  return { tenantId };
}

/** Logs boss out and the other administrator in on the second tab, and waits until the first tab follows. */
async function switchUser(tenantId: string) {
  await second.getByRole('button', { name: '用户：boss' }).waitFor();
  await logOut(second);
  await submitLogin(second, { tenantId, username: 'other' });
  await page.getByRole('button', { name: '用户：other' }).waitFor();
  // Wait until the home screen of the next user has loaded.
  await page.getByText('用户名额').waitFor();
}

function recordWrites(): string[] {
  const writes: string[] = [];
  page.on('request', (request) => {
    if (['PUT', 'DELETE'].includes(request.method())) writes.push(`${request.method()} ${request.url()}`);
  });
  return writes;
}

/** The outcomes of the write that is in flight while the user changes. */
const outcomes: { outcome: string; respond: (route: Route) => Promise<void> }[] = [
  { outcome: 'rejected', respond: (route) => route.continue() },
  { outcome: 'completed', respond: (route) => route.fulfill({ json: { code: 200, msg: '', data: null } }) },
  { outcome: 'lost', respond: (route) => route.abort() },
];

for (const { outcome, respond } of outcomes.slice(0, scale(1, 3)))
  test(`a bulk operation does not continue as the next user when the write in flight is ${outcome}`, async () => {
    const { tenantId } = await createTenantAndLogIn();
    await page.getByRole('checkbox', { name: '选择 worker4' }).waitFor();
    await page.getByRole('checkbox', { name: '全选当页' }).check();
    await page.getByRole('toolbar').getByRole('button', { name: '停用' }).click();
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    let signalHeld = () => {};
    const held = new Promise<void>((resolve) => (signalHeld = resolve));
    let writes = 0;
    await page.route('**/system/user-api', async (route) => {
      if (route.request().method() !== 'PUT' || ++writes !== 2) return route.continue();
      signalHeld();
      await released;
      await respond(route);
    });
    await page.getByRole('dialog').getByRole('button', { name: '停用' }).click();
    await page.getByText('正在处理 1 / 4').waitFor();
    await held;
    await switchUser(tenantId);
    const laterWrites = recordWrites();
    // The console reloads the data on the screen when the operation ends, whatever its result.
    const reloaded = page.waitForRequest('**/system/overview-api');
    const failed = outcome === 'lost' && page.waitForEvent('requestfailed');
    release();
    // This event ends the wait before the lost write is retried. It must not be retried as the next user.
    if (await failed) await page.evaluate("dispatchEvent(new Event('online'))");
    await reloaded;
    await waitUntilSettled(page);
    assert.deepEqual(laterWrites, []);
    const disabled = await superuser`
      select user_name, update_by from banyan.users where tenant_id = ${tenantId} and status = '1'`;
    assert.deepEqual([...disabled], [{ user_name: 'worker1', update_by: 'boss' }]);
  });
