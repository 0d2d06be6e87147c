import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expectError, expectOk, read, TENANTS } from '../support/expect.ts';
import { Client } from '../support/service.ts';
import { consume, dataOf, numbersOf, put, QUOTAS, reserve, startQuotas } from './quotas.ts';

const { service, root, clock, tenantWith } = await startQuotas();

describe('pools', () => {
  test('a use counts against the pool above too, or not at all, and the tenant below learns nothing of the pool', async () => {
    const above = await tenantWith('calls', { total: 5, pooled: true });
    const below = await service.createTenant({}, above);
    expectOk(await put(above, below, 'calls', { total: 10 }));
    dataOf(await consume(above, 'calls', 1));
    const taken = dataOf(await consume(below, 'calls', 3));
    assert.deepEqual([taken.total, taken.used, taken.left], [10, 3, 7]);
    assert.deepEqual(await numbersOf(above, 'calls'), [5, 4, 0, 1]);
    const refused = await consume(below, 'calls', 2);
    expectError(refused, 409, 'QUOTA_EXHAUSTED', { quota: 'calls', total: 10, used: 3, left: 7 });
    assert.ok(!refused.text.includes(above.tenantId), refused.text);
    const acting = await above.post(`${QUOTAS}/consume?tenantId=${below.tenantId}`, { quota: 'calls', amount: 2 });
    expectError(acting, 409, 'QUOTA_EXHAUSTED', { tenantId: above.tenantId, used: 3 });
    assert.deepEqual(await numbersOf(below, 'calls'), [10, 3, 0, 7]);
    const { reservationId } = dataOf(await reserve(below, 'calls', 1));
    assert.deepEqual(await numbersOf(above, 'calls'), [5, 4, 1, 0]);
    expectError(await consume(above, 'calls', 1), 409, 'QUOTA_EXHAUSTED');
    dataOf(await below.post(`${QUOTAS}/reservations/${reservationId}/release`));
    dataOf(await below.post(`${QUOTAS}/uses/${taken.useId}/refund`));
    assert.deepEqual(await numbersOf(above, 'calls'), [5, 1, 0, 4]);
  });

  test('a tenant without a quota of its own uses the pool above it, which it sees without a limit', async () => {
    const above = await tenantWith('calls', { total: 5, pooled: true });
    const below = await service.createTenant({}, await service.createTenant({}, above));
    assert.deepEqual(await numbersOf(below, 'calls'), [-1, 0, 0, -1]);
    dataOf(await consume(below, 'calls', 5));
    assert.deepEqual(await numbersOf(below, 'calls'), [-1, 5, 0, -1]);
    expectError(await consume(below, 'calls'), 409, 'QUOTA_EXHAUSTED', { total: -1 });
    expectOk(await put(root, above, 'calls', { total: 5 }));
    expectError(await consume(below, 'calls'), 404, 'QUOTA_NOT_FOUND');
  });

  test('reservations and uses stay in the pools in which they were made when the tenant moves', async () => {
    const [first, second] = [
      await tenantWith('calls', { total: 5, pooled: true }),
      await tenantWith('calls', { total: 5, pooled: true }),
    ];
    const tenant = await service.createTenant({}, first);
    const { reservationId } = dataOf(await reserve(tenant, 'calls', 3));
    const { useId } = dataOf(await consume(tenant, 'calls', 2));
    expectOk(await root.patch(`${TENANTS}/${tenant.id}`, { tenantParent: second.tenantId }));
    dataOf(await consume(tenant, 'calls', 1));
    dataOf(await tenant.post(`${QUOTAS}/reservations/${reservationId}/confirm`, { amount: 2 }));
    assert.deepEqual(await numbersOf(first, 'calls'), [5, 4, 0, 1]);
    dataOf(await tenant.post(`${QUOTAS}/uses/${useId}/refund`));
    assert.deepEqual(await numbersOf(first, 'calls'), [5, 2, 0, 3]);
    assert.deepEqual(await numbersOf(second, 'calls'), [5, 1, 0, 4]);
    assert.deepEqual(await numbersOf(tenant, 'calls'), [-1, 3, 0, -1]);
  });
});

