// Only with test:long: it repeats the deletion for each state of a department; undo.test.ts covers the deletion of a subtree with its users.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectAccessibleInLongRun, expectNoCspViolations, startConsole } from '../support/console.ts';
import {
  createSmallCompany,
  credentialsOf,
  expectOutline,
  pickerTree,
  row,
  selectInTree,
  tree,
} from './departments-page.ts';

const fixture = await startConsole();
const { service } = fixture;

test('deleting a department with its users is one request, and one revert brings all of them back', async () => {
  const { admin, market } = await createSmallCompany(service);
  const names = ['worker1', 'worker2', 'worker3'];
  for (const userName of names) await admin.createUser({ userName, deptId: market });
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${market}`);
  const writes: string[] = [];
  page.on('request', (request) => {
    const isRead = request.method() === 'GET' || request.url().endsWith('/batch-read');
    if (!isRead) writes.push(request.method());
  });
  await page.getByRole('button', { name: '删除' }).click();
  await page.getByRole('dialog', { name: '删除“市场部”？' }).getByRole('button', { name: '删除' }).click();
  const dialog = page.getByRole('dialog', { name: '无法删除“市场部”' });
  await dialog.getByRole('radio', { name: '一并删除用户' }).click();
  await dialog.getByText('可在“变更记录”中一次撤销全部变更。').waitFor();
  await expectAccessibleInLongRun(page);
  await dialog.getByRole('button', { name: '删除部门及用户' }).click();
  await page.getByText('部门已删除').waitFor();
  // The first request was rejected, because the department has users.
  assert.deepEqual(writes, ['DELETE', 'DELETE']);
  assert.equal((await admin.get('/system/user-api/list')).data.total, 1);
  const { data } = await admin.get('/system/change-api/list?limit=1&below=false');
  assert.equal((await admin.post(`/system/change-api/${data.rows[0].id}/revert`)).code, 200);
  const { data: users } = await admin.get(`/system/dept-api/${market}/users`);
  assert.deepEqual(
    users.rows.map(({ userName }: { userName: string }) => userName),
    names,
  );
});

test('a department with children is not deleted unless the user confirms that the whole subtree is deleted', async () => {
  const { admin, top, research, web, market } = await createSmallCompany(service);
  await admin.createUser({ userName: 'mei', nickName: '韩梅梅', deptId: web });
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${research}`);
  const tryToDelete = async () => {
    const question = page.getByRole('dialog', { name: '删除“研发部”？' });
    await page.getByRole('button', { name: '删除' }).click();
    await question.getByRole('button', { name: '删除' }).click();
    // While the dialog closes, it would receive the click that is meant for the next one.
    await question.waitFor({ state: 'detached' });
  };
  await tryToDelete();
  const dialog = page.getByRole('dialog', { name: '无法删除“研发部”' });
  await dialog.getByText('该部门有下级部门（前端组），其下共有 1 个部门。').waitFor();
  await expectAccessibleInLongRun(page);
  await dialog.getByRole('button', { name: '查看下级部门' }).click();
  await page.getByRole('tabpanel').getByRole('link', { name: '前端组' }).waitFor();
  await dialog.waitFor({ state: 'detached' });

  await tryToDelete();
  const branch = dialog.getByRole('button', { name: '删除部门及其下级（2 个部门）' });
  assert.equal(await branch.isDisabled(), true);
  await dialog.getByText('我确认删除这 2 个部门').click();
  await branch.click();
  // A department of the branch has a user, so the dialog first asks what to do with them.
  await dialog.getByText('该部门及其下级有 1 名用户，请选择如何处理。').waitFor();
  const target = dialog.getByRole('combobox', { name: '移动到部门' });
  await target.click();
  // The whole branch will be deleted.
  await row(pickerTree(page), '研发部').locator('[data-act=toggle]').click();
  for (const name of ['研发部', '前端组'])
    await row(pickerTree(page), name).and(page.locator('[aria-disabled=true]')).waitFor();
  await page.keyboard.press('Escape');
  await selectInTree(page, target, '市场部');
  await dialog.getByRole('button', { name: '移动 1 名用户并删除部门' }).click();
  await page.getByText('部门已删除').waitFor();
  await expectOutline(page, ['1 总部', '2 市场部']);
  assert.equal((await admin.get(`/system/dept-api/${web}`)).code, 404);
  assert.equal((await admin.get(`/system/dept-api/${market}/users`)).data.total, 1);
  assert.equal((await admin.get(`/system/dept-api/${top}`)).code, 200);
});

