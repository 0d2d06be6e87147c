import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hash as argon2 } from '@node-rs/argon2';
import { hash as bcrypt } from '@node-rs/bcrypt';
import { PASSWORD } from '../support/database.ts';
import { CHANGES, expectError, expectInvalid, expectOk, read } from '../support/expect.ts';
import { idsOf, row, startUsersBulk } from './users-bulk.ts';

const { service, root, neighbour, add, expectNothingWritten } = await startUsersBulk();

describe('Imported password hashes', () => {
  const hashOf = async (id: number) => {
    const [user] = await service.superuser<[{ hash: string }]>`
      select password_hash as hash from banyan.users where user_id = ${id} and tenant_id = '000000'`;
    return user.hash;
  };
  const changesOf = async (id: number) =>
    (await read(root, `${CHANGES}/list?resource=user&resourceId=${id}`)).rows.length;

  const hashes: [what: string, hash: () => Promise<string>][] = [
    ['bcrypt', () => bcrypt(PASSWORD, 4)],
    ['bcrypt (PHP)', async () => (await bcrypt(PASSWORD, 5)).replace('$2b$', '$2y$')],
    ['bcrypt (Java)', async () => (await bcrypt(PASSWORD, 4)).replace('$2b$', '$2a$')],
    ['argon2id (other cost)', () => argon2(PASSWORD, { memoryCost: 1024, timeCost: 3, parallelism: 2 })],
  ];
  for (const [n, [what, hash]] of hashes.entries()) {
    test(`an imported ${what} hash works at login and is replaced by one of our own`, async () => {
      const passwordHash = await hash();
      const userName = `imported${n}`;
      const response = await add([row(userName, { password: null, passwordHash })], {}, root);
      const [id] = response.data.userIds;
      assert.equal(await hashOf(id), passwordHash);
      const changes = await changesOf(id);
      const wrong = await service.anonymous.post('/auth/login', {
        tenantId: '000000',
        username: userName,
        password: 'wrong one',
      });
      expectError(wrong, 401, 'LOGIN_FAILED');
      assert.equal(await hashOf(id), passwordHash);
      // Of two logins at the same moment, one replaces the hash that the other has checked.
      await Promise.all([1, 2].map(() => service.logIn('000000', userName)));
      const replaced = await hashOf(id);
      assert.notEqual(replaced, passwordHash);
      assert.match(replaced, /^\$argon2id\$v=19\$/);
      await service.logIn('000000', userName);
      assert.equal(await hashOf(id), replaced);
      assert.equal(await changesOf(id), changes, 'the audit log records no password change');
    });
  }

  test('a hash of another kind, or one that is too expensive, is rejected', async () => {
    const good = await argon2(PASSWORD, { memoryCost: 16, timeCost: 1 });
    const bad = [
      '',
      'plain text',
      good.replace('argon2id', 'argon2i'),
      good.replace('v=19', 'v=16'),
      good.replace('m=16', 'm=65537'),
      good.replace('m=16', 'm=7'),
      good.replace('m=16,t=1', 'm=65536,t=5'),
      good.replace('t=1', 't=0'),
      good.replace('p=1', 'p=17'),
      // 41 base64 characters cannot be decoded; 42 may be a shorter hash.
      good.slice(0, -2),
      (await bcrypt(PASSWORD, 4)).replace('$04$', '$13$'),
      (await bcrypt(PASSWORD, 4)).replace('$04$', '$03$'),
      (await bcrypt(PASSWORD, 4)).replace('$2b$', '$2x$'),
      (await bcrypt(PASSWORD, 4)).slice(0, -1),
    ];
    await expectNothingWritten(async () => {
      for (const passwordHash of bad) {
        const response = await add([row('bad', { password: undefined, passwordHash })], {}, root);
        expectInvalid(response, 'users[0].passwordHash');
      }
      expectInvalid(await add([row('bad', { passwordHash: good })], {}, root), 'users[0].passwordHash');
    });
  });

  test('only administrators of the platform may send hashes, also for tenants below', async () => {
    const passwordHash = await bcrypt(PASSWORD, 4);
    const users = [row('x', { password: null, passwordHash })];
    const response = await add(users);
    expectError(response, 403, 'PASSWORD_HASH_FORBIDDEN', { field: 'users[0].passwordHash', ref: 'ref x' });
    expectOk(await add(users, {}, root, `?tenantId=${neighbour.tenantId}`), {
      userIds: (await idsOf(neighbour)).slice(-1),
      deptIds: [],
    });
    await service.logIn(neighbour.tenantId, 'x');
  });
});
