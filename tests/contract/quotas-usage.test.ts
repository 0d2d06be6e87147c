import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { archiveUses } from '../../server/quotas/archive.ts';
import { expectError, read } from '../support/expect.ts';
import { assertSums } from '../support/quotas.ts';
import { Client, startService } from '../support/service.ts';
import { consume, dataOf, numbersOf, QUOTAS, reserve, startQuotas } from './quotas.ts';

const { service, root, clock, tenantWith } = await startQuotas();
const inUtc = await startService(
  { DATABASE_URL: service.databaseUrl, BANYAN_TIME_ZONE: 'UTC' },
  { quotaTime: () => clock.time },
);

describe('uses and usage', () => {
  test('sums are per day or month, by user, key, subject or department', async () => {
    const admin = await tenantWith('calls', { total: -1 });
    const deptId = Number(await admin.createDepartment());
    const user = await service.createMember(admin, { roles: ['admin'], deptId });
    const { keyId, key } = dataOf(await admin.post('/system/key-api', { keyName: 'k', permissions: ['quota:use'] }));
    clock.time = new Date('2027-01-31T23:59:59+08:00');
    dataOf(await consume(user, 'calls', 2, { subject: 'x' }));
    clock.time = new Date('2027-02-01T00:00:00+08:00');
    dataOf(await consume(new Client(service.base, key), 'calls', 3));
    dataOf(await consume(user, 'calls', 4, { subject: 'x' }));
    // This use is rejected, so the sums do not contain it.
    await consume(user, 'merchant', 1);
    clock.time = undefined;
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

  test('a refund subtracts the use from the sums of its day, even if the time zone of the service was changed', async () => {
    const admin = await tenantWith('calls', { total: -1 });
    const there = new Client(inUtc.base, admin.token, undefined, admin.tenantId);
    clock.time = new Date('2027-03-01T00:30:00+08:00');
    const [first, second] = [dataOf(await consume(admin, 'calls', 2)), dataOf(await consume(admin, 'calls', 3))];
    dataOf(await consume(there, 'calls', 4));
    const amounts = async (query: string) =>
      (await read(admin, `${QUOTAS}/usage?${query}`)).map(({ date, amount, uses }: Record<string, unknown>) => [
        date,
        amount,
        uses,
      ]);
    const utcDay = ['2027-02-28', 4, 1];
    assert.deepEqual(await amounts('by=user'), [utcDay, ['2027-03-01', 5, 2]]);
    for (const by of ['user', 'subject'])
      assert.deepEqual(await amounts(`by=${by}&from=2027-02-28&to=2027-02-28`), [utcDay], by);
    dataOf(await there.post(`${QUOTAS}/uses/${first.useId}/refund`));
    for (const by of ['user', 'key', 'department', 'tenant', 'subject'])
      assert.deepEqual(await amounts(`by=${by}`), [utcDay, ['2027-03-01', 3, 1]], by);
    dataOf(await there.post(`${QUOTAS}/uses/${second.useId}/refund`));
    for (const query of ['per=day', 'by=user', 'by=subject']) assert.deepEqual(await amounts(query), [utcDay], query);
    clock.time = undefined;
    await assertSums(service.superuser);
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
    // Other tests record uses on fixed dates, which may be more than 30 days ago by now.
    await archiveUses(service.owner, 30);
    clock.time = new Date('2020-01-01T12:00:00+08:00');
    const old = dataOf(await consume(admin, 'calls', 2));
    await reserve(admin, 'calls', 1);
    clock.time = undefined;
    dataOf(await consume(admin, 'calls', 3));
    assert.equal(await archiveUses(service.owner, 30), 1);
    assert.equal(await archiveUses(service.owner, 30), 0);
    const { rows } = await read(admin, `${QUOTAS}/uses`);
    assert.deepEqual(
      rows.map(({ amount, archived }: { amount: number; archived: boolean }) => [amount, archived]),
      [
        [3, false],
        [2, true],
      ],
    );
    for (const query of ['', '&by=user', '&by=subject', '&by=tenant'])
      assert.equal((await read(admin, `${QUOTAS}/usage?to=2020-12-31${query}`))[0].amount, 2, query);
    await assertSums(service.superuser);
    expectError(await admin.post(`${QUOTAS}/uses/${old.useId}/refund`), 404, 'USE_NOT_FOUND');
    assert.deepEqual(await numbersOf(admin, 'calls'), [-1, 5, 0, -1], 'what was used stays');
    await service.superuser`delete from banyan.quota_uses_archive where tenant_id = ${admin.tenantId}`;
    assert.equal((await read(admin, `${QUOTAS}/usage?to=2020-12-31`))[0].amount, 2, 'sums stay without the archive');
    assert.deepEqual(await read(admin, `${QUOTAS}/usage?to=2020-12-31&by=subject`), []);
  });

  test('a user of an ancestor tenant who acts in a tenant is not shown to that tenant', async () => {
    const admin = await tenantWith('calls', { total: -1 });
    dataOf(await root.post(`${QUOTAS}/consume?tenantId=${admin.tenantId}`, { quota: 'calls' }));
    assert.equal((await read(admin, `${QUOTAS}/uses`)).rows[0].userId, null);
    assert.notEqual((await read(root, `${QUOTAS}/uses?tenantId=${admin.tenantId}`)).rows[0].userId, null);
    assert.equal((await read(admin, `${QUOTAS}/usage?by=user`))[0].userId, null);
    assert.notEqual((await read(root, `${QUOTAS}/usage?by=user&tenantId=${admin.tenantId}`))[0].userId, null);
  });
});
