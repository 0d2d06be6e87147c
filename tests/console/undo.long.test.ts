// Only with test:long: it repeats the undo for moves, conflicts and several users; undo.test.ts covers it for departments and for a child tenant.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startConsole } from '../support/console.ts';
import { expectOk } from '../support/expect.ts';
import { createCompany, credentialsOf, dragAndDrop, expectOutline, row } from './departments-page.ts';
import { COMPANY_OUTLINE, holdMessage, undo } from './undo-message.ts';

const fixture = await startConsole();
const { service } = fixture;

test('undoing a move that took two requests restores both the parent and the order', async () => {
  const { admin, web, research } = await createCompany(service);
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${web}`);
  await expectOutline(page, COMPANY_OUTLINE);
  await dragAndDrop(page, row(page, '前端组'), row(page, '市场部'), 'before');
  await holdMessage(page, '“前端组”已移动');
  await expectOutline(page, ['1 总部', '2 研发部', '3 后端组', '2 前端组', '2 市场部', '2 旧部门停用']);
  await undo(page, '“前端组”已移动');
  await expectOutline(page, COMPANY_OUTLINE);
  const { data } = await admin.get(`/system/dept-api/${web}`);
  assert.deepEqual([data.parentId, data.orderNum], [Number(research), 1]);
});

test('an undo fails with an explanation if another user has changed the same record since', async () => {
  const { admin, market } = await createCompany(service);
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${market}`);
  await page.locator('#departments-edit').click();
  await page.getByLabel('部门名称').fill('营销部');
  await page.getByRole('button', { name: '保存' }).click();
  const message = page.locator('.undo-message');
  await holdMessage(page);
  const { data } = await admin.get(`/system/dept-api/${market}`);
  assert.equal(data.deptName, '营销部');
  expectOk(await admin.put('/system/dept-api', { ...data, deptName: '增长部' }));
  await message.getByRole('button', { name: '撤销' }).click();
  await page.getByRole('alert').filter({ hasText: '变更' }).waitFor();
  assert.equal((await admin.get(`/system/dept-api/${market}`)).data.deptName, '增长部');
  await page.getByRole('article', { name: '增长部' }).waitFor();
});

test('one undo restores several users who were deleted one by one', async () => {
  const { admin, web, market } = await createCompany(service);
  const ids = [
    await admin.createUser({ userName: 'yi', nickName: '甲一', deptId: web }),
    await admin.createUser({ userName: 'er', nickName: '乙二', deptId: market }),
  ];
  const page = await fixture.logIn(credentialsOf(admin), '/people');
  for (const name of ['甲一', '乙二']) await page.getByRole('checkbox', { name: `选择 ${name}` }).check();
  await page.getByRole('toolbar').getByRole('button', { name: '删除' }).click();
  const dialog = page.getByRole('dialog').last();
  await dialog.getByRole('button', { name: '删除' }).click();
  await holdMessage(page, '已删除：2 名用户');
  await undo(page, '已删除：2 名用户');
  const departments = await Promise.all(ids.map(async (id) => (await admin.get(`/system/user-api/${id}`)).data.deptId));
  assert.deepEqual(departments, [Number(web), Number(market)]);
  await page.getByRole('checkbox', { name: '选择 甲一' }).waitFor();
});
