// Only with test:long: department-picker.test.ts selects departments in each way, and the service rejects what is not allowed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { expectAccessibleInLongRun, PHONE, shareConsole } from '../support/console.ts';
import { createCompany, credentialsOf, expectActive, pickerTree, row, selectInTree } from './departments-page.ts';
import { waitForAnimations } from './page-actions.ts';

const fixture = await shareConsole();
const { service } = fixture;

test('a picker does not select departments that are not allowed, and Escape closes only its popup', async () => {
  const { admin, research, market } = await createCompany(service);
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${research}`);
  await page.getByRole('button', { name: '移动…' }).click();
  const dialog = page.getByRole('dialog', { name: '移动“研发部”' });
  const field = dialog.getByRole('combobox', { name: '新的上级部门' });
  const list = pickerTree(page);
  await field.and(page.locator(':focus')).waitFor();
  await page.keyboard.press('ArrowDown');
  // The tree opens where the department is. It cannot be moved below itself or into a disabled one.
  const disabled = page.locator('[aria-disabled=true]');
  await row(list, '研发部').and(disabled).and(page.getByTitle('不能移动到自身之下')).waitFor();
  await row(list, '旧部门 停用').and(disabled).waitFor();
  await expectActive(page, '研发部');
  await page.keyboard.press('ArrowRight');
  await row(list, '前端组').and(disabled).waitFor();
  await page.keyboard.press('Enter');
  await expectAccessibleInLongRun(page);
  await page.keyboard.type('前端');
  await page.locator('.ant-select-item-option-disabled', { hasText: '前端组' }).waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.ant-select-item-option-disabled').waitFor({ state: 'hidden' });
  await page.keyboard.press('ArrowDown');
  await list.waitFor();
  await page.keyboard.press('Escape');
  await list.waitFor({ state: 'hidden' });
  const move = dialog.getByRole('button', { name: '移动', exact: true });
  assert.equal(await move.isDisabled(), true);

  await selectInTree(page, field, '市场部');
  await dialog.getByTitle('总部 / 市场部').waitFor();
  await move.click();
  await page.getByText('“研发部”已移动').waitFor();
  assert.equal((await admin.get(`/system/dept-api/${research}`)).data.parentId, Number(market));
});

/** Returns how far the popup of a picker extends beyond the dialog, and what scrolls sideways or is clipped in it. */
async function measurePopup(page: Page) {
  await waitForAnimations(page);
  return page.evaluate(`(() => {
    const popup = document.querySelector('.department-picker-popup');
    const [inner, outer] = [popup, document.querySelector('.ant-modal')].map((each) => each.getBoundingClientRect());
    const scrolling = [...popup.querySelectorAll('*')].filter((element) =>
      element.scrollWidth > element.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(element).overflowX));
    return {
      beyond: Math.max(0, outer.left - inner.left, inner.right - outer.right),
      scrolling: scrolling.map(({ className }) => className),
      clipped: [...popup.querySelectorAll('.department-path')].filter((path) =>
        path.getBoundingClientRect().right > inner.right).length,
      pageScrolls: document.documentElement.scrollWidth > innerWidth,
    };
  })()`);
}

test('on a phone, the popup of a picker fits into the dialog, however long the names and paths are', async () => {
  const { admin, research, web } = await createCompany(service);
  const long = await admin.createDepartment({ deptName: '超长名称'.repeat(20), parentId: web });
  await admin.createDepartment({ deptName: '末级小组', parentId: long });
  const page = await fixture.logIn(credentialsOf(admin), `/departments/${research}`, { viewport: PHONE });
  await page.getByRole('button', { name: '移动…' }).click();
  const field = page.getByRole('dialog').getByRole('combobox', { name: '新的上级部门' });
  const list = pickerTree(page);
  await field.click();
  for (const name of ['研发部', '前端组']) await row(list, name).locator('[data-act=toggle]').click();
  await row(list, '超长名称'.repeat(20)).waitFor();
  const fits = { beyond: 0, scrolling: [], clipped: 0, pageScrolls: false };
  assert.deepEqual(await measurePopup(page), fits);
  await field.fill('末级');
  await page.locator('.department-option', { hasText: '末级小组' }).waitFor();
  assert.deepEqual(await measurePopup(page), fits);
  await expectAccessibleInLongRun(page);
});
