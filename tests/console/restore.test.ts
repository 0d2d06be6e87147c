import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectAccessibleInLongRun, expectNoCspViolations, shareConsole, visit } from '../support/console.ts';
import { expectOk } from '../support/expect.ts';
import { waitFor } from '../support/wait.ts';
import { createDepartments, credentialsOf, nameBoss } from './departments-page.ts';

const fixture = await shareConsole();

test('deleted departments, users and tenants are listed and can be restored', async () => {
  const admin = await fixture.service.createTenant({ tenantName: '榕树科技' });
  await nameBoss(admin, '高敏');
  const top = await admin.createDepartment({ deptName: '老厂区' });
  await admin.createDepartment({ deptName: '一车间', parentId: top });
  const user = await admin.createUser({ userName: 'gone', nickName: '离职员工' });
  const child = await fixture.service.createTenant({ tenantName: '旧分公司' }, admin);
  expectOk(await admin.delete(`/system/dept-api/${top}?subtree=true`));
  expectOk(await admin.delete(`/system/user-api/${user}`));
  expectOk(await admin.delete(`/system/tenant-api/${child.id}`));
  const page = await fixture.logIn(credentialsOf(admin), '/departments');
  await page.getByRole('link', { name: '已删除' }).click();
  // The department below is restored with the one above it.
  const deleted = page.getByRole('listitem').filter({ hasText: '老厂区 · 含 1 个下级部门' });
  await deleted.getByText('高敏 于').waitFor();
  assert.equal(await page.getByRole('listitem').count(), 1);
  await expectAccessibleInLongRun(page);
  await page.getByRole('button', { name: '恢复“老厂区”' }).click();
  await page.getByText('没有已删除的部门').waitFor();
  assert.equal((await admin.get('/system/dept-api/list')).data.total, 2);
  for (const [kind, name, empty] of [
    ['用户', '离职员工', '没有已删除的用户'],
    ['租户', '旧分公司', '没有已删除的租户'],
  ] as const) {
    await page.getByRole('radiogroup', { name: '对象' }).getByText(kind).click();
    await page.getByRole('button', { name: `恢复“${name}”` }).click();
    await page.getByText(empty).waitFor();
  }
  assert.equal((await admin.get(`/system/user-api/${user}`)).code, 200);
  assert.equal((await admin.get(`/system/tenant-api/${child.id}`)).code, 200);
  expectNoCspViolations(page);
});

test('a deleted subtree that is longer than a page is one row, even if a page ends within it', async () => {
  const admin = await fixture.service.createTenant();
  const old = await admin.createDepartment({ deptName: '旧组' });
  const top = await admin.createDepartment({ deptName: '老厂区' });
  const workshops = Array.from({ length: 59 }, (_, n) => ({ ref: `${n}`, deptName: `车间 ${n}` }));
  const bulk = await admin.post('/system/dept-api/bulk', { parentId: Number(top), departments: workshops });
  assert.equal(bulk.code, 200, bulk.text);
  expectOk(await admin.delete(`/system/dept-api/${old}`));
  expectOk(await admin.delete(`/system/dept-api/${top}?subtree=true`));
  const page = await fixture.logIn(credentialsOf(admin), '/deleted');
  const rows = page.getByRole('listitem');
  const subtree = rows.filter({ hasText: '老厂区 · 含 59 个下级部门' });
  await subtree.waitFor();
  await page.getByRole('button', { name: '恢复“旧组”' }).waitFor();
  assert.equal(await rows.count(), 2);

  // Of the subtree, the first page now has only the last row.
  const names = Array.from({ length: 49 }, (_, n) => `班组 ${n}`);
  const others = await createDepartments(admin, Object.fromEntries(names.map((deptName) => [deptName, { deptName }])));
  expectOk(await admin.delete(`/system/dept-api/${Object.values(others).join(',')}`));
  await visit(page, '/deleted');
  await page.getByRole('button', { name: '恢复“班组 0”' }).waitFor();
  assert.equal(await rows.count(), 49);
  await page.getByRole('button', { name: '更早的删除记录' }).click();
  await subtree.waitFor();
  await page.getByRole('button', { name: '恢复“旧组”' }).waitFor();
  assert.equal(await rows.count(), 51);
  await page.getByRole('button', { name: '恢复“老厂区”' }).click();
  await subtree.waitFor({ state: 'detached' });
  await waitFor('the subtree is restored', async () => (await admin.get('/system/dept-api/list')).data.total === 60);
});
