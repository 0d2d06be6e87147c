import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectNoAxeViolations, expectNoCspViolations, logInOnPage, resetToLogin } from '../support/console.ts';
import { expectError } from '../support/expect.ts';
import { fillLogin } from './login-form.ts';
import { startPeople } from './people-page.ts';

const { fixture, root, page, engineering, sales, recordOf, rowOf, topDialog, chooseAction, chooseDepartment } =
  await startPeople();

test('a new user gets a generated password, which is shown once, and can log in with it', async () => {
  await logInOnPage(page, {}, '/people');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await rowOf('admin').waitFor();
  await expectNoAxeViolations(page);
  await page.getByRole('button', { name: '新建用户' }).click();
  const dialog = page.getByRole('dialog', { name: '新建用户' });
  await dialog.getByRole('button', { name: '创建' }).click();
  await dialog.getByText('请填写此项').waitFor();
  await dialog.getByLabel('用户名').fill('admin');
  await dialog.getByLabel('姓名').fill('王小明');
  await dialog.getByLabel('职务').fill('生产经理');
  await dialog.getByRole('button', { name: '随机生成' }).click();
  await chooseDepartment('主部门', '研发', '研发部');
  await expectNoAxeViolations(page);
  await dialog.getByRole('button', { name: '创建' }).click();
  await dialog.getByText('用户名已存在').waitFor();
  await dialog.getByLabel('用户名').fill('xiaoming');
  await dialog.getByRole('button', { name: '创建' }).click();
  const shown = page.getByRole('dialog', { name: 'xiaoming 的登录信息' });
  const password = await shown.locator('code').innerText();
  await shown.getByRole('button', { name: '复制密码' }).click();
  await page.getByText('已复制').waitFor();
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), password);
  await shown.getByRole('button', { name: '关闭', exact: true }).last().click();
  await rowOf('王小明').getByText('生产经理').waitFor();
  await rowOf('王小明').getByText('研发部').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal((await page.content()).includes(password), false, 'the password is shown only once');
  const xiaoming = await fixture.service.logIn('000000', 'xiaoming', password);
  assert.equal((await xiaoming.get('/auth/me')).data.reason, 'PASSWORD_CHANGE_REQUIRED');
  expectNoCspViolations(page);
});

test('a user whose password is reset is logged out and can log in with the new one', async () => {
  await root.createUser({ userName: 'reset', nickName: '赵重置', roles: ['admin'] });
  const client = await fixture.service.logIn('000000', 'reset');
  await logInOnPage(page, {}, '/people?q=reset');
  await chooseAction('赵重置', '重置密码');
  await topDialog().getByLabel('新密码').fill('short');
  await topDialog().getByRole('button', { name: '重置密码' }).click();
  await topDialog().getByText('至少 8 个字符').waitFor();
  await topDialog().getByLabel('新密码').fill('a brand new one');
  await topDialog().getByRole('button', { name: '重置密码' }).click();
  await topDialog().getByText('a brand new one').waitFor();
  await expectNoAxeViolations(page);
  await topDialog().getByRole('button', { name: '关闭', exact: true }).last().click();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  assert.equal(
    await page.evaluate('document.activeElement.getAttribute("aria-label")'),
    '更多操作：赵重置',
    'the focus returns to the menu button',
  );
  expectError(await client.get('/auth/me'), 401, 'SESSION_ENDED');
  await fixture.service.logIn('000000', 'reset', 'a brand new one');
});

test('a disabled user is locked out until they are enabled again', async () => {
  await root.createUser({ userName: 'shut', nickName: '钱多多' });
  const client = await fixture.service.logIn('000000', 'shut');
  await logInOnPage(page, {}, '/people?q=shut');
  await chooseAction('钱多多', '停用');
  await topDialog().getByText('停用后无法登录').waitFor();
  await topDialog().getByRole('button', { name: '停用' }).click();
  await page.getByText('已停用：钱多多').waitFor();
  await rowOf('钱多多').getByText('停用', { exact: true }).waitFor();
  expectError(await client.get('/auth/me'), 403, 'USER_DISABLED');
  await resetToLogin(page);
  await fillLogin(page, { username: 'shut' });
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('用户已被停用').waitFor();
  await logInOnPage(page, {}, '/people?q=shut');
  await chooseAction('钱多多', '启用');
  await topDialog().getByRole('button', { name: '启用' }).click();
  await rowOf('钱多多').getByText('正常').waitFor();
  await fixture.service.logIn('000000', 'shut');
});

test('saving a user that someone else has edited shows the conflict and can keep the other changes', async () => {
  const id = await root.createUser({ userName: 'both', nickName: '孙两人', phone: '13800000001', deptId: sales });
  await logInOnPage(page, {}, '/people?q=both');
  await page.getByRole('button', { name: '编辑 孙两人' }).click();
  const dialog = page.getByRole('dialog', { name: /^编辑用户：孙/ });
  await dialog.getByLabel('邮箱').fill('sun@example.com');
  await root.put('/system/user-api', { ...(await recordOf(id)), nickName: '孙改名', deptId: engineering });
  await dialog.getByRole('button', { name: '保存' }).click();
  const conflict = page.getByRole('dialog', { name: '内容已被他人修改' });
  await conflict.getByRole('row', { name: '部门 研发部 销售部' }).waitFor();
  await expectNoAxeViolations(page);
  await conflict.getByRole('button', { name: '使用对方的版本' }).click();
  await conflict.waitFor({ state: 'hidden' });
  assert.equal(await dialog.getByLabel('姓名').inputValue(), '孙改名');
  await dialog.getByLabel('邮箱').fill('sun@example.com');
  await dialog.getByRole('button', { name: '保存' }).click();
  await page.getByText('已保存 孙改名').waitFor();
  const { nickName, email, phone, deptId } = await recordOf(id);
  assert.deepEqual(
    { nickName, email, phone, deptId },
    { nickName: '孙改名', email: 'sun@example.com', phone: '13800000001', deptId: Number(engineering) },
  );
});

test('closing a half-filled form asks for confirmation, and a reload restores the form', async () => {
  await logInOnPage(page, {}, '/people');
  await page.getByRole('button', { name: '新建用户' }).click();
  const dialog = page.getByRole('dialog', { name: '新建用户' });
  await dialog.getByLabel('用户名').fill('half');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog', { name: '放弃已填写的内容？' }).getByRole('button', { name: '继续填写' }).click();
  await page.reload();
  await dialog.getByText('已恢复您上次未保存的内容').waitFor();
  assert.equal(await dialog.getByLabel('用户名').inputValue(), 'half');
  await dialog.getByRole('button', { name: '取消' }).click();
  await page.getByRole('dialog', { name: '放弃已填写的内容？' }).getByRole('button', { name: '放弃' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: '新建用户' }).click();
  assert.equal(await dialog.getByLabel('用户名').inputValue(), '');
});
