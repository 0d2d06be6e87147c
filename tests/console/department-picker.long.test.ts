// Only with test:long: department-picker.test.ts selects departments in each way, and the service rejects what is not allowed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectNoAxeViolations, shareConsole } from '../support/console.ts';
import { createCompany, credentialsOf, expectActive, pickerTree, row, selectInTree } from './departments-page.ts';

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
  await expectNoAxeViolations(page);
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
