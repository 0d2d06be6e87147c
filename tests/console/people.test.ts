import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { PASSWORD } from '../harness.ts';
import { logIn, noCspViolations, noSeriousAxe, open, PHONE, screenshot, startConsole } from './harness.ts';

const stage = await startConsole();
const { root } = stage.service;
const [headquarters, engineering, sales] = [
  await root.dept({ deptName: '总部' }),
  await root.dept({ deptName: '研发部' }),
  await root.dept({ deptName: '销售部' }),
];
await root.put('/system/dept-api', { deptId: engineering, parentId: headquarters, deptName: '研发部' });

const rowOf = (page: Page, name: string) => page.getByRole('row', { name });
const dialogOf = (page: Page) => page.locator('.ant-modal-wrap:visible').last();

// The administrator of 000000 and one of a tenant below: each sits at one page all through.
const admin = await stage.page();
await logIn(admin, {}, '/people');
const boss = await stage.page();
const company = await stage.service.tenant({ tenantName: '多人公司' });
await logIn(boss, { tenantId: company.tenantId, username: 'boss' }, '/people');

/** The new password that is shown for somebody. By his whole name: a part of it may be in the password of another. */
const passwordOf = (page: Page, userName: string) =>
  dialogOf(page)
    .locator('dl')
    .filter({ has: page.getByText(userName, { exact: true }) })
    .locator('code');

/** Opens the menu of a person by keyboard and takes what is named. */
async function act(page: Page, who: string, action: string) {
  await page.getByRole('button', { name: `更多操作：${who}` }).press('Enter');
  await page.getByRole('menuitem', { name: action }).press('Enter');
  await dialogOf(page).waitFor();
}

async function chooseDepartment(page: Page, label: string, part: string, name: string) {
  const field = dialogOf(page).getByLabel(label, { exact: true });
  await field.fill(part);
  await page.locator('.department-option', { hasText: name }).waitFor();
  await page.locator('.department-option').filter({ hasNotText: name }).first().waitFor({ state: 'detached' });
  await page.keyboard.press('Enter');
}

const recordOf = async (id: string) => (await root.get(`/system/user-api/${id}`)).data;

test('somebody new is created with a generated password, shown once, and logs in with it', async () => {
  const page = admin;
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await noSeriousAxe(page);
  await page.getByRole('button', { name: '新建用户' }).click();
  const dialog = page.getByRole('dialog', { name: '新建用户' });
  await dialog.getByRole('button', { name: '创建' }).click();
  await dialog.getByText('请填写此项').waitFor();
  await dialog.getByLabel('用户名').fill('admin');
  await dialog.getByLabel('姓名').fill('王小明');
  await dialog.getByRole('button', { name: '随机生成' }).click();
  await chooseDepartment(page, '部门', '研发', '研发部');
  await noSeriousAxe(page);
  await screenshot(page, 'people-new');
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
  await rowOf(page, '王小明').getByText('研发部').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal((await page.content()).includes(password), false, 'it is shown once');
  await stage.service.logIn('000000', 'xiaoming', password);
  noCspViolations(page);
});

test('a new password is typed for somebody: he is logged out, and logs in with it', async () => {
  await root.user({ userName: 'reset', nickName: '赵重置', roles: ['admin'] });
  const [page, his] = [admin, await stage.page()];
  await logIn(his, { username: 'reset' }, '/me');
  await open(page, '/people?q=reset');
  await act(page, '赵重置', '重置密码');
  await dialogOf(page).getByLabel('新密码').fill('short');
  await dialogOf(page).getByRole('button', { name: '重置密码' }).click();
  await dialogOf(page).getByText('至少 8 个字符').waitFor();
  await dialogOf(page).getByLabel('新密码').fill('a brand new one');
  await dialogOf(page).getByRole('button', { name: '重置密码' }).click();
  await dialogOf(page).getByText('a brand new one').waitFor();
  await noSeriousAxe(page);
  await dialogOf(page).getByRole('button', { name: '关闭', exact: true }).last().click();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  assert.equal(
    await page.evaluate('document.activeElement.getAttribute("aria-label")'),
    '更多操作：赵重置',
    'the focus is back where it was',
  );
  await his.reload();
  await his.getByRole('heading', { name: '登录榕树' }).waitFor();
  await logIn(his, { username: 'reset', password: 'a brand new one' });
});

