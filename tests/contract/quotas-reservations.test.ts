import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expectError, expectOk, read } from '../support/expect.ts';
import { Client } from '../support/service.ts';
import { consume, dataOf, numbersOf, put, QUOTAS, quotaOf, reserve, startQuotas } from './quotas.ts';

const { service, root, clock, tenantWith } = await startQuotas();

describe('reserve', () => {
  test('a reservation counts as reserved until it is confirmed; it can be confirmed once, also in part', async () => {
    const admin = await tenantWith('calls', { total: 10 });
    const { reservationId, ...numbers } = dataOf(await reserve(admin, 'calls', 6));
    assert.deepEqual(numbers, { quota: 'calls', total: 10, used: 0, reserved: 6, left: 4 });
    expectError(await consume(admin, 'calls', 5), 409, 'QUOTA_EXHAUSTED', { reserved: 6, left: 4 });
    const path = `${QUOTAS}/reservations/${reservationId}`;
    expectError(await admin.post(`${path}/confirm`, { amount: 7 }), 400, 'INVALID_FIELD', { field: 'amount' });
    const confirmed = dataOf(await admin.post(`${path}/confirm`, { amount: 4 }));
    assert.deepEqual([confirmed.used, confirmed.reserved, confirmed.left], [4, 0, 6]);
    for (const end of ['confirm', 'release']) {
      expectError(await admin.post(`${path}/${end}`), 409, 'RESERVATION_ENDED', { state: 'confirmed' });
    }
    const [use] = (await read(admin, `${QUOTAS}/uses`)).rows;
    assert.deepEqual([use.useId, use.amount], [confirmed.useId, 4]);
    expectError(await admin.post(`${QUOTAS}/reservations/1/confirm`), 404, 'RESERVATION_NOT_FOUND');
  });

  test('releasing a reservation frees its whole amount', async () => {
    const admin = await tenantWith('calls', { total: 10 });
    const { reservationId } = dataOf(await reserve(admin, 'calls', 6));
    const path = `${QUOTAS}/reservations/${reservationId}`;
    const released = dataOf(await admin.post(`${path}/release`, { amount: 2 }));
    assert.deepEqual(released, { quota: 'calls', total: 10, used: 0, reserved: 0, left: 10 });
    expectError(await admin.post(`${path}/confirm`), 409, 'RESERVATION_ENDED', { state: 'released' });
    assert.equal((await read(admin, `${QUOTAS}/uses`)).total, 0);
  });

  test('an expired reservation no longer counts, in reads and in uses, and cannot be confirmed', async () => {
    const admin = await tenantWith('calls', { total: 10 });
    const start = Date.now();
    clock.time = new Date(start);
    const first = dataOf(await reserve(admin, 'calls', 6, 10));
    const second = dataOf(await reserve(admin, 'calls', 3, 20));
    clock.time = new Date(start + 9_999);
    assert.deepEqual(await numbersOf(admin, 'calls'), [10, 0, 9, 1]);
    clock.time = new Date(start + 10_000);
    assert.deepEqual(await numbersOf(admin, 'calls'), [10, 0, 3, 7]);
    const path = `${QUOTAS}/reservations/${first.reservationId}`;
    expectError(await admin.post(`${path}/confirm`), 409, 'RESERVATION_ENDED', { state: 'expired' });
    assert.equal(dataOf(await consume(admin, 'calls', 7)).left, 0);
    // The clock is set back: a reservation that has expired stays expired.
    clock.time = new Date(start);
    expectError(await admin.post(`${path}/confirm`), 409, 'RESERVATION_ENDED', { state: 'expired' });
    const confirmed = dataOf(await admin.post(`${QUOTAS}/reservations/${second.reservationId}/confirm`));
    assert.deepEqual([confirmed.used, confirmed.reserved, confirmed.left], [10, 0, 0]);
    clock.time = undefined;
  });
});

