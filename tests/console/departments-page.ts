import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import type { Client, Service } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** Helpers for tests of the Departments screen. */

export const row = (page: Page | Locator, name: string) => page.getByRole('treeitem', { name, exact: true });
export const tree = (page: Page) => page.getByRole('tree', { name: /^(组织架构|Department tree)$/ });

/** The tree in the popup of a department picker. */
export const pickerTree = (page: Page) => page.getByRole('tree', { name: /^(部门列表|Departments)$/ });

/** Opens a department picker and selects a department that its tree shows. */
export async function selectInTree(page: Page, field: Locator, name: string): Promise<void> {
  await field.click();
  await row(pickerTree(page), name).click();
  await pickerTree(page).waitFor({ state: 'hidden' });
}

export const credentialsOf = ({ tenantId }: Client) => ({ tenantId, username: 'boss' });

export async function nameBoss(admin: Client, nickName: string): Promise<void> {
  const { data } = await admin.get('/system/user-api/list?userName=boss');
  const response = await admin.patch(`/system/user-api/${data.rows[0].userId}`, { nickName });
  assert.equal(response.code, 200);
}

/** Returns the visible rows of the tree with their levels: `1 总部`, `2 研发部`. */
export const outline = (page: Page) =>
  tree(page)
    .getByRole('treeitem')
    .evaluateAll(
      (items) =>
        items
          .toSorted((a, b) => Number.parseInt(a.style.top, 10) - Number.parseInt(b.style.top, 10))
          .map((item) => {
            // Leave out what screen readers skip: the number of users, and buttons for the mouse.
            const texts = [...item.childNodes].flatMap((child) =>
              child.ariaHidden === 'true' ? [] : [child.textContent],
            );
            return `${item.getAttribute('aria-level')} ${texts.join('')}`;
          }) as string[],
    );

type DropPosition = 'before' | 'into' | 'after';
const OFFSETS = { before: 0.08, into: 0.5, after: 0.92 };

/** Presses the mouse on one row and moves it over another without releasing it. */
export async function startDrag(page: Page, from: Locator, to: Locator, position: DropPosition): Promise<void> {
  // Hovering waits until the row is stable and not covered.
  await from.hover({ position: { x: 90, y: 12 } });
  await page.mouse.down();
  const box = await to.boundingBox();
  if (!box) throw new Error('The target row is not visible.');
  // Move in one step: on the way, the pointer would rest on collapsed rows, which then expand.
  await page.mouse.move(box.x + 100, box.y + box.height * OFFSETS[position]);
}

/** Retries the drag until the tree shows the drop indicator: rows may move when the tree reloads in the meantime. */
export async function dragOver(page: Page, from: Locator, to: Locator, position: DropPosition): Promise<void> {
  await waitFor('the tree shows the drop indicator', async () => {
    await startDrag(page, from, to, position);
    await page.evaluate(
      'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))).then(() => 0)',
    );
    const hasIndicator = (await to.getAttribute('class'))?.includes('drop-');
    if (hasIndicator) return true;
    await page.keyboard.press('Escape');
    await page.mouse.up();
    return false;
  });
}

export async function dragAndDrop(page: Page, from: Locator, to: Locator, position: DropPosition): Promise<void> {
  await dragOver(page, from, to, position);
  await page.mouse.up();
}

export async function waitForValue<T>(read: () => Promise<T>, matches: (value: T) => boolean): Promise<T> {
  let value: T | undefined;
  await waitFor('the page shows the expected value', async () => {
    value = await read();
    return matches(value);
  }).catch((error) => {
    throw new Error(`The last value was ${JSON.stringify(value)}`, { cause: error });
  });
  return value as T;
}

export const expectOutline = (page: Page, lines: string[]) =>
  waitForValue(
    () => outline(page),
    (now) => JSON.stringify(now) === JSON.stringify(lines),
  );

/** Creates 总部 with 研发部 (前端组, 后端组), 市场部 and 旧部门, which is disabled. */
export async function createCompany(service: Service) {
  const admin = await service.createTenant({ tenantName: '榕树科技', accountCount: -1 });
  const ids = await createDepartments(admin, {
    top: { deptName: '总部', leader: '王芳', phone: '13800000000', email: 'hq@example.com' },
    research: { parentRef: 'top', deptName: '研发部', orderNum: 1, leader: '李雷' },
    web: { parentRef: 'research', deptName: '前端组', orderNum: 1 },
    back: { parentRef: 'research', deptName: '后端组', orderNum: 2 },
    market: { parentRef: 'top', deptName: '市场部', orderNum: 2 },
    old: { parentRef: 'top', deptName: '旧部门', orderNum: 3, status: '1' },
  });
  return { admin, ...ids };
}

/** Creates the company of `createCompany` with three users: one in 研发部 and two in 后端组, one of whom also belongs to 市场部. */
export async function createMembers(service: Service) {
  const company = await createCompany(service);
  const { admin, research, back, market } = company;
  const lead = await admin.createUser({
    ...{ userName: 'lilei', nickName: '李雷', position: '研发总监', phone: '139 0000 0001', deptId: research },
  });
  const mei = await admin.createUser({ userName: 'mei', nickName: '韩梅梅', deptId: back, deptIds: [market] });
  const jim = await admin.createUser({
    userName: 'jim.green',
    nickName: 'Jim Green',
    deptId: back,
    status: '1',
    phone: '0512-62345678 转 801',
  });
  await admin.patch(`/system/dept-api/${research}`, { leaderId: lead });
  return { ...company, lead, mei, jim };
}

/** Creates 总部 with 研发部 (前端组) and 市场部. */
export async function createSmallCompany(service: Service) {
  const admin = await service.createTenant({ tenantName: '榕树科技', accountCount: -1 });
  const ids = await createDepartments(admin, {
    top: { deptName: '总部' },
    research: { parentRef: 'top', deptName: '研发部', orderNum: 1 },
    web: { parentRef: 'research', deptName: '前端组', orderNum: 1 },
    market: { parentRef: 'top', deptName: '市场部', orderNum: 2 },
  });
  return { admin, ...ids };
}

/** Creates departments with one request. Returns their ids by key; a `parentRef` is the key of the parent. */
export async function createDepartments<Key extends string>(admin: Client, departments: Record<Key, object>) {
  const keys = Object.keys(departments) as Key[];
  const { code, data, text } = await admin.post('/system/dept-api/bulk', {
    departments: keys.map((ref) => ({ ref, ...departments[ref] })),
  });
  assert.equal(code, 200, text);
  return Object.fromEntries(keys.map((key, n) => [key, String(data.deptIds[n])])) as Record<Key, string>;
}

/** Waits until `aria-activedescendant` of the focused field points to the row of this department. */
export const expectActive = (page: Page, name: string) =>
  waitForValue(
    () =>
      page.evaluate<string | undefined>(
        "document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.querySelector('.tree-label')?.textContent",
      ),
    (active) => active === name,
  );
