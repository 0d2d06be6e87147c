import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectOk, read, TENANTS, USERS } from '../support/expect.ts';
import { type Client, PASSWORD, shareService } from '../support/service.ts';

/** Passwords of users, and tokens that stop working. */

const service = await shareService();
const admin = await service.createTenant();
const logIn = (username: string, password: string) =>
  // Too many failed logins lock out an address, so these have one of their own.
  service.anonymous.post('/auth/login', { tenantId: admin.tenantId, username, password }, { from: '127.0.5.2' });

describe('Password', () => {
  const lengths: [what: string, password: string][] = [
    ['8 characters', 'k7#wm2pq'],
    ['128 characters', 'x'.repeat(128)],
    ['8 characters of two UTF-16 code units each', '🌳'.repeat(8)],
    ['128 characters of three bytes each', '榕'.repeat(128)],
    ['letters, spaces and a tab', ' pass \t word '],
  ];
  for (const [index, [what, password]] of lengths.entries()) {
    test(`a password of ${what} is accepted and used unchanged at login`, async () => {
      const userName = `valid${index}`;
      expectOk(await admin.post(USERS, { userName, password }));
      assert.equal((await logIn(userName, password)).code, 200);
      expectError(await logIn(userName, `${[...password].slice(1).join('')}?`), 401, 'LOGIN_FAILED');
    });
  }

  const invalid: [what: string, password: unknown][] = [
    ['7 characters', '1234567'],
    ['129 characters', 'x'.repeat(129)],
    ['4 characters of two UTF-16 code units each', '🌳'.repeat(4)],
    ['no characters', ''],
    ['type number', 12345678],
    ['characters including NUL', 'secret\u0000secret'],
  ];
  for (const [what, password] of invalid) {
    test(`a password of ${what} is rejected on create and on update`, async () => {
      const { id } = await service.createMember(admin);
      const field = { field: 'password' };
      expectError(await admin.post(USERS, { userName: 'invalid', password }), 400, 'INVALID_FIELD', field);
      expectError(await admin.put(USERS, { userId: id, password }), 400, 'INVALID_FIELD', field);
    });
  }

  test('a password is required on create', async () => {
    expectError(await admin.post(USERS, { userName: 'invalid' }), 400, 'FIELD_REQUIRED', { field: 'password' });
    assert.equal((await read(admin, `${USERS}/list?userName=invalid`)).total, 0);
  });

  test('an update without a password keeps the password and the sessions', async () => {
    const member = await service.createMember(admin);
    const { userName } = await read(member, `${USERS}/${member.id}`);
    expectOk(await admin.put(USERS, { userId: member.id, nickName: 'renamed' }));
    assert.equal((await member.get('/auth/me')).code, 200);
    assert.equal((await logIn(userName, PASSWORD)).code, 200);
  });

  test('no response contains a password or its hash', async () => {
    const secret = 'never to be seen again';
    const created = await admin.post(USERS, { userName: 'secretive', password: secret, roles: ['admin'] });
    const id = String(created.headers.location).split('/').at(-1);
    const user = await service.logIn(admin.tenantId, 'secretive', secret);
    const responses = [
      created,
      await admin.get(`${USERS}/${id}`),
      await admin.get(`${USERS}/list`),
      await user.get('/auth/me'),
      await admin.put(USERS, { userId: id, password: secret }),
      await admin.post(USERS, { userName: 'secretive', password: secret }),
      await admin.post(USERS, { userName: 'x', password: [secret] }),
      await admin.post(USERS, { userName: 'x', password: secret.repeat(9) }),
      await admin.post(TENANTS, { username: 'x', password: secret }),
      await admin.get(`${TENANTS}/list`),
      await admin.delete(`${USERS}/${id}`),
    ];
    const [row] = await service.superuser`
      select password_hash from users where tenant_id = ${admin.tenantId} and user_id = ${String(id)}`;
    assert.match(row?.password_hash, /^\$argon2id\$/);
    for (const { text, headers } of responses) {
      assert.doesNotMatch(text + JSON.stringify(headers), /never to be seen|argon2|hash|"password":/i);
    }
  });
});

describe('Tokens that are rejected on the next request', () => {
  async function expectStopped(member: Client, status: number, reason: string): Promise<void> {
    expectError(await member.get(`${DEPTS}/list`), status, reason);
    expectError(await member.get('/auth/me'), status, reason);
    // The session has ended, so its refresh token is invalid too.
    const response = await service.anonymous.post('/auth/refresh', { refresh_token: member.refreshToken });
    expectError(response, 401, 'REFRESH_REFUSED');
  }

  test('the token of a disabled user is rejected', async () => {
    const member = await service.createMember(admin);
    const { userName } = await read(member, `${USERS}/${member.id}`);
    expectOk(await admin.put(USERS, { userId: member.id, status: '1' }));
    await expectStopped(member, 403, 'USER_DISABLED');
    expectError(await logIn(userName, PASSWORD), 403, 'USER_DISABLED');
    expectOk(await admin.put(USERS, { userId: member.id, status: '0' }));
    assert.equal((await logIn(userName, PASSWORD)).code, 200);
  });

  test('the token of a deleted user is rejected', async () => {
    const member = await service.createMember(admin);
    const { userName } = await read(member, `${USERS}/${member.id}`);
    expectOk(await admin.delete(`${USERS}/${member.id}`));
    await expectStopped(member, 401, 'USER_DELETED');
    expectError(await logIn(userName, PASSWORD), 401, 'LOGIN_FAILED');
  });

  test('all tokens of a user are rejected after a password reset, and the new password works', async () => {
    const member = await service.createMember(admin);
    const { userName } = await read(member, `${USERS}/${member.id}`);
    const elsewhere = await service.logIn(admin.tenantId, userName);
    const bystander = await service.createMember(admin);
    expectOk(await admin.put(USERS, { userId: member.id, password: 'another secret' }));
    await expectStopped(member, 401, 'SESSION_ENDED');
    await expectStopped(elsewhere, 401, 'SESSION_ENDED');
    expectError(await logIn(userName, PASSWORD), 401, 'LOGIN_FAILED');
    assert.equal((await logIn(userName, 'another secret')).code, 200);
    assert.equal((await bystander.get('/auth/me')).code, 200);
  });

  test('granting and revoking the admin role takes effect on the next request', async () => {
    const member = await service.createMember(admin);
    expectOk(await admin.put(USERS, { userId: member.id, roles: ['admin'] }));
    expectOk(await member.post(DEPTS, {}));
    expectOk(await admin.put(USERS, { userId: member.id, roles: ['member'] }));
    expectError(await member.post(DEPTS, {}), 403, 'NOT_ALLOWED');
    assert.equal((await member.get(`${DEPTS}/list`)).code, 200);
  });
});
