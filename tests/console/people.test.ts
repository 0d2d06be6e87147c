import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectAccessibleInLongRun, expectNoCspViolations, logInOnPage, shareConsole } from '../support/console.ts';
import { expectError } from '../support/expect.ts';
import { credentialsOf, waitForValue } from './departments-page.ts';
import { expectAlignedActions } from './page-actions.ts';
import { startPeople } from './people-page.ts';

const fixture = await shareConsole();
const admin = await fixture.service.createTenant();
const { tenantId } = admin;
const { page, rowOf, topDialog, passwordOf, chooseAction, chooseDepartment } = await startPeople(fixture, admin);

test('a new user gets a generated password, which is shown once, and can log in with it', async () => {
  await logInOnPage(page, credentialsOf(admin), '/people');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await rowOf('boss').waitFor();
  await expectAccessibleInLongRun(page);
  await page.getByRole('button', { name: '新建用户' }).click();
  const dialog = page.getByRole('dialog', { name: '新建用户' });
  await dialog.getByRole('button', { name: '创建' }).click();
  await dialog.getByText('请填写此项').waitFor();
  await dialog.getByLabel('用户名').fill('boss');
  await dialog.getByLabel('姓名').fill('王小明');
  // Escape asks before the input is discarded.
  await page.keyboard.press('Escape');
  await page.getByRole('dialog', { name: '放弃已填写的内容？' }).getByRole('button', { name: '继续填写' }).click();
  await dialog.getByLabel('职务').fill('生产经理');
  // The browser does not reject what the service accepts.
  await dialog.getByLabel('邮箱').fill('王小明@example.com');
  await dialog.getByRole('button', { name: '随机生成' }).click();
  await chooseDepartment('主部门', '研发', '研发部');
  await expectAccessibleInLongRun(page);
  await dialog.getByRole('button', { name: '创建' }).click();
  await dialog.getByText('用户名已存在').waitFor();
  // The service stores the name without the space, and so do the login details.
  await dialog.getByLabel('用户名').fill('xiaoming ');
  await dialog.getByRole('button', { name: '创建' }).click();
  const shown = page.getByRole('dialog', { name: 'xiaoming 的登录信息' });
  const password = await shown.locator('code').innerText();
  await shown.getByRole('button', { name: '复制密码' }).click();
  await page.getByText('已复制').waitFor();
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), password);
  await shown.getByRole('button', { name: '复制登录信息' }).click();
  const details = `租户编号：${tenantId}\n用户名：xiaoming\n密码：${password}`;
  await waitForValue(
    () => page.evaluate('navigator.clipboard.readText()'),
    (copied) => copied === details,
  );
  await shown.getByRole('button', { name: '关闭', exact: true }).last().click();
  await rowOf('王小明').getByText('生产经理').waitFor();
  await rowOf('王小明').getByText('研发部').waitFor();
  await expectAlignedActions(page);
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal((await page.content()).includes(password), false, 'the password is shown only once');
  const xiaoming = await fixture.service.logIn(tenantId, 'xiaoming', password);
  assert.equal((await xiaoming.get('/auth/me')).data.reason, 'PASSWORD_CHANGE_REQUIRED');
  expectNoCspViolations(page);
});

test('a user whose password is reset is logged out and can log in with the new one', async () => {
  await admin.createUser({ userName: 'reset', nickName: '赵重置', roles: ['admin'] });
  const client = await fixture.service.logIn(tenantId, 'reset');
  await logInOnPage(page, credentialsOf(admin), '/people?q=reset');
  await chooseAction('赵重置', '重置密码');
  await topDialog().getByLabel('新密码').fill('short');
  await topDialog().getByRole('button', { name: '重置密码' }).click();
  await topDialog().getByText('至少 8 个字符').waitFor();
  await topDialog().getByLabel('新密码').fill('a brand new one');
  await topDialog().getByRole('button', { name: '重置密码' }).click();
  await topDialog().getByText('a brand new one').waitFor();
  await expectAccessibleInLongRun(page);
  await topDialog().getByRole('button', { name: '关闭', exact: true }).last().click();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  assert.equal(
    await page.evaluate('document.activeElement.getAttribute("aria-label")'),
    '更多操作：赵重置',
    'the focus returns to the menu button',
  );
  expectError(await client.get('/auth/me'), 401, 'SESSION_ENDED');
  await fixture.service.logIn(tenantId, 'reset', 'a brand new one');

  // A generated password has to be changed; the history of the user shows this.
  await chooseAction('赵重置', '重置密码');
  await topDialog().getByRole('button', { name: '随机生成' }).click();
  await topDialog().getByRole('button', { name: '重置密码' }).click();
  await topDialog().getByText('租户编号').waitFor();
  await topDialog().getByText(tenantId, { exact: true }).waitFor();
  await topDialog().getByRole('button', { name: '关闭', exact: true }).last().click();
  await page.getByRole('link', { name: '赵重置' }).click();
  await page.getByRole('list', { name: '变更历史' }).getByRole('row', { name: '下次登录须修改密码 否 是' }).waitFor();
});

