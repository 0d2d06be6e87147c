import { test } from 'node:test';
import { startConsole } from '../support/console.ts';
import { expectError } from '../support/expect.ts';
import { waitFor } from '../support/wait.ts';
import { credentialsOf } from './departments-page.ts';

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
