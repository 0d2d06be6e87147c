import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after } from '../support/cleanup.ts';
import { expectError, expectOk, read, resultOf, TENANTS, USERS } from '../support/expect.ts';
import { assertSums } from '../support/quotas.ts';
import { firstSeed, report, runConcurrently, scale, seededRandom, Tally } from '../support/scale.ts';
import { Client, PASSWORD, startService } from '../support/service.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';

const QUOTAS = '/system/quota-api';
let clock: (() => Date) | undefined;
const service = await startService({}, { quotaTime: () => clock?.() });
const second = await startService({ DATABASE_URL: service.databaseUrl }, { quotaTime: () => clock?.() });
const { root, superuser } = service;
const there = ({ token, tenantId }: Client) => new Client(second.base, token, undefined, tenantId);

const put = async (of: Client, quota: string, body: object) =>
  expectOk(await root.put(`${QUOTAS}/${quota}?tenantId=${of.tenantId}`, body));
const consume = (client: Client, quota: string, amount = 1) => client.post(`${QUOTAS}/consume`, { quota, amount });
const numbersOf = async (client: Client, quota: string) => {
  const found = (await read(client, QUOTAS)).find((each: { quota: string }) => each.quota === quota);
  return [found.used, found.reserved, found.left];
};

/** Asserts that every counter equals the sums of its uses and of its reservations, and that the sums by day are exact. */
async function assertExact() {
  const wrong = await superuser`
    select c.tenant_id, c.quota, c.used, c.reserved from banyan.quota_counters c
    where c.used <> (select coalesce(sum(u.amount), 0) from banyan.quota_uses u
        where u.quota = c.quota and u.refund_time is null and u.counted ? c.tenant_id)
      or c.reserved <> (select coalesce(sum(h.amount), 0) from banyan.quota_holds h
        where h.tenant_id = c.tenant_id and h.quota = c.quota)`;
  assert.deepEqual([...wrong], []);
  await assertSums(superuser);
}

test('64 callers on one counter of 1,000 get exactly 1,000, on two nodes', async (t) => {
  const admin = await service.createTenant();
  await put(admin, 'calls', { total: 1_000 });
  const nodes = [admin, there(admin)];
  const tally = new Tally();
  // In the everyday run, each request uses an amount of ten.
  const amount = scale(10, 1);
  await runConcurrently(64, 1_100 / amount, async (n) => {
    const keyed = n % 20 === 0 ? { headers: { 'idempotency-key': `key ${n}` } } : {};
    tally.add(resultOf(await (nodes[n % 2] as Client).post(`${QUOTAS}/consume`, { quota: 'calls', amount }, keyed)));
  });
  assert.deepEqual(tally.counts, { done: 1_000 / amount, QUOTA_EXHAUSTED: 100 / amount });
  assert.deepEqual(await numbersOf(admin, 'calls'), [1_000, 0, 0]);
  assert.equal((await read(admin, `${QUOTAS}/uses?pageSize=1`)).total, 1_000 / amount);
  await assertExact();
  report(t, tally.counts);
});

