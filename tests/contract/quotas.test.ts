import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { archiveUses } from '../../server/quotas/archive.ts';
import { expectError, expectOk, read, TENANTS } from '../support/expect.ts';
import { type ApiResponse, Client, startService } from '../support/service.ts';

const QUOTAS = '/system/quota-api';
let time: Date | undefined;
const service = await startService({ BANYAN_TIME_ZONE: 'Asia/Shanghai' }, { quotaTime: () => time });
const { root } = service;

/** Makes or replaces a quota of a tenant below. */
const put = (above: Client, of: Client, quota: string, body: object) =>
  above.put(`${QUOTAS}/${quota}?tenantId=${of.tenantId}`, body);
const quotaOf = async (client: Client, quota: string) =>
  (await read(client, QUOTAS)).find((each: { quota: string }) => each.quota === quota);
const numbersOf = async (client: Client, quota: string) => {
  const { total, used, reserved, left } = await quotaOf(client, quota);
  return [total, used, reserved, left];
};
const consume = (client: Client, quota: string, amount?: number, more: object = {}) =>
  client.post(`${QUOTAS}/consume`, { quota, amount, ...more });
const reserve = (client: Client, quota: string, amount: number, seconds = 60) =>
  client.post(`${QUOTAS}/reserve`, { quota, amount, seconds });
const dataOf = (response: ApiResponse) => {
  assert.equal(response.status, 200, response.text);
  return response.data;
};
async function tenantWith(quota: string, body: object) {
  const admin = await service.createTenant();
  expectOk(await put(root, admin, quota, body));
  return admin;
}

describe('quotas of a tenant', () => {
  test('a tenant has the six quotas of its quotaBo, and further ones by name', async () => {
    const admin = await service.createTenant({ quotaBo: { merchant: 5, zr: 3 } });
    expectOk(await put(root, admin, 'apiCalls', { total: -1, period: 'month' }));
    const quotas = await read(admin, QUOTAS);
    assert.deepEqual(
      quotas.map(({ quota }: { quota: string }) => quota),
      [
        ...['enterpriseQuery', 'annualReportQuery', 'chainReport', 'businessReport', 'riskReport', 'merchant'],
        'apiCalls',
      ],
    );
    const none = { used: 0, reserved: 0, pooled: false };
    assert.deepEqual(quotas[5], { quota: 'merchant', total: 5, left: 5, period: 'none', resetTime: null, ...none });
    const { resetTime, ...calls } = quotas[6];
    assert.deepEqual(calls, { quota: 'apiCalls', total: -1, left: -1, period: 'month', ...none });
    assert.match(resetTime, /^\d{4}-\d{2}-01 00:00:00$/);
    assert.deepEqual(await read(root, `${QUOTAS}?tenantId=${admin.tenantId}`), quotas);
  });

  test('replacing a tenant keeps what was used; riskReportUsed sets it', async () => {
    const quotaBo = { merchant: 5, riskReport: 10, riskReportUsed: 4 };
    const admin = await service.createTenant({ quotaBo });
    assert.deepEqual(await numbersOf(admin, 'riskReport'), [10, 4, 0, 6]);
    dataOf(await consume(admin, 'riskReport', 2));
    dataOf(await consume(admin, 'merchant', 3));
    expectOk(await root.put(TENANTS, { id: admin.id, quotaBo: { merchant: 2, riskReport: 10 } }));
    assert.deepEqual(await numbersOf(admin, 'riskReport'), [10, 6, 0, 4]);
    assert.deepEqual(await numbersOf(admin, 'merchant'), [2, 3, 0, 0], 'a lower total leaves 0');
    expectOk(await root.put(TENANTS, { id: admin.id, quotaBo: { riskReport: 10, riskReportUsed: 1 } }));
    assert.deepEqual(await numbersOf(admin, 'riskReport'), [10, 1, 0, 9]);
    expectOk(await root.patch(`${TENANTS}/${admin.id}`, { tenantName: 'renamed', quotaBo: { merchant: 9 } }));
    assert.deepEqual(await numbersOf(admin, 'riskReport'), [10, 1, 0, 9]);
    assert.deepEqual(await numbersOf(admin, 'merchant'), [9, 3, 0, 6]);
    expectOk(await root.patch(`${TENANTS}/${admin.id}`, { quotaBo: { riskReportUsed: 3 } }));
    assert.deepEqual(await numbersOf(admin, 'riskReport'), [10, 3, 0, 7]);
  });

  test('reverting a change of a tenant keeps what was used', async () => {
    const admin = await service.createTenant({ quotaBo: { riskReport: 10, riskReportUsed: 4 } });
    expectOk(await root.patch(`${TENANTS}/${admin.id}`, { tenantName: 'changed' }));
    dataOf(await consume(admin, 'riskReport', 2));
    const { rows } = await read(root, `/system/change-api/list?resource=tenant&tenantId=${admin.tenantId}&below=false`);
    const reverted = await root.post(`/system/change-api/${rows[0].id}/revert?tenantId=${admin.tenantId}`);
    assert.equal(reverted.code, 200, reverted.text);
    assert.deepEqual(await numbersOf(admin, 'riskReport'), [10, 6, 0, 4]);
  });
});

