// Only with test:long: it covers zooming, the keyboard, exports, printing and large charts; chart.test.ts covers the cards, today and on an earlier day.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { avoidMidnight, dateInDays, withinOneDay } from '../support/calendar.ts';
import { expectAccessibleInLongRun, expectNoCspViolations, PHONE, startConsole, visit } from '../support/console.ts';
import { insertDepartments } from '../support/trees.ts';
import { waitFor } from '../support/wait.ts';
import {
  card,
  cards,
  exportFile,
  percent,
  selectDay,
  startChart,
  startLargePastChart,
  startPastChart,
  tree,
} from './chart-page.ts';
import { credentialsOf, waitForValue } from './departments-page.ts';
import { holdRequests, waitForAnimations } from './page-actions.ts';

await avoidMidnight();
const { fixture, admin, credentials } = await startChart(await startConsole());

/** Moves two fingers on a phone through these distances from the middle of the screen. */
async function pinch(page: Page, distances: number[]) {
  const cdp = await page.context().newCDPSession(page);
  for (const [n, distance] of distances.entries()) {
    const touchPoints = [195 - distance, 195 + distance].map((x, id) => ({ x, y: 500, id }));
    await cdp.send('Input.dispatchTouchEvent', { type: n === 0 ? 'touchStart' : 'touchMove', touchPoints });
  }
  await cdp.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
}

test('subtrees collapse and expand; deeper levels load on demand', async () => {
  const page = await fixture.logIn(credentials, '/chart');
  await card(page, '前端组').locator('[data-handle]').click();
  await card(page, '移动端小组').waitFor();
  await card(page, '产品研发中心').locator('[data-handle]').click();
  await card(page, '前端组').waitFor({ state: 'detached' });
  assert.equal(await card(page, '产品研发中心').getAttribute('aria-expanded'), 'false');
  await page.getByRole('button', { name: '展开', exact: true }).click();
  await card(page, '移动端小组').waitFor();

  await page.getByRole('combobox', { name: '展开层级' }).press('Enter');
  await page.getByTitle('展开 2 级').click();
  await card(page, '前端组').waitFor({ state: 'detached' });
  assert.equal(await cards(page).count(), 5);
  assert.match(page.url(), /\/chart\?levels=2$/);
});

test('a card that is collapsed during a refetch stays so, and the refetch shows what has changed', async () => {
  const page = await fixture.logIn(credentials, '/chart');
  await card(page, '华东大区').waitFor();
  const { requests, release } = await holdRequests(page, 'GET', '/children?*');
  await page.getByRole('button', { name: '刷新' }).click();
  await waitFor('the refetch reads the children', () => requests.length > 0);
  await card(page, '市场与销售部').locator('[data-handle]').click();
  await card(page, '华东大区').waitFor({ state: 'detached' });
  const { data } = await admin.get(`/system/dept-api/list?deptName=${encodeURIComponent('财务部')}`);
  await admin.patch(`/system/dept-api/${data.rows[0].deptId}`, { leader: '吴月' });
  release();
  await card(page, '财务部，负责人 吴月').waitFor();
  assert.equal(await card(page, '华东大区').count(), 0);
});

