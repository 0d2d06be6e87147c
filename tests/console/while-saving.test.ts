import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator } from 'playwright-core';
import { logInOnPage, startConsole } from '../support/console.ts';
import { PASSWORD } from '../support/service.ts';
import { company, row } from './departments-page.ts';
import { clickTwice, hold, untilStill } from './hands.ts';

/** What is on its way cannot be called back: its dialog stays until there is an answer, and sends it once. */

const fixture = await startConsole();
const { service } = fixture;
const { root, superuser } = service;
const page = await fixture.sharedPage();

/** Neither Escape nor a button closes it, and nothing is asked. */
async function stays(dialog: Locator): Promise<void> {
  await dialog.locator('.ant-btn-loading').waitFor();
  assert.equal(await dialog.getByRole('button', { name: '取消' }).isDisabled(), true);
  await page.keyboard.press('Escape');
  await untilStill(page);
  assert.equal(await page.locator('.ant-modal-wrap:visible').count(), 1, 'Escape closes nothing, and nothing is asked');
  await dialog.locator('.ant-modal-close').click();
  await untilStill(page);
  assert.equal(await page.locator('.ant-modal-wrap:visible').count(), 1, 'nor does the cross');
}

test('somebody new who is being saved is not discarded, and his password is shown', async () => {
  await logInOnPage(page, {}, '/people');
  await page.getByRole('button', { name: '新建用户' }).click();
  const dialog = page.getByRole('dialog', { name: '新建用户' });
  await dialog.getByLabel('用户名').fill('waited');
  await dialog.getByRole('button', { name: '随机生成' }).click();
  const { asked, release } = await hold(page, 'POST', '/system/user-api');
  await dialog.getByRole('button', { name: '创建' }).click();
  await stays(dialog);
  await page.evaluate('new Promise((gone) => { addEventListener("popstate", gone, { once: true }); history.back(); })');
  release();
  const made = page.getByRole('dialog', { name: 'waited 的登录信息' });
  await service.logIn('000000', 'waited', await made.locator('code').innerText());
  assert.equal(asked.length, 1);
});

test('a department that is being moved stays in its dialog; a refusal leaves it open', async () => {
  const { boss, web, market } = await company(service);
  await logInOnPage(page, { tenantId: boss.tenantId, username: 'boss' }, `/departments/${web}`);
  await page.getByRole('button', { name: '移动…' }).click();
  const dialog = page.getByRole('dialog', { name: '移动“前端组”' });
  await row(dialog, '市场部').click();
  const { asked, release } = await hold(page, 'PUT', '/system/dept-api');
  await dialog.getByRole('button', { name: '移动', exact: true }).click();
  await stays(dialog);
  await boss.delete(`/system/dept-api/${market}`);
  release();
  await page.getByRole('alert').waitFor();
  assert.equal(asked.length, 1);
  await dialog.getByRole('button', { name: '取消' }).click();
  await dialog.waitFor({ state: 'hidden' });
});

test('a branch that is being deleted stays in its dialog', async () => {
  const { boss, research } = await company(service);
  await logInOnPage(page, { tenantId: boss.tenantId, username: 'boss' }, `/departments/${research}`);
  await page.getByRole('article').getByRole('button', { name: '删除' }).click();
  const ask = page.getByRole('dialog', { name: '删除“研发部”？' });
  const first = await hold(page, 'DELETE', `/system/dept-api/${research}`);
  await ask.getByRole('button', { name: '删除' }).click();
  await stays(ask);
  first.release();
  const dialog = page.getByRole('dialog', { name: '无法删除“研发部”' });
  await dialog.getByText('我确认删除这 3 个部门').click();
  const whole = await hold(page, 'DELETE', `/system/dept-api/${research}?subtree=true`);
  await dialog.getByRole('button', { name: '删除部门及其下级（3 个部门）' }).click();
  await stays(dialog);
  whole.release();
  await page.getByRole('article', { name: '总部' }).waitFor();
});

test('a tenant that is being moved or disabled stays in its dialog', async () => {
  const above = await service.createTenant({ tenantName: '上级公司' });
  const { id } = await service.createTenant({ tenantName: '慢公司' });
  await logInOnPage(page, {}, `/tenants/${id}`);
  const act = async (action: string) => {
    await page.getByRole('button', { name: /^更多.*慢公司/ }).click();
    await page.getByRole('menuitem', { name: action, exact: true }).click();
    return page.getByRole('dialog');
  };
  const move = await act('移动');
  await move.getByLabel('上级租户').fill(above.tenantId);
  await page.getByTitle(`上级公司 ${above.tenantId}`).click();
  const moving = await hold(page, 'PUT', '/system/tenant-api');
  await move.getByRole('button', { name: '移动', exact: true }).click();
  await stays(move);
  moving.release();
  await move.waitFor({ state: 'hidden' });
  const disable = await act('停用');
  const disabling = await hold(page, 'PUT', '/system/tenant-api');
  await disable.getByRole('button', { name: '停用', exact: true }).click();
  await stays(disable);
  disabling.release();
  await disable.waitFor({ state: 'hidden' });
  const { data } = await root.get(`/system/tenant-api/${id}`);
  assert.deepEqual([data.tenantParent, data.status], [above.tenantId, '1']);
});

test('a change that is being reverted stays in its dialog', async () => {
  const { boss, web } = await company(service);
  await logInOnPage(
    page,
    { tenantId: boss.tenantId, username: 'boss' },
    `/changes?resource=department&resourceId=${web}`,
  );
  await page.getByRole('button', { name: '详情：部门 前端组' }).click();
  await page.getByRole('button', { name: '撤销此变更' }).click();
  const dialog = page.getByRole('dialog', { name: '撤销此变更？' });
  const { asked, release } = await hold(page, 'POST', '/system/change-api/*/revert');
  await dialog.getByRole('button', { name: '撤销', exact: true }).click();
  await stays(dialog);
  release();
  await page.getByText('变更已撤销').waitFor();
  assert.equal(asked.length, 1);
});

test('a double click deletes somebody once, and logs in again once', async () => {
  await root.createUser({ userName: 'twice', nickName: '周两次' });
  await root.createUser({ userName: 'back', roles: ['admin'] });
  await logInOnPage(page, { username: 'back' }, '/people?q=twice');
  await page.getByRole('button', { name: '更多操作：周两次' }).press('Enter');
  await page.getByRole('menuitem', { name: '删除' }).press('Enter');
  const { asked, release } = await hold(page, 'DELETE', '/system/user-api/*');
  await clickTwice(page.getByRole('dialog').getByRole('button', { name: '删除' }));
  release();
  await page.getByText('没有符合条件的用户').waitFor();
  assert.equal(asked.length, 1);

  const sessions = () => superuser`
    select from banyan.sessions where user_id = (select user_id from banyan.users where user_name = 'back')`;
  await superuser`delete from banyan.sessions where user_id = (select user_id from banyan.users where user_name = 'back')`;
  await page.getByRole('navigation').getByRole('link', { name: '部门' }).click();
  const dialog = page.getByRole('dialog', { name: '登录已过期' });
  await dialog.getByLabel('密码').fill(PASSWORD);
  const login = await hold(page, 'POST', '/auth/login?*');
  await clickTwice(dialog.getByRole('button', { name: '登录并继续' }));
  await dialog.locator('.ant-btn-loading').waitFor();
  assert.equal(await dialog.getByRole('button', { name: '使用其他用户登录' }).isDisabled(), true);
  login.release();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByText('暂无部门').waitFor();
  assert.equal((await sessions()).length, 1);
});
