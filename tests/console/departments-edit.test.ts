import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectAccessibleInLongRun, shareConsole, visit } from '../support/console.ts';
import { createCompany, credentialsOf, row, startDrag, tree } from './departments-page.ts';
import { waitForAnimations } from './page-actions.ts';

const fixture = await shareConsole();
const { service } = fixture;

test('saving a department that someone else has edited shows the conflict and overwrites nothing', async () => {
  const { admin, market } = await createCompany(service);
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${market}`);
  await page.locator('#departments-edit').click();
  await page.getByLabel('部门名称').fill('市场与销售部');
  const { data } = await admin.get(`/system/dept-api/${market}`);
  const leaderId = await admin.createUser({ userName: 'min', nickName: '赵敏' });
  await admin.put('/system/dept-api', { ...data, leader: '赵敏', leaderId: Number(leaderId) });
  // The draft survives a reload and keeps the version that it was based on.
  await page.reload();
  await page.getByText('已恢复您上次未保存的内容').waitFor();
  assert.equal(await page.getByLabel('部门名称').inputValue(), '市场与销售部');
  await page.getByRole('button', { name: '保存' }).click();
  const conflict = page.getByRole('dialog', { name: '内容已被他人修改' });
  await conflict.getByRole('cell', { name: `赵敏，编号 ${leaderId}` }).waitFor();
  await expectAccessibleInLongRun(page);
  await conflict.getByRole('button', { name: '使用对方的版本' }).click();
  await conflict.waitFor({ state: 'detached' });
  assert.equal(await page.getByLabel('负责人').inputValue(), '赵敏');
  await page.getByLabel('部门名称').fill('销售部');
  await page.getByRole('button', { name: '保存' }).click();
  await page.getByText('部门已保存').waitFor();
  await row(page, '销售部').waitFor();
  assert.equal((await admin.get(`/system/dept-api/${market}`)).data.leader, '赵敏');
});

test('closing a half-filled form asks for confirmation', async () => {
  const { admin, top } = await createCompany(service);
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${top}`);
  await page.getByRole('button', { name: '新建下级' }).click();
  const dialog = page.getByRole('dialog', { name: '在“总部”下新建部门' });
  await dialog.getByLabel('部门名称').fill('人事部');
  await page.keyboard.press('Escape');
  const question = page.getByRole('dialog', { name: '放弃已填写的内容？' });
  await question.getByRole('button', { name: '继续填写' }).click();
  await question.waitFor({ state: 'detached' });
  assert.equal(await dialog.getByLabel('部门名称').inputValue(), '人事部');
  await dialog.getByLabel('邮箱').fill('nobody');
  await dialog.getByRole('button', { name: '创建', exact: true }).click();
  await dialog.getByText('请输入正确的邮箱地址').waitFor();
  await dialog.getByRole('button', { name: '取消' }).click();
  await page.getByRole('dialog', { name: '放弃已填写的内容？' }).getByRole('button', { name: '放弃' }).click();
  await dialog.waitFor({ state: 'detached' });
});

test('data that fails to load shows the error and can be retried', async () => {
  const { admin, market } = await createCompany(service);
  const page = await fixture.logIn(credentialsOf(admin));
  const errorBody = { code: 500, msg: '系统内部错误', data: { reason: 'INTERNAL' } };
  await page.route(/-api\/(0\/children|\d+\?|\d+$)/, (route) => route.fulfill({ status: 500, json: errorBody }));
  await visit(page, `/departments/${market}`);
  await tree(page).getByText('系统内部错误').waitFor();
  await page.getByRole('alert').getByText('系统内部错误').waitFor();
  await page.unrouteAll();
  await tree(page).getByRole('button', { name: '重试' }).click();
  await row(page, '总部').waitFor();
  await page.getByRole('alert').getByRole('button', { name: '重试' }).click();
  await page.getByRole('article', { name: '市场部' }).waitFor();
});

test('a member can view the tree but not edit it', async () => {
  const { admin, research } = await createCompany(service);
  await admin.createUser({ userName: 'lan' });
  const page = await fixture.logIn({ tenantId: admin.tenantId, username: 'lan' }, `/departments/${research}`);
  await page.getByRole('tabpanel').getByRole('link', { name: '前端组' }).waitFor();
  await row(page, '市场部').waitFor();
  for (const name of ['新建顶级部门', '新建下级', '编辑', '移动…', '删除', '多选'])
    assert.equal(await page.getByRole('button', { name }).count(), 0, name);
  assert.equal(await page.getByRole('tab', { name: '成员' }).count(), 0);
  await startDrag(page, row(page, '市场部'), row(page, '研发部'), 'into');
  await waitForAnimations(page);
  assert.equal(await page.locator('.tree-drag-label').count(), 0);
  await page.mouse.up();
  await tree(page).focus();
  await page.keyboard.press('Delete');
  await page.keyboard.press('Insert');
  assert.equal(await page.getByRole('dialog').count(), 0);
  await expectAccessibleInLongRun(page);
  await visit(page, '/departments/999999');
  await page.getByRole('alert').getByText('部门不存在').waitFor();
});
