import { test } from 'node:test';
import { dateInDays } from '../support/calendar.ts';
import { expectAccessible, shareConsole, visit } from '../support/console.ts';
import { sample } from '../support/scale.ts';
import { createMembers, credentialsOf } from './departments-page.ts';

/** Examines every fourth screen, and with `npm run test:long` all of them. Other files then also examine states and dialogs. */

const fixture = await shareConsole();
const { service } = fixture;

test('axe finds no serious violation on the examined screens', async () => {
  const { admin, research, mei } = await createMembers(service);
  const child = await service.createTenant({ tenantName: '分公司', quotaBo: { merchant: 50 } }, admin);
  const webhook = await admin.create('/system/webhook-api', { name: 'hook', url: 'https://1.1.1.1/x', status: '1' });
  await admin.create('/system/key-api', { keyName: 'key', permissions: ['dept:read'] });
  const page = await fixture.logIn(credentialsOf(admin));
  // What each screen shows once it has loaded.
  const screens = [
    ['/home', page.getByText('用户名额').first()],
    [`/departments/${research}`, page.getByRole('region', { name: '成员' }).getByRole('row').nth(1)],
    ['/chart', page.getByRole('treeitem', { name: '研发部' })],
    ['/people', page.getByRole('row', { name: '韩梅梅' })],
    [`/people/${mei}`, page.getByRole('list', { name: '变更历史' }).getByRole('listitem').first()],
    ['/people?person=new', page.getByRole('dialog', { name: '新建用户' })],
    ['/tenants', page.getByRole('row', { name: '分公司' })],
    [`/tenants/${child.id}`, page.getByRole('heading', { level: 1, name: '分公司' })],
    ['/tenants/new', page.getByRole('heading', { level: 2, name: '首个管理员' })],
    ['/changes', page.getByRole('region', { name: '变更', exact: true }).getByRole('listitem').first()],
    ['/changes/diff', page.getByRole('heading', { name: /^新建/ }).first()],
    ['/changes/tree', page.getByText('当时没有部门')],
    ['/deleted', page.getByText('没有已删除的部门')],
    ['/webhooks', page.getByRole('row', { name: 'hook' })],
    [`/webhooks/${webhook}`, page.getByRole('heading', { level: 1, name: 'hook' })],
    ['/keys', page.getByRole('row', { name: 'key' })],
    ['/quotas', page.getByRole('row', { name: '客商管理' })],
    [`/quotas/merchant?tenantId=${child.tenantId}`, page.getByRole('heading', { level: 1, name: '客商管理' })],
    ['/import/people', page.getByRole('heading', { level: 1, name: '导入用户' })],
    ['/me', page.getByText('当前设备')],
    [`/chart?day=${dateInDays(-2)}`, page.getByText('当时没有部门')],
  ] as const;
  for (const [path, shown] of sample(screens, 4, 3)) {
    await visit(page, path);
    await shown.waitFor();
    await page.locator('.state[role=status], .ant-spin-spinning, .ant-skeleton').first().waitFor({ state: 'detached' });
    await expectAccessible(page);
  }
});
