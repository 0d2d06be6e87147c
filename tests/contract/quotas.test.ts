import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expectError, expectOk, read, TENANTS } from '../support/expect.ts';
import { Client } from '../support/service.ts';
import { consume, dataOf, numbersOf, put, QUOTAS, quotaOf, reserve, startQuotas } from './quotas.ts';

const { service, root, tenantWith } = await startQuotas();

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
  test('a use counts once, with its subject, and a use that is too large does not count', async () => {
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
      ...{ refundTime: null, refundBy: null, archived: false },
    });
    assert.ok(at && userId);
  });

  test('the field `seconds`, which only reservations have, is ignored', async () => {
    const admin = await tenantWith('calls', { total: 100 });
    for (const seconds of [60, null, '60', 1e12]) {
      assert.ok(dataOf(await consume(admin, 'calls', 1, { seconds })).useId > 0);
    }
    assert.deepEqual(await numbersOf(admin, 'calls'), [100, 4, 0, 96]);
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

  test('a repeated Idempotency-Key replays the response and counts nothing, also after an error', async () => {
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

describe('PUT', () => {
  test('administrators of ancestor tenants create and replace quotas, which is recorded in the audit log', async () => {
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
        'the feed has these changes too',
      );
    }
  });

  test('`used` is rejected once something was used or reserved, even for a quota that was never set with PUT', async () => {
    const above = await tenantWith('pool', { total: 10, pooled: true });
    const admin = await service.createTenant({ quotaBo: { merchant: 10, chainReport: 10 } }, above);
    dataOf(await consume(admin, 'merchant', 10));
    dataOf(await reserve(admin, 'chainReport', 6));
    dataOf(await consume(admin, 'pool', 4));
    for (const quota of ['merchant', 'chainReport', 'pool'])
      expectError(await put(root, admin, quota, { total: 10, used: 8 }), 409, 'QUOTA_EXISTS', { quota });
    assert.deepEqual(await numbersOf(admin, 'merchant'), [10, 10, 0, 0]);
    // What was used of the pool still counts when it is no longer pooled.
    expectOk(await put(root, above, 'pool', { total: 10, pooled: false }));
    expectError(await put(root, admin, 'pool', { total: 10, used: 8 }), 409, 'QUOTA_EXISTS', { quota: 'pool' });
    expectOk(await put(root, admin, 'businessReport', { total: 10, used: 8 }));
    assert.deepEqual(await numbersOf(admin, 'businessReport'), [10, 8, 0, 2]);
  });

  test('setting a total or a used amount causes notices, as a use does; a refund and a release cause none', async () => {
    const admin = await service.createTenant({ quotaBo: { merchant: 100 } });
    const notices = async () => {
      const { rows } = await read(admin, '/system/change-api?limit=1000');
      return rows
        .filter(({ resource }: { resource: string }) => resource === 'notice')
        .map(({ after }: { after: Record<string, unknown> }) => `${after.quota} ${after.percent} ${after.total}`);
    };
    dataOf(await consume(admin, 'merchant', 50));
    const { useId } = dataOf(await consume(admin, 'merchant'));
    const { reservationId } = dataOf(await reserve(admin, 'merchant', 1));
    expectOk(await put(root, admin, 'merchant', { total: 60 }));
    const expected = ['merchant 80 60'];
    assert.deepEqual(await notices(), expected);
    expectOk(await root.patch(`${TENANTS}/${admin.id}`, { quotaBo: { merchant: 50 } }));
    expected.push('merchant 80 50', 'merchant 100 50');
    assert.deepEqual(await notices(), expected);
    // The total was changed with SQL, so there are no notices about it yet.
    await service.superuser`
      update banyan.tenants set quotas = jsonb_set(quotas, '{merchant}', '55') where tenant_id = ${admin.tenantId}`;
    dataOf(await admin.post(`${QUOTAS}/uses/${useId}/refund?tenantId=${admin.tenantId}`));
    dataOf(await admin.post(`${QUOTAS}/reservations/${reservationId}/release`));
    assert.deepEqual(await notices(), expected);
    expectOk(await put(root, admin, 'calls', { total: 10, used: 10 }));
    expectOk(await root.patch(`${TENANTS}/${admin.id}`, { quotaBo: { riskReport: 10, riskReportUsed: 8 } }));
    expected.push('calls 80 10', 'calls 100 10', 'riskReport 80 10');
    assert.deepEqual(await notices(), expected);
    // Setting the used amount is recorded in the audit log, even if the same amount was set before.
    const changes = async () =>
      (await read(root, `/system/change-api/list?resource=tenant&resourceId=${admin.id}&limit=100`)).rows.length;
    const before = await changes();
    dataOf(await consume(admin, 'riskReport'));
    expectOk(await root.patch(`${TENANTS}/${admin.id}`, { quotaBo: { riskReportUsed: 8 } }));
    assert.equal(await changes(), before + 1);
    assert.deepEqual(await numbersOf(admin, 'riskReport'), [10, 8, 0, 2]);
  });

  test('the total of a quota of quotaBo is between 0 and 2147483647, that of a further one up to 2^53-1', async () => {
    const admin = await service.createTenant();
    for (const total of [-1, 2 ** 31, Number.MAX_SAFE_INTEGER])
      expectError(await put(root, admin, 'merchant', { total }), 400, 'INVALID_FIELD', { field: 'total' });
    expectOk(await put(root, admin, 'merchant', { total: 2 ** 31 - 1 }));
    expectOk(await put(root, admin, 'further', { total: Number.MAX_SAFE_INTEGER }));
    assert.deepEqual(await numbersOf(admin, 'merchant'), [2 ** 31 - 1, 0, 0, 2 ** 31 - 1]);
  });

  test('a quota of quotaBo can have a period and be pooled; its total is the one in quotaBo', async () => {
    const admin = await service.createTenant({ quotaBo: { merchant: 5 } });
    expectOk(await put(root, admin, 'merchant', { period: 'day', pooled: true }));
    assert.deepEqual(await numbersOf(admin, 'merchant'), [5, 0, 0, 5]);
    const { period, pooled } = await quotaOf(admin, 'merchant');
    assert.deepEqual([period, pooled], ['day', true]);
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