test('the chart zooms and pans with buttons, wheel, mouse and keyboard', async () => {
  const page = await fixture.logIn(credentials, '/chart');
  const root = card(page, '云杉科技有限公司');
  await root.waitFor();
  const at = async () => (await root.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  await page.getByRole('button', { name: '适应窗口' }).click();
  const whole = await percent(page);
  const wide = (await at()).width;
  await page.getByRole('button', { name: '放大' }).click();
  assert.ok((await percent(page)) > whole && (await at()).width > wide);
  await page.getByRole('button', { name: '缩小' }).click();
  assert.equal(await percent(page), whole);

  await tree(page).focus();
  await page.keyboard.press('+');
  assert.ok((await percent(page)) > whole);
  const before = await at();
  await page.keyboard.press('Shift+ArrowLeft');
  assert.ok(Math.abs((await at()).x - before.x - 80) < 1);
  await page.keyboard.press('0');
  assert.equal(await percent(page), whole);

  const box = await at();
  await page.mouse.move(box.x + 400, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + 300, box.y + 60, { steps: 4 });
  await page.mouse.up();
  // Pointer moves are rendered asynchronously, not in the event handler.
  await waitForValue(at, ({ x, y }) => Math.abs(x - box.x + 100) < 1 && Math.abs(y - box.y - 40) < 1);

  // The button is released outside of the chart, before the pointer has moved far enough for a drag.
  const { x, y } = await at();
  const canvas = (await tree(page).boundingBox()) ?? { x: 0, y: 0 };
  await page.mouse.move(canvas.x + 2, canvas.y + 100);
  await page.mouse.down();
  await page.mouse.move(canvas.x - 10, canvas.y + 100);
  await page.mouse.up();
  await page.mouse.move(canvas.x + 60, canvas.y + 100, { steps: 4 });
  await waitForAnimations(page);
  assert.deepEqual([(await at()).x, (await at()).y], [x, y]);
  // Firefox counts lines.
  await tree(page).dispatchEvent('wheel', { deltaY: 3, deltaMode: 1, shiftKey: true });
  await waitForValue(at, (now) => Math.abs(now.x - x + 60) < 1);

  await page.mouse.move(box.x + 300, box.y + 60);
  await page.mouse.wheel(0, -300);
  await page.waitForFunction(`parseInt(document.querySelector('output').innerText) > ${whole}`);
});

test('the keyboard moves through the chart, expands and collapses subtrees, and opens a department', async () => {
  const page = await fixture.logIn(credentials, '/chart');
  await card(page, '云杉科技有限公司').waitFor();
  await page.getByRole('button', { name: '导出' }).focus();
  await page.keyboard.press('Tab');
  const selectedName = async () =>
    (await page.getByRole('treeitem', { selected: true }).locator('title').textContent())?.split('，')[0];
  const press = async (key: string, name: string) => {
    await page.keyboard.press(key);
    assert.equal(await selectedName(), name, key);
  };
  assert.equal(await selectedName(), '云杉科技有限公司');
  await press('ArrowDown', '产品研发中心');
  await press('ArrowRight', '市场与销售部');
  await press('ArrowLeft', '产品研发中心');
  await press('ArrowDown', '前端组');
  await page.keyboard.press('Space');
  await card(page, '移动端小组').waitFor();
  await press('ArrowDown', '移动端小组');
  assert.equal(
    await tree(page).getAttribute('aria-activedescendant'),
    await card(page, '移动端小组').getAttribute('id'),
  );
  await press('ArrowUp', '前端组');
  await page.keyboard.press('Space');
  await card(page, '移动端小组').waitFor({ state: 'detached' });
  await press('Home', '云杉科技有限公司');
  await press('End', '财务部');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: '部门' }).waitFor();
});

