import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectNoAxeViolations, expectNoCspViolations, screenshot, startConsole } from '../support/console.ts';
import { bossOf, company, drag, hover, outline, pull, row, shows, tree } from './departments-page.ts';
import { hold } from './hands.ts';

const fixture = await startConsole();
const { service } = fixture;

test('a tree of three levels is built by mouse', async () => {
  const boss = await service.createTenant();
  const page = await fixture.logIn(bossOf(boss), '/departments');
  await page.getByText('暂无部门').waitFor();
  await expectNoAxeViolations(page);
  const make = async (button: string, name: string) => {
    await page.getByRole('button', { name: button }).click();
    await page.getByLabel('部门名称').fill(name);
    await page.getByRole('dialog').getByRole('button', { name: '保存', exact: true }).click();
    await page.getByText(`部门“${name}”已创建`).waitFor();
    await page.getByRole('article', { name }).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  await make('新建顶级部门', '总部');
  await make('新建下级', '研发部');
  await make('新建下级', '前端组');
  await shows(page, ['1 总部', '2 研发部', '3 前端组']);
  await row(page, '总部').click();
  await page.getByRole('article', { name: '总部' }).waitFor();
  await make('新建下级', '市场部');
  await shows(page, ['1 总部', '2 研发部', '3 前端组', '2 市场部']);
  expectNoCspViolations(page);
});

test('another tree of three levels is built, and put in order, by keyboard only', async () => {
  const boss = await service.createTenant();
  const page = await fixture.logIn(bossOf(boss), '/departments', { language: 'en' });
  const press = (...keys: string[]) =>
    keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve());
  const fill = async (name: string) => {
    await page.getByRole('dialog').getByLabel('Name').and(page.locator(':focus')).waitFor();
    await page.keyboard.type(name);
    await press('Enter');
    await page.getByRole('article', { name }).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  const focused = async (what: RegExp) => {
    for (let tabs = 0; tabs < 40; tabs++) {
      const now = String(await page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.innerText'));
      if (what.test(now.trim())) return;
      await press('Tab');
    }
    throw new Error(`Tab never comes to ${what}`);
  };
  await focused(/^New top-level department$/);
  await press('Enter');
  await fill('Head office');
  await focused(/^Department tree$/);
  await press('Home', 'Insert');
  await fill('Sales');
  await press('ArrowUp', 'Insert');
  await fill('Research');
  await press('Insert');
  await fill('Web');
  await tree(page).and(page.locator(':focus')).waitFor();
  await shows(page, ['1 Head office', '2 Sales', '2 Research', '3 Web']);

  // Up with Research, before Sales; then typing finds the way, and Enter opens.
  await press('ArrowUp', 'Alt+ArrowUp');
  await page.getByText('Order saved').waitFor();
  // It is saved before the tree is read again, and End would lead to what is last until then.
  await shows(page, ['1 Head office', '2 Research', '3 Web', '2 Sales']);
  await press('Home', 'w', 'Enter');
  await page.getByRole('article', { name: 'Web' }).waitFor();
  await press('ArrowLeft', 'ArrowLeft', 'End', 'Enter');
  await page.getByRole('article', { name: 'Sales' }).waitFor();
  await expectNoAxeViolations(page);

  // The dialog does for the keyboard what dragging does for the mouse.
  await focused(/^Move…$/);
  await press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Move “Sales”' });
  await dialog.waitFor();
  await expectNoAxeViolations(page);
  await dialog.getByLabel('Search departments').focus();
  await page.keyboard.type('zzz');
  await dialog.getByText('No departments match “zzz”').waitFor();
  await press('Escape');
  await row(dialog, 'Research').waitFor();
  await page.keyboard.type('web');
  await dialog.getByRole('button', { name: 'Web Head office / Research' }).waitFor();
  await press('ArrowDown', 'Enter');
  await dialog.getByText('Selected: Web').waitFor();
  await dialog.getByRole('button', { name: 'Move', exact: true }).focus();
  await press('Enter');
  await page.getByText('“Sales” moved').waitFor();
  await page.getByRole('navigation', { name: 'Path' }).getByText('Research').waitFor();
  await page.getByRole('button', { name: 'Move…' }).and(page.locator(':focus')).waitFor();
  expectNoCspViolations(page);
});

test('departments are moved and reordered by dragging; what cannot be dropped says why before', async () => {
  const { boss, market, research } = await company(service);
  const page = await fixture.logIn(bossOf(boss), `/departments/${market}`);
  await page.getByRole('article', { name: '市场部' }).waitFor();
  await row(page, '研发部').waitFor();
  await row(page, '研发部').locator('[data-act=toggle]').click();
  await shows(page, ['1 总部', '2 研发部', '3 前端组', '3 后端组', '2 市场部', '2 旧部门停用']);

  await hover(page, row(page, '研发部'), row(page, '前端组'), 'into');
  await page.getByText('不能移动到“研发部”的下级部门中').waitFor();
  await screenshot(page, 'departments-refused');
  await page.mouse.up();
  await hover(page, row(page, '市场部'), row(page, '旧部门 停用'), 'into');
  await page.getByText('该部门已停用，不能移入').waitFor();
  await page.keyboard.press('Escape');
  await page.getByText('该部门已停用，不能移入').waitFor({ state: 'detached' });
  await page.mouse.up();
  await shows(page, ['1 总部', '2 研发部', '3 前端组', '3 后端组', '2 市场部', '2 旧部门停用']);

  await drag(page, row(page, '后端组'), row(page, '前端组'), 'before');
  await page.getByText('顺序已保存').waitFor();
  await shows(page, ['1 总部', '2 研发部', '3 后端组', '3 前端组', '2 市场部', '2 旧部门停用']);
  await drag(page, row(page, '市场部'), row(page, '前端组'), 'into');
  await page.getByText('“市场部”已移动').waitFor();
  await shows(page, ['1 总部', '2 研发部', '3 后端组', '3 前端组', '4 市场部', '2 旧部门停用']);
  await page.getByRole('navigation', { name: '上级路径' }).getByText('前端组').waitFor();
  await drag(page, row(page, '市场部'), row(page, '研发部'), 'before');
  await shows(page, ['1 总部', '2 市场部', '2 研发部', '3 后端组', '3 前端组', '2 旧部门停用']);
  assert.equal(
    (await boss.get(`/system/dept-api/${market}`)).data.parentId,
    Number((await boss.get(`/system/dept-api/${research}`)).data.parentId),
  );
  expectNoCspViolations(page);
});

test('what is dragged while the move before is being saved is not moved, and that is said', async () => {
  const { boss, top } = await company(service);
  const page = await fixture.logIn(bossOf(boss), `/departments/${top}`);
  await row(page, '总部').locator('[data-act=toggle]').click();
  await shows(page, ['1 总部', '2 研发部', '2 市场部', '2 旧部门停用']);
  const { asked, release } = await hold(page, 'PUT', '/system/dept-api/order');
  const sent = page.waitForRequest('**/system/dept-api/order');
  await drag(page, row(page, '市场部'), row(page, '研发部'), 'before');
  await sent;
  await drag(page, row(page, '研发部'), row(page, '旧部门 停用'), 'after');
  await page.getByText('上一次移动正在保存，“研发部”未移动').waitFor();
  // By keyboard likewise.
  await row(page, '市场部').click();
  await page.keyboard.press('Alt+ArrowDown');
  await page.getByText('上一次移动正在保存，“市场部”未移动').waitFor();
  release();
  await shows(page, ['1 总部', '2 市场部', '2 研发部', '2 旧部门停用']);
  assert.equal(asked.length, 1);
  await drag(page, row(page, '研发部'), row(page, '旧部门 停用'), 'after');
  await shows(page, ['1 总部', '2 市场部', '2 旧部门停用', '2 研发部']);
});

test('a cycle that the page could not know of is refused in the words of the service', async () => {
  const { boss, research, market } = await company(service);
  const page = await fixture.logIn(bossOf(boss), `/departments/${market}`);
  await row(page, '研发部').waitFor();
  const { data } = await boss.get(`/system/dept-api/${market}`);
  await boss.put('/system/dept-api', { ...data, parentId: research });
  await drag(page, row(page, '研发部'), row(page, '市场部'), 'into');
  await page.getByRole('alert').getByText('上级部门不能是自己或自己的下级部门').waitFor();
  await shows(page, ['1 总部', '2 研发部', '3 前端组', '3 后端组', '3 市场部', '2 旧部门停用']);
});

test('a closed department opens when something is held over it, but not when it is itself dragged slowly', async () => {
  const { boss } = await company(service);
  const page = await fixture.logIn(bossOf(boss), '/departments');
  await row(page, '总部').locator('[data-act=toggle]').click();
  const closed = ['1 总部', '2 研发部', '2 市场部', '2 旧部门停用'];
  await shows(page, closed);
  // The clock of the page stands still, and is turned on by hand.
  await page.clock.install();
  const letGoOutside = async () => {
    await page.mouse.move(0, 0);
    await page.mouse.up();
  };
  await pull(page, row(page, '研发部'), row(page, '研发部'), 'into');
  await page.getByText('不能移动到自身之下').waitFor();
  await page.clock.runFor(60_000);
  assert.deepEqual(await outline(page), closed);
  await letGoOutside();
  await pull(page, row(page, '市场部'), row(page, '研发部'), 'into');
  await page.clock.runFor(60_000);
  await shows(page, ['1 总部', '2 研发部', '3 前端组', '3 后端组', '2 市场部', '2 旧部门停用']);
  // The next test gets a page with a clock that runs.
  await page.close();
});
