// Only with test:long: it imports into a child tenant; import.test.ts covers imports into the administrator's own tenant.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectAccessibleInLongRun, startConsole } from '../support/console.ts';
import { csv } from '../support/import.ts';
import { credentialsOf } from './departments-page.ts';

const fixture = await startConsole();

test('departments and users are imported into a child tenant from its menu, and the back button returns to it or to its users', async () => {
  const admin = await fixture.service.createTenant();
  const child = await fixture.service.createTenant({ tenantName: '分公司' }, admin);
  const page = await fixture.logIn(credentialsOf(admin), `/tenants/${child.id}`);
  const chooseAction = async (name: string) => {
    await page.getByRole('button', { name: '更多操作：分公司' }).click();
    await page.getByRole('menuitem', { name }).click();
  };
  const importFile = async (rows: string[][]) => {
    await page.getByText(`将导入到下级租户“分公司 ${child.tenantId}”`).waitFor();
    const file = { name: '文件.csv', mimeType: 'text/csv', buffer: csv(rows) };
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByRole('button', { name: '开始导入' }).click();
    await page.getByText('导入完成').waitFor();
  };
  await chooseAction('导入部门');
  await page.getByRole('heading', { level: 1, name: '导入部门' }).waitFor();
  await expectAccessibleInLongRun(page);
  await importFile([['部门路径'], ['总部'], ['总部/研发中心']]);
  await page.getByRole('button', { name: '返回' }).click();
  await page.getByRole('heading', { level: 1, name: '分公司' }).waitFor();
  await chooseAction('导入用户');
  await page.getByRole('heading', { level: 1, name: '导入用户' }).waitFor();
  await importFile([['用户名'], ['zhangsan']]);
  assert.deepEqual(
    [
      (await child.get('/system/dept-api/list')).data.total,
      (await admin.get('/system/dept-api/list')).data.total,
      (await child.get('/system/user-api/list?userName=zhangsan')).data.total,
    ],
    [2, 0, 1],
  );
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: '下载初始密码' }).click();
  await download;
  await page.getByRole('button', { name: '返回' }).click();
  await page.getByRole('row', { name: 'zhangsan' }).waitFor();
  assert.equal(new URL(page.url()).search, `?tenantId=${child.tenantId}`);
});
