import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { logIn } from '../support/console.ts';
import type { Client, Service } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** The Departments screen as people use it. */

export const row = (page: Page | Locator, name: string) => page.getByRole('treeitem', { name, exact: true });
export const tree = (page: Page) => page.getByRole('tree', { name: /^(组织架构|Department tree)$/ });

export const bossOf = ({ tenantId }: Client) => ({ tenantId, username: 'boss' });
export const asBoss = (page: Page, boss: Client, place = '/departments') => logIn(page, bossOf(boss), place);

/** What the tree shows, with its levels: `1 总部`, `2 研发部`. */
export const outline = (page: Page) =>
  tree(page)
    .getByRole('treeitem')
    .evaluateAll(
      (items) =>
        items
          .toSorted((a, b) => Number.parseInt(a.style.top, 10) - Number.parseInt(b.style.top, 10))
          .map((item) => `${item.getAttribute('aria-level')} ${item.textContent}`) as string[],
    );

export type Place = 'before' | 'into' | 'after';
const SHARE = { before: 0.08, into: 0.5, after: 0.92 };

/** Presses on one and moves over the other, without letting go. */
export async function pull(page: Page, from: Locator, to: Locator, where: Place): Promise<void> {
  // Waits until the row stands still, and is not covered.
  await from.hover({ position: { x: 90, y: 12 } });
  await page.mouse.down();
  const box = await to.boundingBox();
  if (!box) throw new Error('Not in sight.');
  await page.mouse.move(box.x + 100, box.y + box.height * SHARE[where], { steps: 6 });
}

/** Does so until the tree shows that it would be dropped there: a tree that is read again meanwhile may have moved. */
export async function hover(page: Page, from: Locator, to: Locator, where: Place): Promise<void> {
  await waitFor('the tree shows where it would be dropped', async () => {
    await pull(page, from, to, where);
    await page.evaluate(
      'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))).then(() => 0)',
    );
    const shown = (await to.getAttribute('class'))?.includes('drop-');
    if (shown) return true;
    await page.keyboard.press('Escape');
    await page.mouse.up();
    return false;
  });
}

export async function drag(page: Page, from: Locator, to: Locator, where: Place): Promise<void> {
  await hover(page, from, to, where);
  await page.mouse.up();
}

/** Looks with every frame until what it sees is right, and returns that. */
export async function waitForView<T>(look: () => Promise<T>, isRight: (seen: T) => boolean): Promise<T> {
  let seen: T | undefined;
  await waitFor('the page shows it', async () => {
    seen = await look();
    return isRight(seen);
  }).catch((error) => {
    throw new Error(`Still ${JSON.stringify(seen)}`, { cause: error });
  });
  return seen as T;
}

/** Waits until the tree shows exactly this. */
export const shows = (page: Page, lines: string[]) =>
  waitForView(
    () => outline(page),
    (now) => JSON.stringify(now) === JSON.stringify(lines),
  );

/** 总部 with 研发部 (前端组, 后端组), 市场部 and 旧部门, which is disabled. */
export async function company(service: Service) {
  const boss = await service.createTenant({ tenantName: '榕树科技', accountCount: -1 });
  const ids = await createDepartments(boss, {
    top: { deptName: '总部', leader: '王芳', phone: '13800000000', email: 'hq@example.com' },
    research: { parentRef: 'top', deptName: '研发部', orderNum: 1, leader: '李雷' },
    web: { parentRef: 'research', deptName: '前端组', orderNum: 1 },
    back: { parentRef: 'research', deptName: '后端组', orderNum: 2 },
    market: { parentRef: 'top', deptName: '市场部', orderNum: 2 },
    old: { parentRef: 'top', deptName: '旧部门', orderNum: 3, status: '1' },
  });
  return { boss, ...ids };
}

/** Creates departments by one call; returns the id of each by its key, which is also what `parentRef` names. */
export async function createDepartments<Key extends string>(boss: Client, departments: Record<Key, object>) {
  const keys = Object.keys(departments) as Key[];
  const { code, data, text } = await boss.post('/system/dept-api/bulk', {
    departments: keys.map((ref) => ({ ref, ...departments[ref] })),
  });
  assert.equal(code, 200, text);
  return Object.fromEntries(keys.map((key, n) => [key, String(data.deptIds[n])])) as Record<Key, string>;
}