test('whoever is disabled is shut out, and comes back when enabled', async () => {
  await root.user({ userName: 'shut', nickName: '钱停用' });
  const [page, his] = [admin, await stage.page()];
  await logIn(his, { username: 'shut' }, '/me');
  await open(page, '/people?q=shut');
  await act(page, '钱停用', '停用');
  await dialogOf(page).getByText('停用后无法登录').waitFor();
  await dialogOf(page).getByRole('button', { name: '停用' }).click();
  await page.getByText('已停用：钱停用').waitFor();
  await rowOf(page, '钱停用').getByText('停用', { exact: true }).waitFor();
  await his.reload();
  await his.getByRole('heading', { name: '登录榕树' }).waitFor();
  await his.getByLabel('租户编号').fill('000000');
  await his.getByLabel('用户名').fill('shut');
  await his.getByLabel('密码', { exact: true }).fill(PASSWORD);
  await his.keyboard.press('Enter');
  await his.getByRole('alert').getByText('用户已被停用').waitFor();
  await act(page, '钱停用', '启用');
  await dialogOf(page).getByRole('button', { name: '启用' }).click();
  await rowOf(page, '钱停用').getByText('正常').waitFor();
  await his.getByLabel('密码', { exact: true }).fill(PASSWORD);
  await his.keyboard.press('Enter');
  await his.getByRole('heading', { level: 1, name: '我的账户' }).waitFor();
});

