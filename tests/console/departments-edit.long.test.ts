// Only with test:long: it repeats rules of other screens for departments, and on a phone; departments-edit.test.ts covers the form, members.test.ts a link in the list of members.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectAccessibleInLongRun, PHONE, startConsole } from '../support/console.ts';
import { createCompany, credentialsOf, row } from './departments-page.ts';

const fixture = await startConsole();
const { service } = fixture;

test('a link to a department opens it with its users, on a phone too', async () => {
  const { admin, back } = await createCompany(service);
  await admin.createUser({ userName: 'mei', nickName: '韩梅梅', deptId: back, phone: '13900000001' });
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${back}?tab=people`);
  await page.getByText('韩梅梅').waitFor();
  await row(page, '后端组').waitFor();
  assert.equal(await row(page, '后端组').getAttribute('aria-selected'), 'true');
  assert.equal(new URL(page.url()).pathname, `/departments/${back}`);
  await expectAccessibleInLongRun(page);
  await page.getByRole('navigation', { name: '上级路径' }).getByText('研发部').click();
  await page.getByRole('article', { name: '研发部' }).waitFor();
  await page.getByText('韩梅梅').waitFor();
  await page.getByText('含下级').click();
  await page.getByText('该部门暂无直属成员').waitFor();
  await page.getByRole('tab', { name: '下级部门' }).click();
  await page.getByRole('tabpanel').getByRole('link', { name: '前端组' }).waitFor();
  await page.goBack();
  await page.getByRole('article', { name: '后端组' }).waitFor();

  const phone = await fixture.logIn(credentialsOf(admin), `/departments/${back}`, { viewport: PHONE, dark: true });
  await phone.getByText('韩梅梅').waitFor();
  assert.equal(await phone.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  await expectAccessibleInLongRun(phone);
  await phone.getByRole('link', { name: '返回组织架构' }).click();
  await row(phone, '总部').waitFor();
  assert.equal(await phone.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  await expectAccessibleInLongRun(phone);
});

test('the leader of a department is a user, searched for by name, or free text', async () => {
  const { admin, market } = await createCompany(service);
  const mei = await admin.createUser({ userName: 'mei', nickName: '韩梅梅', source: 'hr', externalId: 'E-7' });
  await admin.patch(`/system/dept-api/${market}`, { source: 'hr', externalId: 'D-1' });
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${market}`);
  await page.getByText('D-1').waitFor();
  await page.locator('#departments-edit').click();
  await page.getByLabel('负责人').fill('梅梅');
  await page.getByText(`mei，编号 ${mei}`).waitFor();
  // Enter selects the option that the arrow key has moved to, and does not submit the form.
  await page.getByLabel('负责人').press('ArrowDown');
  await page.getByLabel('负责人').press('Enter');
  await page.getByText(`已关联用户 ${mei}`).waitFor();
  assert.equal(await page.getByLabel('负责人').inputValue(), '韩梅梅');
  await expectAccessibleInLongRun(page);
  await page.getByRole('button', { name: '保存' }).click();
  await page.getByText('部门已保存').waitFor();
  const { data } = await admin.get(`/system/dept-api/${market}`);
  assert.deepEqual([data.leader, data.leaderId, data.externalId], ['韩梅梅', Number(mei), 'D-1']);

  await page.getByRole('link', { name: '韩梅梅' }).click();
  await page.getByRole('region', { name: '韩梅梅' }).getByText('E-7').waitFor();
  await expectAccessibleInLongRun(page);
  await page.goBack();
  await page.locator('#departments-edit').click();
  await page.getByLabel('负责人').fill('待定');
  await page.getByText('输入姓名搜索用户，也可以填写其他文字').waitFor();
  await page.getByRole('button', { name: '保存' }).click();
  await page.locator('#departments-edit').waitFor();
  const { data: after } = await admin.get(`/system/dept-api/${market}`);
  assert.deepEqual([after.leader, after.leaderId], ['待定', null]);
});
