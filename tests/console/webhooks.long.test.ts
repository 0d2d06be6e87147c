// Only with test:long: it covers deliveries and further actions on webhooks; webhooks.test.ts covers how a webhook is registered and receives a message.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { expectAccessibleInLongRun, logInOnPage, PHONE } from '../support/console.ts';
import { Receiver } from '../support/receiver.ts';
import { waitFor } from '../support/wait.ts';
import { credentialsOf } from './departments-page.ts';
import { startWebhooks, WEBHOOKS } from './webhooks-page.ts';

const { service, page, rowOf, dialogOf, deliveries, register, read, chooseAction } = await startWebhooks();

test('deliveries show the response of the receiver and can be resent', async () => {
  const admin = await service.createTenant({ tenantName: '榕树集团' });
  const receiver = await Receiver.start(() => 503);
  const id = await register(admin, { name: '客户系统', url: receiver.url, kinds: ['department.*'] });
  const dept = await admin.createDepartment({ deptName: '研发部' });
  // Changes are queued in the background, and the screen refetches only deliveries that it shows as pending.
  await waitFor('the first attempt arrives', () => receiver.all.length > 0);
  await logInOnPage(page, credentialsOf(admin), `/webhooks/${id}`);
  const row = deliveries().filter({ hasText: '部门：新建' });
  await row.getByText('等待重试').waitFor();
  await row.getByText('HTTP 503').waitFor();
  await page.getByText(/最近 \d+ 次尝试失败/).waitFor();
  await row.getByRole('button', { name: /^详情/ }).click();
  await row.locator('pre', { hasText: 'responded 503' }).waitFor();
  await row.getByText('下次尝试').waitFor();
  await expectAccessibleInLongRun(page);
  receiver.respond = () => 200;
  await row.getByRole('button', { name: /^重新投递/ }).click();
  await row.getByText('成功').waitFor();
  await row.locator('pre', { hasText: 'responded 200' }).waitFor();
  assert.ok(
    receiver.accepted.every(({ id }) => id === receiver.all[0]?.id),
    'the same message was sent again',
  );
  await page.getByText(/最近 \d+ 次尝试失败/).waitFor({ state: 'detached' });
  // A delivered message can be sent once more.
  const count = receiver.accepted.length;
  await row.getByRole('button', { name: /^重新投递/ }).click();
  await waitFor('the message arrives again', () => receiver.accepted.length > count);
  await page.getByRole('combobox', { name: '投递状态' }).press('Enter');
  await page.locator('.ant-select-item-option', { hasText: '失败' }).click();
  await page.getByText('没有符合条件的投递记录').waitFor();
  await page.getByRole('button', { name: '清除筛选' }).click();
  await row.getByRole('button', { name: /^详情/ }).click();
  await row.getByRole('link', { name: '查看此对象的变更' }).click();
  await page.waitForURL(`**/changes?resource=department&resourceId=${dept}`);
});

test('a webhook whose receiver returns 410 is disabled with an explanation, and can be enabled again', async () => {
  const admin = await service.createTenant();
  const receiver = await Receiver.start(() => 410);
  const id = await register(admin, { name: 'gone', url: receiver.url });
  await logInOnPage(page, credentialsOf(admin), `/webhooks/${id}`);
  await page.getByRole('button', { name: '发送测试消息' }).click();
  await page.getByText('接收方返回 410，Webhook 已自动停用').waitFor();
  assert.equal(await page.getByRole('button', { name: '发送测试消息' }).isDisabled(), true);
  receiver.respond = () => 200;
  await chooseAction('gone', '启用');
  await page.getByText('已启用').waitFor();
  await page.getByText('接收方返回 410，Webhook 已自动停用').waitFor({ state: 'detached' });
  assert.equal((await read(admin, id)).status, '0');
  await chooseAction('gone', '停用');
  await dialogOf('停用“gone”？').getByRole('button', { name: '停用' }).click();
  await page.getByText('Webhook 已停用，不会发送消息').waitFor();
  assert.equal((await read(admin, id)).status, '1');
});

