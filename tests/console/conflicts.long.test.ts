// Only with test:long: it resolves a conflict in each form; departments-edit.test.ts covers it for a department.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startConsole } from '../support/console.ts';
import { expectOk } from '../support/expect.ts';
import type { Client } from '../support/service.ts';
import { credentialsOf } from './departments-page.ts';

const { service, logIn } = await startConsole({ BANYAN_WEBHOOK_NETWORKS: 'loopback' });

/** For each kind of record: how one with the name 甲 is created, which screen edits it, and which field has the name. */
const FORMS = {
  department: {
    path: '/system/dept-api',
    create: (admin: Client) => admin.createDepartment({ deptName: '甲' }),
    screen: (id: string) => `/departments/${id}`,
    field: 'deptName',
    label: '部门名称',
  },
  user: {
    path: '/system/user-api',
    create: (admin: Client) => admin.createUser({ userName: 'lan', nickName: '甲' }),
    screen: () => '/people?q=lan',
    field: 'nickName',
    label: '姓名',
  },
  tenant: {
    path: '/system/tenant-api',
    create: async (admin: Client) => (await service.createTenant({ tenantName: '甲' }, admin)).id,
    screen: (id: string) => `/tenants/${id}`,
    field: 'tenantName',
    label: '租户名称',
  },
  key: {
    path: '/system/key-api',
    create: async (admin: Client) =>
      (await admin.post('/system/key-api', { keyName: '甲', permissions: ['dept:read'] })).data.keyId,
    screen: () => '/keys',
    field: 'keyName',
    label: '名称',
  },
  webhook: {
    path: '/system/webhook-api',
    create: async (admin: Client) =>
      (await admin.post('/system/webhook-api', { name: '甲', url: 'http://127.0.0.1:9/x' })).data.id,
    screen: () => '/webhooks',
    field: 'name',
    label: '名称',
  },
};

for (const [kind, { path, create, screen, field, label }] of Object.entries(FORMS))
  test(`after the version of the other user is chosen, the form of a ${kind} detects changes against that version`, async () => {
    const admin = await service.createTenant();
    const id = await create(admin);
    const readName = async () => (await admin.get(`${path}/${id}`)).data[field];
    const page = await logIn(credentialsOf(admin), screen(id));
    const edit = page.getByRole('button', { name: '编辑' }).first();
    const input = page.getByLabel(label, { exact: true }).and(page.locator('input'));
    const save = page.getByRole('button', { name: '保存' });
    const conflict = page.getByRole('dialog', { name: '内容已被他人修改' });
    const unchanged = page.getByText('内容没有变化，无需保存');
    /** Edits the record while another user changes its name to 乙, and chooses their version. */
    const chooseTheirs = async () => {
      await edit.click();
      await input.fill('丙');
      const { data } = await admin.get(`${path}/${id}`);
      expectOk(await admin.put(path, { ...data, [field]: '乙' }));
      await save.click();
      await conflict.getByRole('button', { name: '使用对方的版本' }).click();
      await conflict.waitFor({ state: 'hidden' });
      assert.equal(await input.inputValue(), '乙');
    };
    await chooseTheirs();
    // The name that the form was opened with differs from theirs.
    await input.fill('甲');
    await save.click();
    await input.waitFor({ state: 'detached' });
    assert.equal(await unchanged.count(), 0);
    assert.equal(await readName(), '甲');

    await chooseTheirs();
    const { etag } = (await admin.get(`${path}/${id}`)).headers;
    await save.click();
    await unchanged.waitFor();
    await input.waitFor({ state: 'detached' });
    assert.equal((await admin.get(`${path}/${id}`)).headers.etag, etag, 'nothing was written');
    assert.equal(await readName(), '乙');
  });
