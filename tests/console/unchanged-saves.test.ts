import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareConsole } from '../support/console.ts';
import { credentialsOf } from './departments-page.ts';

const fixture = await shareConsole();
const admin = await fixture.service.createTenant();
const child = await fixture.service.createTenant({ tenantName: '分公司', ruleBo: { modelZr: '{}' } }, admin);
const dept = await admin.createDepartment({ deptName: '总部', leader: '兰' });
await admin.createUser({ userName: 'lan', nickName: '兰', deptId: dept, email: 'lan@example.com' });

const countChanges = async () => (await admin.get('/system/change-api?limit=1000')).data.rows.length;

test('saving a form in which nothing has changed writes nothing', async () => {
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${dept}`);
  const before = await countChanges();
  const message = page.getByText('内容没有变化，无需保存');

  await page.locator('#departments-edit').click();
  await page.getByLabel('负责人').fill('竹');
  await page.getByLabel('负责人').fill(' 兰 ');
  await page.getByRole('button', { name: '保存' }).click();
  await message.waitFor();
  await page.getByLabel('负责人').waitFor({ state: 'detached' });

  await fixture.logIn(credentialsOf(admin), '/people');
  await page.getByRole('row', { name: '兰' }).getByRole('button', { name: '编辑' }).click();
  await page.getByRole('dialog').getByRole('button', { name: '保存' }).click();
  await message.waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });

  await page.getByRole('checkbox', { name: '选择 兰' }).check();
  await page.getByRole('toolbar').getByRole('button', { name: '启用' }).click();
  await page.getByRole('dialog').getByRole('button', { name: '启用' }).click();
  await page.getByText('已启用：兰').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });

  await fixture.logIn(credentialsOf(admin), `/tenants/${child.id}/edit`);
  await page.getByRole('button', { name: '保存' }).click();
  await message.waitFor();
  await page.getByRole('heading', { level: 1, name: '分公司', exact: true }).waitFor();
  // `countChanges` reads the change feed, which has no logins.
  assert.equal(await countChanges(), before);

  await page
    .getByRole('link', { name: '编辑' })
    .or(page.getByRole('button', { name: '编辑' }))
    .first()
    .click();
  await page.getByLabel('联系人').fill('竹');
  await page.getByRole('button', { name: '保存' }).click();
  await page.getByRole('heading', { level: 1, name: '分公司', exact: true }).waitFor();
  assert.ok((await countChanges()) > before, 'a change is written');
});