test('a new secret is shown once after a warning, and then both secrets sign messages', async () => {
  const admin = await service.createTenant();
  const receiver = await Receiver.start();
  const { data } = await admin.post(WEBHOOKS, { name: 'signed', url: receiver.url });
  await logInOnPage(page, credentialsOf(admin), '/webhooks');
  await chooseAction('signed', '轮换签名密钥');
  const warning = dialogOf('轮换“signed”的签名密钥？');
  await warning.getByText('24 小时').waitFor();
  await expectAccessibleInLongRun(page);
  await warning.getByRole('button', { name: '取消' }).click();
  await warning.waitFor({ state: 'hidden' });
  assert.equal((await read(admin, data.id)).oldSecretUntil, null);
  await chooseAction('signed', '轮换签名密钥');
  await warning.getByRole('button', { name: '轮换' }).click();
  const shown = dialogOf('signed 的签名密钥');
  const secret = await shown.locator('code').innerText();
  assert.notEqual(secret, data.secret);
  await shown.getByRole('button', { name: '关闭', exact: true }).last().click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal((await page.content()).includes(secret), false, 'the secret is shown only once');
  await admin.post(`${WEBHOOKS}/${data.id}/test`);
  await waitFor('the message arrives', () => receiver.all.length > 0);
  const [message] = receiver.all;
  for (const each of [secret, data.secret]) new Webhook(each).verify(message?.body ?? '', message?.headers ?? {});
  // The dialog warns that another rotation would invalidate the first secret.
  await chooseAction('signed', '轮换签名密钥');
  await warning.getByText('它会立即失效').waitFor();
});

test('editing keeps kinds that the form does not offer, and a conflict can be resolved', async () => {
  const admin = await service.createTenant();
  const id = await register(admin, { name: 'old', url: 'http://127.0.0.1:9/x', kinds: ['user.moved', 'user.created'] });
  await logInOnPage(page, credentialsOf(admin), '/webhooks');
  await page.getByRole('button', { name: '编辑 old' }).click();
  const form = dialogOf('编辑：old');
  await form.getByLabel('名称').fill('mine');
  // Unsaved input is not discarded without a question.
  await page.keyboard.press('Escape');
  await dialogOf('放弃已填写的内容？').getByRole('button', { name: '继续填写' }).click();
  await dialogOf('放弃已填写的内容？').waitFor({ state: 'hidden' });
  await admin.put(WEBHOOKS, { id, name: 'theirs', url: 'http://127.0.0.1:9/y', kinds: ['user.moved', 'user.created'] });
  await form.getByRole('button', { name: '保存' }).click();
  const conflict = dialogOf('内容已被他人修改');
  await conflict.getByRole('row', { name: '名称 theirs mine' }).waitFor();
  await conflict.getByRole('button', { name: '使用对方的版本' }).click();
  await conflict.waitFor({ state: 'hidden' });
  assert.equal(await form.getByLabel('接收地址').inputValue(), 'http://127.0.0.1:9/y');
  await form.getByRole('group', { name: '部门' }).getByRole('checkbox', { name: '移动' }).check();
  await form.getByRole('button', { name: '保存' }).click();
  await page.getByText('已保存').waitFor();
  const { name, kinds } = await read(admin, id);
  assert.deepEqual([name, kinds], ['theirs', ['user.moved', 'user.created', 'department.moved']]);
});

