// Only with test:long: it repeats the live update of a screen for other changes; live.test.ts covers it for the tree.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { startConsole } from '../support/console.ts';
import { expectOk } from '../support/expect.ts';
import { waitFor } from '../support/wait.ts';
import { createCompany, credentialsOf, row, tree } from './departments-page.ts';
import { startLive } from './live-page.ts';
import { waitUntilSettled } from './page-actions.ts';

const { service, logInLive } = await startLive(await startConsole());

const expectCounts = async (page: Page, counts: Record<string, string>) => {
  for (const [name, count] of Object.entries(counts)) {
    await waitFor(`${name}: ${count}`, async () => (await row(page, name).getAttribute('aria-description')) === count);
  }
};

test('the tree counts users whom another administrator adds, moves and deletes, without a reload', async () => {
  const { admin, web, market } = await createCompany(service);
  const page = await logInLive(credentialsOf(admin), `/departments/${web}`);
  await expectCounts(page, { 前端组: '0 人', 市场部: '0 人', 总部: '0 人' });
  const id = await admin.createUser({ userName: 'wang', deptId: web });
  await expectCounts(page, { 前端组: '1 人', 研发部: '1 人', 总部: '1 人' });
  expectOk(await admin.patch(`/system/user-api/${id}`, { deptId: market }));
  await expectCounts(page, { 前端组: '0 人', 研发部: '0 人', 市场部: '1 人', 总部: '1 人' });
  expectOk(await admin.delete(`/system/user-api/${id}`));
  await expectCounts(page, { 市场部: '0 人', 总部: '0 人' });
});

test('the tree counts users of departments that it has not loaded, and reloads no other branch', async () => {
  const { admin, top, web, market } = await createCompany(service);
  const small = await admin.createDepartment({ deptName: '组件组', parentId: web });
  const office = await admin.createDepartment({ deptName: '行政部', parentId: top });
  await admin.createDepartment({ deptName: '前台', parentId: office });
  const page = await logInLive(credentialsOf(admin), `/departments/${market}`);
  await row(page, '行政部').locator('.tree-caret').click();
  await row(page, '前台').waitFor();
  const caret = row(page, '研发部').locator('.tree-caret');
  // The list with 前端组 is loaded and collapsed; 组件组, which is below it, has not been loaded.
  await caret.click();
  await expectCounts(page, { 前端组: '0 人' });
  await caret.click();
  await row(page, '前端组').waitFor({ state: 'detached' });
  const reloaded = new Set<string>();
  page.on('request', (request) => reloaded.add(/(\d+)\/children/.exec(request.url())?.[1] ?? ''));
  const id = await admin.createUser({ userName: 'wang', deptId: small });
  await expectCounts(page, { 研发部: '1 人', 总部: '1 人' });
  await waitUntilSettled(page);
  assert.equal(reloaded.has(office), false, [...reloaded].join(' '));
  assert.ok(reloaded.has(top));
  await caret.click();
  await expectCounts(page, { 前端组: '1 人' });
  await caret.click();
  expectOk(await admin.patch(`/system/user-api/${id}`, { deptId: market }));
  await expectCounts(page, { 研发部: '0 人', 市场部: '1 人', 总部: '1 人' });
});

test('a branch that the user has collapsed stays collapsed when another administrator changes a department', async () => {
  const { admin, web, market } = await createCompany(service);
  const page = await logInLive(credentialsOf(admin), `/departments/${web}`);
  const parent = row(page, '研发部');
  await parent.locator('.tree-caret').click();
  await row(page, '前端组').waitFor({ state: 'detached' });
  expectOk(await admin.patch(`/system/dept-api/${market}`, { deptName: '增长部' }));
  await row(page, '增长部').waitFor();
  await waitUntilSettled(page);
  assert.equal(await parent.getAttribute('aria-expanded'), 'false');
});

test('an open form keeps what was typed when someone else saves the same record, and the conflict is shown', async () => {
  const { admin, market } = await createCompany(service);
  const page = await logInLive(credentialsOf(admin), `/departments/${market}`);
  await page.locator('#departments-edit').click();
  await page.getByLabel('部门名称').fill('营销部');
  const { data } = await admin.get(`/system/dept-api/${market}`);
  expectOk(await admin.put('/system/dept-api', { ...data, deptName: '增长部', leader: '兰' }));
  await tree(page).getByRole('treeitem').filter({ hasText: '增长部' }).waitFor();
  assert.equal(await page.getByLabel('部门名称').inputValue(), '营销部');
  await page.getByRole('button', { name: '保存' }).click();
  await page.getByRole('dialog').filter({ hasText: '内容已被他人修改' }).waitFor();
});

test('a renewal while a dialog is open is shown on the page behind it, and is a conflict when the dialog is saved', async () => {
  const { admin } = await createCompany(service);
  const child = await service.createTenant({ tenantName: '分公司', endTime: '2099-01-31' }, admin);
  const page = await logInLive(credentialsOf(admin), `/tenants/${child.id}`);
  await page.getByRole('button', { name: '续期：分公司' }).click();
  const dialog = page.getByRole('dialog', { name: '为“分公司”续期' });
  await dialog.getByText('当前结束日期：2099-01-31').waitFor();
  expectOk(await admin.patch(`/system/tenant-api/${child.id}`, { endTime: '2099-06-30' }));
  await page.locator('.tenants-period', { hasText: '2099-06-30' }).waitFor();
  await waitUntilSettled(page);
  assert.equal(
    await dialog.getByText('当前结束日期：2099-01-31').count(),
    1,
    'the dialog keeps the version it has read',
  );
  await dialog.getByRole('button', { name: '续期' }).click();
  const conflict = page.getByRole('dialog', { name: '内容已被他人修改' });
  await conflict.getByRole('row', { name: '结束日期 2099-06-30 2100-01-31' }).waitFor();
  await conflict.getByRole('button', { name: '使用对方的版本' }).click();
  await dialog.getByText('当前结束日期：2099-06-30').waitFor();
  await dialog.getByRole('button', { name: '续期' }).click();
  await page.getByText('“分公司”已续期至 2100-06-30').waitFor();
});

test('the page of a tenant that another administrator deletes says so', async () => {
  const { admin } = await createCompany(service);
  const child = await service.createTenant({ tenantName: '旧分公司' }, admin);
  const page = await logInLive(credentialsOf(admin), `/tenants/${child.id}`);
  await page.getByRole('heading', { level: 1, name: '旧分公司' }).waitFor();
  expectOk(await admin.delete(`/system/tenant-api/${child.id}`));
  await page.getByRole('alert').filter({ hasText: '“旧分公司”已被删除' }).waitFor();
  assert.equal(await page.getByRole('heading', { level: 1, name: '旧分公司' }).count(), 0);
});

test('a user whose tenant is disabled sees the reason at once', async () => {
  const { admin } = await createCompany(service);
  const page = await logInLive(credentialsOf(admin), '/people');
  const { data } = await service.root.get(`/system/tenant-api/list?tenantId=${admin.tenantId}`);
  expectOk(await service.root.patch(`/system/tenant-api/${data.rows[0].id}`, { status: '1' }));
  const dialog = page.getByRole('dialog').filter({ hasText: '登录已过期' });
  await dialog.getByText('租户或其上级租户已被停用').waitFor();
});
