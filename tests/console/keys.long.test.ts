// Only with test:long: it covers further actions on keys, and phones; keys.test.ts covers how a key is created and which permissions it can have.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectAccessibleInLongRun, logInOnPage, PHONE, startConsole } from '../support/console.ts';
import { expectError } from '../support/expect.ts';
import { credentialsOf } from './departments-page.ts';
import { KEYS, startKeys } from './keys-page.ts';

const { service, page, rowOf, dialogOf, readDepartmentsWith, createKey, read, chooseAction, takeShownKey } =
  await startKeys(await startConsole());

test('a rotated key works immediately; the old one stays valid or becomes invalid, as chosen', async () => {
  const admin = await service.createTenant();
  const { key: first } = await createKey(admin, { keyName: 'sync' });
  await logInOnPage(page, credentialsOf(admin), '/keys');
  await chooseAction('sync', '轮换密钥');
  const question = dialogOf('轮换“sync”的密钥？');
  assert.equal(await question.getByRole('radio', { name: '24 小时' }).isChecked(), true);
  await expectAccessibleInLongRun(page);
  await question.getByRole('button', { name: '轮换' }).click();
  await dialogOf('sync 的 API 密钥').getByText('旧密钥在').waitFor();
  const second = await takeShownKey('sync');
  for (const key of [first, second]) assert.equal((await readDepartmentsWith(key)).status, 200);
  await chooseAction('sync', '轮换密钥');
  await question.getByRole('radio', { name: '立即失效' }).check();
  await question.getByText('旧密钥立即失效').waitFor();
  await question.getByRole('button', { name: '轮换' }).click();
  await dialogOf('sync 的 API 密钥').getByText('旧密钥已失效').waitFor();
  const third = await takeShownKey('sync');
  for (const key of [first, second]) expectError(await readDepartmentsWith(key), 401, 'INVALID_KEY');
  assert.equal((await readDepartmentsWith(third)).status, 200);
});

test('a key whose response was lost is not shown, and the console says so', async () => {
  const admin = await service.createTenant();
  await logInOnPage(page, credentialsOf(admin), '/keys?key=new');
  const form = dialogOf('新建 API 密钥');
  await form.getByLabel('名称').fill('lost');
  await form.getByRole('checkbox', { name: '查看部门' }).check();
  let lost = false;
  await page.route(`**${KEYS}`, async (route) => {
    if (lost || route.request().method() !== 'POST') return route.fallback();
    lost = true;
    await route.fetch();
    await route.abort();
  });
  await form.getByRole('button', { name: '创建' }).click();
  await dialogOf('lost 的 API 密钥').getByText('密钥已生成，但未能显示').waitFor();
  assert.equal((await admin.get(`${KEYS}/list`)).data.total, 1, 'the repeated request created no second key');
});

test('a key is disabled, enabled and deleted, and marked when it has expired', async () => {
  const admin = await service.createTenant();
  const { keyId, key } = await createKey(admin, { keyName: 'bot' });
  await createKey(admin, { keyName: 'ended', expiresTime: '2020-01-01 00:00:00' });
  assert.equal((await readDepartmentsWith(key)).status, 200);
  await logInOnPage(page, credentialsOf(admin), '/keys');
  await rowOf('ended').getByText('已过期').waitFor();
  await rowOf('ended').getByText('从未使用').waitFor();
  await chooseAction('bot', '停用');
  await dialogOf('停用“bot”？').getByRole('button', { name: '停用' }).click();
  await rowOf('bot').getByText('停用', { exact: true }).waitFor();
  expectError(await readDepartmentsWith(key), 403, 'KEY_DISABLED');
  await chooseAction('bot', '启用');
  await rowOf('bot').getByText('正常').waitFor();
  assert.equal((await readDepartmentsWith(key)).status, 200);
  await chooseAction('bot', '删除');
  await dialogOf('删除“bot”？').getByText('无法恢复').waitFor();
  await expectAccessibleInLongRun(page);
  await dialogOf('删除“bot”？').getByRole('button', { name: '删除' }).click();
  await page.getByText('API 密钥已删除').waitFor();
  await rowOf('bot').waitFor({ state: 'detached' });
  expectError(await readDepartmentsWith(key), 401, 'INVALID_KEY');
  expectError(await admin.get(`${KEYS}/${keyId}`), 404, 'KEY_NOT_FOUND');
});

test('editing keeps the exact expiry and the permissions; a conflict can be resolved', async () => {
  const admin = await service.createTenant();
  const permissions = ['dept:read', 'quota:use'];
  const expiresTime = '2099-05-06 07:08:09';
  const { keyId } = await createKey(admin, { keyName: 'old', permissions, expiresTime });
  await logInOnPage(page, credentialsOf(admin), '/keys');
  await page.getByRole('button', { name: '编辑 old' }).click();
  const form = dialogOf('编辑：old');
  await form.getByText('具体时间：2099-05-06 07:08:09').waitFor();
  assert.equal(await form.getByRole('checkbox', { name: '允许操作下级租户的数据' }).isDisabled(), true);
  await form.getByLabel('名称').fill('mine');
  // Unsaved input is not discarded without a question.
  await page.keyboard.press('Escape');
  await dialogOf('放弃已填写的内容？').getByRole('button', { name: '继续填写' }).click();
  await dialogOf('放弃已填写的内容？').waitFor({ state: 'hidden' });
  await admin.put(KEYS, { keyId, keyName: 'theirs', permissions, expiresTime });
  await form.getByRole('button', { name: '保存' }).click();
  const conflict = dialogOf('内容已被他人修改');
  await conflict.getByRole('row', { name: '名称 theirs mine' }).waitFor();
  await conflict.getByRole('button', { name: '覆盖保存' }).click();
  await page.getByText('已保存').waitFor();
  const saved = await read(admin, keyId);
  assert.deepEqual([saved.keyName, saved.permissions, saved.expiresTime], ['mine', permissions, expiresTime]);
});

test('the audit log shows changes of keys with their field labels; members cannot open the screen; on phones keys are shown as a list', async () => {
  const admin = await service.createTenant();
  await admin.createUser({ userName: 'member' });
  await createKey(admin, { keyName: 'reader', permissions: ['dept:read', 'change:read'], below: true });
  await logInOnPage(page, credentialsOf(admin), '/changes?resource=key');
  await page.getByRole('button', { name: '详情：API 密钥 reader' }).click();
  await page.getByRole('row', { name: '权限 查看部门、查看变更记录' }).waitFor();
  await page.getByRole('row', { name: '允许操作下级租户的数据 是' }).waitFor();
  await page.getByRole('link', { name: 'reader' }).click();
  await dialogOf('编辑：reader').waitFor();
  await logInOnPage(page, { ...credentialsOf(admin), username: 'member' }, '/keys');
  await page.getByText('仅管理员可访问此页面').waitFor();
  assert.equal(await page.getByRole('link', { name: 'API 密钥' }).count(), 0);
  await logInOnPage(page, credentialsOf(admin), '/home', { viewport: PHONE, language: 'en', dark: true });
  await page.getByRole('button', { name: /^Account: / }).click();
  await page.getByRole('menuitem', { name: 'API keys' }).click();
  await page.getByRole('listitem').filter({ hasText: 'reader' }).getByText('Never used').waitFor();
  await expectAccessibleInLongRun(page);
});