test('a webhook that was just saved is edited again: the form shows what was saved, and there is no conflict', async () => {
  const admin = await service.createTenant();
  const id = await register(admin, { name: 'first', url: 'http://127.0.0.1:9/1' });
  await logInOnPage(page, credentialsOf(admin), '/webhooks');
  for (const [before, after, url] of [
    ['first', 'second', 'http://127.0.0.1:9/2'],
    ['second', 'third', 'http://127.0.0.1:9/3'],
  ] as const) {
    const form = dialogOf(/^编辑：/);
    await page.getByRole('button', { name: `编辑 ${before}` }).click();
    assert.equal(await form.getByLabel('名称').inputValue(), before);
    await form.getByLabel('名称').fill(after);
    await form.getByLabel('接收地址').fill(url);
    await form.getByRole('button', { name: '保存' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
  const { name, url } = await read(admin, id);
  assert.deepEqual([name, url], ['third', 'http://127.0.0.1:9/3']);
});

test('a webhook that includes descendant tenants shows the tenant of each delivery, and its scope cannot be changed', async () => {
  const admin = await service.createTenant();
  const child = await service.createTenant({ tenantName: '分公司' }, admin);
  const receiver = await Receiver.start();
  await logInOnPage(page, credentialsOf(admin), '/webhooks?form=new');
  const form = dialogOf('新建 Webhook');
  await form.getByLabel('名称').fill('branch');
  await form.getByLabel('接收地址').fill(receiver.url);
  await form.getByRole('checkbox', { name: '同时接收所有下级租户的变更' }).check();
  await form.getByRole('button', { name: '创建' }).click();
  await dialogOf('branch 的签名密钥').getByRole('button', { name: '关闭', exact: true }).last().click();
  await rowOf('branch').getByText('含下级租户').waitFor();
  await child.createDepartment({ deptName: '销售部' });
  await waitFor('the change of the child arrives', () =>
    receiver.all.some(({ type }) => type === 'department.created'),
  );
  await page.getByRole('link', { name: 'branch' }).click();
  const row = deliveries().filter({ hasText: '部门：新建' });
  await row.getByRole('button', { name: /^详情/ }).click();
  await row.getByText(child.tenantId, { exact: true }).waitFor();
  await row.getByRole('link', { name: '查看此对象的变更' }).click();
  await page.getByText('仅显示“销售部”的变更').waitFor();
  await logInOnPage(page, credentialsOf(admin), '/webhooks');
  await page.getByRole('button', { name: '编辑 branch' }).click();
  const scope = dialogOf('编辑：branch').getByRole('checkbox', { name: '同时接收所有下级租户的变更' });
  assert.deepEqual([await scope.isChecked(), await scope.isDisabled()], [true, true]);
  await dialogOf('编辑：branch').getByLabel('名称').fill('renamed');
  await dialogOf('编辑：branch').getByRole('button', { name: '保存' }).click();
  await page.getByText('已保存').waitFor();
  const [{ name, below }] = (await admin.get(`${WEBHOOKS}/list`)).data.rows;
  assert.deepEqual([name, below], ['renamed', true]);
});

test('a webhook is deleted after a confirmation, and the audit log names it and its fields', async () => {
  const admin = await service.createTenant();
  const id = await register(admin, { name: 'short-lived', url: 'http://127.0.0.1:9/x', kinds: ['tenant.*'] });
  await logInOnPage(page, credentialsOf(admin), `/webhooks/${id}`);
  await chooseAction('short-lived', '删除');
  await dialogOf('删除“short-lived”？').getByRole('button', { name: '删除' }).click();
  await page.getByText('暂无 Webhook').waitFor();
  assert.equal((await admin.get(`${WEBHOOKS}/${id}`)).data.reason, 'WEBHOOK_NOT_FOUND');
  await page.goBack();
  await page.getByText('Webhook 不存在').waitFor();
  assert.equal(await page.getByRole('heading', { level: 1, name: 'short-lived' }).count(), 0);
  await logInOnPage(page, credentialsOf(admin), '/changes?resource=webhook');
  await page.getByRole('button', { name: '详情：Webhook short-lived' }).last().click();
  await page.getByRole('row', { name: '订阅的事件 租户：全部' }).waitFor();
  await page.getByRole('link', { name: 'short-lived' }).last().click();
  await page.getByText('Webhook 不存在').waitFor();
});

test('members cannot open the webhooks screen and see no link to it; on phones the account menu links to it', async () => {
  const admin = await service.createTenant();
  await admin.createUser({ userName: 'member' });
  await register(admin, { name: 'hidden', url: 'http://127.0.0.1:9/x' });
  await logInOnPage(page, { ...credentialsOf(admin), username: 'member' }, '/webhooks');
  await page.getByText('仅管理员可访问此页面').waitFor();
  assert.equal(await page.getByRole('link', { name: 'Webhook' }).count(), 0);
  await logInOnPage(page, credentialsOf(admin), '/home', { viewport: PHONE, language: 'en' });
  await page.getByRole('button', { name: /^Account: / }).click();
  await page.getByRole('menuitem', { name: 'Webhooks' }).click();
  await page.getByRole('link', { name: 'hidden' }).click();
  await page.getByRole('heading', { level: 1, name: 'hidden' }).waitFor();
  await page.getByText('No deliveries yet').waitFor();
  await expectAccessibleInLongRun(page);
});
