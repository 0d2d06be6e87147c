import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectAccessibleInLongRun, expectNoCspViolations, logInOnPage, shareConsole } from '../support/console.ts';
import { operationsOf, readDocument } from '../support/openapi.ts';
import { credentialsOf } from './departments-page.ts';
import { KEYS, startKeys } from './keys-page.ts';
import { expectAlignedActions } from './page-actions.ts';

const { service, page, rowOf, dialogOf, readDepartmentsWith, createKey, read, takeShownKey } = await startKeys(
  await shareConsole(),
);

test('a key is created with permissions and limits, is shown once, and works', async () => {
  const admin = await service.createTenant({ tenantName: '榕树集团' });
  await logInOnPage(page, credentialsOf(admin), '/keys');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByText('暂无 API 密钥').waitFor();
  await expectAccessibleInLongRun(page);
  await page.getByRole('region', { name: 'API 密钥' }).getByRole('button', { name: '新建 API 密钥' }).click();
  const form = dialogOf('新建 API 密钥');
  await form.getByRole('button', { name: '创建' }).click();
  await form.getByText('请填写此项').waitFor();
  await form.getByText('请至少选择一项权限').waitFor();
  await form.getByLabel('名称').fill('工资系统');
  const organization = form.getByRole('group', { name: '组织架构' });
  await organization.getByRole('checkbox', { name: '查看部门' }).check();
  await organization.getByRole('checkbox', { name: '查看用户' }).check();
  await form.getByRole('checkbox', { name: '允许操作下级租户的数据' }).check();
  await form.getByRole('button', { name: '90 天' }).click();
  await form.getByLabel('每分钟请求数上限').fill('600');
  // Do not use Backspace: antd ignores it for a moment after a tag was added.
  const removeAddress = form.locator('.ant-select-selection-item-remove');
  await form.getByLabel('允许的 IP 地址').fill('nonsense');
  await page.keyboard.press('Enter');
  await form.getByRole('button', { name: '创建' }).click();
  await form.getByText('“nonsense”不是有效的 IP 地址或网段').waitFor();
  await removeAddress.click();
  await form.getByLabel('允许的 IP 地址').fill('999.0.0.1,');
  await form.getByRole('button', { name: '创建' }).click();
  await form.getByText('必须是 IPv4 或 IPv6 地址或网段').waitFor();
  await removeAddress.click();
  await form.getByLabel('允许的 IP 地址').fill('127.0.0.1,10.1.2.3/8,');
  await form.locator('.ant-form-item-explain-error').waitFor({ state: 'detached' });
  await expectAccessibleInLongRun(page);
  await form.getByRole('button', { name: '创建' }).click();
  const shown = dialogOf('工资系统 的 API 密钥');
  await shown.getByText('关闭后将无法再次查看').waitFor();
  await expectAccessibleInLongRun(page);
  // Escape must not discard the key.
  await page.keyboard.press('Escape');
  await shown.getByRole('button', { name: '复制' }).click();
  await page.getByText('已复制').waitFor();
  const copied = await page.evaluate('navigator.clipboard.readText()');
  const key = await takeShownKey('工资系统');
  assert.equal(copied, key);
  assert.equal((await readDepartmentsWith(key)).status, 200);
  const [row] = (await admin.get(`${KEYS}/list`)).data.rows;
  assert.deepEqual(
    [row.permissions, row.below, row.addresses, row.requestsPerMinute],
    [['dept:read', 'user:read'], true, ['127.0.0.1/32', '10.0.0.0/8'], 600],
  );
  assert.match(row.expiresTime, / 23:59:59$/);
  await rowOf('工资系统').getByText('查看部门、查看用户').waitFor();
  await expectAlignedActions(page);
  await rowOf('工资系统').getByText('含下级租户').waitFor();
  expectNoCspViolations(page);
});

test('a key that was just saved is edited again: the form shows what was saved, and there is no conflict', async () => {
  const admin = await service.createTenant();
  const { keyId } = await createKey(admin, { keyName: 'first' });
  await logInOnPage(page, credentialsOf(admin), '/keys');
  for (const [before, after] of [
    ['first', 'second'],
    ['second', 'third'],
  ] as const) {
    await page.getByRole('button', { name: `编辑 ${before}` }).click();
    const name = dialogOf(/^编辑：/).getByLabel('名称');
    assert.equal(await name.inputValue(), before);
    await name.fill(after);
    await dialogOf(/^编辑：/)
      .getByRole('button', { name: '保存' })
      .click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
  assert.equal((await read(admin, keyId)).keyName, 'third');
});

test('the form offers every permission that an operation requires of a key', async () => {
  const required = operationsOf(await readDocument(service)).flatMap(
    ({ description = '' }) => /^Requires `([a-z]+(:[a-z]+)?)`/.exec(description)?.[1] ?? [],
  );
  assert.ok(required.includes('dept:read'));
  const admin = await service.createTenant();
  await logInOnPage(page, credentialsOf(admin), '/keys?key=new');
  const codes = dialogOf('新建 API 密钥').locator('.keys-permission-group code');
  await codes.first().waitFor();
  const offered = await codes.allInnerTexts();
  // A key can have neither of these.
  const expected = new Set(required.filter((each) => each !== 'key:write' && each !== 'role:write'));
  assert.deepEqual([...offered].sort(), [...expected].sort());
});
