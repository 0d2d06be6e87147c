// Only with test:long: it repeats rules of other screens for people, and on a phone; people.test.ts covers the dialogs, export.test.ts the search in the list.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  expectAccessibleInLongRun,
  logInOnPage,
  navigate,
  PHONE,
  resetToLogin,
  startConsole,
} from '../support/console.ts';
import { expectError } from '../support/expect.ts';
import { PASSWORD } from '../support/service.ts';
import { fillLogin } from './login-form.ts';
import { startPeople } from './people-page.ts';

const fixture = await startConsole();
const { root } = fixture.service;
const { page, engineering, sales, recordOf, rowOf, topDialog, chooseAction, chooseDepartment } = await startPeople(
  fixture,
  root,
);

test('saving a user that someone else has edited shows the conflict, and their changes can be kept', async () => {
  const id = await root.createUser({ userName: 'both', nickName: '孙两人', phone: '13800000001', deptId: sales });
  await logInOnPage(page, {}, '/people?q=both');
  await page.getByRole('button', { name: '编辑 孙两人' }).click();
  const dialog = page.getByRole('dialog', { name: /^编辑用户：孙/ });
  await dialog.getByLabel('邮箱').fill('sun@example.com');
  await root.put('/system/user-api', { ...(await recordOf(id)), nickName: '孙改名', deptId: engineering });
  await dialog.getByRole('button', { name: '保存' }).click();
  const conflict = page.getByRole('dialog', { name: '内容已被他人修改' });
  await conflict.getByRole('row', { name: '部门 研发部 销售部' }).waitFor();
  await expectAccessibleInLongRun(page);
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

test('on a phone users are shown as a list and can be moved, selected and edited', async () => {
  const id = await root.createUser({ userName: 'pocket', nickName: '李口袋', deptId: sales, phone: '13812345678' });
  await logInOnPage(page, {}, '/people', { viewport: PHONE });
  await page.getByText('李口袋').waitFor();
  await expectAccessibleInLongRun(page);
  // The buttons and filters leave most of the screen to the list.
  const { y } = (await page.locator('.user-list').boundingBox()) as { y: number };
  assert.ok(y < PHONE.height / 4, `the list begins at ${y} px`);
  await page.getByRole('link', { name: '13812345678' }).waitFor();
  await page.getByRole('button', { name: '筛选' }).click();
  await page.getByRole('combobox', { name: '状态' }).click();
  await page.getByTitle('正常', { exact: true }).click();
  await page.getByRole('button', { name: '筛选（1）' }).waitFor();
  await expectAccessibleInLongRun(page);
  await page.getByRole('combobox', { name: '排序' }).click();
  await page.getByTitle('创建时间降序', { exact: true }).click();
  await page
    .getByRole('listitem')
    .filter({ has: page.getByRole('checkbox') })
    .first()
    .getByText('李口袋')
    .waitFor();
  assert.equal(new URL(page.url()).search, '?status=0&sort=-createTime');
  await page.getByRole('button', { name: '筛选（1）' }).click();
  await page.getByRole('combobox', { name: '排序' }).waitFor({ state: 'detached' });
  await page.getByLabel('搜索用户名、姓名或手机号').fill('pocket');
  await page.getByText('共 1 人').waitFor();
  await chooseAction('李口袋', '移动到部门');
  await chooseDepartment('移动到', '研发', '研发部');
  await topDialog().getByRole('button', { name: '移动', exact: true }).click();
  await page.getByRole('listitem').filter({ hasText: '李口袋' }).getByText('研发部').waitFor();
  await page.getByRole('checkbox', { name: '选择 李口袋' }).check();
  await page.getByText('已选择 1 项').waitFor();
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  await page.getByRole('button', { name: '编辑 李口袋' }).click();
  await topDialog().getByLabel('邮箱').fill('li@example.com');
  await expectAccessibleInLongRun(page);
  await topDialog().getByRole('button', { name: '保存' }).click();
  await page.getByText('已保存 李口袋').waitFor();
  const { email, phone, deptId } = await recordOf(id);
  assert.deepEqual([email, phone, deptId], ['li@example.com', '13812345678', Number(engineering)]);
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
});

test('on a phone a menu exports and imports users and leads to the deleted ones, by keyboard too', async () => {
  await logInOnPage(page, {}, '/people?q=admin', { viewport: PHONE, dark: true });
  const more = page.getByRole('button', { name: '更多操作', exact: true });
  await more.press('Enter');
  await page.locator('[role=menuitem]:focus', { hasText: '导入' }).waitFor();
  await expectAccessibleInLongRun(page);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: '导入用户' }).waitFor();
  await page.goBack();
  await more.press('Enter');
  const downloading = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: '导出 CSV' }).press('Enter');
  assert.equal((await downloading).suggestedFilename(), '用户.csv');
  await page.getByText('已导出 用户.csv').waitFor();
  await more.press('Enter');
  await page.getByRole('menuitem', { name: '已删除' }).press('Enter');
  await page.getByRole('heading', { level: 1, name: '已删除' }).waitFor();
  assert.equal(new URL(page.url()).pathname, '/deleted/user');
  // The other lists have the same menu.
  for (const [path, create] of [
    ['/departments', '新建顶级部门'],
    ['/tenants', '新建租户'],
  ] as const) {
    await navigate(page, path);
    await page.getByRole('button', { name: create }).waitFor();
    await more.waitFor();
    assert.equal(await page.getByRole('button', { name: '导出' }).count(), 0);
    await expectAccessibleInLongRun(page);
  }
});

test('the people screen is accessible in dark mode and in English', async () => {
  await logInOnPage(page, {}, '/people', { dark: true, language: 'en' });
  await page.getByRole('row', { name: /^Select admin/ }).waitFor();
  await page.getByRole('checkbox', { name: 'Select admin' }).check();
  await expectAccessibleInLongRun(page);
});

test('a member cannot open the people screen', async () => {
  await root.createUser({ userName: 'plain' });
  await logInOnPage(page, { username: 'plain' });
  assert.equal(await page.getByRole('navigation').getByRole('link', { name: '人员' }).count(), 0);
  await navigate(page, '/people');
  await page.getByText('仅管理员可访问此页面').waitFor();
  assert.equal(await page.getByRole('button', { name: '新建用户' }).count(), 0);
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
  await expectAccessibleInLongRun(page);
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
