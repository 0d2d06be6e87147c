import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEPTS, expectError, expectOk, me, read, TENANTS, USERS } from '../support/expect.ts';
import { type Client, PASSWORD, startService } from '../support/service.ts';

/** The decisions on tenants that speak of their service: its period, its end, and the first administrator. */

const service = await startService();
const { root, superuser } = service;

/** The day it is in a zone, some days on. */
const day = (on = 0, timeZone = 'Asia/Shanghai') =>
  new Intl.DateTimeFormat('sv-SE', { timeZone }).format(Date.now() + on * 86_400_000);

/** Once more if midnight passed in between: "today" was another day then. */
async function withinOneDay(work: () => Promise<void>): Promise<void> {
  const today = day();
  await work().catch((error) => (day() === today ? Promise.reject(error) : work()));
}

const logIn = ({ tenantId }: { tenantId: string }) =>
  service.anonymous.post('/auth/login', { tenantId, username: 'boss', password: PASSWORD });

/** Nobody logs in, tokens already given stop working at once, and the reason says which. */
async function shutOut(caller: Client, status: number, reason: string): Promise<void> {
  expectError(await caller.get(`${DEPTS}/list`), status, reason);
  expectError(await caller.post(DEPTS, {}), status, reason);
  expectError(await caller.get('/auth/me'), status, reason);
  expectError(await service.anonymous.post('/auth/refresh', { refresh_token: caller.refreshToken }), status, reason);
  // Of a deleted tenant a login says no more than of one that never was.
  const told = reason === 'TENANT_DELETED' ? ([401, 'LOGIN_FAILED'] as const) : ([status, reason] as const);
  expectError(await logIn(caller), ...told);
}

async function works(caller: Client): Promise<void> {
  assert.equal((await caller.get(`${DEPTS}/list`)).code, 200);
  assert.equal((await logIn(caller)).code, 200);
}

describe('effect on those of the tenant, own or of any tenant above', () => {
  const causes: [what: string, body: () => Record<string, unknown>, status: number, reason: string][] = [
    ['disabled', () => ({ status: '1' }), 403, 'TENANT_DISABLED'],
    ['before startTime', () => ({ startTime: day(1) }), 403, 'TENANT_NOT_STARTED'],
    ['after endTime', () => ({ endTime: day(-1) }), 403, 'TENANT_ENDED'],
  ];
  for (const [what, body, status, reason] of causes) {
    test(`${what}: nobody logs in, tokens stop at once; in its time again, all work again`, () =>
      withinOneDay(async () => {
        const above = await service.createTenant();
        const middle = await service.createTenant({}, above);
        const boss = await service.createTenant({}, middle);
        const sibling = await service.createTenant({}, above);
        for (const closed of [boss, middle, above]) {
          expectOk(await root.put(TENANTS, { id: closed.id, ...body() }));
          await shutOut(boss, status, reason);
          await (closed === boss ? works(middle) : shutOut(middle, status, reason));
          await (closed === above ? shutOut(sibling, status, reason) : works(sibling));
          expectOk(await root.put(TENANTS, { id: closed.id }));
          await works(boss);
        }
      }));

    test(`${what}: from the start, when a tenant is created so`, () =>
      withinOneDay(async () => {
        const id = await root.create(TENANTS, { ...body(), username: 'boss', password: PASSWORD });
        const { tenantId } = await read(root, `${TENANTS}/${id}`);
        expectError(await logIn({ tenantId }), status, reason);
      }));
  }

  test('deleted: nobody logs in, tokens stop at once', async () => {
    const above = await service.createTenant();
    const boss = await service.createTenant({}, above);
    const member = await service.createMember(boss);
    expectOk(await above.delete(`${TENANTS}/${boss.id}`));
    await shutOut(boss, 401, 'TENANT_DELETED');
    expectError(await member.get(`${DEPTS}/list`), 401, 'TENANT_DELETED');
    await works(above);
  });

  test('members are shut out like administrators', async () => {
    const boss = await service.createTenant();
    const member = await service.createMember(boss);
    expectOk(await root.put(TENANTS, { id: boss.id, status: '1' }));
    expectError(await member.get(`${DEPTS}/list`), 403, 'TENANT_DISABLED');
  });

  test('after a move, the tenants now above count and the former ones do not', async () => {
    const [from, to] = [await service.createTenant(), await service.createTenant()];
    const boss = await service.createTenant({}, from);
    expectOk(await root.put(TENANTS, { id: from.id, status: '1' }));
    await shutOut(boss, 403, 'TENANT_DISABLED');
    expectOk(await root.put(TENANTS, { id: boss.id, tenantParent: to.tenantId }));
    await works(boss);
    expectOk(await root.put(TENANTS, { id: to.id, endTime: '2020-01-01' }));
    await shutOut(boss, 403, 'TENANT_ENDED');
  });

  test('those above go on managing a tenant that is out of service', async () => {
    const boss = await service.createTenant();
    expectOk(await root.put(TENANTS, { id: boss.id, status: '1' }));
    await root.createUser({ userName: 'later', tenantId: boss.tenantId });
    assert.equal((await read(root, `${USERS}/list?tenantId=${boss.tenantId}`)).total, 2);
    expectOk(await root.delete(`${TENANTS}/${boss.id}`));
  });

  const days: [what: string, body: () => Record<string, unknown>, reason?: string][] = [
    ['endTime today: the last day of service is included', () => ({ endTime: day() })],
    ['endTime yesterday: over', () => ({ endTime: day(-1) }), 'TENANT_ENDED'],
    ['endTime tomorrow: in service', () => ({ endTime: day(1) })],
    ['startTime today: the first day of service is included', () => ({ startTime: day() })],
    ['startTime tomorrow: not yet', () => ({ startTime: day(1) }), 'TENANT_NOT_STARTED'],
    ['startTime yesterday: in service', () => ({ startTime: day(-1) })],
    ['startTime and endTime today: one day of service', () => ({ startTime: day(), endTime: day() })],
  ];
  for (const [what, body, reason] of days) {
    test(what, () =>
      withinOneDay(async () => {
        const boss = await service.createTenant();
        expectOk(await root.put(TENANTS, { id: boss.id, ...body() }));
        await (reason ? shutOut(boss, 403, reason) : works(boss));
      }),
    );
  }

  test('the day is that of the configured time zone', async () => {
    // Where the day begins first and where it ends last: 26 hours apart, so the day is never the same in both.
    const [early, late] = ['Pacific/Kiritimati', 'Etc/GMT+12'] as const;
    for (const [zone, ended] of [[early, true] as const, [late, false] as const]) {
      const there = await startService({ BANYAN_TIME_ZONE: zone });
      const boss = await there.createTenant();
      expectOk(await there.root.put(TENANTS, { id: boss.id, endTime: day(-1, early) }));
      const answer = await boss.get(`${DEPTS}/list`);
      if (ended) expectError(answer, 403, 'TENANT_ENDED');
      else assert.equal(answer.code, 200);
      await there.close();
    }
  });
});

