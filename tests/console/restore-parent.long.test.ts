// Only with test:long: it covers departments whose parent is gone; restore.test.ts covers each kind of record.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectAccessibleInLongRun, startConsole } from '../support/console.ts';
import { expectOk } from '../support/expect.ts';
import { waitFor } from '../support/wait.ts';
import { credentialsOf } from './departments-page.ts';

const fixture = await startConsole();

test('a department whose parent is gone is restored below another parent, from the list, the audit log and its own page', async () => {
  const admin = await fixture.service.createTenant();
  const old = await admin.createDepartment({ deptName: '老厂区' });
  const [first, second, third] = [
    await admin.createDepartment({ deptName: '一车间', parentId: old }),
    await admin.createDepartment({ deptName: '二车间', parentId: old }),
    await admin.createDepartment({ deptName: '三车间', parentId: old }),
  ];
  const site = await admin.createDepartment({ deptName: '新厂区' });
  for (const id of [first, second, third, old]) expectOk(await admin.delete(`/system/dept-api/${id}`));
  const parentOf = async (id: string) => (await admin.get(`/system/dept-api/${id}`)).data?.parentId;
  const expectParent = (id: string, parentId: number) =>
    waitFor('the department is restored', async () => (await parentOf(id)) === parentId);

  const page = await fixture.logIn(credentialsOf(admin), '/deleted');
  await page.getByRole('button', { name: '恢复“一车间”' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: /^恢复“.车间”$/ });
  await dialog.getByText('原上级部门已被删除').waitFor();
  await dialog.getByLabel('新的上级部门').and(page.locator(':focus')).waitFor();
  assert.ok(await dialog.getByRole('button', { name: '恢复' }).isDisabled());
  await expectAccessibleInLongRun(page);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: '恢复“一车间”' }).and(page.locator(':focus')).press('Enter');
  await dialog.getByLabel('新的上级部门').fill('新厂');
  await page.locator('.department-option', { hasText: '新厂区' }).waitFor();
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: '恢复' }).click();
  await page.getByText('已恢复“一车间”').waitFor();
  await dialog.waitFor({ state: 'detached' });
  await expectParent(first, Number(site));

  await fixture.logIn(credentialsOf(admin), `/changes?resource=department&resourceId=${second}`);
  await page.getByRole('button', { name: '详情：部门 二车间' }).first().click();
  await page.getByRole('button', { name: '仅恢复此对象' }).click();
  await page.getByRole('dialog', { name: '恢复此对象？' }).getByRole('button', { name: '恢复' }).click();
  // The new parent is disabled after it was chosen and before it is used.
  await dialog.getByLabel('新的上级部门').fill('新厂');
  await page.locator('.department-option', { hasText: '新厂区' }).waitFor();
  await page.keyboard.press('Enter');
  expectOk(await admin.patch(`/system/dept-api/${site}`, { status: '1' }));
  await dialog.getByRole('button', { name: '恢复' }).click();
  await page.locator('.ant-notification', { hasText: '部门停用' }).waitFor();
  await dialog.getByRole('checkbox', { name: '恢复到顶级（无上级部门）' }).check();
  await dialog.getByRole('button', { name: '恢复' }).click();
  await expectParent(second, 0);
  await page.getByRole('dialog').first().waitFor({ state: 'detached' });

  await fixture.logIn(credentialsOf(admin), `/departments/${third}`);
  await page.getByRole('alert').getByRole('button', { name: '恢复' }).click();
  await dialog.getByRole('checkbox', { name: '恢复到顶级（无上级部门）' }).check();
  await dialog.getByRole('button', { name: '恢复' }).click();
  await page.getByRole('article', { name: '三车间' }).waitFor();
  await expectParent(third, 0);
});

test('a department of a child tenant can be restored to the top level when its former parent department is disabled', async () => {
  const admin = await fixture.service.createTenant();
  const child = await fixture.service.createTenant({ tenantName: '分公司' }, admin);
  const old = await child.createDepartment({ deptName: '老厂区' });
  const dept = await child.createDepartment({ deptName: '一车间', parentId: old });
  expectOk(await child.delete(`/system/dept-api/${dept}`));
  expectOk(await child.patch(`/system/dept-api/${old}`, { status: '1' }));
  const page = await fixture.logIn(credentialsOf(admin), `/deleted?tenantId=${child.tenantId}`, { language: 'en' });
  await page.getByRole('button', { name: 'Restore “一车间”' }).click();
  const dialog = page.getByRole('dialog', { name: 'Restore “一车间”' });
  await dialog.getByText('The former parent department is disabled').waitFor();
  await dialog.getByRole('button', { name: 'Restore' }).and(page.locator(':focus')).waitFor();
  await expectAccessibleInLongRun(page);
  await dialog.getByRole('button', { name: 'Restore' }).click();
  await page.getByText('No deleted departments').waitFor();
  assert.equal((await child.get(`/system/dept-api/${dept}`)).data.parentId, 0);
});