test('a department with users can be deleted by moving them to another one', async () => {
  const { admin, top, research, market } = await createSmallCompany(service);
  const userId = await admin.createUser({ userName: 'mei', nickName: '韩梅梅', deptId: market, phone: '13900000001' });
  await admin.createUser({
    userName: 'lei',
    nickName: '李雷',
    deptId: top,
    deptIds: [market, research],
    email: 'l@example.com',
  });
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${market}`);
  await page.getByRole('button', { name: '删除' }).click();
  await page.getByRole('dialog', { name: '删除“市场部”？' }).getByRole('button', { name: '删除' }).click();
  const dialog = page.getByRole('dialog', { name: '无法删除“市场部”' });
  await dialog.getByText('该部门有 2 名用户，请选择如何处理。').waitFor();
  await dialog.getByText('韩梅梅').waitFor();
  await expectAccessibleInLongRun(page);
  await dialog.getByRole('combobox', { name: '移动到部门' }).click();
  await row(pickerTree(page), '市场部').and(page.locator('[aria-disabled=true]')).waitFor();
  await expectAccessibleInLongRun(page);
  await row(pickerTree(page), '研发部').click();
  await dialog.getByTitle('总部 / 研发部').waitFor();
  await dialog.getByRole('button', { name: '移动 2 名用户并删除部门' }).click();
  await page.getByText('部门已删除').waitFor();
  await expectOutline(page, ['1 总部', '2 研发部']);
  await page.getByRole('article', { name: '总部' }).waitFor();
  await tree(page).and(page.locator(':focus')).waitFor();
  const { data: mei } = await admin.get(`/system/user-api/${userId}`);
  assert.deepEqual([mei.deptId, mei.phone, mei.nickName], [Number(research), '13900000001', '韩梅梅']);
  const { data: users } = await admin.get(`/system/dept-api/${research}/users`);
  assert.deepEqual(
    users.rows.map(({ userName, deptId, deptIds }: { userName: string; deptId: number; deptIds: number[] }) => [
      userName,
      deptId,
      deptIds,
    ]),
    [
      ['mei', Number(research), []],
      ['lei', Number(top), [Number(research)]],
    ],
  );
  expectNoCspViolations(page);
});

test('a bulk deletion lists the departments that cannot be deleted and can delete only the others', async () => {
  const { admin, top } = await createSmallCompany(service);
  await admin.post('/system/dept-api/bulk', {
    parentId: Number(top),
    departments: [1, 2, 3].map((n) => ({ ref: `${n}`, deptName: `小组 ${n}`, orderNum: 10 + n })),
  });
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${top}`);
  await row(page, '总部').locator('[data-act=toggle]').click();
  await row(page, '小组 1').waitFor();
  await page.getByRole('button', { name: '多选' }).click();
  for (const name of ['研发部', '小组 1', '小组 3']) await row(page, name).locator('[data-act=check]').click();
  await page.getByText('已选择 3 项').waitFor();
  assert.equal(await row(page, '小组 3').getAttribute('aria-checked'), 'true');
  await expectAccessibleInLongRun(page);
  await page.getByRole('button', { name: '批量删除' }).click();
  const dialog = page.getByRole('dialog', { name: '删除所选的 3 个部门？' });
  await dialog.getByRole('button', { name: '删除', exact: true }).click();
  await dialog.getByText('存在下级部门,不允许删除').waitFor();
  await dialog.getByText('其中 1 个部门无法删除，因此所有部门均未删除。').waitFor();
  await dialog.getByRole('button', { name: '查看“研发部”的下级' }).waitFor();
  await dialog.getByRole('button', { name: '只删除其余 2 个' }).click();
  await page.getByText('2 个部门已删除').waitFor();
  await expectOutline(page, ['1 总部', '2 研发部', '2 市场部', '2 小组 2']);
  await page.getByText('已选择 1 项').waitFor();

  // With the keyboard, Space selects a row and Delete deletes the selected rows.
  await page.getByRole('button', { name: '退出多选' }).click();
  await tree(page).focus();
  await page.keyboard.press('End');
  await page.keyboard.press('Space');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Space');
  await page.keyboard.press('Delete');
  await page.getByRole('dialog', { name: '删除所选的 2 个部门？' }).waitFor();
  await page.getByRole('dialog').getByRole('button', { name: '取消' }).and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByText('2 个部门已删除').nth(0).waitFor();
  await expectOutline(page, ['1 总部', '2 研发部']);
});

test('if the others of a bulk deletion cannot be deleted either, the dialog shows why', async () => {
  const { admin, top, market } = await createSmallCompany(service);
  await admin.createUser({ userName: 'mei', nickName: '韩梅梅', deptId: market });
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${top}`);
  await row(page, '总部').locator('[data-act=toggle]').click();
  await row(page, '市场部').waitFor();
  await page.getByRole('button', { name: '多选' }).click();
  for (const name of ['研发部', '市场部']) await row(page, name).locator('[data-act=check]').click();
  await page.getByRole('button', { name: '批量删除' }).click();
  const question = page.getByRole('dialog', { name: '删除所选的 2 个部门？' });
  await question.getByRole('button', { name: '删除', exact: true }).click();
  // Only the error about 研发部 is known so far.
  await page.getByRole('dialog').getByRole('button', { name: '查看“研发部”的下级' }).waitFor();
  await page.getByRole('dialog').getByRole('button', { name: '只删除其余 1 个' }).click();
  const dialog = page.getByRole('dialog', { name: '无法删除“市场部”' });
  await dialog.getByText('该部门有 1 名用户，请选择如何处理。').waitFor();
  await dialog.getByRole('radio', { name: '一并删除用户' }).click();
  await dialog.getByRole('button', { name: '删除部门及用户' }).click();
  await page.getByText('部门已删除').waitFor();
  await expectOutline(page, ['1 总部', '2 研发部']);
  await page.getByText('已选择 1 项').waitFor();
});