describe('first administrator', () => {
  const counted = async () =>
    (await superuser`select (select count(*) from tenants) as tenants, (select count(*) from users) as users`)[0];

  test('create may carry username and password: he is made with the tenant, and logs in', async () => {
    const above = await service.createTenant();
    const id = await above.create(TENANTS, { tenantName: 'x', username: 'Chief', password: 'a secret of his' });
    const { tenantId } = await read(above, `${TENANTS}/${id}`);
    const chief = await service.logIn(tenantId, 'chief', 'a secret of his');
    const { userName, roles, status, createBy } = await me(chief);
    assert.deepEqual([userName, roles, status, createBy], ['Chief', ['admin'], '0', 'boss']);
    expectOk(await chief.post(DEPTS, {}));
    const { rows, total } = await read(above, `${USERS}/list?tenantId=${tenantId}`);
    assert.deepEqual([total, rows[0].userName], [1, 'Chief']);
  });

  test('without username and password: nobody, until those above make one', async () => {
    const id = await root.create(TENANTS, {});
    const { tenantId } = await read(root, `${TENANTS}/${id}`);
    assert.equal((await read(root, `${USERS}/list?tenantId=${tenantId}`)).total, 0);
    // Only create makes one: elsewhere the two are unknown fields.
    expectOk(await root.put(TENANTS, { id, username: 'boss', password: PASSWORD }));
    assert.equal((await read(root, `${USERS}/list?tenantId=${tenantId}`)).total, 0);
    await root.createUser({ tenantId, userName: 'boss', roles: ['admin'] });
    expectOk(await (await service.logIn(tenantId, 'boss')).post(DEPTS, {}));
  });

  test('the same transaction: where he finds no room, no tenant is made either', async () => {
    const before = await counted();
    const body = { tenantName: 'no room', accountCount: 0, username: 'boss', password: PASSWORD };
    // Nobody is there to be deleted, and no administrator to be asked: the number is what to change.
    const key = { 'idempotency-key': 'no room' };
    for (const repeated of [{}, key, key]) {
      const answer = await root.post(TENANTS, body, { headers: repeated });
      expectError(answer, 409, 'ACCOUNT_LIMIT', { accountCount: 0, field: 'accountCount' });
      assert.equal(answer.msg, '当前租户下用户名额不足，请联系管理员');
    }
    const english = await root.post(TENANTS, body, { headers: { 'accept-language': 'en' } });
    assert.match(english.msg, /^accountCount 0 leaves no room for the first administrator\. Send 1 or more/);
    assert.deepEqual(await counted(), before);
    assert.equal((await read(root, `${TENANTS}/list?tenantName=no%20room`)).total, 0);
  });

  test('he counts as an account', async () => {
    const boss = await service.createTenant({ accountCount: 1 });
    expectError(await boss.post(USERS, { userName: 'x', password: PASSWORD }), 409, 'ACCOUNT_LIMIT', {
      accountCount: 1,
    });
  });

  const refusals: [what: string, body: Record<string, unknown>, reason: string, field: string][] = [
    ['username without password', { username: 'boss' }, 'FIELD_REQUIRED', 'password'],
    ['username with password null', { username: 'boss', password: null }, 'FIELD_REQUIRED', 'password'],
    ['password without username', { password: PASSWORD }, 'FIELD_REQUIRED', 'username'],
    ['an empty username', { username: '', password: PASSWORD }, 'INVALID_FIELD', 'username'],
    ['a username of 51 characters', { username: 'x'.repeat(51), password: PASSWORD }, 'INVALID_FIELD', 'username'],
    ['a password of 7 characters', { username: 'boss', password: 'secret7' }, 'INVALID_FIELD', 'password'],
    ['a password of 129', { username: 'boss', password: 'x'.repeat(129) }, 'INVALID_FIELD', 'password'],
  ];
  for (const [what, body, reason, field] of refusals) {
    test(`${what}: 400, and nothing is made`, async () => {
      const before = await counted();
      expectError(await root.post(TENANTS, body), 400, reason, { field });
      assert.deepEqual(await counted(), before);
    });
  }
});
