import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectAccessibleInLongRun, expectNoCspViolations, shareConsole, visit } from '../support/console.ts';
import { createMembers, credentialsOf, nameBoss, waitForValue } from './departments-page.ts';

const fixture = await shareConsole();
const { service } = fixture;

test('the page of a person shows departments, leaders, role and history, and ends their sessions', async () => {
  const { admin, research, mei } = await createMembers(service);
  await nameBoss(admin, '高敏');
  await admin.patch(`/system/user-api/${mei}`, { email: 'mei@example.com', position: '后端工程师' });
  // Change the first entry as if a command had written it: then it has no user.
  await service.superuser`
    update banyan.changes set actor_name = 'Demo data', actor_user_id = 0
    where tenant_id = ${admin.tenantId} and resource = 'user' and resource_id = ${mei} and action = 'created'`;
  const sessions = [await service.logIn(admin.tenantId, 'mei'), await service.logIn(admin.tenantId, 'mei')];
  const statusOf = async () => Promise.all(sessions.map(async (session) => (await session.get('/auth/me')).status));
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${research}`);
  await page.getByRole('region', { name: '成员' }).getByRole('link', { name: '韩梅梅' }).click();
  await page.getByRole('heading', { level: 1, name: '韩梅梅' }).waitFor();
  assert.equal(new URL(page.url()).pathname, `/people/${mei}`);
  const details = page.getByRole('region', { name: '韩梅梅' });
  const paths = details.getByRole('listitem');
  await waitForValue(
    () => paths.allTextContents(),
    (texts) => texts.includes('总部 / 研发部 / 后端组主部门') && texts.includes('总部 / 市场部'),
  );
  await details.getByRole('link', { name: '李雷' }).waitFor();
  await details.getByText('查看部门').waitFor();
  assert.equal(await details.getByText('管理部门').count(), 0);
  const history = page.getByRole('list', { name: '变更历史' });
  await history.getByRole('link', { name: '高敏' }).first().waitFor();
  await history.getByText('Demo data').waitFor();
  assert.equal(await history.getByRole('link', { name: 'Demo data' }).count(), 0);
  await history.getByRole('cell', { name: '后端工程师' }).first().waitFor();
  const logins = page.getByRole('list', { name: '登录记录' }).getByRole('listitem');
  await logins.filter({ hasText: '登录成功' }).nth(1).waitFor();
  assert.equal(await logins.count(), 2);
  await expectAccessibleInLongRun(page);

  await page.getByRole('list', { name: '登录设备' }).getByRole('button').first().click();
  await page.getByText('该设备已退出登录').waitFor();
  await logins.filter({ hasText: '设备退出登录' }).getByRole('link', { name: '高敏' }).waitFor();
  assert.deepEqual((await statusOf()).toSorted(), [200, 401]);
  await page.getByRole('button', { name: '退出所有设备' }).click();
  await page.getByRole('dialog').getByRole('button', { name: '退出所有设备' }).click();
  await page.getByText('当前没有登录的设备').waitFor();
  assert.deepEqual(await statusOf(), [401, 401]);
  await visit(page, '/changes?resource=login');
  const ended = page.getByRole('listitem').filter({ hasText: '设备退出登录' });
  await ended.first().getByRole('link', { name: 'mei', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: '韩梅梅' }).waitFor();

  await page.getByRole('button', { name: '编辑 韩梅梅' }).click();
  await page.getByLabel('职务').fill('架构师');
  await page.getByRole('button', { name: '保存' }).click();
  await history.getByRole('cell', { name: '架构师' }).waitFor();
  await page.getByRole('link', { name: '后端组' }).click();
  await page.getByRole('article', { name: '后端组' }).waitFor();
  await page.getByRole('tab', { name: '变更历史' }).click();
  await page.getByRole('list', { name: '变更历史' }).getByRole('link', { name: '高敏' }).waitFor();
  expectNoCspViolations(page);
});

test('the members of a department are sorted and filtered, and the link back from a person leads to the same list', async () => {
  const { admin, research } = await createMembers(service);
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${research}`);
  const members = page.getByRole('region', { name: '成员' });
  const rowAt = (at: number, name: string) => members.getByRole('row').nth(at).filter({ hasText: name });
  await rowAt(1, '李雷').getByText('负责人', { exact: true }).waitFor();
  assert.equal(await members.getByText('负责人', { exact: true }).count(), 1);
  await members.getByRole('columnheader', { name: '姓名' }).click();
  await rowAt(1, 'Jim Green').waitFor();
  await members.getByRole('columnheader', { name: '姓名' }).click();
  await rowAt(1, '韩梅梅').waitFor();
  await members.getByRole('combobox', { name: '状态' }).click();
  await page.getByTitle('正常', { exact: true }).click();
  await rowAt(3, 'Jim Green').waitFor({ state: 'detached' });
  await members.getByText('共 2 人').waitFor();
  const { href } = new URL(page.url());
  assert.match(href, /sort=-nickName&status=0$/);
  await rowAt(2, '李雷').getByRole('link', { name: '李雷' }).click();
  await page.getByRole('link', { name: '返回部门' }).click();
  await rowAt(1, '韩梅梅').waitFor();
  assert.equal(page.url(), href);
  await members.getByText('共 2 人').waitFor();
});
