import type { Locator, Page } from 'playwright-core';
import type { Client, Service } from '../harness.ts';
import { logIn } from './harness.ts';

/** The Departments screen as people use it. */

export const row = (page: Page | Locator, name: string) => page.getByRole('treeitem', { name, exact: true });
export const tree = (page: Page) => page.getByRole('tree', { name: /^(部门树|Department tree)$/ });

export const asBoss = (page: Page, { tenantId }: Client, place = '/departments') =>
  logIn(page, { tenantId, username: 'boss' }, place);

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
export async function hover(page: Page, from: Locator, to: Locator, where: Place): Promise<void> {
  const [a, b] = [await from.boundingBox(), await to.boundingBox()];
  if (!a || !b) throw new Error('Not in sight.');
  await page.mouse.move(a.x + 90, a.y + a.height / 2);
  await page.mouse.down();
  await page.mouse.move(b.x + 100, b.y + b.height * SHARE[where], { steps: 6 });
}

export async function drag(page: Page, from: Locator, to: Locator, where: Place): Promise<void> {
  await hover(page, from, to, where);
  await page.mouse.up();
}

/** Looks again with every picture until it is so. */
export async function until<T>(page: Page, look: () => Promise<T>, isSo: (seen: T) => boolean): Promise<T> {
  const end = Date.now() + 60_000;
  for (;;) {
    const seen = await look();
    if (isSo(seen)) return seen;
    if (Date.now() > end) throw new Error(`Still ${JSON.stringify(seen)}`);
    await page.evaluate('new Promise((next) => requestAnimationFrame(next))');
  }
}

/** Waits until the tree shows exactly this. */
export const shows = (page: Page, lines: string[]) =>
  until(
    page,
    () => outline(page),
    (now) => JSON.stringify(now) === JSON.stringify(lines),
  );

/** 总部 with 研发部 (前端组, 后端组), 市场部 and 旧部门, which is disabled. */
export async function company(service: Service) {
  const boss = await service.tenant({ tenantName: '榕树科技' });
  const top = await boss.dept({ deptName: '总部', leader: '王芳', phone: '13800000000', email: 'hq@example.com' });
  const research = await boss.dept({ deptName: '研发部', parentId: top, orderNum: 1, leader: '李雷' });
  const web = await boss.dept({ deptName: '前端组', parentId: research, orderNum: 1 });
  const back = await boss.dept({ deptName: '后端组', parentId: research, orderNum: 2 });
  const market = await boss.dept({ deptName: '市场部', parentId: top, orderNum: 2 });
  await boss.dept({ deptName: '旧部门', parentId: top, orderNum: 3, status: '1' });
  return { boss, top, research, web, back, market };
}
