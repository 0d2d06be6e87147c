// Only with test:long: it restores records in the audit log and on their own pages, and checks the history of tenants; restore.test.ts restores each kind of record in the list of deleted ones.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectAccessibleInLongRun, startConsole, visit } from '../support/console.ts';
import { expectError, expectOk } from '../support/expect.ts';
import { waitFor } from '../support/wait.ts';
import { credentialsOf } from './departments-page.ts';
import { holdRequests } from './page-actions.ts';

const fixture = await startConsole();

test('one of several records that were deleted together can be restored from the audit log', async () => {
  const admin = await fixture.service.createTenant();
  const [kept, other] = [await admin.createUser({ userName: 'kept' }), await admin.createUser({ userName: 'other' })];
  const dept = await admin.createDepartment({ deptName: '旧部门' });
  await admin.delete(`/system/user-api/${kept},${other}`);
  await admin.delete(`/system/dept-api/${dept}`);
  const page = await fixture.logIn(credentialsOf(admin), `/changes?resource=user&resourceId=${kept}`);
  await page.getByRole('button', { name: '详情：用户 kept' }).first().click();
  await page.getByRole('button', { name: '仅恢复此对象' }).click();
  await page.getByRole('dialog', { name: '恢复此对象？' }).getByRole('button', { name: '恢复' }).click();
  await page.getByText('已恢复').waitFor();
  await waitFor('the user is restored', async () => (await admin.get(`/system/user-api/${kept}`)).code === 200);
  expectError(await admin.get(`/system/user-api/${other}`), 404, 'USER_NOT_FOUND');

  await fixture.logIn(credentialsOf(admin), '/changes?resource=department');
  await page.getByRole('button', { name: '详情：部门 旧部门' }).first().click();
  await page.getByRole('button', { name: '仅恢复此对象' }).click();
  // Another administrator was faster: the dialog shows the error.
  await admin.post(`/system/dept-api/${dept}/restore`);
  await page.getByRole('dialog', { name: '恢复此对象？' }).getByRole('button', { name: '恢复' }).click();
  await page.getByRole('alert').getByText('部门未被删除，无需恢复').waitFor();
});

test('going back to the page of a tenant that was just deleted shows that it was deleted', async () => {
  const admin = await fixture.service.createTenant();
  const child = await fixture.service.createTenant({ tenantName: '旧分公司' }, admin);
  const page = await fixture.logIn(credentialsOf(admin), `/tenants/${child.id}`);
  await page.getByRole('button', { name: '更多操作：旧分公司' }).click();
  await page.getByRole('menuitem', { name: '删除', exact: true }).click();
  await page.getByRole('dialog', { name: '删除“旧分公司”？' }).getByRole('button', { name: '删除' }).click();
  await page.getByRole('heading', { level: 1, name: '租户' }).waitFor();
  await page.goBack();
  const notice = page.getByRole('alert').filter({ hasText: '“旧分公司”已被删除' });
  await notice.waitFor();
  assert.equal(await page.getByRole('heading', { level: 1, name: '旧分公司' }).count(), 0);
  const read = await holdRequests(page, 'GET', `/system/tenant-api/${child.id}`);
  await notice.getByRole('button', { name: '恢复' }).click();
  await waitFor('the page reads the restored tenant', () => read.requests.length > 0);
  // While the page does not know whether the tenant was restored, it shows neither the notice nor an error.
  await notice.waitFor({ state: 'detached' });
  assert.equal(await page.locator('.state[role=alert]').count(), 0);
  read.release();
  await page.getByRole('heading', { level: 1, name: '旧分公司' }).waitFor();
});

test('the page of a deleted record says who deleted it, and restores it', async () => {
  const admin = await fixture.service.createTenant({ tenantName: '榕树科技' });
  const dept = await admin.createDepartment({ deptName: '老厂区' });
  const user = await admin.createUser({ userName: 'gone', nickName: '离职员工' });
  const child = await fixture.service.createTenant({ tenantName: '旧分公司' }, admin);
  for (const [path, screen, name, shown] of [
    [`/system/dept-api/${dept}`, `/departments/${dept}`, '老厂区', 'article'],
    [`/system/tenant-api/${child.id}`, `/tenants/${child.id}`, '旧分公司', 'heading'],
  ] as const) {
    expectOk(await admin.delete(path));
    const page = await fixture.logIn(credentialsOf(admin), screen);
    const notice = page.getByRole('alert').filter({ hasText: `“${name}”已被删除` });
    await notice.getByText('boss 于').waitFor();
    await notice.getByRole('link', { name: '变更历史' }).waitFor();
    await expectAccessibleInLongRun(page);
    await notice.getByRole('button', { name: '恢复' }).click();
    await page.getByRole(shown, { name }).first().waitFor();
    assert.equal((await admin.get(path)).code, 200);
  }
  expectOk(await admin.delete(`/system/user-api/${user}`));
  const page = await fixture.logIn(credentialsOf(admin), `/people?person=${user}`);
  const notice = page.getByRole('alert').filter({ hasText: '“离职员工”已被删除' });
  await notice.getByRole('button', { name: '恢复' }).click();
  await page.getByText('已恢复').waitFor();
  await page.getByRole('dialog').getByLabel('用户名').waitFor();
  assert.equal((await admin.get(`/system/user-api/${user}`)).code, 200);
});

