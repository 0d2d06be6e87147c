import assert from 'node:assert/strict';
import http from 'node:http';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { hash as argon2 } from '@node-rs/argon2';
import { hash as bcrypt } from '@node-rs/bcrypt';
import { apiError } from '../../server/http/errors.ts';
import { PASSWORD } from '../support/database.ts';
import {
  CHANGES,
  DEPTS,
  expectError,
  expectInvalid,
  expectOk,
  read,
  readDept,
  storedState,
  USERS,
} from '../support/expect.ts';
import { scale } from '../support/scale.ts';
import { type Client, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** POST /system/user-api/bulk creates many users in one request. */

const service = await startService();
const { root } = service;
const admin = await service.createTenant();
const neighbour = await service.createTenant();

const add = (users: unknown[], more: Record<string, unknown> = {}, client: Client = admin, query = '') =>
  client.post(`${USERS}/bulk${query}`, { users, ...more });
const row = (name: string, more: Record<string, unknown> = {}) => ({
  ref: `ref ${name}`,
  userName: name,
  password: PASSWORD,
  ...more,
});

/** Runs the work and expects that it wrote nothing. */
async function expectNothingWritten(work: () => Promise<unknown>): Promise<void> {
  const before = await storedState(service);
  await work();
  assert.deepEqual(await storedState(service), before);
}

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
    ['an unknown ref of a further department', { deptRefs: ['x'] }, 'users[1].deptRefs[0]'],
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

/** The ids of the users of a tenant without its first administrator. */
const idsOf = async (client: Client) =>
  (await read(client, `${USERS}/list?pageSize=500`)).rows.slice(1).map(({ userId }: { userId: number }) => userId);

describe('Bulk creation of users', () => {
  test('users get the same fields and defaults as when created one by one, and can log in', async () => {
    const [main, further] = [await admin.createDepartment(), await admin.createDepartment()];
    const full = {
      nickName: '张三"🌳',
      email: 'a@b.cn',
      phone: '13800000000',
      status: '0',
      deptId: Number(main),
      deptIds: [Number(further), main],
      roles: ['admin'],
      mustChangePassword: true,
    };
    const nulls = Object.fromEntries(Object.keys(full).map((name) => [name, null]));
    const { data } = await add([row('full.bulk', full), row('empty.bulk', { ...nulls, unknown: 1 })]);
    for (const [n, body] of [full, {}].entries()) {
      const single = await admin.createUser({ userName: `single${n}`, ...body });
      const [stored, other] = await Promise.all([data.userIds[n], single].map((id) => read(admin, `${USERS}/${id}`)));
      assert.deepEqual(
        { ...stored, userId: 0, userName: '', createTime: '' },
        { ...other, userId: 0, userName: '', createTime: '' },
      );
    }
    await service.logIn(admin.tenantId, 'EMPTY.bulk');
  });

  test('departments are created with their users, who name them by ref', async () => {
    const top = await admin.createDepartment();
    const response = await add(
      [row('lead', { deptRef: 'rd' }), row('dev', { deptRef: 'web', deptRefs: ['rd'], deptIds: [top] })],
      {
        parentId: top,
        departments: [
          { ref: 'web', parentRef: 'rd' },
          { ref: 'rd', deptName: '研发部' },
        ],
      },
    );
    const { userIds, deptIds } = response.data;
    expectOk(response, { userIds, deptIds });
    assert.equal((await readDept(admin, deptIds[0])).ancestors, `0,${top},${deptIds[1]}`);
    const [lead, dev] = await Promise.all(userIds.map((id: number) => read(admin, `${USERS}/${id}`)));
    assert.deepEqual([lead.deptId, lead.deptIds], [deptIds[1], []]);
    assert.deepEqual([dev.deptId, dev.deptIds], [deptIds[0], [Number(top), deptIds[1]]]);
  });

  test('one revert removes all users and departments of a request', async () => {
    const before = await read(admin, `${USERS}/list`);
    const { data } = await add([row('one', { deptRef: 'd' }), row('two')], { departments: [{ ref: 'd' }] });
    const { rows } = await read(admin, `${CHANGES}/list?resource=user&resourceId=${data.userIds[1]}`);
    expectOk(await admin.post(`${CHANGES}/${rows[0].id}/revert`));
    assert.equal((await read(admin, `${USERS}/list`)).total, before.total);
    expectError(await admin.get(`${DEPTS}/${data.deptIds[0]}`), 404, 'DEPT_NOT_FOUND');
  });

  test('an administrator above creates users in a tenant below', async () => {
    const query = `?tenantId=${neighbour.tenantId}`;
    const { data } = await add(
      [row('below', { tenantId: neighbour.tenantId, deptRef: 'd' })],
      { departments: [{ ref: 'd' }] },
      root,
      query,
    );
    const user = await read(neighbour, `${USERS}/${data.userIds[0]}`);
    assert.deepEqual([user.tenantId, user.deptId], [neighbour.tenantId, data.deptIds[0]]);
    expectError(await add([row('x')], {}, admin, query), 403, 'OTHER_TENANT');
  });

  test('with an Idempotency-Key the users are created once, and another password is another request', async () => {
    const options = { headers: { 'idempotency-key': 'many users' } };
    const body = { users: [row('once')] };
    const first = await admin.post(`${USERS}/bulk`, body, options);
    const again = await admin.post(`${USERS}/bulk`, body, options);
    assert.deepEqual(again.data, first.data);
    assert.equal(again.headers['idempotent-replayed'], 'true');
    const other = { users: [row('once', { password: 'another password' })] };
    expectError(await admin.post(`${USERS}/bulk`, other, options), 409, 'KEY_REUSED');
    const kept = await service.superuser`select * from banyan.idempotency_keys where key = 'many users'`;
    assert.ok(!JSON.stringify(kept).includes(PASSWORD));
  });

  test('10,000 users are created at once, and one revert removes them', async () => {
    const count = scale(3_000, 10_000);
    const tenant = await service.createTenant();
    const passwordHash = await argon2(PASSWORD, { memoryCost: 8, timeCost: 1 });
    const users = Array.from({ length: count }, (_, n) => ({
      ref: `${n}`,
      userName: `person${n}`,
      nickName: '张'.repeat(20),
      email: 'someone@example.com',
      passwordHash,
      deptRef: `d${n % 100}`,
    }));
    const departments = Array.from({ length: 100 }, (_, n) => ({ ref: `d${n}` }));
    const response = await add(users, { departments }, root, `?tenantId=${tenant.tenantId}`);
    assert.equal(response.code, 200, response.text.slice(0, 300));
    assert.equal(new Set(response.data.userIds).size, count);
    assert.equal((await read(tenant, `${USERS}/list`)).total, count + 1);
    const { rows } = await read(tenant, `${CHANGES}/list?limit=1`);
    expectOk(await tenant.post(`${CHANGES}/${rows[0].id}/revert`));
    assert.equal((await read(tenant, `${USERS}/list`)).total, 1);
    assert.equal((await read(tenant, `${DEPTS}/list`)).total, 0);
  });
});

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
    ['bcrypt of PHP', async () => (await bcrypt(PASSWORD, 5)).replace('$2b$', '$2y$')],
    ['bcrypt of Java', async () => (await bcrypt(PASSWORD, 4)).replace('$2b$', '$2a$')],
    ['argon2id of another cost', () => argon2(PASSWORD, { memoryCost: 1024, timeCost: 3, parallelism: 2 })],
  ];
  for (const [n, [what, hash]] of hashes.entries()) {
    test(`a hash of ${what} works at login and is replaced by one of our own`, async () => {
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
      assert.equal(await changesOf(id), changes, 'the ledger records no change of the password');
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
      // Of 41 characters no bytes can be decoded; 42 may be a shorter hash.
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

describe('Progress of a bulk creation', () => {
  const accept = { headers: { accept: 'text/event-stream' } };
  const eventsOf = (text: string) =>
    text
      .trim()
      .split('\n\n')
      .map((event) => /^event: (\w+)\ndata: (.*)$/.exec(event))
      .map((match) => ({ name: match?.[1], data: JSON.parse(match?.[2] ?? 'null') }));

  test('events report how many passwords are hashed, and the last one is the response', async () => {
    const users = Array.from({ length: 20 }, (_, n) => row(`p${n}`));
    const response = await admin.post(`${USERS}/bulk`, { users }, accept);
    assert.equal(response.headers['content-type'], 'text/event-stream; charset=utf-8');
    const events = eventsOf(response.text);
    const progress = events.filter(({ name }) => name === 'progress').map(({ data }) => data);
    assert.deepEqual(
      [progress[0], progress.at(-1)],
      [
        { done: 0, total: 20 },
        { done: 20, total: 20 },
      ],
    );
    const { name, data } = events.at(-1) as (typeof events)[number];
    assert.deepEqual([name, data.code, data.data.userIds.length], ['result', 200, 20]);
  });

  /** Holds the hashes of one password until `release` is called; then they fail if `fails` is set. */
  function holdHashes(password: string, { fails = false } = {}) {
    const { passwords } = service.app;
    const original = passwords.hash;
    const hold = { calls: 0, release: () => {} };
    const released = new Promise<void>((release) => {
      hold.release = release;
    });
    passwords.hash = async (text, share) => {
      if (text === password) {
        hold.calls++;
        await released;
        if (fails) throw apiError('TOO_BUSY');
      }
      return original(text, share);
    };
    return hold;
  }

  test('an error before hashing is a regular response, and a later one an event', async () => {
    expectInvalid(await admin.post(`${USERS}/bulk`, { users: [row('a b')] }, accept), 'users[0].userName');
    const password = 'held until the name is taken';
    const hold = holdHashes(password);
    const bulk = admin.post(`${USERS}/bulk`, { users: [row('early'), row('late', { password })] }, accept);
    await waitFor('the password is being hashed', () => hold.calls > 0);
    await admin.createUser({ userName: 'Late' });
    hold.release();
    const last = eventsOf((await bulk).text).at(-1);
    assert.deepEqual([last?.name, last?.data.code, last?.data.data.ref], ['refused', 409, 'ref late']);
    assert.equal(last?.data.data.reason, 'USER_NAME_TAKEN');
    expectOk(await add([row('early')]), { userIds: (await idsOf(admin)).slice(-1), deptIds: [] });
  });

  test('hashing in a bulk creation has no deadline, and other users can log in during it', async () => {
    const timing = { responseMs: 6_000, bulkResponseMs: 6_000 };
    const strict = await startService({}, { timing });
    const boss = await strict.createTenant();
    const { passwords } = strict.app;
    const original = passwords.hash;
    passwords.hash = async (text, share) => {
      // The deadline is the subject of this test, so it has to pass.
      if (text === 'hashed after the deadline') await setTimeout(timing.bulkResponseMs + 500);
      return original(text, share);
    };
    const bulk = add([row('slow', { password: 'hashed after the deadline' })], {}, boss);
    await strict.logIn(boss.tenantId, 'boss');
    assert.equal((await bulk).code, 200);
    await strict.logIn(boss.tenantId, 'slow', 'hashed after the deadline');
  });

  test('hashing ends when the client disconnects, and nothing is written', async () => {
    const password = 'held until the client is gone';
    const hold = holdHashes(password);
    const body = JSON.stringify({ users: Array.from({ length: 50 }, (_, n) => row(`gone${n}`, { password })) });
    const { hostname, port } = new URL(admin.base);
    const headers = {
      authorization: `Bearer ${admin.token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const closed = new Promise<void>((resolve) => {
      service.app.server.prependOnceListener('request', (_request, response) => response.once('close', resolve));
    });
    const before = await storedState(service);
    const request = http.request({ method: 'POST', path: `${USERS}/bulk`, hostname, port, headers, agent: false });
    request.on('error', () => {});
    request.end(body);
    await waitFor('the first passwords are being hashed', () => hold.calls === 2);
    request.destroy();
    await closed;
    hold.release();
    // The next request hashes after those that were in flight.
    await waitFor('a later request is done', async () => (await add([row('a b')])).code === 400);
    await waitFor('a later hash is done', async () =>
      service.app.passwords.hash('another text', { owner: 'a', group: 'b' }),
    );
    assert.equal(hold.calls, 2);
    assert.deepEqual(await storedState(service), before);
  });

  test('a tenant has at most 20,000 users in progress, and a failed hash ends a request', async () => {
    const password = 'held until another request was rejected';
    const hold = holdHashes(password, { fails: true });
    const rows = (name: string) => Array.from({ length: 10_000 }, (_, n) => row(`${name}${n}`, { password }));
    const first = add(rows('b'));
    await waitFor('passwords of the first request are being hashed', () => hold.calls === 2);
    const second = add(rows('c'));
    await waitFor('passwords of the second request are being hashed', () => hold.calls === 4);
    expectError(await add([row('more')]), 503, 'TOO_BUSY');
    // Another tenant is not affected.
    assert.equal((await add([row('free')], {}, neighbour)).code, 200);
    hold.release();
    for (const response of await Promise.all([first, second])) expectError(response, 503, 'TOO_BUSY');
    assert.equal(hold.calls, 4);
    assert.equal((await add([row('more')])).code, 200);
  });
});

describe('A batch read of users', () => {
  const path = `${USERS}/batch-read`;

  test('a batch read returns each requested user in request order, and lists the ids of the others', async () => {
    const [a, b, deleted] = [
      await admin.createUser({ userName: 'read.a' }),
      await admin.createUser({ userName: 'read.b', deptId: await admin.createDepartment() }),
      await admin.createUser({ userName: 'read.c' }),
    ];
    expectOk(await admin.delete(`${USERS}/${deleted}`));
    const foreign = await neighbour.createUser({ userName: 'foreign.a' });
    const [first, second] = [await read(admin, `${USERS}/${a}`), await read(admin, `${USERS}/${b}`)];
    const ids = [Number(b), foreign, a, `00${b}`, deleted, '9007199254740993'];
    expectOk(await admin.post(path, { ids }), {
      rows: [second, first, second],
      missing: [Number(foreign), Number(deleted), '9007199254740993'],
    });
    expectOk(await root.post(`${path}?tenantId=${admin.tenantId}`, { ids: [a] }), { rows: [first], missing: [] });
    expectOk(await admin.post(path, { ids: [] }), { rows: [], missing: [] });
  });

  test('a batch read takes up to 500 ids, from administrators only', async () => {
    expectInvalid(await admin.post(path, { ids: Array(501).fill(1) }), 'ids');
    expectInvalid(await admin.post(path, { ids: ['x'] }), 'ids[0]');
    expectError(await (await service.createMember(admin)).post(path, { ids: [1] }), 403, 'NOT_ALLOWED');
  });
});