test('uses of several pools on one path neither deadlock nor exceed any of them, even after a move', async (t) => {
  const { pick, below } = seededRandom(firstSeed);
  // The lower tenant is older than the one that it is moved below.
  const lower = await service.createTenant();
  const upper = await service.createTenant();
  const other = await service.createTenant();
  expectOk(await root.patch(`${TENANTS}/${lower.id}`, { tenantParent: upper.tenantId }));
  const leaf = await service.createTenant({}, lower);
  for (const tenant of [upper, lower, other]) {
    for (const quota of ['x', 'y']) await put(tenant, quota, { total: 200, pooled: true });
  }
  const clients = [upper, lower, leaf, there(upper), there(lower), there(leaf)];
  const tally = new Tally();
  let moves = 0;
  await runConcurrently(24, scale(80, 2_000), async (n) => {
    if (n % 40 === 39) {
      const tenantParent = moves++ % 2 ? lower.tenantId : other.tenantId;
      expectOk(await root.patch(`${TENANTS}/${leaf.id}`, { tenantParent }));
      return;
    }
    const client = pick(clients);
    const quota = pick(['x', 'y']);
    if (below(3) > 0) return tally.add(resultOf(await consume(client, quota, 1 + below(3))));
    const reserved = await client.post(`${QUOTAS}/reserve`, { quota, amount: 1 + below(3), seconds: 600 });
    tally.add(resultOf(reserved));
    if (reserved.code !== 200) return;
    const path = `${QUOTAS}/reservations/${reserved.data.reservationId}`;
    tally.add(resultOf(await client.post(`${path}/${pick(['confirm', 'release'])}`)));
  });
  assert.deepEqual(
    Object.keys(tally.counts).filter((name) => name !== 'done' && name !== 'QUOTA_EXHAUSTED'),
    [],
  );
  await assertExact();
  for (const tenant of [upper, lower, other]) {
    for (const quota of ['x', 'y']) assert.ok(((await numbersOf(tenant, quota))[0] as number) <= 200);
  }
  const [{ deadlocks }] = await superuser<[{ deadlocks: number }]>`
    select deadlocks::int from pg_stat_database where datname = current_database()`;
  assert.equal(deadlocks, 0);
  report(t, { seed: firstSeed, moves, ...tally.counts });
});

test('sums by day stay exact while uses are counted, confirmed and refunded at the same moment', async (t) => {
  const { pick, below } = seededRandom(firstSeed);
  const above = await service.createTenant();
  const admin = await service.createTenant({}, above);
  const user = await service.createMember(admin, { roles: ['admin'], deptId: Number(await admin.createDepartment()) });
  await put(above, 'calls', { total: 100_000, pooled: true });
  const clients = [above, admin, user, there(above), there(admin), there(user)];
  const uses: { client: Client; path: string }[] = [];
  const tally = new Tally();
  const recordUse = (client: Client, { code, data }: Awaited<ReturnType<typeof consume>>) => {
    if (code === 200) uses.push({ client, path: `${QUOTAS}/uses/${data.useId}/refund` });
  };
  await runConcurrently(24, scale(150, 1_800), async () => {
    const [use] = below(3) === 0 ? uses.splice(below(uses.length), 1) : [];
    if (use) {
      const refunds = await Promise.all([use.client.post(use.path), there(use.client).post(use.path)]);
      return tally.add(`refund ${refunds.map(resultOf).sort()}`);
    }
    const client = pick(clients);
    if (below(3) > 0) {
      const used = await consume(client, 'calls', 1 + below(9));
      tally.add(`consume ${resultOf(used)}`);
      return recordUse(client, used);
    }
    const { data } = await client.post(`${QUOTAS}/reserve`, { quota: 'calls', amount: 1 + below(9), seconds: 600 });
    const confirmed = await client.post(`${QUOTAS}/reservations/${data.reservationId}/confirm`);
    tally.add(`confirm ${resultOf(confirmed)}`);
    recordUse(client, confirmed);
  });
  assert.deepEqual(Object.keys(tally.counts).sort(), ['confirm done', 'consume done', 'refund USE_REFUNDED,done']);
  await assertExact();
  for (const query of ['by=tenant', 'by=tenant&per=month']) {
    const sums: { amount: number; uses: number }[] = await read(above, `${QUOTAS}/usage?quota=calls&${query}`);
    const add = (field: 'amount' | 'uses') => sums.reduce((sum, each) => sum + each[field], 0);
    assert.deepEqual([add('amount'), add('uses')], [(await numbersOf(above, 'calls'))[0], uses.length]);
  }
  report(t, { seed: firstSeed, ...tally.counts });
});

