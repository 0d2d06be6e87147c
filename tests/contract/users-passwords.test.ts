import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectOk, read, TENANTS, USERS } from '../support/expect.ts';
import { type Client, PASSWORD, startService } from '../support/service.ts';

/** The decisions on users: the password, and whom it lets in no longer. */

const service = await startService();
const boss = await service.createTenant();
const logIn = (username: string, password: string) =>
  service.anonymous.post('/auth/login', { tenantId: boss.tenantId, username, password });

describe('password', () => {
  const lengths: [what: string, password: string][] = [
    ['8 characters', '12345678'],
    ['128 characters', 'x'.repeat(128)],
    ['8 characters of two units each', '🌳'.repeat(8)],
    ['128 characters of three bytes each', '榕'.repeat(128)],
    ['spaces and all', ' pass \t word '],
  ];
  for (const [index, [what, password]] of lengths.entries()) {
    test(`${what}: fit, and log in as they are`, async () => {
      const userName = `fit${index}`;
      expectOk(await boss.post(USERS, { userName, password }));
      assert.equal((await logIn(userName, password)).code, 200);
      expectError(await logIn(userName, `${[...password].slice(1).join('')}?`), 401, 'LOGIN_FAILED');
    });
  }

  const wrong: [what: string, password: unknown][] = [
    ['7 characters', '1234567'],
    ['129 characters', 'x'.repeat(129)],
    ['4 characters of two units each', '🌳'.repeat(4)],
    ['none', ''],
    ['a number', 12345678],
    ['NUL in it', 'secret\u0000secret'],
  ];
  for (const [what, password] of wrong) {
    test(`${what}: refused, on create and on update`, async () => {
      const { id } = await service.createMember(boss);
      const field = { field: 'password' };
      expectError(await boss.post(USERS, { userName: 'unfit', password }), 400, 'INVALID_FIELD', field);
      expectError(await boss.put(USERS, { userId: id, password }), 400, 'INVALID_FIELD', field);
    });
  }

  test('required on create', async () => {
    expectError(await boss.post(USERS, { userName: 'unfit' }), 400, 'FIELD_REQUIRED', { field: 'password' });
    assert.equal((await read(boss, `${USERS}/list?userName=unfit`)).total, 0);
  });

  test('absent on update means unchanged, and his sessions go on', async () => {
    const member = await service.createMember(boss);
    const { userName } = await read(member, `${USERS}/${member.id}`);
    expectOk(await boss.put(USERS, { userId: member.id, nickName: 'renamed' }));
    assert.equal((await member.get('/auth/me')).code, 200);
    assert.equal((await logIn(userName, PASSWORD)).code, 200);
  });

  test('only on the way in: in no answer, neither it nor what is kept of it', async () => {
    const secret = 'never to be seen again';
    const made = await boss.post(USERS, { userName: 'secretive', password: secret, roles: ['admin'] });
    const id = String(made.headers.location).split('/').at(-1);
    const himself = await service.logIn(boss.tenantId, 'secretive', secret);
    const answers = [
      made,
      await boss.get(`${USERS}/${id}`),
      await boss.get(`${USERS}/list`),
      await himself.get('/auth/me'),
      await boss.put(USERS, { userId: id, password: secret }),
      await boss.post(USERS, { userName: 'secretive', password: secret }),
      await boss.post(USERS, { userName: 'x', password: [secret] }),
      await boss.post(USERS, { userName: 'x', password: secret.repeat(9) }),
      await boss.post(TENANTS, { username: 'x', password: secret }),
      await boss.get(`${TENANTS}/list`),
      await boss.delete(`${USERS}/${id}`),
    ];
    const [row] = await service.superuser`select password_hash from users where user_id = ${String(id)}`;
    assert.match(row?.password_hash, /^\$argon2id\$/);
    for (const { text, headers } of answers) {
      assert.doesNotMatch(text + JSON.stringify(headers), /never to be seen|argon2|hash|"password":/i);
    }
  });
});

describe('his token is refused on the next request', () => {
  async function stopped(member: Client, status: number, reason: string): Promise<void> {
    expectError(await member.get(`${DEPTS}/list`), status, reason);
    expectError(await member.get('/auth/me'), status, reason);
    // His session is no more, so neither is what would have prolonged it.
    const answer = await service.anonymous.post('/auth/refresh', { refresh_token: member.refreshToken });
    expectError(answer, 401, 'REFRESH_REFUSED');
  }

  test('of a disabled user', async () => {
    const member = await service.createMember(boss);
    const { userName } = await read(member, `${USERS}/${member.id}`);
    expectOk(await boss.put(USERS, { userId: member.id, status: '1' }));
    await stopped(member, 403, 'USER_DISABLED');
    expectError(await logIn(userName, PASSWORD), 403, 'USER_DISABLED');
    expectOk(await boss.put(USERS, { userId: member.id, status: '0' }));
    assert.equal((await logIn(userName, PASSWORD)).code, 200);
  });

  test('of a deleted user', async () => {
    const member = await service.createMember(boss);
    const { userName } = await read(member, `${USERS}/${member.id}`);
    expectOk(await boss.delete(`${USERS}/${member.id}`));
    await stopped(member, 401, 'USER_DELETED');
    expectError(await logIn(userName, PASSWORD), 401, 'LOGIN_FAILED');
  });

  test('of one with a reset password, in every session of his; the new one lets him in', async () => {
    const member = await service.createMember(boss);
    const { userName } = await read(member, `${USERS}/${member.id}`);
    const elsewhere = await service.logIn(boss.tenantId, userName);
    const bystander = await service.createMember(boss);
    expectOk(await boss.put(USERS, { userId: member.id, password: 'another secret' }));
    await stopped(member, 401, 'SESSION_ENDED');
    await stopped(elsewhere, 401, 'SESSION_ENDED');
    expectError(await logIn(userName, PASSWORD), 401, 'LOGIN_FAILED');
    assert.equal((await logIn(userName, 'another secret')).code, 200);
    assert.equal((await bystander.get('/auth/me')).code, 200);
  });

  test('an administrator who is demoted has no more rights on the next request, one who is appointed has them', async () => {
    const member = await service.createMember(boss);
    expectOk(await boss.put(USERS, { userId: member.id, roles: ['admin'] }));
    expectOk(await member.post(DEPTS, {}));
    expectOk(await boss.put(USERS, { userId: member.id, roles: ['member'] }));
    expectError(await member.post(DEPTS, {}), 403, 'NOT_ALLOWED');
    assert.equal((await member.get(`${DEPTS}/list`)).code, 200);
  });
});