describe('quotas of the tenants below', () => {
  const below = (client: Client, query = '') => read(client, `${QUOTAS}/below${query}`);
  /** A key that reads only the quotas of its own tenant. */
  const readerOf = async (admin: Client) => {
    const body = { keyName: 'reader', permissions: ['quota:read'] };
    return new Client(service.base, dataOf(await admin.post('/system/key-api', body)).key);
  };
  const summary = ({ rows }: { rows: Record<string, unknown>[] }) =>
    rows.map(({ tenantId, quota, used, recent }) => [tenantId, quota, used, recent]);

  test('quotas that run out first at the rate of the last 30 days come first', async () => {
    const above = await service.createTenant();
    const [slow, fast, full, endless] = [
      await service.createTenant({ tenantName: 'slow', quotaBo: { merchant: 100, chainReport: 7 } }, above),
      await service.createTenant({ quotaBo: { merchant: 100 } }, above),
      await service.createTenant({ quotaBo: { merchant: 2 } }, above),
      await service.createTenant({}, above),
    ] as const;
    expectOk(await put(above, endless, 'calls', { total: -1 }));
    const lower = await service.createTenant({ quotaBo: { riskReport: 10 } }, slow);
    const monthly = await service.createTenant({}, above);
    clock.time = new Date('2027-04-08T12:00:00+08:00');
    expectOk(await put(above, monthly, 'calls', { total: 100, period: 'month' }));
    // This use is too old to count for the rate.
    dataOf(await consume(slow, 'merchant', 60));
    clock.time = new Date('2027-05-10T12:00:00+08:00');
    // This quota would run out in June, but its next period begins earlier.
    dataOf(await consume(monthly, 'calls', 50));
    dataOf(await consume(slow, 'merchant', 1));
    const refunded = dataOf(await consume(fast, 'merchant', 30));
    dataOf(await consume(fast, 'merchant', 20));
    dataOf(await above.post(`${QUOTAS}/uses/${refunded.useId}/refund?tenantId=${fast.tenantId}`));
    dataOf(await consume(full, 'merchant', 2));
    dataOf(await consume(endless, 'calls', 1000));
    dataOf(await reserve(lower, 'riskReport', 1));
    const [list, ofSlow] = [await below(above), await below(above, `?tenantId=${slow.tenantId}`)];
    clock.time = undefined;
    assert.deepEqual(summary(list), [
      [full.tenantId, 'merchant', 2, 2],
      [fast.tenantId, 'merchant', 20, 20],
      [slow.tenantId, 'merchant', 61, 1],
      [monthly.tenantId, 'calls', 50, 50],
      [lower.tenantId, 'riskReport', 0, 0],
      [endless.tenantId, 'calls', 1000, 1000],
    ]);
    assert.equal(list.total, 6);
    const { id, tenantName, total, reserved, left, period, pooled, resetTime } = list.rows[2];
    assert.deepEqual(
      { id, tenantName, total, reserved, left, period, pooled, resetTime },
      {
        id: slow.id,
        tenantName: 'slow',
        total: 100,
        reserved: 0,
        left: 39,
        period: 'none',
        pooled: false,
        resetTime: null,
      },
    );
    assert.deepEqual(summary(ofSlow), [[lower.tenantId, 'riskReport', 0, 0]]);
    assert.deepEqual(await below(fast), { rows: [], total: 0 });
    const ofOwn = await readerOf(above);
    assert.deepEqual(await below(ofOwn), { rows: [], total: 0 }, 'a key without `below` sees its own tenant only');
  });

  test('a quota of which nothing is used or reserved any more is not listed', async () => {
    const above = await service.createTenant();
    const [expired, reset, partly] = [
      await service.createTenant({ quotaBo: { merchant: 10 } }, above),
      await service.createTenant({}, above),
      await service.createTenant({ quotaBo: { merchant: 10 } }, above),
    ] as const;
    clock.time = new Date('2027-05-10T23:59:58+08:00');
    expectOk(await put(above, reset, 'daily', { total: 5, period: 'day' }));
    dataOf(await reserve(expired, 'merchant', 3, 1));
    dataOf(await consume(reset, 'daily', 5));
    dataOf(await reserve(partly, 'merchant', 3, 1));
    dataOf(await reserve(partly, 'merchant', 2, 60));
    const before = await below(above);
    clock.time = new Date('2027-05-11T00:00:00+08:00');
    const later = await below(above);
    clock.time = undefined;
    assert.deepEqual([before.rows.length, before.total], [3, 3]);
    assert.deepEqual(
      later.rows.map(({ tenantId, used, reserved }: Record<string, unknown>) => [tenantId, used, reserved]),
      [[partly.tenantId, 0, 2]],
    );
    assert.equal(later.total, 1);
  });

  test('a pool counts the uses below it, and its sums name the tenants', async () => {
    const above = await service.createTenant();
    const pool = await service.createTenant({}, above);
    const [one, two] = [await service.createTenant({}, pool), await service.createTenant({}, pool)];
    expectOk(await put(above, pool, 'calls', { total: 100, pooled: true }));
    clock.time = new Date('2027-03-01T12:00:00+08:00');
    dataOf(await consume(pool, 'calls', 1));
    dataOf(await consume(one, 'calls', 2));
    clock.time = new Date('2027-03-02T12:00:00+08:00');
    dataOf(await consume(two, 'calls', 4));
    const first = summary(await below(above))[0];
    const usage = (client: Client, query: string) => read(client, `${QUOTAS}/usage?by=tenant&quota=calls${query}`);
    const sum = { quota: 'calls', uses: 1 };
    const [march1, march2] = [
      { date: '2027-03-01', ...sum },
      { date: '2027-03-02', ...sum },
    ];
    const all = [
      ...[
        { ...march1, amount: 1, tenantId: pool.tenantId },
        { ...march1, amount: 2, tenantId: one.tenantId },
      ].sort((a, b) => a.tenantId.localeCompare(b.tenantId)),
      { ...march2, amount: 4, tenantId: two.tenantId },
    ];
    const sums = await usage(pool, '');
    const ofOne = await usage(one, '');
    const later = await usage(pool, '&from=2027-03-02&per=month');
    const ofOwn = await readerOf(pool);
    const ownSums = await usage(ofOwn, '');
    clock.time = undefined;
    assert.deepEqual(first, [pool.tenantId, 'calls', 7, 7]);
    assert.deepEqual(sums, all);
    assert.deepEqual(ofOne, [{ ...march1, amount: 2, tenantId: one.tenantId }]);
    assert.deepEqual(later, [{ ...sum, date: '2027-03', amount: 4, tenantId: two.tenantId }]);
    assert.deepEqual(ownSums, [{ ...march1, amount: 1, tenantId: pool.tenantId }]);
  });
});
