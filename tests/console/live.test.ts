import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectAccessibleInLongRun, expectNoCspViolations, shareConsole } from '../support/console.ts';
import { expectOk, read } from '../support/expect.ts';
import { waitFor } from '../support/wait.ts';
import { createCompany, credentialsOf, tree } from './departments-page.ts';
import { isStream, setVisibility, startLive } from './live-page.ts';

const { service, logInLive } = await startLive(await shareConsole());

test('what another administrator changes appears in the tree and is marked for a moment, without a reload', async () => {
  const { admin, research, web, market } = await createCompany(service);
  await admin.createUser({ userName: 'second', nickName: '李雷', roles: ['admin'] });
  const second = await service.logIn(admin.tenantId, 'second');
  const page = await logInLive(credentialsOf(admin), `/departments/${web}`);
  const item = (name: string) => tree(page).getByRole('treeitem').filter({ hasText: name });
  await item('前端组').waitFor();
  // Marks disappear after some seconds, so a slow test would miss them.
  await page.evaluate(`{
    window.marks = new Set();
    const record = () => document.querySelectorAll('[role=treeitem]:has(.live-mark)').forEach(({ textContent }) => marks.add(textContent));
    new MutationObserver(record).observe(document.body, { childList: true, subtree: true });
  }`);
  // This tab saves first. Its own change is not marked, and arrives before those of the others.
  await page.locator('#departments-edit').click();
  await page.getByLabel('部门名称').fill('网页组');
  await page.getByRole('button', { name: '保存' }).click();
  await item('网页组').waitFor();
  const { next: start } = await read(second, '/system/change-api?after=latest');
  const { data } = await second.get(`/system/dept-api/${market}`);
  expectOk(await second.put('/system/dept-api', { ...data, leader: '兰' }));
  await waitFor('the row is marked', () =>
    page.evaluate("[...marks].some((text) => text.includes('市场部') && text.includes('second 刚刚修改'))"),
  );
  assert.deepEqual(await page.evaluate("[...marks].filter((text) => text.includes('网页组'))"), []);
  await item('市场部').filter({ hasNotText: '刚刚修改' }).waitFor();
  await second.createDepartment({ deptName: '测试组', parentId: research });
  await item('测试组').waitFor();
  // A department without children gets its first one.
  await second.createDepartment({ deptName: '广告组', parentId: market });
  await tree(page).locator('[role=treeitem][aria-expanded]').filter({ hasText: '市场部' }).waitFor();
  expectOk(await second.delete(`/system/dept-api/${market}?subtree=true`));
  await item('市场部').waitFor({ state: 'detached' });

  // A hidden page has no connection. Shown again, it gets what it has missed, and not what it has already received.
  const closed = page.waitForEvent('requestfailed', (request) => isStream(request.url()));
  await setVisibility(page, 'hidden');
  await closed;
  await second.createDepartment({ deptName: '行政部' });
  const resumed = page.waitForRequest((request) => isStream(request.url()));
  await setVisibility(page, 'visible');
  const after = (await resumed).headers()['last-event-id'];
  assert.ok(Number(after) > Number(start), `resumed after ${after}, which is not beyond ${start}`);
  await item('行政部').waitFor();
  await expectAccessibleInLongRun(page);
  expectNoCspViolations(page);
});

test('disabling a user shows them the login dialog immediately', async () => {
  const { admin } = await createCompany(service);
  const id = await admin.createUser({ userName: 'second', roles: ['admin'] });
  const page = await logInLive({ tenantId: admin.tenantId, username: 'second' }, '/people');
  const { data } = await admin.get(`/system/user-api/${id}`);
  expectOk(await admin.put('/system/user-api', { ...data, status: '1' }));
  await page.getByRole('dialog').filter({ hasText: '登录已过期' }).waitFor();
});
