// Only with test:long: it checks the focus on several screens; tenants.test.ts covers the focus on the first field.
import { test } from 'node:test';
import { startConsole } from '../support/console.ts';
import { waitFor } from '../support/wait.ts';
import { credentialsOf } from './departments-page.ts';

const fixture = await startConsole();
const admin = await fixture.service.createTenant({ tenantName: '集团' });
const child = await fixture.service.createTenant({ tenantName: '分公司' }, admin);
const top = await admin.createDepartment({ deptName: '总部' });
const person = await admin.createUser({ userName: 'lan', nickName: '兰' });

/** Waits until the field with this label, or the button with this text, has the focus. */
const expectFocus = async (name: string) => {
  const page = await fixture.sharedPage();
  await waitFor(`${name} has the focus`, () =>
    page.evaluate(`(() => {
      const element = document.activeElement;
      const label = element.id && document.querySelector('label[for="' + element.id + '"]');
      const text = (label || element).textContent.replace(/\\s/g, '');
      return text === ${JSON.stringify(name)} || element.getAttribute('aria-label') === ${JSON.stringify(name)};
    })()`),
  );
};

test('a dialog opens with the focus on its first field', async () => {
  const page = await fixture.logIn(credentialsOf(admin), '/people');
  await page.getByRole('button', { name: '新建用户' }).click();
  await expectFocus('用户名');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });

  await page.getByRole('row', { name: '兰' }).getByRole('button', { name: '编辑' }).click();
  await expectFocus('用户名');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });

  await page.getByRole('link', { name: '租户' }).first().click();
  await page.getByRole('button', { name: '更多操作：分公司' }).press('Enter');
  await page.getByRole('menuitem', { name: '移动' }).press('Enter');
  await expectFocus('上级租户');
});

test('the question whether to discard input has the focus on the answer that keeps it', async () => {
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${top}`);
  await page.getByRole('button', { name: '新建下级' }).click();
  await page.getByLabel('部门名称').fill('人事部');
  await page.keyboard.press('Escape');
  await expectFocus('继续填写');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: '放弃已填写的内容？' }).waitFor({ state: 'detached' });
  await page.getByRole('dialog').getByRole('button', { name: '取消' }).click();
  await page.getByRole('dialog', { name: '放弃已填写的内容？' }).getByRole('button', { name: '放弃' }).click();

  await fixture.logIn(credentialsOf(admin), '/people');
  await page.getByRole('button', { name: '新建用户' }).click();
  await page.getByRole('dialog').getByLabel('用户名').fill('zhu');
  await page.keyboard.press('Escape');
  await expectFocus('继续填写');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByLabel('用户名').waitFor();

  await fixture.logIn(credentialsOf(admin), `/tenants/${child.id}/edit`);
  await page.getByLabel('联系人').fill('竹');
  await page.getByRole('button', { name: '取消' }).click();
  await expectFocus('继续填写');
});

test('the dialog of a user who no longer exists has a title without a name', async () => {
  const page = await fixture.logIn(credentialsOf(admin), '/people');
  await page.getByRole('row', { name: '兰' }).waitFor();
  await admin.delete(`/system/user-api/${person}`);
  await page.getByRole('row', { name: '兰' }).getByRole('button', { name: '编辑' }).click();
  await page
    .getByRole('dialog', { name: '编辑用户', exact: true })
    .getByText(/已被删除/)
    .waitFor();
});
