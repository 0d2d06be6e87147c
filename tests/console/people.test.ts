import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  expectNoAxeViolations,
  expectNoCspViolations,
  logInOnPage,
  navigate,
  PHONE,
  resetToLogin,
  startConsole,
} from '../support/console.ts';
import { expectError } from '../support/expect.ts';
import { PASSWORD } from '../support/service.ts';
import { fillLogin } from './login-form.ts';

const fixture = await startConsole();
const { root } = fixture.service;
const headquarters = await root.createDepartment({ deptName: '总部' });
const engineering = await root.createDepartment({ deptName: '研发部', parentId: headquarters });
const sales = await root.createDepartment({ deptName: '销售部' });

const page = await fixture.sharedPage();
const rowOf = (name: string) => page.getByRole('row', { name });
const topDialog = () => page.locator('.ant-modal-wrap:visible').last();

/** Returns the new password shown for a user. Matches the whole user name: a part of it may occur in another password. */
const passwordOf = (userName: string) =>
  topDialog()
    .locator('dl')
    .filter({ has: page.getByText(userName, { exact: true }) })
    .locator('code');

/** Opens the menu of a user with the keyboard and chooses an action. */
async function chooseAction(name: string, action: string) {
  await page.getByRole('button', { name: `更多操作：${name}` }).press('Enter');
  await page.getByRole('menuitem', { name: action }).press('Enter');
  await topDialog().waitFor();
}

async function chooseDepartment(label: string, part: string, name: string) {
  const field = topDialog().getByLabel(label, { exact: true });
  await field.fill(part);
  await page.locator('.department-option', { hasText: name }).waitFor();
  await page.locator('.department-option').filter({ hasNotText: name }).first().waitFor({ state: 'detached' });
  await page.keyboard.press('Enter');
}

const recordOf = async (id: string) => (await root.get(`/system/user-api/${id}`)).data;

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
  await page.getByRole('toolbar').getByRole('button', { name: '移动部门' }).click();
  await chooseDepartment('移动到', '二部', '二部');
  await topDialog().getByRole('button', { name: '移动', exact: true }).click();
  await topDialog().getByText('2 人全部完成').waitFor();
  await topDialog().getByRole('button', { name: '关闭', exact: true }).last().click();
  const read = async (id: string) => (await child.get(`/system/user-api/${id}`)).data;
  const [yi, er] = [await read(ids[0] as string), await read(ids[1] as string)];
  assert.deepEqual([yi.deptId, yi.phone, yi.email], [Number(b), '1', 'yi@example.com'], 'other fields are unchanged');
  assert.deepEqual([er.deptId, er.deptIds], [Number(b), []]);

  await page.getByRole('checkbox', { name: '选择本页全部' }).check();
  await page.getByRole('toolbar').getByRole('button', { name: '重置密码' }).click();
  await topDialog().getByRole('button', { name: '重置密码' }).click();
  await topDialog().getByText('3 人中完成 2 人').waitFor();
  await topDialog().getByRole('listitem').filter({ hasText: 'boss' }).getByText('不能对自己').waitFor();
  await expectNoAxeViolations(page);
  const password = await passwordOf('yi').innerText();
  const reset = await fixture.service.logIn(child.tenantId, 'yi', password);
  assert.equal((await reset.get('/auth/me')).data.reason, 'PASSWORD_CHANGE_REQUIRED');
  await topDialog().getByRole('button', { name: '关闭', exact: true }).last().click();

  await page.getByRole('checkbox', { name: '选择本页全部' }).check();
  // Another administrator deletes one of them first.
  await child.delete(`/system/user-api/${ids[1]}`);
  await page.getByRole('toolbar').getByRole('button', { name: '删除' }).click();
  await topDialog().getByRole('button', { name: '删除' }).click();
  await topDialog().getByText('3 人中完成 1 人').waitFor();
  await topDialog().getByRole('listitem').filter({ hasText: '乙二' }).getByText('用户不存在').waitFor();
  await topDialog().getByRole('button', { name: '关闭', exact: true }).last().click();
  await rowOf('甲一').waitFor({ state: 'detached' });
  expectNoCspViolations(page);
});

/** Goes from home to the people screen and resets five passwords. The second write is held until `release` is called. */
async function startResettingPasswords() {
  const child = await fixture.service.createTenant({ tenantName: '密码公司' });
  await Promise.all([1, 2, 3, 4, 5].map((n) => child.createUser({ userName: `worker${n}` })));
  await logInOnPage(page, { tenantId: child.tenantId, username: 'boss' });
  await page.getByRole('navigation').getByRole('link', { name: '人员' }).click();
  for (const n of [1, 2, 3, 4, 5]) await page.getByRole('checkbox', { name: `选择 worker${n}` }).check();
  await page.getByRole('toolbar').getByRole('button', { name: '重置密码' }).click();
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const writes: unknown[] = [];
  await page.route('**/system/user-api', async (route) => {
    if (route.request().method() === 'PUT' && writes.push(route.request().postDataJSON()) === 2) await released;
    await route.continue();
  });
  let sent = 0;
  const second = page.waitForRequest((request) => request.method() === 'PUT' && ++sent === 2);
  await topDialog().getByRole('button', { name: '重置密码' }).click();
  await page.getByText('正在处理 1 / 5').waitFor();
  // Wait for the second write: leaving while the second user is only being read would stop before that write.
  await second;
  return { child, release, writes };
}