describe('consume', () => {
  test('a use counts once, with its subject, and the use that is too large counts nothing', async () => {
    const admin = await tenantWith('calls', { total: 5 });
    const first = dataOf(await consume(admin, 'calls', undefined, { subject: '甲' }));
    const { useId, ...numbers } = first;
    assert.deepEqual(numbers, { quota: 'calls', total: 5, used: 1, reserved: 0, left: 4 });
    dataOf(await consume(admin, 'calls', 3));
    const details = { quota: 'calls', total: 5, used: 4, reserved: 0, left: 1, tenantId: admin.tenantId };
    expectError(await consume(admin, 'calls', 2), 409, 'QUOTA_EXHAUSTED', details);
    dataOf(await consume(admin, 'calls', 1));
    expectError(await consume(admin, 'calls', 1), 409, 'QUOTA_EXHAUSTED', { left: 0 });
    const { rows, total } = await read(admin, `${QUOTAS}/uses?quota=calls`);
    assert.deepEqual([rows.length, total], [3, 3]);
    const { time: at, userId, ...use } = rows[2];
    assert.deepEqual(use, {
      ...{ useId, quota: 'calls', amount: 1, subject: '甲', keyId: null, deptId: null },
      ...{ refundTime: null, refundBy: null },
    });
    assert.ok(at && userId);
  });

  test('an unknown quota and an invalid amount are rejected', async () => {
    const admin = await tenantWith('calls', { total: -1 });
    expectError(await consume(admin, 'unknown'), 404, 'QUOTA_NOT_FOUND', { quota: 'unknown' });
    for (const amount of [0, -1, 1.5, '1', 1_000_000_001, 2 ** 53 + 2]) {
      const response = await admin.post(`${QUOTAS}/consume`, { quota: 'calls', amount });
      expectError(response, 400, 'INVALID_FIELD', { field: 'amount' });
    }
    expectError(await consume(admin, 'no spaces'), 400, 'INVALID_FIELD', { field: 'quota' });
    expectError(await consume(admin, 'calls', 1, { subject: 'x'.repeat(201) }), 400, 'INVALID_FIELD');
    assert.deepEqual(await numbersOf(admin, 'calls'), [-1, 0, 0, -1]);
    assert.equal((await read(admin, `${QUOTAS}/uses`)).total, 0);
  });

  test('sums stay exact up to 2^53-1, with a limit and without', async () => {
    const limit = Number.MAX_SAFE_INTEGER;
    for (const total of [limit, -1]) {
      const admin = await tenantWith('large', { total, used: limit - 2 });
      assert.equal(dataOf(await consume(admin, 'large', 1)).used, limit - 1);
      expectError(await consume(admin, 'large', 2), 409, 'QUOTA_EXHAUSTED');
      assert.equal(dataOf(await consume(admin, 'large', 1)).used, limit);
      expectError(await consume(admin, 'large', 1), 409, 'QUOTA_EXHAUSTED', { used: limit });
    }
  });

  test('a repeated Idempotency-Key repeats the answer and counts nothing, also after a refusal', async () => {
    const admin = await tenantWith('calls', { total: 3 });
    const send = (key: string, amount: number) =>
      admin.post(`${QUOTAS}/consume`, { quota: 'calls', amount }, { headers: { 'idempotency-key': key } });
    const [first, second] = [await send('a', 2), await send('a', 2)];
    assert.deepEqual(second.data, dataOf(first));
    assert.equal(second.headers['idempotent-replayed'], 'true');
    expectError(await send('b', 2), 409, 'QUOTA_EXHAUSTED', { used: 2 });
    expectOk(await put(root, admin, 'calls', { total: 10 }));
    expectError(await send('b', 2), 409, 'QUOTA_EXHAUSTED', { used: 2 });
    assert.deepEqual(await numbersOf(admin, 'calls'), [10, 2, 0, 8]);
  });

  test('members may not use quotas; a key with quota:use may, and is recorded', async () => {
    const admin = await tenantWith('calls', { total: 3 });
    const member = await service.createMember(admin);
    expectError(await consume(member, 'calls'), 403, 'NOT_ALLOWED');
    const { keyId, key } = dataOf(await admin.post('/system/key-api', { keyName: 'k', permissions: ['quota:use'] }));
    const program = new Client(service.base, key);
    dataOf(await consume(program, 'calls'));
    expectError(await program.get(QUOTAS), 403, 'NOT_ALLOWED');
    const [use] = (await read(admin, `${QUOTAS}/uses`)).rows;
    assert.deepEqual([use.keyId, use.userId], [keyId, null]);
  });
});

