import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dateInDays, withinOneDay } from '../support/calendar.ts';
import { DEPTS, expectError, expectOk, me, read, TENANTS, USERS } from '../support/expect.ts';
import { sample } from '../support/scale.ts';
import { type Client, PASSWORD, startService } from '../support/service.ts';

/** Tenants that are disabled, deleted or outside of their service period, and the first administrator of a tenant. */

const service = await startService();
const { root, superuser } = service;

const logIn = ({ tenantId }: { tenantId: string }) =>
  service.anonymous.post('/auth/login', { tenantId, username: 'boss', password: PASSWORD });

/** Expects that login, refresh and existing tokens of the tenant are rejected with this reason. */
async function expectRejected(caller: Client, status: number, reason: string): Promise<void> {
  expectError(await caller.get(`${DEPTS}/list`), status, reason);
  expectError(await caller.post(DEPTS, {}), status, reason);
  expectError(await caller.get('/auth/me'), status, reason);
  expectError(await service.anonymous.post('/auth/refresh', { refresh_token: caller.refreshToken }), status, reason);
  // A login does not reveal that a tenant was deleted.
  const expected = reason === 'TENANT_DELETED' ? ([401, 'LOGIN_FAILED'] as const) : ([status, reason] as const);
  expectError(await logIn(caller), ...expected);
}

async function expectWorking(caller: Client): Promise<void> {
  assert.equal((await caller.get(`${DEPTS}/list`)).code, 200);
  assert.equal((await logIn(caller)).code, 200);
}

describe('Users of a tenant that is not active or is below such a tenant', () => {
  const causes: [what: string, body: () => Record<string, unknown>, status: number, reason: string][] = [
    ['is disabled', () => ({ status: '1' }), 403, 'TENANT_DISABLED'],
    ['has not started', () => ({ startTime: dateInDays(1) }), 403, 'TENANT_NOT_STARTED'],
    ['has ended', () => ({ endTime: dateInDays(-1) }), 403, 'TENANT_ENDED'],
  ];
  // In the everyday run, each cause concerns one of three tenants: that of the users, the one above it, or the one above both.
  for (const [n, [what, body, status, reason]] of causes.entries()) {
    test(`users of a tenant that ${what} are rejected at once and admitted when it is active again`, () =>
      withinOneDay(async () => {
        const above = await service.createTenant();
        const middle = await service.createTenant({}, above);
        const admin = await service.createTenant({}, middle);
        const sibling = await service.createTenant({}, above);
        for (const inactive of sample([admin, middle, above], 3, n)) {
          expectOk(await root.put(TENANTS, { id: inactive.id, ...body() }));
          await expectRejected(admin, status, reason);
          await (inactive === admin ? expectWorking(middle) : expectRejected(middle, status, reason));
          await (inactive === above ? expectRejected(sibling, status, reason) : expectWorking(sibling));
          expectOk(await root.put(TENANTS, { id: inactive.id }));
          await expectWorking(admin);
        }
      }));

    test(`users of a new tenant that ${what} cannot log in`, () =>
      withinOneDay(async () => {
        const id = await root.create(TENANTS, { ...body(), username: 'boss', password: PASSWORD });
        const { tenantId } = await read(root, `${TENANTS}/${id}`);
        expectError(await logIn({ tenantId }), status, reason);
      }));
  }

  test('users of a deleted tenant are rejected at once', async () => {
    const above = await service.createTenant();
    const admin = await service.createTenant({}, above);
    const member = await service.createMember(admin);
    expectOk(await above.delete(`${TENANTS}/${admin.id}`));
    await expectRejected(admin, 401, 'TENANT_DELETED');
    expectError(await member.get(`${DEPTS}/list`), 401, 'TENANT_DELETED');
    await expectWorking(above);
  });

  test('members of a disabled tenant are rejected like administrators', async () => {
    const admin = await service.createTenant();
    const member = await service.createMember(admin);
    expectOk(await root.put(TENANTS, { id: admin.id, status: '1' }));
    expectError(await member.get(`${DEPTS}/list`), 403, 'TENANT_DISABLED');
  });

  test('after a move the new parents determine whether a tenant is active, not the old ones', async () => {
    const [from, to] = [await service.createTenant(), await service.createTenant()];
    const admin = await service.createTenant({}, from);
    expectOk(await root.put(TENANTS, { id: from.id, status: '1' }));
    await expectRejected(admin, 403, 'TENANT_DISABLED');
    expectOk(await root.put(TENANTS, { id: admin.id, tenantParent: to.tenantId }));
    await expectWorking(admin);
    expectOk(await root.put(TENANTS, { id: to.id, endTime: '2020-01-01' }));
    await expectRejected(admin, 403, 'TENANT_ENDED');
  });

  test('a parent tenant can still manage a tenant that is not active', async () => {
    const admin = await service.createTenant();
    expectOk(await root.put(TENANTS, { id: admin.id, status: '1' }));
    await root.createUser({ userName: 'later', tenantId: admin.tenantId });
    assert.equal((await read(root, `${USERS}/list?tenantId=${admin.tenantId}`)).total, 2);
    expectOk(await root.delete(`${TENANTS}/${admin.id}`));
  });

  const days: [name: string, body: () => Record<string, unknown>, reason?: string][] = [
    ['a tenant whose endTime is today is in service', () => ({ endTime: dateInDays(0) })],
    ['a tenant whose endTime was yesterday has ended', () => ({ endTime: dateInDays(-1) }), 'TENANT_ENDED'],
    ['a tenant whose endTime is tomorrow is in service', () => ({ endTime: dateInDays(1) })],
    ['a tenant whose startTime is today is in service', () => ({ startTime: dateInDays(0) })],
    [
      'a tenant whose startTime is tomorrow has not started',
      () => ({ startTime: dateInDays(1) }),
      'TENANT_NOT_STARTED',
    ],
    ['a tenant whose startTime was yesterday is in service', () => ({ startTime: dateInDays(-1) })],
    [
      'a tenant whose startTime and endTime are today is in service',
      () => ({ startTime: dateInDays(0), endTime: dateInDays(0) }),
    ],
  ];
  for (const [name, body, reason] of days) {
    test(name, () =>
      withinOneDay(async () => {
        const admin = await service.createTenant();
        expectOk(await root.put(TENANTS, { id: admin.id, ...body() }));
        await (reason ? expectRejected(admin, 403, reason) : expectWorking(admin));
      }),
    );
  }

  test('endTime is evaluated in the configured time zone', async () => {
    // These zones are 26 hours apart, so the date is never the same in both.
    const [early, late] = ['Pacific/Kiritimati', 'Etc/GMT+12'] as const;
    for (const [zone, ended] of [[early, true] as const, [late, false] as const]) {
      const zoned = await startService({ BANYAN_TIME_ZONE: zone });
      const admin = await zoned.createTenant();
      expectOk(await zoned.root.put(TENANTS, { id: admin.id, endTime: dateInDays(-1, early) }));
      const response = await admin.get(`${DEPTS}/list`);
      if (ended) expectError(response, 403, 'TENANT_ENDED');
      else assert.equal(response.code, 200);
      await zoned.close();
    }
  });
});

