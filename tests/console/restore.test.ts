import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectAccessibleInLongRun, expectNoCspViolations, shareConsole } from '../support/console.ts';
import { expectOk } from '../support/expect.ts';
import { credentialsOf, nameBoss } from './departments-page.ts';

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
