import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectOk, read, USERS } from '../support/expect.ts';
import { startService } from '../support/service.ts';

/** The decisions on users: the departments of a user, and the department that still has users. */

const service = await startService();
const boss = await service.createTenant();
const below = await service.createTenant({}, boss);
const beside = await service.createTenant();
let count = 0;
const make = (body: Record<string, unknown> = {}) => boss.createUser({ userName: `user${++count}`, ...body });
const departments = async (userId: string) => {
  const { deptId, deptIds } = await read(boss, `${USERS}/${userId}`);
  return { deptId, deptIds };
};
const dept = async () => Number(await boss.createDepartment());

describe('departments of a user', () => {
  test('deptId: his main department, or null; deptIds: further ones, or none', async () => {
    const [main, one, two] = [await dept(), await dept(), await dept()];
    assert.deepEqual(await departments(await make()), { deptId: null, deptIds: [] });
    assert.deepEqual(await departments(await make({ deptId: main })), { deptId: main, deptIds: [] });
    assert.deepEqual(await departments(await make({ deptIds: [one, two] })), { deptId: null, deptIds: [one, two] });
    const all = { deptId: main, deptIds: [one, two] };
    assert.deepEqual(await departments(await make(all)), all);
  });

  test('numbers or digits on the way in; named twice, they count once, and the main one is not a further one', async () => {
    const [main, one] = [await dept(), await dept()];
    const id = await make({ deptId: String(main), deptIds: [one, String(one), main, `0${one}`] });
    assert.deepEqual(await departments(id), { deptId: main, deptIds: [one] });
    for (const deptIds of ['1', [1.5], [-1], ['x'], [2 ** 53], { 0: 1 }]) {
      const { code, data } = await boss.post(USERS, { userName: 'x', password: '12345678', deptIds });
      assert.deepEqual([code, data.reason], [400, 'INVALID_FIELD'], JSON.stringify(deptIds));
      assert.match(data.field, /^deptIds/);
    }
  });

  test('an update replaces both', async () => {
    const [old, older, now] = [await dept(), await dept(), await dept()];
    const userId = await make({ deptId: old, deptIds: [older] });
    expectOk(await boss.put(USERS, { userId, deptId: now, deptIds: [old] }));
    assert.deepEqual(await departments(userId), { deptId: now, deptIds: [old] });
    expectOk(await boss.put(USERS, { userId, deptIds: [now] }));
    assert.deepEqual(await departments(userId), { deptId: null, deptIds: [now] });
    expectOk(await boss.put(USERS, { userId }));
    assert.deepEqual(await departments(userId), { deptId: null, deptIds: [] });
  });

  test('a disabled one will do', async () => {
    const disabled = Number(await boss.createDepartment({ status: '1' }));
    assert.equal((await departments(await make({ deptId: disabled }))).deptId, disabled);
  });

  const wrong: [what: string, deptId: () => Promise<number>][] = [
    ['none of that id', async () => 4_000_000_000_000],
    ['0, which is no department', async () => 0],
    [
      'a deleted one',
      async () => {
        const gone = await dept();
        expectOk(await boss.delete(`${DEPTS}/${gone}`));
        return gone;
      },
    ],
    ["another tenant's, below", async () => Number(await below.createDepartment())],
    ["another tenant's, above", async () => Number(await service.root.createDepartment())],
    ["another tenant's, beside", async () => Number(await beside.createDepartment())],
  ];
  for (const [what, find] of wrong) {
    test(`${what}: 400 that names it, as deptId or in deptIds, on create or update`, async () => {
      const [right, bad] = [await dept(), await find()];
      const userId = await make({ deptId: right });
      for (const depts of [{ deptId: bad }, { deptIds: [bad] }, { deptId: right, deptIds: [bad] }]) {
        const body = { userName: 'nobody', password: '12345678', ...depts };
        expectError(await boss.post(USERS, body), 400, 'USER_DEPT_NOT_FOUND', { deptIds: [bad] });
        expectError(await boss.put(USERS, { userId, ...depts }), 400, 'USER_DEPT_NOT_FOUND', { deptIds: [bad] });
      }
      assert.deepEqual(await departments(userId), { deptId: right, deptIds: [] });
      assert.equal((await read(boss, `${USERS}/list?userName=nobody`)).total, 0);
    });
  }

  test("from above: the departments of the user's tenant, not of the caller's", async () => {
    const [theirs, ours] = [Number(await below.createDepartment()), await dept()];
    const body = { userName: 'sent', tenantId: below.tenantId };
    const userId = await boss.createUser({ ...body, deptId: theirs });
    expectError(await boss.put(USERS, { ...body, userId, deptId: ours }), 400, 'USER_DEPT_NOT_FOUND', {
      deptIds: [ours],
    });
    assert.equal((await read(below, `${USERS}/${userId}`)).deptId, theirs);
  });
});

describe('a department with associated users is not deleted', () => {
  const refusedWithUsers = async (...ids: number[]) =>
    expectError(await boss.delete(`${DEPTS}/${ids}`), 409, 'DEPT_HAS_USERS', { deptIds: ids });

  test('with it as deptId; deleted once he is moved', async () => {
    const [here, there] = [await dept(), await dept()];
    const userId = await make({ deptId: here });
    await refusedWithUsers(here);
    expectOk(await boss.put(USERS, { userId, deptId: there }));
    expectOk(await boss.delete(`${DEPTS}/${here}`));
    await refusedWithUsers(there);
  });

  test('with it in deptIds; deleted once he has left', async () => {
    const [main, here] = [await dept(), await dept()];
    const userId = await make({ deptId: main, deptIds: [here] });
    await refusedWithUsers(here);
    await refusedWithUsers(main, here);
    expectOk(await boss.put(USERS, { userId, deptId: main }));
    expectOk(await boss.delete(`${DEPTS}/${here}`));
  });

  test('a disabled user counts', async () => {
    const here = await dept();
    await make({ deptId: here, status: '1' });
    await refusedWithUsers(here);
  });

  test('his departments are free of him at once when he is deleted', async () => {
    const [main, further] = [await dept(), await dept()];
    const [one, two] = [await make({ deptId: main }), await make({ deptIds: [main, further] })];
    expectOk(await boss.delete(`${USERS}/${one}`));
    await refusedWithUsers(main, further);
    expectOk(await boss.delete(`${USERS}/${two}`));
    expectOk(await boss.delete(`${DEPTS}/${main},${further}`));
  });

  test('a refused deletion of the user keeps his department his', async () => {
    const here = await dept();
    const userId = await make({ deptId: here });
    expectError(await boss.delete(`${USERS}/${userId},4000000000000`), 404, 'USER_NOT_FOUND');
    await refusedWithUsers(here);
  });
});