test('an amount whose reservation expires while it is confirmed is used at most once', async (t) => {
  after(() => {
    clock = undefined;
  });
  const { pick } = seededRandom(firstSeed);
  const above = await service.createTenant();
  const admin = await service.createTenant({}, above);
  await put(above, 'calls', { total: 5, pooled: true });
  await put(admin, 'calls', { total: 5 });
  const tally = new Tally();
  for (let round = 0; round < scale(10, 200); round++) {
    const start = Date.now();
    clock = () => new Date(start);
    const { data } = await admin.post(`${QUOTAS}/reserve`, { quota: 'calls', amount: 5, seconds: 1 });
    // Each request reads the clock just before or just after the end.
    clock = () => new Date(start + pick([999, 1_000]));
    const [confirmed, ...uses] = await Promise.all([
      admin.post(`${QUOTAS}/reservations/${data.reservationId}/confirm`),
      consume(above, 'calls', 5),
      consume(admin, 'calls', 5),
    ]);
    const taken = [confirmed, ...uses].filter(({ code }) => code === 200);
    assert.ok(taken.length <= 1, 'used twice');
    clock = () => new Date(start + 1_000);
    assert.deepEqual(await numbersOf(above, 'calls'), taken.length ? [5, 0, 0] : [0, 0, 5]);
    tally.add(`${resultOf(confirmed)} ${uses.map(resultOf)}`);
    for (const { data } of taken) {
      const owner = taken[0] === uses[0] ? above : admin;
      assert.equal((await owner.post(`${QUOTAS}/uses/${data.useId}/refund`)).code, 200);
    }
  }
  report(t, { seed: firstSeed, ...tally.counts });
});

test('a reservation is confirmed or released once, and a use refunded once, however many concurrent requests try', async () => {
  const admin = await service.createTenant();
  await put(admin, 'calls', { total: 10 });
  const { data } = await admin.post(`${QUOTAS}/reserve`, { quota: 'calls', amount: 4, seconds: 600 });
  const path = `${QUOTAS}/reservations/${data.reservationId}`;
  const ends = await Promise.all(
    Array.from({ length: 8 }, (_, n) => admin.post(`${path}/${n % 2 ? 'confirm' : 'release'}`)),
  );
  assert.deepEqual(ends.map(resultOf).sort(), [...Array(7).fill('RESERVATION_ENDED'), 'done']);
  const state = ends.findIndex(({ code }) => code === 200) % 2 ? 'confirmed' : 'released';
  for (const end of ends.filter(({ code }) => code !== 200)) expectError(end, 409, 'RESERVATION_ENDED', { state });
  const { data: use } = await consume(admin, 'calls', 2);
  const refunds = await Promise.all(Array.from({ length: 8 }, () => admin.post(`${QUOTAS}/uses/${use.useId}/refund`)));
  assert.deepEqual(refunds.map(resultOf).sort(), [...Array(7).fill('USE_REFUNDED'), 'done']);
  await assertExact();
});

test('after a total is lowered, nothing more is used beyond it', async () => {
  const admin = await service.createTenant({ quotaBo: { merchant: 100_000 } });
  await put(admin, 'calls', { total: 100_000 });
  for (const [quota, lower] of [
    ['calls', (total: number) => root.put(`${QUOTAS}/calls?tenantId=${admin.tenantId}`, { total })],
    ['merchant', (total: number) => root.patch(`${TENANTS}/${admin.id}`, { quotaBo: { merchant: total } })],
  ] as const) {
    let isLowered = false;
    let used = 0;
    let lowering: Promise<void> | undefined;
    await runConcurrently(16, 200, async (n) => {
      if (n === 50) {
        lowering = lower(0).then((response) => {
          expectOk(response);
          isLowered = true;
        });
      }
      // However long the change takes, the last uses begin after it.
      if (n >= 150) await lowering;
      const wasLowered = isLowered;
      const response = await consume(admin, quota);
      if (response.code === 200) {
        used++;
        assert.ok(!wasLowered, 'used although the total had been lowered');
      } else assert.equal(resultOf(response), 'QUOTA_EXHAUSTED');
    });
    assert.deepEqual(await numbersOf(admin, quota), [used, 0, 0]);
  }
});