test('going back asks for confirmation while passwords are being reset and while they are shown', async () => {
  const { child, release } = await startResettingPasswords();
  await page.evaluate('history.back()');
  const running = page.getByRole('dialog', { name: '操作尚未完成，确定离开？' });
  await running.getByText('已经重置的新密码不会再显示').waitFor();
  await expectNoAxeViolations(page);
  await running.getByRole('button', { name: '留在此页' }).click();
  await running.waitFor({ state: 'hidden' });
  release();
  await page.getByText('5 人全部完成').waitFor();
  await page.evaluate('history.back()');
  const shown = page.getByRole('dialog', { name: '离开后密码将不再显示，确定离开？' });
  await shown.getByRole('button', { name: '留在此页' }).click();
  await shown.waitFor({ state: 'hidden' });
  const password = await passwordOf('worker5').innerText();
  await fixture.service.logIn(child.tenantId, 'worker5', password);
  const beforeUnload = page.waitForEvent('dialog');
  await page.close({ runBeforeUnload: true });
  const question = await beforeUnload;
  assert.equal(question.type(), 'beforeunload');
  await question.dismiss();
  await page.evaluate('history.back()');
  await shown.getByRole('button', { name: '离开' }).click();
  await page.getByRole('heading', { level: 1, name: '首页' }).waitFor();
  assert.equal(await page.getByRole('dialog').count(), 0);
  expectNoCspViolations(page);
});

test('leaving the screen while passwords are being reset stops the operation', async () => {
  const { release, writes } = await startResettingPasswords();
  await page.evaluate('history.back()');
  await page.getByRole('dialog', { name: '操作尚未完成，确定离开？' }).getByRole('button', { name: '离开' }).click();
  await page.getByRole('heading', { level: 1, name: '首页' }).waitFor();
  // The console reloads the data on the screen when the operation ends, whatever its result.
  await page.getByText('用户名额').waitFor();
  const reloaded = page.waitForRequest('**/system/overview-api');
  release();
  await reloaded;
  assert.equal(writes.length, 2);
});

test('going back while the password of a new user is shown asks for confirmation', async () => {
  await logInOnPage(page, {}, '/people');
  await page.getByRole('button', { name: '新建用户' }).click();
  await topDialog().getByLabel('用户名').fill('onlyonce');
  await topDialog().getByRole('button', { name: '随机生成' }).click();
  await topDialog().getByRole('button', { name: '创建' }).click();
  const loginDetails = page.getByRole('dialog', { name: 'onlyonce 的登录信息' });
  await loginDetails.waitFor();
  await page.evaluate('history.back()');
  const question = page.getByRole('dialog', { name: '离开后密码将不再显示，确定离开？' });
  await question.getByRole('button', { name: '留在此页' }).click();
  await question.waitFor({ state: 'hidden' });
  await loginDetails.locator('code').waitFor();
  await page.evaluate('history.back()');
  await question.getByRole('button', { name: '离开' }).click();
  await loginDetails.waitFor({ state: 'hidden' });
});

test('a URL opens the users of a child tenant; an exceeded user limit is explained', async () => {
  const child = await fixture.service.createTenant({ tenantName: '小公司', accountCount: 2 });
  await child.createUser({
    userName: 'zai',
    nickName: '在编者',
    deptId: await child.createDepartment({ deptName: '唯一部' }),
  });
  await logInOnPage(page, {}, `/people?tenantId=${child.tenantId}`);
  await page.getByText(`“小公司 ${child.tenantId}”`).waitFor();
  await rowOf('在编者').waitFor();
  await page.getByRole('button', { name: '编辑 在编者' }).click();
  await topDialog().getByLabel('手机号').fill('139');
  await topDialog().getByRole('button', { name: '保存' }).click();
  await rowOf('在编者').getByText('139').waitFor();
  const { rows } = (await child.get('/system/user-api/list?userName=zai')).data;
  assert.ok(rows[0].deptId, 'the department is unchanged');
  await page.getByRole('button', { name: '新建用户' }).click();
  await topDialog().getByLabel('用户名').fill('third');
  await topDialog().getByLabel('初始密码').fill(PASSWORD);
  await topDialog().getByRole('button', { name: '创建' }).click();
  await topDialog().getByText('当前租户下用户名额不足').waitFor();
  await topDialog().getByText('此租户最多 2 名用户').waitFor();
  assert.equal(await topDialog().getByLabel('用户名').inputValue(), 'third', 'the input is kept');
  await expectNoAxeViolations(page);
});