test('selected users are moved, given new passwords and deleted in bulk; failures are listed with the reason', async () => {
  const child = await fixture.service.createTenant({ tenantName: '多人公司' });
  const [a, b] = [
    await child.createDepartment({ deptName: '一部' }),
    await child.createDepartment({ deptName: '二部' }),
  ];
  const ids = [
    await child.createUser({ userName: 'yi', nickName: '甲一', deptId: a, phone: '1', email: 'yi@example.com' }),
    await child.createUser({ userName: 'er', nickName: '乙二', deptId: a, deptIds: [b] }),
  ];
  await logInOnPage(page, { tenantId: child.tenantId, username: 'boss' }, '/people');
  await page.getByRole('checkbox', { name: '选择 甲一' }).check();
  await page.getByRole('checkbox', { name: '选择 乙二' }).check();
  await page.getByText('已选择 2 项').waitFor();
  await page.getByRole('toolbar').getByRole('button', { name: '移动到部门' }).click();
  await chooseDepartment('移动到', '二部', '二部');
  await topDialog().getByRole('button', { name: '移动', exact: true }).click();
  await page.getByText('已移动：2 名用户').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  const read = async (id: string) => (await child.get(`/system/user-api/${id}`)).data;
  const [yi, er] = [await read(ids[0] as string), await read(ids[1] as string)];
  assert.deepEqual([yi.deptId, yi.phone, yi.email], [Number(b), '1', 'yi@example.com'], 'other fields are unchanged');
  assert.deepEqual([er.deptId, er.deptIds], [Number(b), []]);

  await page.getByRole('checkbox', { name: '全选当页' }).check();
  await page.getByRole('toolbar').getByRole('button', { name: '重置密码' }).click();
  await topDialog().getByRole('button', { name: '重置密码' }).click();
  await topDialog().getByText('共 3 人，成功 2 人').waitFor();
  await topDialog().getByRole('listitem').filter({ hasText: 'boss' }).getByText('不能对自己').waitFor();
  await expectAccessibleInLongRun(page);
  const password = await passwordOf('yi').innerText();
  const reset = await fixture.service.logIn(child.tenantId, 'yi', password);
  assert.equal((await reset.get('/auth/me')).data.reason, 'PASSWORD_CHANGE_REQUIRED');
  await topDialog().getByRole('button', { name: '关闭', exact: true }).last().click();

  await page.getByRole('checkbox', { name: '全选当页' }).check();
  // Another administrator deletes one of them first.
  await child.delete(`/system/user-api/${ids[1]}`);
  await page.getByRole('toolbar').getByRole('button', { name: '删除' }).click();
  await topDialog().getByRole('button', { name: '删除' }).click();
  await topDialog().getByText('共 3 人，成功 1 人').waitFor();
  await topDialog().getByRole('listitem').filter({ hasText: '乙二' }).getByText('用户不存在').waitFor();
  await topDialog().getByRole('button', { name: '关闭', exact: true }).last().click();
  await rowOf('甲一').waitFor({ state: 'detached' });
  expectNoCspViolations(page);
});

test('at 1280 px the table of users does not scroll, and for a child tenant it has no department column', async () => {
  const parent = await fixture.service.createTenant();
  const child = await fixture.service.createTenant({ tenantName: '下级公司', tenantParent: parent.tenantId });
  const deptId = await child.createDepartment({ deptName: '车间' });
  await child.createUser({
    userName: 'worker',
    nickName: '工人',
    deptId,
    roles: ['admin'],
    email: 'worker@example.com',
  });
  const columns = () => page.getByRole('columnheader').allInnerTexts();
  await logInOnPage(page, credentialsOf(parent), `/people?tenantId=${child.tenantId}`);
  await rowOf('工人').getByText('worker@example.com').waitFor();
  assert.ok(!(await columns()).includes('部门'));
  const { width, height } = page.viewportSize() as { width: number; height: number };
  await page.setViewportSize({ width: 1280, height: 800 });
  try {
    await rowOf('工人').getByText('worker@example.com').waitFor({ state: 'detached' });
    assert.ok((await columns()).includes('手机号'));
    const overflow =
      '(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector(".user-table"))';
    assert.equal(await page.evaluate(overflow), 0);
  } finally {
    await page.setViewportSize({ width, height });
  }
});