describe('reserve', () => {
  test('a reservation counts as reserved until it is confirmed in part, and only once', async () => {
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

  test('a released reservation is free again, as a whole', async () => {
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
    time = new Date(start);
    const first = dataOf(await reserve(admin, 'calls', 6, 10));
    const second = dataOf(await reserve(admin, 'calls', 3, 20));
    time = new Date(start + 9_999);
    assert.deepEqual(await numbersOf(admin, 'calls'), [10, 0, 9, 1]);
    time = new Date(start + 10_000);
    assert.deepEqual(await numbersOf(admin, 'calls'), [10, 0, 3, 7]);
    const path = `${QUOTAS}/reservations/${first.reservationId}`;
    expectError(await admin.post(`${path}/confirm`), 409, 'RESERVATION_ENDED', { state: 'expired' });
    assert.equal(dataOf(await consume(admin, 'calls', 7)).left, 0);
    // The clock is set back: what was given away stays given away.
    time = new Date(start);
    expectError(await admin.post(`${path}/confirm`), 409, 'RESERVATION_ENDED', { state: 'expired' });
    const confirmed = dataOf(await admin.post(`${QUOTAS}/reservations/${second.reservationId}/confirm`));
    assert.deepEqual([confirmed.used, confirmed.reserved, confirmed.left], [10, 0, 0]);
    time = undefined;
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
    const admin = await tenantWith('daily', { total: 5, period: 'day' });
    time = new Date('2027-01-01T12:00:00+08:00');
    const { useId } = dataOf(await consume(admin, 'daily', 4));
    time = new Date('2027-01-02T12:00:00+08:00');
    dataOf(await consume(admin, 'daily', 3));
    assert.equal(dataOf(await admin.post(`${QUOTAS}/uses/${useId}/refund`)).used, 3);
    time = undefined;
  });
});

describe('periods', () => {
  const at = (text: string) => {
    time = new Date(`${text}+08:00`);
  };

  test('a period turns at midnight of the time zone, and at the end of February', async () => {
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
    time = undefined;
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
    time = undefined;
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
    time = undefined;
  });
});

describe('PUT', () => {
  test('administrators above make and replace quotas, which the ledger records', async () => {
    const admin = await service.createTenant();
    const below = await service.createTenant({}, admin);
    expectError(await admin.put(`${QUOTAS}/calls`, { total: 5 }), 403, 'OWN_TENANT');
    expectError(await put(below, admin, 'calls', { total: 5 }), 403, 'OTHER_TENANT');
    expectOk(await put(admin, below, 'calls', { total: 5, period: 'month', pooled: true, used: 2 }));
    assert.deepEqual(await numbersOf(below, 'calls'), [5, 2, 0, 3]);
    expectError(await put(admin, below, 'calls', { total: 5, used: 1 }), 409, 'QUOTA_EXISTS');
    expectOk(await put(root, below, 'calls', { total: 1 }));
    assert.deepEqual(await numbersOf(below, 'calls'), [1, 2, 0, 0], 'what was used stays');
    assert.deepEqual((await quotaOf(below, 'calls')).period, 'none');
    const { rows } = await read(admin, `/system/change-api/list?resource=quota&tenantId=${below.tenantId}`);
    const record = (total: number, period: string, pooled: boolean) => ({ quota: 'calls', total, period, pooled });
    assert.deepEqual(
      rows.map(({ action, by, before, after }: Record<string, unknown>) => [action, by, before, after]),
      [
        ['updated', 'admin', record(5, 'month', true), record(1, 'none', false)],
        ['created', 'boss', null, record(5, 'month', true)],
      ],
    );
    for (const feed of [
      await read(below, '/system/change-api?limit=1000'),
      await read(admin, '/system/change-api?limit=1000&below=true'),
    ]) {
      const changes = (feed.rows as { resource: string; after: unknown }[]).filter(
        ({ resource }) => resource === 'quota',
      );
      assert.deepEqual(
        changes.map(({ after }) => after),
        [record(5, 'month', true), record(1, 'none', false)],
        'the feed has them too',
      );
    }
  });

  test('a quota of quotaBo takes a period and a pool; its total is the one of the tenant', async () => {
    const admin = await service.createTenant({ quotaBo: { merchant: 5 } });
    expectOk(await put(root, admin, 'merchant', { period: 'day', pooled: true }));
    assert.deepEqual(await numbersOf(admin, 'merchant'), [5, 0, 0, 5]);
    expectOk(await put(root, admin, 'merchant', { total: 8 }));
    assert.equal((await read(root, `${TENANTS}/${admin.id}`)).quotaBo.merchant, 8);
    expectOk(await root.patch(`${TENANTS}/${admin.id}`, { quotaBo: { merchant: 9 } }));
    assert.deepEqual(await numbersOf(admin, 'merchant'), [9, 0, 0, 9]);
    expectError(await put(root, admin, 'merchant', { total: -1 }), 400, 'INVALID_FIELD', { field: 'total' });
    expectError(await put(root, admin, 'calls', {}), 400, 'FIELD_REQUIRED', { field: 'total' });
    for (const name of ['Calls', '1a', 'a-b', 'a'.repeat(51)])
      expectError(await put(root, admin, name, { total: 1 }), 400, 'INVALID_FIELD', { field: 'quota' });
  });
});

describe('pools', () => {
  test('a use counts against every pool above or none, and a caller below learns nothing of them', async () => {
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

describe('uses and usage', () => {
  test('sums are per day or month, by user, key, subject or department', async () => {
    const admin = await tenantWith('calls', { total: -1 });
    const deptId = Number(await admin.createDepartment());
    const user = await service.createMember(admin, { roles: ['admin'], deptId });
    const { keyId, key } = dataOf(await admin.post('/system/key-api', { keyName: 'k', permissions: ['quota:use'] }));
    time = new Date('2027-01-31T23:59:59+08:00');
    dataOf(await consume(user, 'calls', 2, { subject: 'x' }));
    time = new Date('2027-02-01T00:00:00+08:00');
    dataOf(await consume(new Client(service.base, key), 'calls', 3));
    dataOf(await consume(user, 'calls', 4, { subject: 'x' }));
    dataOf(await consume(user, 'merchant', 1).then((refused) => ({ ...refused, status: 200 })));
    time = undefined;
    const usage = async (query: string) =>
      (await read(admin, `${QUOTAS}/usage?${query}`)).map(
        ({ date, amount, uses, quota: _, ...by }: Record<string, number | string>) => [
          date,
          amount,
          uses,
          ...Object.values(by),
        ],
      );
    assert.deepEqual(await usage('per=day'), [
      ['2027-01-31', 2, 1],
      ['2027-02-01', 7, 2],
    ]);
    assert.deepEqual(await usage('per=month&from=2027-02-01&to=2027-02-28'), [['2027-02', 7, 2]]);
    assert.deepEqual(await usage('to=2027-01-31&by=subject'), [['2027-01-31', 2, 1, 'x']]);
    assert.deepEqual(await usage('from=2027-02-01&by=key'), [
      ['2027-02-01', 3, 1, keyId],
      ['2027-02-01', 4, 1, null],
    ]);
    assert.deepEqual(await usage('from=2027-02-01&by=department'), [
      ['2027-02-01', 4, 1, deptId],
      ['2027-02-01', 3, 1, null],
    ]);
    assert.deepEqual(await usage('to=2027-01-31&by=user'), [['2027-01-31', 2, 1, Number(user.id)]]);
    assert.deepEqual(await usage('quota=merchant'), []);
    expectError(await admin.get(`${QUOTAS}/usage?from=2027-02-02&to=2027-02-01`), 400, 'INVALID_FIELD');
  });

  test('uses are listed with the latest first, in pages and with a cursor', async () => {
    const admin = await tenantWith('calls', { total: -1 });
    for (let n = 1; n <= 5; n++) dataOf(await consume(admin, 'calls', n));
    const amounts = (page: { rows: { amount: number }[] }) => page.rows.map(({ amount }) => amount);
    const page = await read(admin, `${QUOTAS}/uses?pageSize=2&pageNum=2`);
    assert.deepEqual([amounts(page), page.total], [[3, 2], 5]);
    const first = await read(admin, `${QUOTAS}/uses?pageSize=3&cursor=`);
    assert.deepEqual(amounts(first), [5, 4, 3]);
    const rest = await read(admin, `${QUOTAS}/uses?pageSize=3&cursor=${first.next}`);
    assert.deepEqual([amounts(rest), rest.next], [[2, 1], null]);
  });

  test('old uses move to the archive, where lists and sums still find them', async () => {
    const admin = await tenantWith('calls', { total: -1 });
    time = new Date('2020-01-01T12:00:00+08:00');
    const old = dataOf(await consume(admin, 'calls', 2));
    await reserve(admin, 'calls', 1);
    time = undefined;
    dataOf(await consume(admin, 'calls', 3));
    assert.equal(await archiveUses(service.owner, 30), 1);
    assert.equal(await archiveUses(service.owner, 30), 0);
    const { rows } = await read(admin, `${QUOTAS}/uses`);
    assert.deepEqual(
      rows.map(({ amount }: { amount: number }) => amount),
      [3, 2],
    );
    assert.equal((await read(admin, `${QUOTAS}/usage?to=2020-12-31`))[0].amount, 2);
    expectError(await admin.post(`${QUOTAS}/uses/${old.useId}/refund`), 404, 'USE_NOT_FOUND');
    assert.deepEqual(await numbersOf(admin, 'calls'), [-1, 5, 0, -1], 'what was used stays');
  });

  test('a user of a tenant above who acts in a tenant is not shown to it', async () => {
    const admin = await tenantWith('calls', { total: -1 });
    dataOf(await root.post(`${QUOTAS}/consume?tenantId=${admin.tenantId}`, { quota: 'calls' }));
    assert.equal((await read(admin, `${QUOTAS}/uses`)).rows[0].userId, null);
    assert.notEqual((await read(root, `${QUOTAS}/uses?tenantId=${admin.tenantId}`)).rows[0].userId, null);
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

  test('those that run out first at the rate of the last 30 days come first', async () => {
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
    expectOk(await put(above, monthly, 'calls', { total: 100, period: 'month' }));
    // Most of it was used too long ago to count for the rate.
    time = new Date('2027-04-08T12:00:00+08:00');
    dataOf(await consume(slow, 'merchant', 60));
    time = new Date('2027-05-10T12:00:00+08:00');
    // It would run out in June, but starts again before.
    dataOf(await consume(monthly, 'calls', 50));
    dataOf(await consume(slow, 'merchant', 1));
    const refunded = dataOf(await consume(fast, 'merchant', 30));
    dataOf(await consume(fast, 'merchant', 20));
    dataOf(await above.post(`${QUOTAS}/uses/${refunded.useId}/refund?tenantId=${fast.tenantId}`));
    dataOf(await consume(full, 'merchant', 2));
    dataOf(await consume(endless, 'calls', 1000));
    dataOf(await reserve(lower, 'riskReport', 1));
    const [list, ofSlow] = [await below(above), await below(above, `?tenantId=${slow.tenantId}`)];
    time = undefined;
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

  test('a pool counts the uses below it, and its sums name the tenants', async () => {
    const above = await service.createTenant();
    const pool = await service.createTenant({}, above);
    const [one, two] = [await service.createTenant({}, pool), await service.createTenant({}, pool)];
    expectOk(await put(above, pool, 'calls', { total: 100, pooled: true }));
    time = new Date('2027-03-01T12:00:00+08:00');
    dataOf(await consume(pool, 'calls', 1));
    dataOf(await consume(one, 'calls', 2));
    time = new Date('2027-03-02T12:00:00+08:00');
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
    time = undefined;
    assert.deepEqual(first, [pool.tenantId, 'calls', 7, 7]);
    assert.deepEqual(sums, all);
    assert.deepEqual(ofOne, [{ ...march1, amount: 2, tenantId: one.tenantId }]);
    assert.deepEqual(later, [{ ...sum, date: '2027-03', amount: 4, tenantId: two.tenantId }]);
    assert.deepEqual(ownSums, [{ ...march1, amount: 1, tenantId: pool.tenantId }]);
  });
});