describe('First administrator', () => {
  const countRows = async () =>
    (await superuser`select (select count(*) from tenants) as tenants, (select count(*) from users) as users`)[0];

  test('creating a tenant with username and password creates an administrator who can log in', async () => {
    const above = await service.createTenant();
    const id = await above.create(TENANTS, { tenantName: 'x', username: 'Chief', password: 'the secret of the chief' });
    const { tenantId } = await read(above, `${TENANTS}/${id}`);
    const chief = await service.logIn(tenantId, 'chief', 'the secret of the chief');
    const { userName, roles, status, createBy } = await me(chief);
    assert.deepEqual([userName, roles, status, createBy], ['Chief', ['admin'], '0', 'boss']);
    expectOk(await chief.post(DEPTS, {}));
    const { rows, total } = await read(above, `${USERS}/list?tenantId=${tenantId}`);
    assert.deepEqual([total, rows[0].userName], [1, 'Chief']);
  });

  test('a tenant created without username and password has no users until a parent tenant creates one', async () => {
    const id = await root.create(TENANTS, {});
    const { tenantId } = await read(root, `${TENANTS}/${id}`);
    assert.equal((await read(root, `${USERS}/list?tenantId=${tenantId}`)).total, 0);
    // An update ignores username and password as unknown fields.
    expectOk(await root.put(TENANTS, { id, username: 'boss', password: PASSWORD }));
    assert.equal((await read(root, `${USERS}/list?tenantId=${tenantId}`)).total, 0);
    await root.createUser({ tenantId, userName: 'boss', roles: ['admin'] });
    expectOk(await (await service.logIn(tenantId, 'boss')).post(DEPTS, {}));
  });

  test('a tenant is not created when its accountCount leaves no account for the first administrator', async () => {
    const before = await countRows();
    const body = { tenantName: 'no room', accountCount: 0, username: 'boss', password: PASSWORD };
    // The error names accountCount: nobody can be deleted, so the caller must send a larger number.
    const withKey = { 'idempotency-key': 'no room' };
    for (const headers of [{}, withKey, withKey]) {
      const response = await root.post(TENANTS, body, { headers });
      expectError(response, 409, 'ACCOUNT_LIMIT', { accountCount: 0, field: 'accountCount' });
      assert.equal(response.msg, '当前租户下用户名额不足，请联系管理员');
    }
    const english = await root.post(TENANTS, body, { headers: { 'accept-language': 'en' } });
    assert.match(english.msg, /^accountCount 0 leaves no account for the first administrator\. Send 1 or more/);
    assert.deepEqual(await countRows(), before);
    assert.equal((await read(root, `${TENANTS}/list?tenantName=no%20room`)).total, 0);
  });

  test('the first administrator counts towards accountCount', async () => {
    const admin = await service.createTenant({ accountCount: 1 });
    expectError(await admin.post(USERS, { userName: 'x', password: PASSWORD }), 409, 'ACCOUNT_LIMIT', {
      accountCount: 1,
    });
  });

  const invalid: [what: string, body: Record<string, unknown>, reason: string, field: string][] = [
    ['username without password', { username: 'boss' }, 'FIELD_REQUIRED', 'password'],
    ['username with password null', { username: 'boss', password: null }, 'FIELD_REQUIRED', 'password'],
    ['password without username', { password: PASSWORD }, 'FIELD_REQUIRED', 'username'],
    ['an empty username', { username: '', password: PASSWORD }, 'INVALID_FIELD', 'username'],
    ['a username of 51 characters', { username: 'x'.repeat(51), password: PASSWORD }, 'INVALID_FIELD', 'username'],
    ['a password of 7 characters', { username: 'boss', password: 'secret7' }, 'INVALID_FIELD', 'password'],
    ['a password of 129 characters', { username: 'boss', password: 'x'.repeat(129) }, 'INVALID_FIELD', 'password'],
  ];
  for (const [what, body, reason, field] of invalid) {
    test(`${what} is rejected and nothing is created`, async () => {
      const before = await countRows();
      expectError(await root.post(TENANTS, body), 400, reason, { field });
      assert.deepEqual(await countRows(), before);
    });
  }
});
