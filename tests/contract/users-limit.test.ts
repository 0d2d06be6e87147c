import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expectError, expectOk, read, TENANTS, USERS } from '../support/expect.ts';
import { type Client, PASSWORD, startService } from '../support/service.ts';

/** accountCount: the limit on the number of accounts of a tenant. */

const service = await startService();
const { root } = service;

const total = async ({ tenantId }: Client) => (await read(root, `${USERS}/list?tenantId=${tenantId}`)).total;
const names = (count: number) => Array.from({ length: count }, (_, index) => `user${index}`);
const add = (boss: Client, userName: string) => boss.post(USERS, { userName, password: PASSWORD });
const full = async (boss: Client, accountCount: number) =>
  expectError(await add(boss, 'one too many'), 409, 'ACCOUNT_LIMIT', { accountCount });

describe('accountCount', () => {
  test('so many and no more, the first administrator counted', async () => {
    const boss = await service.createTenant({ accountCount: 3 });
    for (const userName of names(2)) expectOk(await add(boss, userName));
    const answer = await add(boss, 'one too many');
    expectError(answer, 409, 'ACCOUNT_LIMIT', { accountCount: 3 });
    assert.equal(answer.msg, '当前租户下用户名额不足，请联系管理员');
    assert.equal(await total(boss), 3);
  });

  test('-1, the default: unlimited', async () => {
    for (const accountCount of [-1, undefined]) {
      const boss = await service.createTenant({ accountCount });
      for (const { code } of await Promise.all(names(5).map((name) => add(boss, name)))) assert.equal(code, 200);
      assert.equal(await total(boss), 6);
    }
  });

  test('0: nobody', async () => {
    const id = await root.create(TENANTS, { accountCount: 0 });
    const { tenantId } = await read(root, `${TENANTS}/${id}`);
    const body = { tenantId, userName: 'x', password: PASSWORD };
    expectError(await root.post(USERS, body), 409, 'ACCOUNT_LIMIT', { accountCount: 0 });
  });

  test('20 at once where 5 fit: exactly 5 get in', async () => {
    const id = await root.create(TENANTS, { accountCount: 5 });
    const { tenantId } = await read(root, `${TENANTS}/${id}`);
    const answers = await Promise.all(
      names(20).map((userName) => root.post(USERS, { tenantId, userName, password: PASSWORD })),
    );
    const reasons = answers.map(({ code, data }) => data?.reason ?? code);
    assert.deepEqual(reasons.sort(), [...Array(5).fill(200), ...Array(15).fill('ACCOUNT_LIMIT')]);
    assert.equal((await read(root, `${USERS}/list?tenantId=${tenantId}`)).total, 5);
  });

  test('lowered below the present number: nobody new, nobody lost', async () => {
    const boss = await service.createTenant({ accountCount: 10 });
    for (const userName of names(3)) expectOk(await add(boss, userName));
    expectOk(await root.put(TENANTS, { id: boss.id, accountCount: 2 }));
    await full(boss, 2);
    assert.equal(await total(boss), 4);
    const user = await service.logIn(boss.tenantId, 'user0');
    assert.equal((await user.get('/auth/me')).code, 200);
    const { rows } = await read(boss, `${USERS}/list?userName=user1`);
    expectOk(await boss.put(USERS, { userId: rows[0].userId, nickName: 'changed' }));
  });

  test('raised, or lifted: there is room again', async () => {
    const boss = await service.createTenant({ accountCount: 1 });
    await full(boss, 1);
    expectOk(await root.put(TENANTS, { id: boss.id, accountCount: 2 }));
    expectOk(await add(boss, 'second'));
    await full(boss, 2);
    expectOk(await root.put(TENANTS, { id: boss.id }));
    expectOk(await add(boss, 'third'));
  });

  test('users that exist count, disabled ones too; deleted ones do not', async () => {
    const boss = await service.createTenant({ accountCount: 2 });
    const id = await boss.createUser({ userName: 'second', status: '1' });
    await full(boss, 2);
    expectOk(await boss.delete(`${USERS}/${id}`));
    expectOk(await add(boss, 'third'));
    await full(boss, 2);
  });

  test("of the user's tenant, whoever makes him; not shared with tenants above or below", async () => {
    const above = await service.createTenant({ accountCount: 2 });
    const boss = await service.createTenant({ accountCount: 1 }, above);
    const body = { tenantId: boss.tenantId, userName: 'x', password: PASSWORD };
    for (const caller of [boss, above, root]) expectError(await caller.post(USERS, body), 409, 'ACCOUNT_LIMIT');
    expectOk(await add(above, 'second'));
    await full(above, 2);
  });

  test('a create that is refused for another cause takes no account', async () => {
    const boss = await service.createTenant({ accountCount: 2 });
    expectError(await add(boss, 'BOSS'), 409, 'USER_NAME_TAKEN');
    const lost = { userName: 'lost', password: PASSWORD, deptId: 1 };
    expectError(await boss.post(USERS, lost), 400, 'USER_DEPT_NOT_FOUND');
    expectOk(await add(boss, 'second'));
  });
});