test('the SVG export shows the expanded cards, a title and the date, in light colours even in dark mode; the PNG and PDF exports have the right size', async () => {
  const page = await fixture.logIn(credentials, '/chart', { dark: true });
  await card(page, '前端组').locator('[data-handle]').click();
  await card(page, '移动端小组').waitFor();
  await expectAccessibleInLongRun(page);
  const today = dateInDays(0);
  const svg = await exportFile(page, 'SVG');
  assert.match(svg.name, /^云杉科技有限公司-组织架构图-\d{4}-\d\d-\d\d\.svg$/);
  const drawn = (await page.evaluate(`(() => {
    const file = new DOMParser().parseFromString(${JSON.stringify(svg.content.toString('utf8'))}, 'image/svg+xml');
    const all = (kind) => [...file.querySelectorAll(kind)];
    return {
      wrong: all('parsererror').length + all('foreignObject, image, style, script').length,
      texts: all('text').map((text) => text.textContent),
      positions: all('g > g[transform] > g').map((g) => g.parentElement.getAttribute('transform').match(/[\\d.]+/g).map(Number)),
      width: Number(file.documentElement.getAttribute('width')),
      height: Number(file.documentElement.getAttribute('height')),
    };
  })()`)) as { wrong: number; texts: string[]; positions: number[][]; width: number; height: number };
  assert.equal(drawn.wrong, 0);
  for (const text of ['云杉科技有限公司', '移动端小组', '陈晓东', '晓东', '3 人', '停用', `组织架构图 · ${today}`])
    assert.ok(drawn.texts.includes(text), text);
  const source = svg.content.toString('utf8');
  assert.doesNotMatch(source, /var\(|style=/);
  const colours = new Set([...source.matchAll(/(?:fill|stroke)="(#[0-9a-f]+)"/g)].map(([, colour]) => colour));
  // The background, the text and the lines of the palette for print.
  for (const colour of ['#ffffff', '#1f1f1f', '#a9b5ad']) assert.ok(colours.has(colour), [...colours].join());
  const overlaps = drawn.positions.flatMap(([x = 0, y = 0], n) =>
    drawn.positions.slice(n + 1).filter(([a = 0, b = 0]) => Math.abs(a - x) < 208 && Math.abs(b - y) < 76),
  );
  assert.deepEqual(overlaps, []);
  assert.equal(drawn.positions.length, 17);

  const png = await exportFile(page, 'PNG');
  assert.match(png.name, /\.png$/);
  assert.equal(png.content.subarray(0, 8).toString('hex'), '89504e470d0a1a0a');
  assert.equal(png.content.readUInt32BE(16), drawn.width * 2);
  assert.equal(png.content.readUInt32BE(20), drawn.height * 2);
  assert.ok(png.content.length > 30_000);

  for (const [paper, size] of [
    ['A4', '841.89 595.28'],
    ['A3', '1190.55 841.89'],
  ] as const) {
    const pdf = await exportFile(page, `PDF（${paper}）`);
    assert.match(pdf.name, /\.pdf$/);
    const text = pdf.content.toString('latin1');
    assert.match(text, /^%PDF-1\.4\n/);
    assert.equal(text.match(/\/Type \/Page /g)?.length, 1);
    assert.ok(text.includes(`/MediaBox [0 0 ${size}]`), paper);
    // Each object is where the table at the end says, so that readers find it.
    const table = text.slice(text.lastIndexOf('\nxref\n'));
    const offsets = [...table.matchAll(/^(\d{10}) 00000 n/gm)].map(([, offset]) => Number(offset));
    assert.equal(offsets.length, 6);
    for (const [n, offset] of offsets.entries()) assert.equal(text.startsWith(`${n + 1} 0 obj`, offset), true);
    const [, width, height] = text.match(/\/Width (\d+) \/Height (\d+)/) ?? [];
    const jpeg = pdf.content.subarray(text.indexOf('\xff\xd8\xff'));
    const shown = (await page.evaluate(`(async () => {
      const bytes = Uint8Array.from(atob(${JSON.stringify(jpeg.toString('base64'))}), (c) => c.charCodeAt(0));
      const image = await createImageBitmap(new Blob([bytes], { type: 'image/jpeg' }));
      return [image.width, image.height];
    })()`)) as number[];
    assert.deepEqual(shown, [Number(width), Number(height)]);
  }
  expectNoCspViolations(page);
});

test('the chart starts at a legible size, and is printed as a whole without the controls of the screen', async () => {
  const page = await fixture.logIn(credentials, '/chart?levels=3', { viewport: { width: 900, height: 600 } });
  await card(page, '云杉科技有限公司').waitFor();
  assert.equal(await percent(page), 85);
  await page.getByRole('button', { name: '放大' }).click();
  // Some cards are outside of the window now.
  await page.evaluate("dispatchEvent(new Event('beforeprint'))");
  await page.emulateMedia({ media: 'print' });
  const printed = page.locator('.chart-print');
  assert.equal(await printed.isVisible(), true);
  for (const name of ['前端组', '招聘组', '财务部']) assert.equal(await printed.getByText(name).count(), 1, name);
  assert.equal(await page.getByRole('navigation').first().isVisible(), false);
  assert.equal(await printed.locator('[data-handle], button').count(), 0);
  const { width, height } = (await printed.locator('svg').boundingBox()) ?? { width: 0, height: 0 };
  assert.ok(width > 0 && width <= 900 && height <= 600, `${width} × ${height}`);
  await page.emulateMedia({ media: 'screen' });
  await page.evaluate("dispatchEvent(new Event('afterprint'))");
  await printed.waitFor({ state: 'detached' });
});

test('a search result becomes the root of the chart; a colleague who opens the link sees the same chart and the path to it', async () => {
  const page = await fixture.logIn(credentials, '/chart');
  await page.getByRole('combobox', { name: '搜索部门' }).fill('人力');
  await page.locator('.department-option').getByText('人力资源部').click();
  await card(page, '云杉科技有限公司').waitFor({ state: 'detached' });
  await card(page, '招聘组').waitFor();
  assert.equal(await cards(page).count(), 4);

  await fixture.service.createMember(admin, { userName: 'colleague' });
  const { pathname } = new URL(page.url());
  const colleague = { ...credentials, username: 'colleague' };
  const other = await fixture.logIn(colleague, pathname, { viewport: PHONE, language: 'en' });
  await card(other, '招聘组').waitFor();
  assert.equal(await cards(other).count(), 4);
  assert.equal(await other.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  await card(other, '人力资源部').click();
  await other.getByRole('button', { name: 'Collapse' }).waitFor();
  await expectAccessibleInLongRun(other);
  const before = await percent(other);
  await pinch(other, [40, 60, 90]);
  // Pinching zooms in, which is rendered asynchronously too.
  await waitForValue(
    () => percent(other),
    (now) => now > before * 1.5,
  );
  await pinch(other, [90, 60, 40]);
  await other.getByRole('navigation', { name: 'Path' }).getByRole('link', { name: '云杉科技有限公司' }).click();
  await card(other, '市场与销售部').waitFor();
  expectNoCspViolations(other);
});

test('the chart reports a missing department, explains an empty tenant and shows many siblings a page at a time', async () => {
  const page = await fixture.logIn(credentials, '/chart/999999999');
  await page.getByRole('alert').getByText('部门不存在').waitFor();
  await page.getByRole('link', { name: '查看完整组织架构图' }).click();
  await card(page, '云杉科技有限公司').waitFor();

  const newTenant = await fixture.service.createTenant({ tenantName: '新公司' });
  const other = await fixture.logIn(credentialsOf(newTenant), '/chart');
  await other.getByText('暂无部门').waitFor();
  await expectAccessibleInLongRun(other);

  const departments = Array.from({ length: 120 }, (_, n) => ({ ref: `${n}`, deptName: `门店 ${n}`, orderNum: n }));
  await newTenant.post('/system/dept-api/bulk', { departments });
  await other.getByRole('button', { name: '刷新' }).click();
  await card(other, '新公司，租户').waitFor();
  const countExported = async () =>
    ((await exportFile(other, 'SVG')).content.toString('utf8').match(/门店 \d+</g) ?? []).length;
  assert.equal(await countExported(), 50);
  await tree(other).focus();
  await other.keyboard.press('End');
  await other.keyboard.press('Enter');
  await card(other, '门店 50，').waitFor();
  assert.equal(await countExported(), 100);
});

test('a chart of 10,000 departments opens, expands and zooms out with fewer than 500 cards in the DOM, and is exported', async () => {
  const large = await fixture.service.createTenant({ tenantName: '大集团', accountCount: -1 });
  await insertDepartments(fixture.service.superuser, large.tenantId, {
    first: 10_000_000,
    count: 10_000,
    parentOf: 'case when n > 1 then (n - 2) / 20 + 1 end',
  });
  const page = await fixture.logIn(credentialsOf(large));
  await page.getByRole('link', { name: '组织架构图' }).click();
  await card(page, '部门 1，').waitFor();
  const expectFewCards = async () => assert.ok((await page.locator('[data-card]').count()) < 500);
  await expectFewCards();
  await page.getByRole('combobox', { name: '展开层级' }).press('Enter');
  await page.getByTitle('全部展开').click();
  await page.getByText('部门较多，已显示').waitFor();
  await expectFewCards();
  await page.getByRole('button', { name: '适应窗口' }).click();
  await expectFewCards();
  await page.mouse.move(700, 500);
  await page.mouse.down();
  await page.mouse.move(500, 520, { steps: 20 });
  await page.mouse.up();
  await expectFewCards();
  // On one sheet the names would be too small to read.
  const pdf = (await exportFile(page, 'PDF（A3）')).content.toString('latin1');
  const pages = pdf.match(/\/Type \/Page /g)?.length ?? 0;
  assert.ok(pages > 1 && pages <= 40, `${pages} pages`);
  const svg = await exportFile(page, 'SVG');
  assert.ok((svg.content.toString('utf8').match(/部门 \d+</g) ?? []).length >= 2000);
  expectNoCspViolations(page);
});

test('a branch that is too large to be counted shows the users of the department itself, and says so', async () => {
  const page = await fixture.logIn(credentials, '/home');
  await page.route('**/children?*', async (route) => {
    const response = await route.fetch();
    const json = await response.json();
    for (const row of json.data.rows) delete row.branchUserCount;
    await route.fulfill({ response, json });
  });
  await visit(page, '/chart');
  await page.getByRole('treeitem', { name: '产品研发中心，负责人 陈晓东，直属 0 人', exact: true }).waitFor();
  await page.getByRole('treeitem', { name: '前端组，未设置负责人，直属 3 人', exact: true }).waitFor();
  await page.getByRole('treeitem', { name: '后端组，未设置负责人，0 人', exact: true }).waitFor();
  await page.unroute('**/children?*');
});

test('the chart of a day keeps its day when root and levels change, loads cards of that day and names it in print', async () => {
  const { admin, newPlant, day } = await startPastChart(fixture);
  const page = await fixture.logIn(credentialsOf(admin), `/chart?day=${day}`);
  await card(page, '旧产线').locator('[data-handle]').click();
  await card(page, '旧班组').waitFor();
  await page.getByRole('combobox', { name: '展开层级' }).press('Enter');
  await page.getByTitle('展开 1 级').click();
  await card(page, '旧车间').waitFor({ state: 'detached' });
  await page.getByRole('combobox', { name: '搜索部门' }).fill('旧产');
  const option = page.locator('.department-option').filter({ hasText: '旧产线' });
  await option.getByText('旧总部 / 旧车间').waitFor();
  await option.click();
  await page.waitForURL(({ pathname, search }) => pathname !== '/chart' && search === `?day=${day}&levels=1`);
  const path = page.getByRole('navigation', { name: '上级路径' });
  await path.getByRole('link', { name: '旧公司' }).waitFor();
  await path.getByRole('link', { name: '旧总部' }).waitFor();
  await path.getByRole('link', { name: '旧车间' }).click();
  await card(page, '旧班组').waitFor();
  await page.evaluate("dispatchEvent(new Event('beforeprint'))");
  const heading = page.locator('.chart-print').getByText(`组织架构图 · 截至 ${day}`, { exact: true });
  await heading.waitFor({ state: 'attached' });
  assert.equal(await page.title(), `组织架构图 · ${day} · 榕树组织管理`);
  await page.evaluate("dispatchEvent(new Event('afterprint'))");
  await heading.waitFor({ state: 'detached' });

  // The root is deleted now.
  await page.getByRole('button', { name: '回到今天' }).click();
  await page.getByRole('alert').getByText('部门不存在').waitFor();
  await page.goBack();
  await card(page, '旧班组').waitFor();
  await visit(page, `/chart/${newPlant}?day=${day}`);
  await page.getByText(`截至 ${day}，该部门不存在`).waitFor();
  await page.getByRole('link', { name: '查看完整组织架构图' }).click();
  await card(page, '旧公司，租户').waitFor();
  await selectDay(page, dateInDays(-10));
  await page.getByText('当时没有部门').waitFor();
  // For a date that does not exist, a day in the future and today, the current chart is shown.
  await withinOneDay(async () => {
    for (const other of ['2024-02-31', dateInDays(2), dateInDays(0)]) {
      await visit(page, `/chart?day=${other}`);
      await card(page, '新总部，负责人 王芳，').waitFor();
      assert.equal(await page.getByRole('button', { name: '回到今天' }).count(), 0, other);
    }
  });
  expectNoCspViolations(page);
});

test('the chart of a day shows many siblings a page at a time', async () => {
  const { admin, day } = await startLargePastChart(fixture);
  const page = await fixture.logIn(credentialsOf(admin), `/chart?day=${day}`);
  await card(page, '门店 0，').waitFor();
  await tree(page).focus();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await card(page, '门店 50，').waitFor();
  const svg = await exportFile(page, 'SVG');
  assert.equal(svg.content.toString('utf8').match(/门店 \d+</g)?.length, 60);
});

test('the chart of a day fits on a phone in dark mode; members see only the chart of today', async () => {
  const { admin, day } = await startPastChart(fixture);
  const page = await fixture.logIn(credentialsOf(admin), `/chart?day=${day}`, {
    viewport: PHONE,
    language: 'en',
    dark: true,
  });
  await card(page, '旧车间').click();
  await page.getByText('Deleted since then').waitFor();
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  await expectAccessibleInLongRun(page);

  await fixture.service.createMember(admin, { userName: 'plain' });
  const member = await fixture.logIn({ ...credentialsOf(admin), username: 'plain' }, `/chart?day=${day}`);
  await member.getByText('仅管理员可访问此页面').waitFor();
  await member.getByRole('button', { name: '回到今天' }).click();
  await card(member, '新总部').waitFor();
  assert.equal(await member.getByLabel('日期').count(), 0);
});
