// Only with test:long: it covers the keyboard and further ways to change the tree; departments.test.ts covers moving, double-submit.test.ts creating.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectAccessibleInLongRun, expectNoCspViolations, startConsole } from '../support/console.ts';
import {
  createCompany,
  credentialsOf,
  dragAndDrop,
  expectOutline,
  outline,
  pickerTree,
  row,
  startDrag,
  tree,
} from './departments-page.ts';
import { holdRequests } from './page-actions.ts';

const fixture = await startConsole();
const { service } = fixture;

test('a tree of three levels can be built with the mouse', async () => {
  const admin = await service.createTenant();
  const page = await fixture.logIn(credentialsOf(admin), '/departments');
  await page.getByText('暂无部门').waitFor();
  assert.equal(await page.getByText('请在组织架构中选择部门').count(), 0, 'there is nothing to select');
  assert.equal(
    await page.getByRole('button', { name: '新建顶级部门' }).count(),
    2,
    'one of them is in the empty state',
  );
  await expectAccessibleInLongRun(page);
  const create = async (button: string, name: string) => {
    await page.getByRole('button', { name: button }).last().click();
    await page.getByLabel('部门名称').fill(name);
    await page.getByRole('dialog').getByRole('button', { name: '创建', exact: true }).click();
    await page.getByText(`部门“${name}”已创建`).waitFor();
    await page.getByRole('article', { name }).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  await create('新建顶级部门', '总部');
  await create('新建下级', '研发部');
  await create('新建下级', '前端组');
  await expectOutline(page, ['1 总部', '2 研发部', '3 前端组']);
  await row(page, '总部').click();
  await page.getByRole('article', { name: '总部' }).waitFor();
  await create('新建下级', '市场部');
  await expectOutline(page, ['1 总部', '2 研发部', '3 前端组', '2 市场部']);
  expectNoCspViolations(page);
});

test('a tree of three levels can be built and reordered with the keyboard only', async () => {
  const admin = await service.createTenant();
  const page = await fixture.logIn(credentialsOf(admin), '/departments', { language: 'en' });
  const press = (...keys: string[]) =>
    keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve());
  const fill = async (name: string) => {
    await page.getByRole('dialog').getByLabel('Name').and(page.locator(':focus')).waitFor();
    await page.keyboard.type(name);
    await press('Enter');
    await page.getByRole('article', { name }).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  const tabTo = async (label: RegExp) => {
    for (let tabs = 0; tabs < 40; tabs++) {
      const now = String(await page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.innerText'));
      if (label.test(now.trim())) return;
      await press('Tab');
    }
    throw new Error(`Tab never reaches ${label}`);
  };
  await tabTo(/^New top-level department$/);
  await press('Enter');
  await fill('Head office');
  await tabTo(/^Department tree$/);
  await press('Home', 'Insert');
  await fill('Sales');
  await press('ArrowUp', 'Insert');
  await fill('Research');
  await press('Insert');
  await fill('Web');
  await tree(page).and(page.locator(':focus')).waitFor();
  await expectOutline(page, ['1 Head office', '2 Sales', '2 Research', '3 Web']);

  // Move Research up, before Sales. Then typing selects a row by its name, and Enter opens it.
  await press('ArrowUp', 'Alt+ArrowUp');
  await page.getByText('Order saved').waitFor();
  // Wait for the tree to reload: until then, End would select the row that was last before.
  await expectOutline(page, ['1 Head office', '2 Research', '3 Web', '2 Sales']);
  await press('Home', 'w', 'Enter');
  await page.getByRole('article', { name: 'Web' }).waitFor();
  await press('ArrowLeft', 'ArrowLeft', 'End', 'Enter');
  await page.getByRole('article', { name: 'Sales' }).waitFor();
  await expectAccessibleInLongRun(page);

  // The move dialog is the alternative to dragging for keyboard users.
  await tabTo(/^Move…$/);
  await press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Move “Sales”' });
  await dialog.waitFor();
  await expectAccessibleInLongRun(page);
  await dialog.getByRole('combobox', { name: 'New parent' }).and(page.locator(':focus')).waitFor();
  await page.keyboard.type('zzz');
  await page.getByText('No departments found').waitFor();
  // Escape closes the popup, not the dialog.
  await press('Escape', 'ArrowDown');
  await row(pickerTree(page), 'Research').waitFor();
  await page.keyboard.type('web');
  await page.locator('.department-option', { hasText: 'Web' }).getByText('Head office / Research').waitFor();
  await press('Enter');
  await dialog.getByTitle('Head office / Research / Web').waitFor();
  await dialog.getByRole('button', { name: 'Move', exact: true }).focus();
  await press('Enter');
  await page.getByText('“Sales” moved').waitFor();
  await page.getByRole('navigation', { name: 'Path' }).getByText('Research').waitFor();
  await page.getByRole('button', { name: 'Move…' }).and(page.locator(':focus')).waitFor();
  expectNoCspViolations(page);
});

test('a department dragged while the previous move is being saved is not moved, and a message says so', async () => {
  const { admin, top } = await createCompany(service);
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${top}`);
  await row(page, '总部').locator('[data-act=toggle]').click();
  await expectOutline(page, ['1 总部', '2 研发部', '2 市场部', '2 旧部门停用']);
  const { requests, release } = await holdRequests(page, 'PUT', '/system/dept-api/order');
  const sent = page.waitForRequest('**/system/dept-api/order');
  await dragAndDrop(page, row(page, '市场部'), row(page, '研发部'), 'before');
  await sent;
  await dragAndDrop(page, row(page, '研发部'), row(page, '旧部门 停用'), 'after');
  await page.getByText('上一次移动正在保存，“研发部”未移动').waitFor();
  // The same applies to the keyboard.
  await row(page, '市场部').click();
  await page.keyboard.press('Alt+ArrowDown');
  await page.getByText('上一次移动正在保存，“市场部”未移动').waitFor();
  release();
  await expectOutline(page, ['1 总部', '2 市场部', '2 研发部', '2 旧部门停用']);
  assert.equal(requests.length, 1);
  await dragAndDrop(page, row(page, '研发部'), row(page, '旧部门 停用'), 'after');
  await expectOutline(page, ['1 总部', '2 市场部', '2 旧部门停用', '2 研发部']);
});

test('a move that would create a cycle that the page does not know of shows the error of the service', async () => {
  const { admin, research, market } = await createCompany(service);
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${market}`);
  await row(page, '研发部').waitFor();
  const { data } = await admin.get(`/system/dept-api/${market}`);
  await admin.put('/system/dept-api', { ...data, parentId: research });
  await dragAndDrop(page, row(page, '研发部'), row(page, '市场部'), 'into');
  await page.getByRole('alert').getByText('上级部门不能是自己或自己的下级部门').waitFor();
  await expectOutline(page, ['1 总部', '2 研发部', '3 前端组', '3 后端组', '3 市场部', '2 旧部门停用']);
});

test('a collapsed department expands when another is held over it, but not while it is dragged itself', async () => {
  const { admin } = await createCompany(service);
  const page = await fixture.logIn(credentialsOf(admin), '/departments');
  await row(page, '总部').locator('[data-act=toggle]').click();
  const collapsed = ['1 总部', '2 研发部', '2 市场部', '2 旧部门停用'];
  await expectOutline(page, collapsed);
  // Use fake timers, so that the test can advance the clock of the page.
  await page.clock.install();
  const dropOutside = async () => {
    await page.mouse.move(0, 0);
    await page.mouse.up();
  };
  await startDrag(page, row(page, '研发部'), row(page, '研发部'), 'into');
  await page.getByText('不能移动到自身之下').waitFor();
  await page.clock.runFor(60_000);
  assert.deepEqual(await outline(page), collapsed);
  await dropOutside();
  await startDrag(page, row(page, '市场部'), row(page, '研发部'), 'into');
  await page.clock.runFor(60_000);
  await expectOutline(page, ['1 总部', '2 研发部', '3 前端组', '3 后端组', '2 市场部', '2 旧部门停用']);
  // Close the page, so that the next test gets one with a real clock.
  await page.close();
});