test('pagination, search and filters are applied by the service and kept in the URL', async () => {
  const company = await fixture.service.createTenant({ tenantName: '仓储公司' });
  const { tenantId } = company;
  const dept = await company.createDepartment({ deptName: '仓库' });
  await fixture.service.superuser`
    with workers as (
      insert into banyan.users (tenant_id, user_name, user_key, nick_name, phone, status, administrator, password_hash,
        create_by)
      select ${tenantId}, 'worker' || n, 'worker' || n, '工人' || n, (13700000000 + n)::text,
        case n when 7 then '1' else '0' end, false, '', 'boss' from generate_series(1, 44) n
      returning tenant_id, user_id, nick_name)
    insert into banyan.user_departments (tenant_id, user_id, dept_id, main)
    select tenant_id, user_id, ${dept}, true from workers where substr(nick_name, 3)::int <= 22`;
  await logInOnPage(page, { tenantId, username: 'boss' }, `/people?q=${encodeURIComponent('工人')}&page=3`);
  await page.getByText('共 44 人').waitFor();
  assert.equal(await page.getByRole('checkbox', { name: /^选择 / }).count(), 4);
  await page.getByLabel('搜索用户名、姓名或手机号').fill('13700000012');
  await rowOf('工人12').waitFor();
  await page.getByText('共 1 人').waitFor();
  assert.equal(new URL(page.url()).search, '?q=13700000012');
  await page.getByLabel('搜索用户名、姓名或手机号').fill('工人');
  await page.getByText('共 44 人').waitFor();
  await page.getByRole('listitem', { name: '2', exact: true }).click();
  await page.getByRole('combobox', { name: '部门' }).fill('仓');
  await page.locator('.department-option', { hasText: '仓库' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('共 22 人').waitFor();
  await page.getByRole('combobox', { name: '状态' }).click();
  await page.getByTitle('停用', { exact: true }).click();
  await page.getByText('共 1 人').waitFor();
  await rowOf('工人7').waitFor();
  // The URL shows the same result after a new login.
  const { pathname, search } = new URL(page.url());
  await logInOnPage(page, { tenantId, username: 'boss' }, pathname + search);
  await page.getByText('共 1 人').waitFor();
  await rowOf('工人7').waitFor();
  await page.getByLabel('搜索用户名、姓名或手机号').fill('无此人');
  await page.getByText('没有符合条件的用户').waitFor();
  await page.getByRole('button', { name: '清除筛选' }).click();
  await page.getByText('共 45 人').waitFor();
  assert.equal(await page.getByLabel('搜索用户名、姓名或手机号').inputValue(), '');
});

test('on a phone users are shown as a list and can be moved, selected and edited', async () => {
  const id = await root.createUser({ userName: 'pocket', nickName: '李口袋', deptId: sales, phone: '13812345678' });
  await logInOnPage(page, {}, '/people', { viewport: PHONE });
  await page.getByText('李口袋').waitFor();
  await expectNoAxeViolations(page);
  await page.getByRole('link', { name: '13812345678' }).waitFor();
  await page.getByLabel('搜索用户名、姓名或手机号').fill('pocket');
  await page.getByText('共 1 人').waitFor();
  await chooseAction('李口袋', '移动部门');
  await chooseDepartment('移动到', '研发', '研发部');
  await topDialog().getByRole('button', { name: '移动', exact: true }).click();
  await page.getByRole('listitem').filter({ hasText: '李口袋' }).getByText('研发部').waitFor();
  await page.getByRole('checkbox', { name: '选择 李口袋' }).check();
  await page.getByText('已选择 1 项').waitFor();
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  await page.getByRole('button', { name: '编辑 李口袋' }).click();
  await topDialog().getByLabel('邮箱').fill('li@example.com');
  await expectNoAxeViolations(page);
  await topDialog().getByRole('button', { name: '保存' }).click();
  await page.getByText('已保存 李口袋').waitFor();
  const { email, phone, deptId } = await recordOf(id);
  assert.deepEqual([email, phone, deptId], ['li@example.com', '13812345678', Number(engineering)]);
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
});

test('the people screen is accessible in dark mode and in English', async () => {
  await logInOnPage(page, {}, '/people', { dark: true, language: 'en' });
  await page.getByRole('row', { name: /^Select admin/ }).waitFor();
  await page.getByRole('checkbox', { name: 'Select admin' }).check();
  await expectNoAxeViolations(page);
});

test('a member cannot open the people screen', async () => {
  await root.createUser({ userName: 'plain' });
  await logInOnPage(page, { username: 'plain' });
  assert.equal(await page.getByRole('navigation').getByRole('link', { name: '人员' }).count(), 0);
  await navigate(page, '/people');
  await page.getByText('仅管理员可访问此页面').waitFor();
  assert.equal(await page.getByRole('button', { name: '新建用户' }).count(), 0);
});
