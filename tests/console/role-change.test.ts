import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectNoCspViolations, navigate, shareConsole } from '../support/console.ts';

/** What members can open, and what happens to users who lose or gain the administrator role while logged in. */

const fixture = await shareConsole();
const admin = await fixture.service.createTenant();
const { tenantId } = admin;

test('a revoked role takes effect with the next rejected request, a granted role with the next token', async () => {
  const id = await admin.createUser({ userName: 'role', nickName: '何角色', roles: ['admin'] });
  const setRoles = async (roles: string[]) => {
    const { data } = await admin.get(`/system/user-api/${id}`);
    assert.equal((await admin.put('/system/user-api', { ...data, roles })).code, 200);
  };
  const page = await fixture.logIn({ tenantId, username: 'role' }, '/people');
  await page.getByRole('button', { name: '编辑 何角色' }).waitFor();
  await page.evaluate('window.loadedOnce = true');
  let meRequests = 0;
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === '/auth/me') meRequests++;
  });

  await setRoles(['member']);
  await page.getByLabel('搜索用户名、姓名或手机号').fill('何');
  await page.getByText('仅管理员可访问此页面').waitFor();
  const people = page.getByRole('navigation').getByRole('link', { name: '人员' });
  assert.equal(await people.count(), 0);
  await page.getByRole('link', { name: '首页' }).click();
  await page.getByText('个人信息').waitFor();
  assert.equal(meRequests, 1, '/auth/me is requested only once');

  await setRoles(['admin']);
  // Simulate an expired token. The refresh that follows is a real one.
  const expired = { code: 401, msg: '令牌已过期，请刷新或重新登录', data: { reason: 'TOKEN_EXPIRED' } };
  await page.route('**/system/dept-api/0/children?*', (route) => route.fulfill({ status: 401, json: expired }), {
    times: 1,
  });
  await page.getByRole('navigation').getByRole('link', { name: '部门' }).click();
  await page.getByRole('button', { name: '新建顶级部门' }).first().waitFor();
  await people.click();
  await page.getByRole('button', { name: '编辑 何角色' }).waitFor();
  assert.equal(meRequests, 2);
  assert.equal(await page.evaluate('window.loadedOnce'), true, 'the page was not reloaded');
  expectNoCspViolations(page);
});

test('a member cannot open screens for administrators, and the navigation does not link to them', async () => {
  const id = await admin.createUser({ userName: 'plain', nickName: '普通人' });
  const page = await fixture.logIn({ tenantId, username: 'plain' });
  await page.getByText('您好，普通人').waitFor();
  const links = await page.getByRole('navigation').getByRole('link').allTextContents();
  assert.deepEqual(links, ['首页', '部门', '组织架构图']);
  for (const [path, heading] of [
    ['/people', '人员'],
    [`/people/${id}`, '用户'],
    ['/tenants', '租户'],
    [`/tenants/${admin.id}`, '租户'],
    ['/changes', '变更记录'],
    ['/changes/diff', '组织架构对比'],
    ['/changes/tree', '历史组织架构'],
    ['/chart?day=2020-01-01', '组织架构图'],
    ['/deleted', '已删除'],
    ['/webhooks', 'Webhook'],
    ['/keys', 'API 密钥'],
    ['/quotas', '配额'],
    ['/import/people', '导入用户'],
  ] as const) {
    await navigate(page, '/nowhere');
    await page.getByRole('heading', { level: 1, name: '页面不存在' }).waitFor();
    await navigate(page, path, 'replace');
    await page.getByText('仅管理员可访问此页面').waitFor();
    // The title is that of the screen.
    await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
  }
});
