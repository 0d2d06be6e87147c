import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hash as argon2 } from '@node-rs/argon2';
import { expectError, expectInvalid, expectOk, USERS } from '../support/expect.ts';
import { idsOf, row, startUsersBulk } from './users-bulk.ts';

const { service, admin, neighbour, add, expectNothingWritten } = await startUsersBulk();

describe('Bulk creation of users rejects the whole request', () => {
  const faults: [what: string, fault: Record<string, unknown>, field: string, reason?: string][] = [
    ['a user without a ref', { ref: undefined }, 'users[1].ref', 'FIELD_REQUIRED'],
    ['a repeated ref', { ref: 'ref first' }, 'users[1].ref'],
    ['a user without a name', { userName: null }, 'users[1].userName', 'FIELD_REQUIRED'],
    ['a name that occurs twice', { userName: 'FIRST' }, 'users[1].userName'],
    ['a reserved name', { userName: 'system' }, 'users[1].userName', 'USER_NAME_RESERVED'],
    ['a name with a space', { userName: 'a b' }, 'users[1].userName'],
    ['a user without a password', { password: null }, 'users[1].password', 'FIELD_REQUIRED'],
    ['a short password', { password: 'short' }, 'users[1].password'],
    ['a common password', { password: 'password123' }, 'users[1].password', 'PASSWORD_TOO_COMMON'],
    ['a password made of a name', { password: 'second12' }, 'users[1].password', 'PASSWORD_HAS_NAME'],
    ['an invalid e-mail', { email: 'x' }, 'users[1].email'],
    ['an unknown role', { roles: ['owner'] }, 'users[1].roles[0]'],
    ['an unknown deptRef', { deptRef: 'x' }, 'users[1].deptRef'],
    ['an unknown ref of an additional department', { deptRefs: ['x'] }, 'users[1].deptRefs[0]'],
    ['too many departments', { deptIds: Array(21).fill(1) }, 'users[1].deptIds'],
  ];
  for (const [what, fault, field, reason = 'INVALID_FIELD'] of faults) {
    test(`${what} is rejected with the field ${field}`, () =>
      expectNothingWritten(async () => {
        const response = await add([row('first'), { ...row('second'), ...fault }]);
        expectInvalid(response, field, reason);
        const [error] = response.data.errors;
        assert.deepEqual([error.field, error.reason, error.msg], [field, reason, response.msg]);
        if (!('ref' in fault)) assert.deepEqual([error.ref, response.data.ref], ['ref second', 'ref second']);
      }));
  }

  test('all errors of all rows are reported, at most 100', async () => {
    await admin.createUser({ userName: 'taken' });
    const foreign = await neighbour.createDepartment();
    const users = [
      row('good'),
      { ...row('bad'), email: 'x', phone: 7, userName: undefined },
      row('TAKEN'),
      row('lost', { deptId: foreign, deptIds: ['9007199254740993'] }),
      7,
      row('elsewhere', { tenantId: neighbour.tenantId }),
      row('imported', { password: null, passwordHash: await argon2('x', { memoryCost: 8, timeCost: 1 }) }),
      null,
    ];
    const response = await add(users, {}, admin);
    const errors = response.data.errors.map(({ ref = '', field = '', reason }: Record<string, string>) =>
      [ref, field, reason].join(' '),
    );
    assert.deepEqual(errors, [
      'ref bad users[1].userName FIELD_REQUIRED',
      'ref bad users[1].email INVALID_FIELD',
      'ref bad users[1].phone INVALID_FIELD',
      'ref TAKEN users[2].userName USER_NAME_TAKEN',
      'ref lost  USER_DEPT_NOT_FOUND',
      ' users[4] INVALID_FIELD',
      'ref elsewhere users[5].tenantId OTHER_TENANT',
      'ref imported users[6].passwordHash PASSWORD_HASH_FORBIDDEN',
      ' users[7] INVALID_FIELD',
    ]);
    assert.deepEqual(response.data.errors[4].deptIds, [Number(foreign), '9007199254740993']);
    expectInvalid(response, 'users[1].userName', 'FIELD_REQUIRED');
    const many = await add(Array.from({ length: 500 }, (_, n) => row(`m${n}`, { email: 'x', phone: 7 })));
    assert.equal(many.data.errors.length, 100);
    const english = await admin.post(`${USERS}/bulk`, { users }, { headers: { 'accept-language': 'en' } });
    assert.match(english.data.errors[1].msg, /must be a valid email/);
  });

  test('more users than the tenant may have are rejected', async () => {
    const small = await service.createTenant({ accountCount: 3 });
    await expectNothingWritten(async () =>
      expectError(
        await add(
          ['a', 'b', 'c'].map((name) => row(name)),
          {},
          small,
        ),
        409,
        'ACCOUNT_LIMIT',
        { accountCount: 3 },
      ),
    );
    expectOk(
      await add(
        ['a', 'b'].map((name) => row(name)),
        {},
        small,
      ),
      { userIds: await idsOf(small), deptIds: [] },
    );
  });

  test('invalid departments are rejected as in their own bulk creation', () =>
    expectNothingWritten(async () => {
      const departments = [{ ref: 'a', parentRef: 'b' }];
      expectInvalid(await add([row('x')], { departments }), 'departments[0].parentRef');
      const parentId = 999999999;
      expectError(await add([row('x')], { departments: [{ ref: 'a' }], parentId }), 400, 'PARENT_NOT_FOUND', {
        parentId,
      });
      const user = row('x', { deptId: 1, deptRef: 'a' });
      expectInvalid(await add([user], { departments: [{ ref: 'a' }] }), 'users[0].deptRef');
    }));

  test('a member cannot create users in bulk', async () => {
    expectError(await add([row('a')], {}, await service.createMember(admin)), 403, 'NOT_ALLOWED');
  });

  test('an empty list, and one of more than 10,000 users, is rejected', async () => {
    expectInvalid(await add([]), 'users');
    expectInvalid(await add(Array(10_001).fill({})), 'users');
  });
});