test('after a user of a child tenant was deleted, the link to deleted records leads to where they can be restored', async () => {
  const admin = await fixture.service.createTenant();
  const child = await fixture.service.createTenant({ tenantName: '分公司' }, admin);
  const user = await child.createUser({ userName: 'gone', nickName: '离职员工' });
  const dept = await child.createDepartment({ deptName: '旧部门' });
  expectOk(await child.delete(`/system/dept-api/${dept}`));
  const page = await fixture.logIn(credentialsOf(admin), '/changes?resource=department');
  const ofDept = `/changes?resource=department&resourceId=${dept}&tenant=${child.tenantId}`;
  assert.equal(await page.getByRole('link', { name: '旧部门' }).getAttribute('href'), ofDept);
  await visit(page, `/people?tenantId=${child.tenantId}`);
  await page.getByRole('button', { name: '更多操作：离职员工' }).click();
  await page.getByRole('menuitem', { name: '删除' }).click();
  await page.getByRole('dialog').getByRole('button', { name: '删除' }).click();
  await page.getByRole('row', { name: '离职员工' }).waitFor({ state: 'detached' });
  await page.getByRole('link', { name: '已删除' }).click();
  await page.getByText(`您正在查看下级租户“分公司 ${child.tenantId}”中已删除的对象`).waitFor();
  await expectAccessibleInLongRun(page);
  await page.getByRole('button', { name: '恢复“离职员工”' }).click();
  await page.getByText('没有已删除的用户').waitFor();
  assert.equal((await child.get(`/system/user-api/${user}`)).code, 200);

  // After another kind is chosen, the list and the links to the history are still those of the same tenant.
  await page.getByRole('radiogroup', { name: '对象' }).getByText('部门').click();
  await page.getByRole('button', { name: '恢复“旧部门”' }).waitFor();
  assert.equal(await page.getByRole('link', { name: '“旧部门”的变更历史' }).getAttribute('href'), ofDept);
  await page.getByRole('button', { name: '恢复“旧部门”' }).click();
  await page.getByText('没有已删除的部门').waitFor();
  assert.equal((await child.get(`/system/dept-api/${dept}`)).code, 200);
  await page.getByRole('button', { name: '返回本租户' }).click();
  await page.getByText('您正在查看下级租户').waitFor({ state: 'detached' });
  assert.equal(new URL(page.url()).pathname + new URL(page.url()).search, '/deleted/department');
});

test('the page of a tenant shows its history and reverts a change in it; the history remains after the tenant is deleted', async () => {
  const admin = await fixture.service.createTenant({ tenantName: '榕树科技' });
  const child = await fixture.service.createTenant({ tenantName: '改名前' }, admin);
  expectOk(await admin.patch(`/system/tenant-api/${child.id}`, { tenantName: '改名后' }));
  const page = await fixture.logIn(credentialsOf(admin), `/tenants/${child.id}`);
  const history = page.getByRole('list', { name: '变更历史' });
  await history.getByRole('row', { name: '租户名称 改名前 改名后' }).waitFor();
  await expectAccessibleInLongRun(page);
  const renaming = history.getByRole('listitem').filter({ has: page.getByText('修改', { exact: true }) });
  await renaming.getByRole('button', { name: '撤销此变更' }).click();
  await page.getByRole('dialog', { name: '撤销此变更？' }).getByRole('button', { name: '撤销', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: '改名前' }).waitFor();
  await history.getByRole('row', { name: '租户名称 改名后 改名前' }).waitFor();

  expectOk(await admin.delete(`/system/tenant-api/${child.id}`));
  await visit(page, `/tenants/${child.id}`);
  await page.getByRole('alert').filter({ hasText: '“改名前”已被删除' }).waitFor();
  await history.getByText('删除', { exact: true }).waitFor();
  await history.getByRole('row', { name: '租户名称 改名后 改名前' }).waitFor();
});

test('administrators see the history of their own tenant, but cannot revert its changes', async () => {
  const admin = await fixture.service.createTenant({ tenantName: '改名前' });
  expectOk(await fixture.service.root.patch(`/system/tenant-api/${admin.id}`, { tenantName: '改名后' }));
  const page = await fixture.logIn(credentialsOf(admin), `/tenants/${admin.id}`);
  const history = page.getByRole('list', { name: '变更历史' });
  await history.getByRole('row', { name: '租户名称 改名前 改名后' }).waitFor();
  assert.equal(await page.getByRole('button', { name: '撤销此变更' }).count(), 0);
  // Users of the tenant above have made these changes. Their pages cannot be opened.
  assert.equal(await history.locator('a[href^="/people/"]').count(), 0);
});

test('a tenant that has left the subtree keeps its history there, but none of its changes can be reverted', async () => {
  const admin = await fixture.service.createTenant({ tenantName: '榕树科技' });
  const other = await fixture.service.createTenant({ tenantName: '松树科技' });
  const child = await fixture.service.createTenant({ tenantName: '已划转' }, admin);
  expectOk(await fixture.service.root.patch(`/system/tenant-api/${child.id}`, { tenantParent: other.tenantId }));
  const page = await fixture.logIn(credentialsOf(admin), `/tenants/${child.id}`);
  const history = page.getByRole('list', { name: '变更历史' });
  await history.getByText('移动', { exact: true }).waitFor();
  await history.getByText('新建', { exact: true }).waitFor();
  assert.equal(await page.getByRole('button', { name: '撤销此变更' }).count(), 0);

  // The tenant that it joined can revert what it has changed itself, but not the move.
  const moved = await fixture.logIn(credentialsOf(other), `/tenants/${child.id}`);
  await moved.getByRole('heading', { level: 1, name: '已划转' }).waitFor();
  await history.getByText('移动', { exact: true }).waitFor();
  assert.equal(await page.getByRole('button', { name: '撤销此变更' }).count(), 0);
});