test('an edit keeps what others changed meanwhile, by choice', async () => {
  const id = await root.user({ userName: 'both', nickName: '孙两人', phone: '13800000001', deptId: sales });
  const page = admin;
  await open(page, '/people?q=both');
  await page.getByRole('button', { name: '编辑 孙两人' }).click();
  const dialog = page.getByRole('dialog', { name: /^编辑用户：孙/ });
  await dialog.getByLabel('邮箱').fill('sun@example.com');
  await root.put('/system/user-api', { ...(await recordOf(id)), nickName: '孙改名', deptId: engineering });
  await dialog.getByRole('button', { name: '保存' }).click();
  const choice = page.getByRole('dialog', { name: '内容已被他人修改' });
  await choice.getByRole('row', { name: '部门 研发部 销售部' }).waitFor();
  await noSeriousAxe(page);
  await choice.getByRole('button', { name: '查看对方的版本' }).click();
  await choice.waitFor({ state: 'hidden' });
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

test('a half-filled form asks before it closes, and is there again after a reload', async () => {
  const page = admin;
  await open(page, '/people');
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

test('several at once: moved, new passwords, deleted; who was refused is told with the reason', async () => {
  const child = company;
  const [a, b] = [await child.dept({ deptName: '一部' }), await child.dept({ deptName: '二部' })];
  const ids = [
    await child.user({ userName: 'yi', nickName: '甲一', deptId: a, phone: '1', email: 'yi@example.com' }),
    await child.user({ userName: 'er', nickName: '乙二', deptId: a, deptIds: [b] }),
  ];
  const page = boss;
  await open(page, '/people');
  await page.getByRole('checkbox', { name: '选择 甲一' }).check();
  await page.getByRole('checkbox', { name: '选择 乙二' }).check();
  await page.getByText('已选 2 人').waitFor();
  await screenshot(page, 'people');
  await page.getByRole('toolbar').getByRole('button', { name: '移动部门' }).click();
  await chooseDepartment(page, '移动到', '二部', '二部');
  await dialogOf(page).getByRole('button', { name: '移动', exact: true }).click();
  await dialogOf(page).getByText('2 人全部完成').waitFor();
  await dialogOf(page).getByRole('button', { name: '关闭', exact: true }).last().click();
  const read = async (id: string) => (await child.get(`/system/user-api/${id}`)).data;
  const [yi, er] = [await read(ids[0] as string), await read(ids[1] as string)];
  assert.deepEqual([yi.deptId, yi.phone, yi.email], [Number(b), '1', 'yi@example.com'], 'the rest stays');
  assert.deepEqual([er.deptId, er.deptIds], [Number(b), []]);

  await page.getByRole('checkbox', { name: '选择本页全部' }).check();
  await page.getByRole('toolbar').getByRole('button', { name: '重置密码' }).click();
  await dialogOf(page).getByRole('button', { name: '重置密码' }).click();
  await dialogOf(page).getByText('3 人中完成 2 人').waitFor();
  await dialogOf(page).getByRole('listitem').filter({ hasText: 'boss' }).getByText('不能对自己').waitFor();
  await noSeriousAxe(page);
  const password = await passwordOf(page, 'yi').innerText();
  await stage.service.logIn(child.tenantId, 'yi', password);
  await dialogOf(page).getByRole('button', { name: '关闭', exact: true }).last().click();

  await page.getByRole('checkbox', { name: '选择本页全部' }).check();
  // Somebody else deletes one of them first.
  await child.delete(`/system/user-api/${ids[1]}`);
  await page.getByRole('toolbar').getByRole('button', { name: '删除' }).click();
  await dialogOf(page).getByRole('button', { name: '删除' }).click();
  await dialogOf(page).getByText('3 人中完成 1 人').waitFor();
  await dialogOf(page).getByRole('listitem').filter({ hasText: '乙二' }).getByText('用户不存在').waitFor();
  await dialogOf(page).getByRole('button', { name: '关闭', exact: true }).last().click();
  await rowOf(page, '甲一').waitFor({ state: 'detached' });
  noCspViolations(page);
});

/** From home to five people, whose passwords are being reset; the second waits until it is let go. */
async function resetPasswords() {
  const child = await stage.service.tenant({ tenantName: '密码公司' });
  for (const n of [1, 2, 3, 4, 5]) await child.user({ userName: `worker${n}` });
  const page = await stage.page();
  await logIn(page, { tenantId: child.tenantId, username: 'boss' });
  await page.getByRole('navigation').getByRole('link', { name: '人员' }).click();
  for (const n of [1, 2, 3, 4, 5]) await page.getByRole('checkbox', { name: `选择 worker${n}` }).check();
  await page.getByRole('toolbar').getByRole('button', { name: '重置密码' }).click();
  let letGo = () => {};
  const held = new Promise<void>((resolve) => (letGo = resolve));
  const writes: unknown[] = [];
  await page.route('**/system/user-api', async (route) => {
    if (route.request().method() === 'PUT' && writes.push(route.request().postDataJSON()) === 2) await held;
    await route.continue();
  });
  let asked = 0;
  const second = page.waitForRequest((request) => request.method() === 'PUT' && ++asked === 2);
  await dialogOf(page).getByRole('button', { name: '重置密码' }).click();
  await page.getByText('正在处理 1 / 5').waitFor();
  // The second is only being read at first: who leaves by then stops before him.
  await second;
  return { page, child, letGo, writes };
}

test('who goes back while passwords are reset is asked, and once more while they are shown', async () => {
  const { page, child, letGo } = await resetPasswords();
  await page.evaluate('history.back()');
  const running = page.getByRole('dialog', { name: '还没有处理完，要离开吗？' });
  await running.getByText('已经重置的新密码不会再显示').waitFor();
  await noSeriousAxe(page);
  await running.getByRole('button', { name: '留下' }).click();
  await running.waitFor({ state: 'hidden' });
  letGo();
  await page.getByText('5 人全部完成').waitFor();
  await page.evaluate('history.back()');
  const shown = page.getByRole('dialog', { name: '离开后不再显示这些密码，要离开吗？' });
  await shown.getByRole('button', { name: '留下' }).click();
  await shown.waitFor({ state: 'hidden' });
  const password = await passwordOf(page, 'worker5').innerText();
  await stage.service.logIn(child.tenantId, 'worker5', password);
  const asked = page.waitForEvent('dialog');
  await page.close({ runBeforeUnload: true });
  const question = await asked;
  assert.equal(question.type(), 'beforeunload');
  await question.dismiss();
  await page.evaluate('history.back()');
  await shown.getByRole('button', { name: '离开' }).click();
  await page.getByRole('heading', { level: 1, name: '首页' }).waitFor();
  assert.equal(await page.getByRole('dialog').count(), 0);
  noCspViolations(page);
});

test('who leaves while passwords are reset stops it', async () => {
  const { page, letGo, writes } = await resetPasswords();
  await page.evaluate('history.back()');
  await page.getByRole('dialog', { name: '还没有处理完，要离开吗？' }).getByRole('button', { name: '离开' }).click();
  await page.getByRole('heading', { level: 1, name: '首页' }).waitFor();
  const answered = page.waitForResponse((response) => response.request().method() === 'PUT');
  letGo();
  await (await answered).finished();
  await setTimeout(1000);
  assert.equal(writes.length, 2);
});

test('who goes back from the password of somebody new is asked', async () => {
  const page = await stage.page();
  await logIn(page, {}, '/people');
  await page.getByRole('button', { name: '新建用户' }).click();
  await dialogOf(page).getByLabel('用户名').fill('onlyonce');
  await dialogOf(page).getByRole('button', { name: '随机生成' }).click();
  await dialogOf(page).getByRole('button', { name: '创建' }).click();
  const made = page.getByRole('dialog', { name: 'onlyonce 的登录信息' });
  await made.waitFor();
  await page.evaluate('history.back()');
  const question = page.getByRole('dialog', { name: '离开后不再显示这些密码，要离开吗？' });
  await question.getByRole('button', { name: '留下' }).click();
  await question.waitFor({ state: 'hidden' });
  await made.locator('code').waitFor();
  await page.evaluate('history.back()');
  await question.getByRole('button', { name: '离开' }).click();
  await made.waitFor({ state: 'hidden' });
});

test('a tenant below: its people by the address, and its account limit explained', async () => {
  const child = await stage.service.tenant({ tenantName: '小公司', accountCount: 2 });
  await child.user({ userName: 'zai', nickName: '在编者', deptId: await child.dept({ deptName: '唯一部' }) });
  const page = admin;
  await open(page, `/people?tenantId=${child.tenantId}`);
  await page.getByText(`“小公司 ${child.tenantId}”`).waitFor();
  await rowOf(page, '在编者').waitFor();
  await page.getByRole('button', { name: '编辑 在编者' }).click();
  await dialogOf(page).getByLabel('手机号').fill('139');
  await dialogOf(page).getByRole('button', { name: '保存' }).click();
  await rowOf(page, '在编者').getByText('139').waitFor();
  const { rows } = (await child.get('/system/user-api/list?userName=zai')).data;
  assert.ok(rows[0].deptId, 'the department stays');
  await page.getByRole('button', { name: '新建用户' }).click();
  await dialogOf(page).getByLabel('用户名').fill('third');
  await dialogOf(page).getByLabel('初始密码').fill(PASSWORD);
  await dialogOf(page).getByRole('button', { name: '创建' }).click();
  await dialogOf(page).getByText('当前租户下用户名额不足').waitFor();
  await dialogOf(page).getByText('此租户最多 2 个用户').waitFor();
  assert.equal(await dialogOf(page).getByLabel('用户名').inputValue(), 'third', 'what was typed is there');
  await noSeriousAxe(page);
});

test('pages, search and filters are the service’s, and are in the address', async () => {
  const { tenantId } = company;
  const dept = await company.dept({ deptName: '仓库' });
  await stage.service.superuser`
    with workers as (
      insert into banyan.users (tenant_id, user_name, user_key, nick_name, phone, status, administrator, password_hash,
        create_by)
      select ${tenantId}, 'worker' || n, 'worker' || n, '工人' || n, (13700000000 + n)::text,
        case n when 7 then '1' else '0' end, false, '', 'boss' from generate_series(1, 44) n
      returning tenant_id, user_id, nick_name)
    insert into banyan.user_departments (tenant_id, user_id, dept_id, main)
    select tenant_id, user_id, ${dept}, true from workers where substr(nick_name, 3)::int <= 22`;
  const page = boss;
  await open(page, `/people?q=${encodeURIComponent('工人')}&page=3`);
  await page.getByText('共 44 人').waitFor();
  assert.equal(await page.getByRole('checkbox', { name: /^选择 / }).count(), 4);
  await page.getByLabel('搜索用户名、姓名或手机号').fill('13700000012');
  await rowOf(page, '工人12').waitFor();
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
  await rowOf(page, '工人7').waitFor();
  await page.reload();
  await rowOf(page, '工人7').waitFor();
  await page.getByLabel('搜索用户名、姓名或手机号').fill('无此人');
  await page.getByText('没有符合条件的用户').waitFor();
  await page.getByRole('button', { name: '清除筛选' }).click();
  await page.getByText(/共 4[5-9] 人/).waitFor();
  assert.equal(await page.getByLabel('搜索用户名、姓名或手机号').inputValue(), '');
});

test('on a phone people are a list, and everything can be done', async () => {
  const id = await root.user({ userName: 'pocket', nickName: '李口袋', deptId: sales, phone: '13812345678' });
  const page = await stage.page({ viewport: PHONE });
  await logIn(page, {}, '/people');
  await page.getByText('李口袋').waitFor();
  await noSeriousAxe(page);
  await screenshot(page, 'people-phone');
  await page.getByLabel('搜索用户名、姓名或手机号').fill('pocket');
  await page.getByText('共 1 人').waitFor();
  await act(page, '李口袋', '移动部门');
  await chooseDepartment(page, '移动到', '研发', '研发部');
  await dialogOf(page).getByRole('button', { name: '移动', exact: true }).click();
  await page.getByRole('listitem').filter({ hasText: '李口袋' }).getByText('研发部').waitFor();
  await page.getByRole('checkbox', { name: '选择 李口袋' }).check();
  await page.getByText('已选 1 人').waitFor();
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  await page.getByRole('button', { name: '编辑 李口袋' }).click();
  await dialogOf(page).getByLabel('邮箱').fill('li@example.com');
  await noSeriousAxe(page);
  await screenshot(page, 'people-phone-edit');
  await dialogOf(page).getByRole('button', { name: '保存' }).click();
  await page.getByText('已保存 李口袋').waitFor();
  const { email, phone, deptId } = await recordOf(id);
  assert.deepEqual([email, phone, deptId], ['li@example.com', '13812345678', Number(engineering)]);
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
});

test('in the dark and in English it can be read', async () => {
  const page = await stage.page({ colorScheme: 'dark', locale: 'en-US' });
  await logIn(page, {}, '/people');
  await page.getByRole('row', { name: /^Choose admin/ }).waitFor();
  await page.getByRole('checkbox', { name: 'Choose admin' }).check();
  await noSeriousAxe(page);
  await screenshot(page, 'people-dark');
});

test('a member is shown no people to manage', async () => {
  await root.user({ userName: 'plain' });
  const page = await stage.page();
  await logIn(page, { username: 'plain' });
  assert.equal(await page.getByRole('navigation').getByRole('link', { name: '人员' }).count(), 0);
  await open(page, '/people');
  await page.getByText('此页面仅供管理员使用').waitFor();
  assert.equal(await page.getByRole('button', { name: '新建用户' }).count(), 0);
});
