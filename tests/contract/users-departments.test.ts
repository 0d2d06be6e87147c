import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectOk, read, USERS } from '../support/expect.ts';
import { shareService } from '../support/service.ts';

/** The departments of a user, and deleting a department that has users. */

const service = await shareService();
const admin = await service.createTenant();
const below = await service.createTenant({}, admin);
const sibling = await service.createTenant();
let count = 0;
const createUser = (body: Record<string, unknown> = {}) => admin.createUser({ userName: `user${++count}`, ...body });
const departmentsOf = async (userId: string) => {
  const { deptId, deptIds } = await read(admin, `${USERS}/${userId}`);
  return { deptId, deptIds };
};
const createDept = async () => Number(await admin.createDepartment());

describe('Departments of a user', () => {
  test('deptId is the main department or null, and deptIds are the additional ones', async () => {
    const [main, one, two] = [await createDept(), await createDept(), await createDept()];
    assert.deepEqual(await departmentsOf(await createUser()), { deptId: null, deptIds: [] });
    assert.deepEqual(await departmentsOf(await createUser({ deptId: main })), { deptId: main, deptIds: [] });
    assert.deepEqual(await departmentsOf(await createUser({ deptIds: [one, two] })), {
      deptId: null,
      deptIds: [one, two],
    });
    const all = { deptId: main, deptIds: [one, two] };
    assert.deepEqual(await departmentsOf(await createUser(all)), all);
  });

  test('deptIds accepts numbers and digits, and drops duplicates and the main department', async () => {
    const [main, one] = [await createDept(), await createDept()];
    const id = await createUser({ deptId: String(main), deptIds: [one, String(one), main, `0${one}`] });
    assert.deepEqual(await departmentsOf(id), { deptId: main, deptIds: [one] });
    for (const deptIds of ['1', [1.5], [-1], ['x'], [2 ** 53], { 0: 1 }]) {
      const { code, data } = await admin.post(USERS, { userName: 'x', password: 'correct horse', deptIds });
      assert.deepEqual([code, data.reason], [400, 'INVALID_FIELD'], JSON.stringify(deptIds));
      assert.match(data.field, /^deptIds/);
    }
  });

  test('an update replaces deptId and deptIds', async () => {
    const [first, second, third] = [await createDept(), await createDept(), await createDept()];
    const userId = await createUser({ deptId: first, deptIds: [second] });
    expectOk(await admin.put(USERS, { userId, deptId: third, deptIds: [first] }));
    assert.deepEqual(await departmentsOf(userId), { deptId: third, deptIds: [first] });
    expectOk(await admin.put(USERS, { userId, deptIds: [third] }));
    assert.deepEqual(await departmentsOf(userId), { deptId: null, deptIds: [third] });
    expectOk(await admin.put(USERS, { userId }));
    assert.deepEqual(await departmentsOf(userId), { deptId: null, deptIds: [] });
  });

  test('a disabled department is accepted', async () => {
    const disabled = Number(await admin.createDepartment({ status: '1' }));
    assert.equal((await departmentsOf(await createUser({ deptId: disabled }))).deptId, disabled);
  });

  const invalid: [what: string, deptId: () => Promise<number>][] = [
    ['an unknown department', async () => 4_000_000_000_000],
    ['department 0', async () => 0],
    [
      'a deleted department',
      async () => {
        const deleted = await createDept();
        expectOk(await admin.delete(`${DEPTS}/${deleted}`));
        return deleted;
      },
    ],
    ['a department of a child tenant', async () => Number(await below.createDepartment())],
    ['a department of a parent tenant', async () => Number(await service.root.createDepartment())],
    ['a department of a sibling tenant', async () => Number(await sibling.createDepartment())],
  ];
  for (const [what, find] of invalid) {
    test(`${what} is rejected as deptId and in deptIds, on create and on update`, async () => {
      const [valid, bad] = [await createDept(), await find()];
      const userId = await createUser({ deptId: valid });
      for (const depts of [{ deptId: bad }, { deptIds: [bad] }, { deptId: valid, deptIds: [bad] }]) {
        const body = { userName: 'nobody', password: 'correct horse', ...depts };
        expectError(await admin.post(USERS, body), 400, 'USER_DEPT_NOT_FOUND', { deptIds: [bad] });
        expectError(await admin.put(USERS, { userId, ...depts }), 400, 'USER_DEPT_NOT_FOUND', { deptIds: [bad] });
      }
      assert.deepEqual(await departmentsOf(userId), { deptId: valid, deptIds: [] });
      assert.equal((await read(admin, `${USERS}/list?userName=nobody`)).total, 0);
    });
  }

  test('a parent tenant must use departments of the tenant of the user, not its own', async () => {
    const [theirs, ours] = [Number(await below.createDepartment()), await createDept()];
    const body = { userName: 'sent', tenantId: below.tenantId };
    const userId = await admin.createUser({ ...body, deptId: theirs });
    expectError(await admin.put(USERS, { ...body, userId, deptId: ours }), 400, 'USER_DEPT_NOT_FOUND', {
      deptIds: [ours],
    });
    assert.equal((await read(below, `${USERS}/${userId}`)).deptId, theirs);
  });
});

describe('A department with users cannot be deleted', () => {
  const expectHasUsers = async (...ids: number[]) =>
    expectError(await admin.delete(`${DEPTS}/${ids}`), 409, 'DEPT_HAS_USERS', { deptIds: ids });

  test('a main department can be deleted only after its user has moved', async () => {
    const [here, there] = [await createDept(), await createDept()];
    const userId = await createUser({ deptId: here });
    await expectHasUsers(here);
    expectOk(await admin.put(USERS, { userId, deptId: there }));
    expectOk(await admin.delete(`${DEPTS}/${here}`));
    await expectHasUsers(there);
  });

  test('an additional department can be deleted only after its user has left', async () => {
    const [main, here] = [await createDept(), await createDept()];
    const userId = await createUser({ deptId: main, deptIds: [here] });
    await expectHasUsers(here);
    await expectHasUsers(main, here);
    expectOk(await admin.put(USERS, { userId, deptId: main }));
    expectOk(await admin.delete(`${DEPTS}/${here}`));
  });

  test('a disabled user prevents deletion', async () => {
    const here = await createDept();
    await createUser({ deptId: here, status: '1' });
    await expectHasUsers(here);
  });

  test('departments can be deleted once their users are deleted', async () => {
    const [main, further] = [await createDept(), await createDept()];
    const [one, two] = [await createUser({ deptId: main }), await createUser({ deptIds: [main, further] })];
    expectOk(await admin.delete(`${USERS}/${one}`));
    await expectHasUsers(main, further);
    expectOk(await admin.delete(`${USERS}/${two}`));
    expectOk(await admin.delete(`${DEPTS}/${main},${further}`));
  });

  test('a rejected deletion of a user keeps the user in their department', async () => {
    const here = await createDept();
    const userId = await createUser({ deptId: here });
    expectError(await admin.delete(`${USERS}/${userId},4000000000000`), 404, 'USER_NOT_FOUND');
    await expectHasUsers(here);
  });
});
