// Only with test:long: it covers the page of a person on a phone, in English and in another tenant; members.test.ts and undo.test.ts cover the rules.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectAccessibleInLongRun, expectNoCspViolations, PHONE, startConsole, visit } from '../support/console.ts';
import { createMembers, credentialsOf } from './departments-page.ts';

const fixture = await startConsole();
const { service } = fixture;

test('the link back leads to the list of people with its filters, after an edit, a visit to another person and a reload too', async () => {
  const { admin, mei } = await createMembers(service);
  const list = '/people?status=0&sort=userName';
  const page = await fixture.logIn(credentialsOf(admin), list);
  const back = page.getByRole('link', { name: '返回人员列表' });
  const expectBack = async (path: string) => assert.equal(await back.getAttribute('href'), path);
  await page.getByRole('link', { name: '韩梅梅' }).click();
  await page.getByRole('heading', { level: 1, name: '韩梅梅' }).waitFor();
  await expectBack(list);
  await page.getByRole('button', { name: '编辑 韩梅梅' }).click();
  await page.getByLabel('职务').fill('架构师');
  await page.getByRole('button', { name: '保存' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await expectBack(list);
  await page.getByRole('region', { name: '韩梅梅' }).getByRole('link', { name: '李雷' }).click();
  await page.getByRole('heading', { level: 1, name: '李雷' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { level: 1, name: '李雷' }).waitFor();
  await back.click();
  await page.getByRole('row', { name: '韩梅梅' }).waitFor();
  const { pathname, search } = new URL(page.url());
  assert.equal(pathname + search, list);
  assert.equal(await page.getByRole('row', { name: 'Jim Green' }).count(), 0);

  // Other screens are not lists of people, so the link leads to /people.
  await visit(page, `/changes?resource=user&resourceId=${mei}`);
  await page.getByRole('region', { name: '变更' }).getByRole('link', { name: '韩梅梅' }).first().click();
  await page.getByRole('heading', { level: 1, name: '韩梅梅' }).waitFor();
  await expectBack('/people');
});

test('the link back from a person of a child tenant leads to the people of that tenant', async () => {
  const { admin, mei } = await createMembers(service);
  const { tenantId } = admin;
  const page = await fixture.logIn({}, `/people?tenantId=${tenantId}&q=mei`, { language: 'en' });
  const back = page.getByRole('link', { name: 'Back to people' });
  await page.getByRole('link', { name: '韩梅梅' }).click();
  await page.getByRole('heading', { level: 1, name: '韩梅梅' }).waitFor();
  assert.equal(await back.getAttribute('href'), `/people?tenantId=${tenantId}&q=mei`);
  await visit(page, `/people/${mei}?tenantId=${tenantId}`);
  await page.getByRole('heading', { level: 1, name: '韩梅梅' }).waitFor();
  assert.equal(await back.getAttribute('href'), `/people?tenantId=${tenantId}`);
});

test('the page of a person shows the last logins with their addresses, and the audit log shows all', async () => {
  const { admin, mei, lead } = await createMembers(service);
  const { tenantId } = admin;
  const audit = `/changes?resource=login&resourceId=${mei}`;
  for (let n = 0; n < 5; n++) await service.logIn(tenantId, 'mei');
  const wrong = { tenantId, username: 'mei', password: 'not the password' };
  assert.equal((await service.anonymous.post('/auth/login', wrong)).code, 401);
  const page = await fixture.logIn(credentialsOf(admin), `/people/${mei}`);
  const logins = page.getByRole('list', { name: '登录记录' }).getByRole('listitem');
  await logins.first().getByText('登录失败').waitFor();
  assert.equal(await logins.count(), 5);
  assert.match(await logins.nth(1).innerText(), /登录成功\s+[\d.:a-f]+ · \d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  const all = page.getByRole('link', { name: '全部登录记录' });
  assert.equal(await all.getAttribute('href'), audit);
  await all.click();
  await page.getByText('仅显示“mei”的变更').waitFor();
  const changes = page.getByRole('region', { name: '变更', exact: true }).getByRole('listitem');
  assert.deepEqual(
    [await changes.filter({ hasText: '登录成功' }).count(), await changes.filter({ hasText: '登录失败' }).count()],
    [5, 1],
  );
  await visit(page, `/people/${lead}`);
  await page.getByText('暂无登录记录').waitFor();
  assert.equal(await all.count(), 0);

  const settings = { language: 'en', viewport: PHONE, dark: true } as const;
  const small = await fixture.logIn({}, `/people/${mei}?tenantId=${tenantId}`, settings);
  await small.getByRole('list', { name: 'Logins' }).getByText('Login failed').waitFor();
  const href = await small.getByRole('link', { name: 'All logins' }).getAttribute('href');
  assert.equal(href, `${audit}&tenant=${tenantId}`);
  assert.equal(await small.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  await expectAccessibleInLongRun(small);
  expectNoCspViolations(small);
});

test('a change to a user can be reverted in their history, unless a later one conflicts; a password change cannot', async () => {
  const { admin, mei, jim } = await createMembers(service);
  for (const position of ['工程师', '架构师'])
    assert.equal((await admin.patch(`/system/user-api/${mei}`, { position })).code, 200);
  assert.equal((await admin.patch(`/system/user-api/${mei}`, { password: 'a brand new one' })).code, 200);
  const page = await fixture.logIn(credentialsOf(admin), `/people/${mei}`);
  const history = page.getByRole('list', { name: '变更历史' });
  const revert = async (field: string) => {
    const entry = history.getByRole('listitem').filter({ has: page.getByRole('row', { name: field, exact: true }) });
    await entry.getByRole('button', { name: '撤销此变更' }).click();
    await dialog.getByRole('button', { name: '撤销', exact: true }).click();
  };
  const dialog = page.getByRole('dialog', { name: '撤销此变更？' });
  const password = history.getByRole('listitem').filter({ has: page.getByText('修改密码', { exact: true }) });
  await password.waitFor();
  assert.equal(await password.getByRole('button').count(), 0);
  await revert('职务 — 工程师');
  await dialog.getByRole('alert').getByText('存在后续变更').waitFor();
  const later = dialog.getByRole('link', { name: '查看此对象的后续变更' });
  assert.equal(await later.getAttribute('href'), `/changes?resource=user&resourceId=${mei}`);
  await expectAccessibleInLongRun(page);
  await dialog.getByRole('button', { name: '关闭' }).last().click();
  await dialog.waitFor({ state: 'hidden' });
  await revert('职务 工程师 架构师');
  await page.getByText('变更已撤销').waitFor();
  await page.getByRole('region', { name: '韩梅梅' }).getByText('工程师', { exact: true }).waitFor();
  assert.equal((await admin.get(`/system/user-api/${mei}`)).data.position, '工程师');

  const settings = { language: 'en', viewport: PHONE } as const;
  const small = await fixture.logIn({}, `/people/${jim}?tenantId=${admin.tenantId}`, settings);
  await small.getByRole('list', { name: 'History' }).getByRole('button', { name: 'Revert this change' }).click();
  await small.getByRole('dialog').getByRole('button', { name: 'Revert', exact: true }).click();
  await small.getByText('Change reverted').waitFor();
  // The page then says that the user has been deleted.
  await small.getByText('“Jim Green” was deleted').waitFor();
  assert.equal((await admin.get(`/system/user-api/${jim}`)).status, 404);
  assert.equal(await small.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
});
