import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expectOk } from '../support/expect.ts';
import type { Client } from '../support/service.ts';
import { consume, dataOf, put, quotaOf, startQuotas } from './quotas.ts';

// Clocks went from 2023-09-30 23:59:59 (-04) to 2023-10-01 01:00:00 (-03), and back on 2024-03-23 at 24:00.
const { service, root, clock, tenantWith } = await startQuotas('America/Asuncion');
const at = (time: string) => {
  clock.time = new Date(time);
};

describe('reset times', () => {
  const resetTimes = async (client: Client) => {
    const quotas = await Promise.all(['day', 'month', 'year'].map((quota) => quotaOf(client, quota)));
    return quotas.map(({ resetTime }) => resetTime);
  };

  for (const [what, time, expected] of [
    [
      'before a midnight that does not exist',
      '2023-09-30T12:00:00-04:00',
      ['2023-10-01 01:00:00', '2023-10-01 01:00:00', '2024-01-01 00:00:00'],
    ],
    [
      'on a day of 23 hours that begins at 01:00',
      '2023-10-01T12:00:00-03:00',
      ['2023-10-02 00:00:00', '2023-11-01 00:00:00', '2024-01-01 00:00:00'],
    ],
    [
      'on a day of 25 hours',
      '2024-03-23T12:00:00-03:00',
      ['2024-03-24 00:00:00', '2024-04-01 00:00:00', '2025-01-01 00:00:00'],
    ],
  ] as const) {
    test(`are the first moment of the next period ${what}`, async () => {
      const admin = await service.createTenant();
      at(time);
      for (const period of ['day', 'month', 'year']) expectOk(await put(root, admin, period, { total: 5, period }));
      const found = await resetTimes(admin);
      clock.time = undefined;
      assert.deepEqual(found, expected);
    });
  }
});

describe('replacing a period', () => {
  const periods = async (admin: Client, names: string[]) => {
    for (const period of names) expectOk(await put(root, admin, 'calls', { total: 10, period }));
  };
  const usedOf = async (client: Client) => (await quotaOf(client, 'calls')).used;

  for (const [former, between] of [
    ['day', ['month']],
    ['day', ['month', 'day']],
    ['day', ['none', 'day']],
    ['month', ['day']],
    ['none', ['day']],
  ] as const) {
    test(`keeps uses while the clock is set back (periods: ${[former, ...between].join(', ')})`, async () => {
      at('2023-05-02T12:00:00-04:00');
      const admin = await tenantWith('calls', { total: 10, period: former });
      dataOf(await consume(admin, 'calls', 10));
      at('2023-04-30T12:00:00-04:00');
      await periods(admin, [...between]);
      const back = await usedOf(admin);
      at('2023-05-02T13:00:00-04:00');
      const again = await usedOf(admin);
      at('2023-06-01T00:00:00-04:00');
      const later = await usedOf(admin);
      clock.time = undefined;
      assert.deepEqual([back, again, later], [10, 10, 0]);
    });
  }

  test('keeps uses of a pool by the tenants below it while the clock is set back', async () => {
    at('2023-05-20T12:00:00-04:00');
    const pool = await tenantWith('calls', { total: 10, period: 'month', pooled: true });
    const below = await service.createTenant({}, pool);
    dataOf(await consume(below, 'calls', 10));
    at('2023-05-10T12:00:00-04:00');
    expectOk(await put(root, pool, 'calls', { total: 10, period: 'day', pooled: true }));
    at('2023-05-20T13:00:00-04:00');
    const again = await usedOf(pool);
    at('2023-05-21T00:00:00-04:00');
    const later = await usedOf(pool);
    clock.time = undefined;
    assert.deepEqual([again, later], [10, 0]);
  });

  test('keeps uses of the day when it is replaced twice on that day', async () => {
    for (const between of ['none', 'month', 'year']) {
      at('2023-05-02T12:00:00-04:00');
      const admin = await tenantWith('calls', { total: 10, period: 'day' });
      dataOf(await consume(admin, 'calls', 10));
      await periods(admin, [between, 'day']);
      at('2023-05-02T23:59:59-04:00');
      const before = await usedOf(admin);
      at('2023-05-03T00:00:00-04:00');
      const later = await usedOf(admin);
      clock.time = undefined;
      assert.deepEqual([before, later], [10, 0], between);
    }
  });
});
