import type { Page } from 'playwright-core';

/** Helpers for the message that undoes a change. */

/** Waits for the message and moves the pointer onto it: it closes after ten seconds, but not while the pointer is on it. */
export const holdMessage = (page: Page, text = '') =>
  page.locator('.undo-message', { hasText: text }).hover({ position: { x: 4, y: 4 } });

export const undo = async (page: Page, text: string) => {
  await page.locator('.undo-message', { hasText: text }).getByRole('button', { name: '撤销' }).click();
  await page.getByText('已撤销', { exact: true }).waitFor();
};

/** The rows of the tree of `createCompany`, all expanded. */
export const COMPANY_OUTLINE = ['1 总部', '2 研发部', '3 前端组', '3 后端组', '2 市场部', '2 旧部门停用'];
