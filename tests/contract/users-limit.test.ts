import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expectError, expectOk, read, TENANTS, USERS } from '../support/expect.ts';
import { type Client, PASSWORD, shareService } from '../support/service.ts';

/** accountCount limits the number of accounts of a tenant. */

const service = await shareService();
const { root } = service;

const countUsers = async ({ tenantId }: Client) => (await read(root, `${USERS}/list?tenantId=${tenantId}`)).total;
const names = (count: number) => Array.from({ length: count }, (_, index) => `user${index}`);
const add = (admin: Client, userName: string) => admin.post(USERS, { userName, password: PASSWORD });
const expectFull = async (admin: Client, accountCount: number) =>
  expectError(await add(admin, 'one-too-many'), 409, 'ACCOUNT_LIMIT', { accountCount });

describe('accountCount', () => {
  test('accountCount includes the first administrator, and one account more is rejected', async () => {
    const admin = await service.createTenant({ accountCount: 3 });
    for (const userName of names(2)) expectOk(await add(admin, userName));
    const response = await add(admin, 'one-too-many');
    expectError(response, 409, 'ACCOUNT_LIMIT', { accountCount: 3 });
    assert.equal(response.msg, '当前租户下用户名额不足，请联系管理员');
    assert.equal(await countUsers(admin), 3);
  });

  test('accountCount -1, the default, means unlimited', async () => {
    for (const accountCount of [-1, undefined]) {
      const admin = await service.createTenant({ accountCount });
      for (const { code } of await Promise.all(names(5).map((name) => add(admin, name)))) assert.equal(code, 200);
      assert.equal(await countUsers(admin), 6);
    }
  });

  test('accountCount 0 allows no users', async () => {
    const id = await root.create(TENANTS, { accountCount: 0 });
    const { tenantId } = await read(root, `${TENANTS}/${id}`);
    const body = { tenantId, userName: 'x', password: PASSWORD };
    expectError(await root.post(USERS, body), 409, 'ACCOUNT_LIMIT', { accountCount: 0 });
  });

  test('exactly 5 of 20 concurrent creations succeed with accountCount 5', async () => {
    const id = await root.create(TENANTS, { accountCount: 5 });
    const { tenantId } = await read(root, `${TENANTS}/${id}`);
    const responses = await Promise.all(
      names(20).map((userName) => root.post(USERS, { tenantId, userName, password: PASSWORD })),
    );
    const reasons = responses.map(({ code, data }) => data?.reason ?? code);
    assert.deepEqual(reasons.sort(), [...Array(5).fill(200), ...Array(15).fill('ACCOUNT_LIMIT')]);
    assert.equal((await read(root, `${USERS}/list?tenantId=${tenantId}`)).total, 5);
  });

  test('lowering accountCount below the current number keeps existing users and rejects new ones', async () => {
    const admin = await service.createTenant({ accountCount: 10 });
    for (const userName of names(3)) expectOk(await add(admin, userName));
    expectOk(await root.put(TENANTS, { id: admin.id, accountCount: 2 }));
    await expectFull(admin, 2);
    assert.equal(await countUsers(admin), 4);
    const user = await service.logIn(admin.tenantId, 'user0');
    assert.equal((await user.get('/auth/me')).code, 200);
    const { rows } = await read(admin, `${USERS}/list?userName=user1`);
    expectOk(await admin.put(USERS, { userId: rows[0].userId, nickName: 'changed' }));
  });

  test('raising or removing accountCount allows new users again', async () => {
    const admin = await service.createTenant({ accountCount: 1 });
    await expectFull(admin, 1);
    expectOk(await root.put(TENANTS, { id: admin.id, accountCount: 2 }));
    expectOk(await add(admin, 'second'));
    await expectFull(admin, 2);
    expectOk(await root.put(TENANTS, { id: admin.id }));
    expectOk(await add(admin, 'third'));
  });

  test('disabled users count towards accountCount, deleted users do not', async () => {
    const admin = await service.createTenant({ accountCount: 2 });
    const id = await admin.createUser({ userName: 'second', status: '1' });
    await expectFull(admin, 2);
    expectOk(await admin.delete(`${USERS}/${id}`));
    expectOk(await add(admin, 'third'));
    await expectFull(admin, 2);
  });

  test('the accountCount of the tenant of the user applies, whichever tenant creates them', async () => {
    const above = await service.createTenant({ accountCount: 2 });
    const admin = await service.createTenant({ accountCount: 1 }, above);
    const body = { tenantId: admin.tenantId, userName: 'x', password: PASSWORD };
    for (const caller of [admin, above, root]) expectError(await caller.post(USERS, body), 409, 'ACCOUNT_LIMIT');
    expectOk(await add(above, 'second'));
    await expectFull(above, 2);
  });

  test('a creation rejected for another reason does not use up an account', async () => {
    const admin = await service.createTenant({ accountCount: 2 });
    expectError(await add(admin, 'BOSS'), 409, 'USER_NAME_TAKEN');
    const withUnknownDept = { userName: 'lost', password: PASSWORD, deptId: 1 };
    expectError(await admin.post(USERS, withUnknownDept), 400, 'USER_DEPT_NOT_FOUND');
    expectOk(await add(admin, 'second'));
  });
});
