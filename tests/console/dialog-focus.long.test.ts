// Only with test:long: it checks the focus on several screens; tenants.test.ts covers the focus on the first field.
import { test } from 'node:test';
import { startConsole } from '../support/console.ts';
import { waitFor } from '../support/wait.ts';
import { credentialsOf } from './departments-page.ts';

const fixture = await startConsole();
const admin = await fixture.service.createTenant({ tenantName: '集团' });
const child = await fixture.service.createTenant({ tenantName: '分公司' }, admin);
const top = await admin.createDepartment({ deptName: '总部' });
await fixture.service.createTenant({ tenantName: '支公司' }, child);
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
  await expectFocus('恢复');
});

test('a dialog that deletes or reverts opens with the focus on the button that cancels; the next dialog has it on its first choice', async () => {
  const full = await admin.createDepartment({ deptName: '销售部', parentId: top });
  await admin.createUser({ userName: 'ju', nickName: '菊', deptId: full });
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${full}`);
  await page.getByRole('article', { name: '销售部' }).getByRole('button', { name: '删除' }).click();
  const dialog = page.getByRole('dialog', { name: '删除“销售部”？' });
  await dialog.waitFor();
  await expectFocus('取消');
  await dialog.getByRole('button', { name: '删除' }).click();
  await page.getByRole('dialog', { name: '无法删除“销售部”' }).locator('input[type=radio]:focus').waitFor();

  await fixture.logIn(credentialsOf(admin), `/tenants/${child.id}`);
  const creation = page.getByRole('listitem').filter({ has: page.getByText('新建', { exact: true }) });
  await creation.getByRole('button', { name: '撤销此变更' }).click();
  await page.getByRole('dialog', { name: '撤销此变更？' }).getByText('该租户将被删除').waitFor();
  await expectFocus('取消');
});

test('the dialog of a tenant that cannot be deleted has the focus on its main button', async () => {
  const page = await fixture.logIn(credentialsOf(admin), `/tenants/${child.id}`);
  await page.getByRole('button', { name: '更多操作：分公司' }).press('Enter');
  await page.getByRole('menuitem', { name: '删除' }).click();
  await page.getByRole('dialog', { name: '删除“分公司”？' }).getByRole('button', { name: '删除' }).click();
  await page.getByRole('dialog', { name: '“分公司”还有下级租户' }).waitFor();
  await expectFocus('查看下级租户');
});