test('users of a subtree are exactly as many as its pool allows, however they are created', async (t) => {
  const top = await service.createTenant();
  const tenants = [top, await service.createTenant({}, top), await service.createTenant({}, top)];
  const beside = await service.createTenant();
  // The three administrators count.
  await put(top, 'accounts', { total: 13, pooled: true });
  await put(tenants[1] as Client, 'accounts', { total: 8, pooled: true });
  const deleted = await (tenants[1] as Client).createUser({ userName: 'deleted' });
  expectOk(await (tenants[1] as Client).delete(`${USERS}/${deleted}`));
  const tally = new Tally();
  const user = (n: number) => ({ userName: `user${n}`, password: PASSWORD });
  await runConcurrently(12, 24, async (n) => {
    const client = tenants[n % 3] as Client;
    const result =
      n % 4 === 0
        ? await client.post(`${USERS}/bulk`, { users: [{ ref: 'a', ...user(n) }] })
        : await client.post(USERS, user(n));
    tally.add(resultOf(result));
  });
  assert.deepEqual(tally.counts, { done: 10, QUOTA_EXHAUSTED: 14 });
  assert.deepEqual(await numbersOf(top, 'accounts'), [13, 0, 0]);
  // Neither a restored user, a first administrator nor a tenant that moves in gets around the limit.
  const full = 'QUOTA_EXHAUSTED';
  assert.equal(resultOf(await (tenants[1] as Client).post(`${USERS}/${deleted}/restore`)), full);
  const withAdministrator = { tenantName: 'new', username: 'boss', password: PASSWORD };
  assert.equal(resultOf(await top.post(TENANTS, withAdministrator)), full);
  assert.equal(resultOf(await root.patch(`${TENANTS}/${beside.id}`, { tenantParent: top.tenantId })), full);
  const [{ userId }] = (await read(top, `${USERS}/list?userName=user`)).rows;
  expectOk(await top.delete(`${USERS}/${userId}`));
  assert.deepEqual(await numbersOf(top, 'accounts'), [12, 0, 1]);
  const outcomes = await Promise.all([
    root.patch(`${TENANTS}/${beside.id}`, { tenantParent: top.tenantId }),
    top.post(USERS, user(100)),
    top.post(TENANTS, withAdministrator),
  ]);
  assert.deepEqual(outcomes.map(resultOf).sort(), [full, full, 'done']);
  assert.deepEqual(await numbersOf(top, 'accounts'), [13, 0, 0]);
  report(t, tally.counts);
});

test('replacing a tenant locks all its counters in the same order as a use', async () => {
  const above = await service.createTenant({ quotaBo: { merchant: 10, riskReport: 10 } });
  for (const quota of ['merchant', 'riskReport']) await put(above, quota, { pooled: true });
  const tenant = await service.createTenant({ quotaBo: { merchant: 10, riskReport: 10 } }, above);
  for (const quota of ['merchant', 'riskReport']) assert.equal(resultOf(await consume(tenant, quota)), 'done');
  let replaced: Promise<unknown> | undefined;
  await superuser.begin(async (tx) => {
    // Hold a counter of the pool, like a batch of uses that goes on with the counters of the tenant.
    await tx`select from banyan.quota_counters where tenant_id = ${above.tenantId} and quota = 'riskReport' for update`;
    const quotaBo = { merchant: 20, riskReport: 10, riskReportUsed: 5 };
    replaced = above.put(TENANTS, { id: tenant.id, quotaBo }).then(expectOk);
    await waitFor('the update waits for the counter of the pool', async () => (await countLockWaits(tx as never)) > 0);
    const free = await tx`
      select from banyan.quota_counters where tenant_id = ${tenant.tenantId} for update skip locked`;
    assert.equal(free.length, 2);
  });
  await replaced;
  assert.deepEqual(await numbersOf(tenant, 'riskReport'), [5, 0, 5]);
});