describe('refund', () => {
  test('a use is refunded once, by callers with quota:write', async () => {
    const admin = await tenantWith('calls', { total: 5 });
    const { useId } = dataOf(await consume(admin, 'calls', 4));
    const path = `${QUOTAS}/uses/${useId}/refund`;
    const { key } = dataOf(await admin.post('/system/key-api', { keyName: 'k', permissions: ['quota:use'] }));
    expectError(await new Client(service.base, key).post(path), 403, 'NOT_ALLOWED');
    assert.deepEqual(dataOf(await admin.post(path)), {
      useId,
      quota: 'calls',
      total: 5,
      used: 0,
      reserved: 0,
      left: 5,
    });
    expectError(await admin.post(path), 409, 'USE_REFUNDED');
    expectError(await admin.post(`${QUOTAS}/uses/1/refund`), 404, 'USE_NOT_FOUND');
    const [use] = (await read(admin, `${QUOTAS}/uses`)).rows;
    assert.equal(use.refundBy, 'boss');
    assert.deepEqual(await read(admin, `${QUOTAS}/usage`), []);
  });

  test('a refund in a later period leaves that period alone', async () => {
    clock.time = new Date('2027-01-01T12:00:00+08:00');
    const admin = await tenantWith('daily', { total: 5, period: 'day' });
    const { useId } = dataOf(await consume(admin, 'daily', 4));
    clock.time = new Date('2027-01-02T12:00:00+08:00');
    dataOf(await consume(admin, 'daily', 3));
    assert.equal(dataOf(await admin.post(`${QUOTAS}/uses/${useId}/refund`)).used, 3);
    clock.time = undefined;
  });
});

describe('periods', () => {
  const at = (text: string) => {
    clock.time = new Date(`${text}+08:00`);
  };

  test('a new period begins at midnight of the time zone, also after 29 February', async () => {
    at('2028-02-28T23:00:00');
    const admin = await service.createTenant();
    for (const period of ['day', 'month', 'year']) expectOk(await put(root, admin, period, { total: 5, period }));
    const useAll = async () => {
      for (const period of ['day', 'month', 'year']) dataOf(await consume(admin, period, 1));
    };
    const used = async () => [
      ...(await Promise.all(['day', 'month', 'year'].map(async (quota) => (await quotaOf(admin, quota)).used))),
    ];
    at('2028-02-29T23:59:59.999');
    await useAll();
    const resetTimes = ['day', 'month', 'year'].map(async (quota) => (await quotaOf(admin, quota)).resetTime);
    assert.deepEqual(await Promise.all(resetTimes), [
      '2028-03-01 00:00:00',
      '2028-03-01 00:00:00',
      '2029-01-01 00:00:00',
    ]);
    assert.deepEqual(await used(), [1, 1, 1]);
    at('2028-03-01T00:00:00');
    assert.deepEqual(await used(), [0, 0, 1]);
    await useAll();
    at('2028-03-31T23:59:59');
    assert.deepEqual(await used(), [0, 1, 2]);
    at('2029-01-01T00:00:00');
    assert.deepEqual(await used(), [0, 0, 0]);
    clock.time = undefined;
  });

  test('a period never goes back when the clock is set back', async () => {
    at('2027-06-02T00:00:00');
    const admin = await tenantWith('daily', { total: 5, period: 'day' });
    dataOf(await consume(admin, 'daily', 4));
    at('2027-06-01T23:59:59');
    assert.deepEqual(await numbersOf(admin, 'daily'), [5, 4, 0, 1]);
    assert.equal((await quotaOf(admin, 'daily')).resetTime, '2027-06-03 00:00:00');
    expectError(await consume(admin, 'daily', 2), 409, 'QUOTA_EXHAUSTED', { used: 4 });
    dataOf(await consume(admin, 'daily', 1));
    at('2027-06-02T12:00:00');
    expectError(await consume(admin, 'daily', 1), 409, 'QUOTA_EXHAUSTED', { used: 5 });
    at('2027-06-03T00:00:00');
    assert.equal(dataOf(await consume(admin, 'daily', 1)).used, 1);
    clock.time = undefined;
  });

  test('what is reserved stays reserved in the next period, and counts there when it is confirmed', async () => {
    at('2027-06-01T23:59:50');
    const admin = await tenantWith('daily', { total: 5, period: 'day' });
    dataOf(await consume(admin, 'daily', 2));
    const { reservationId } = dataOf(await reserve(admin, 'daily', 3, 60));
    at('2027-06-02T00:00:10');
    assert.deepEqual(await numbersOf(admin, 'daily'), [5, 0, 3, 2]);
    const confirmed = dataOf(await admin.post(`${QUOTAS}/reservations/${reservationId}/confirm`));
    assert.deepEqual([confirmed.used, confirmed.reserved], [3, 0]);
    clock.time = undefined;
  });
});
