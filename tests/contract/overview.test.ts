import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dateInDays, withinOneDay } from '../support/calendar.ts';
import { type Client, startService } from '../support/service.ts';

const service = await startService({ BANYAN_TIME_ZONE: 'Asia/Shanghai' });
const overview = async (client: Client) => (await client.get('/system/overview-api')).data;

test('an administrator sees the numbers of their tenant and how many tenants are below it', async () => {
  const admin = await service.createTenant({
    accountCount: 7,
    quotaBo: { merchant: 5, riskReport: 10, riskReportUsed: 4 },
  });
  const child = await service.createTenant({}, admin);
  const deleted = await service.createTenant({}, child);
  await service.createTenant({}, child);
  await child.delete(`/system/tenant-api/${deleted.id}`);
  await child.createDepartment();
  const top = await admin.createDepartment();
  await admin.createDepartment({ parentId: top, status: '1' });
  await admin.delete(`/system/dept-api/${await admin.createDepartment()}`);
  await admin.createUser({ userName: 'anna', status: '1' });
  await admin.delete(`/system/user-api/${await admin.createUser({ userName: 'gone' })}`);
  assert.deepEqual(await overview(admin), {
    departments: 2,
    users: 2,
    tenantsBelow: 2,
    accounts: { used: 2, limit: 7 },
    quotas: {
      enterpriseQuery: { total: 0, used: null },
      annualReportQuery: { total: 0, used: null },
      chainReport: { total: 0, used: null },
      businessReport: { total: 0, used: null },
      riskReport: { total: 10, used: 4 },
      merchant: { total: 5, used: null },
    },
    endingSoon: [],
    full: [],
  });
  assert.deepEqual((await overview(child)).accounts, { used: 1, limit: -1 });
});

test('endingSoon lists the tenant of the caller and those below that end within 60 days or ended in the last 30', () =>
  withinOneDay(async () => {
    const above = await service.createTenant({ endTime: dateInDays(10) });
    const admin = await service.createTenant({ tenantName: 'own', endTime: dateInDays(60) }, above);
    const createBelow = (tenantName: string, days: number, more = {}) =>
      service.createTenant({ tenantName, endTime: dateInDays(90) }, admin).then(async (tenant) => {
        await admin.put('/system/tenant-api', { id: tenant.id, tenantName, endTime: dateInDays(days), ...more });
        return tenant;
      });
    await createBelow('in 61', 61);
    await createBelow('today', 0);
    const ended = await createBelow('ended', -30);
    await createBelow('long ended', -31);
    await createBelow('disabled', 3, { status: '1', startTime: '2020-01-01' });
    const deleted = await createBelow('deleted', 3);
    await admin.delete(`/system/tenant-api/${deleted.id}`);
    await service.createTenant({ tenantName: 'never' }, admin);
    const { endingSoon } = await overview(admin);
    assert.deepEqual(
      endingSoon.map((one: Record<string, unknown>) => [
        one.tenantName,
        one.startTime,
        one.endTime,
        one.daysLeft,
        one.status,
      ]),
      [
        ['ended', null, dateInDays(-30), -30, '0'],
        ['today', null, dateInDays(0), 0, '0'],
        ['disabled', '2020-01-01', dateInDays(3), 3, '1'],
        ['own', null, dateInDays(60), 60, '0'],
      ],
    );
    assert.deepEqual([endingSoon[0].id, endingSoon[0].tenantId], [ended.id, ended.tenantId]);
    assert.equal((await overview(above)).endingSoon.length, 5);
  }));

test('`full` lists only tenants below the caller that have used at least 80 % of their accounts, the fullest first', async () => {
  const admin = await service.createTenant({ accountCount: 1 });
  const createFilled = async (tenantName: string, accountCount: number, users: number) => {
    const tenant = await service.createTenant({ tenantName, accountCount }, admin);
    for (let n = 1; n < users; n++) await tenant.createUser({ userName: `u${n}` });
    return tenant;
  };
  await createFilled('four of five', 5, 4);
  await createFilled('three of five', 5, 3);
  const fullest = await createFilled('two of two', 2, 2);
  await createFilled('no limit', -1, 2);
  const { full } = await overview(admin);
  assert.deepEqual(
    full.map((one: Record<string, unknown>) => [one.tenantName, one.used, one.limit]),
    [
      ['two of two', 2, 2],
      ['four of five', 4, 5],
    ],
  );
  assert.deepEqual([full[0].id, full[0].tenantId], [fullest.id, fullest.tenantId]);
  // Deleting a user takes the tenant off the list.
  const { data } = await fullest.get('/system/user-api/list?userName=u1');
  await fullest.delete(`/system/user-api/${data.rows[0].userId}`);
  assert.deepEqual(
    (await overview(admin)).full.map(({ tenantName }: { tenantName: string }) => tenantName),
    ['four of five'],
  );
  assert.deepEqual((await overview(fullest)).full, []);
});

test('endingSoon and full have at most 20 entries', () =>
  withinOneDay(async () => {
    const admin = await service.createTenant();
    for (let n = 0; n < 22; n++) {
      await admin.create('/system/tenant-api', {
        endTime: dateInDays(22 - n),
        accountCount: 1,
        username: 'one',
        password: 'correct horse',
      });
    }
    const { endingSoon, full, tenantsBelow } = await overview(admin);
    assert.deepEqual([endingSoon.length, full.length, tenantsBelow], [20, 20, 22]);
    assert.deepEqual([endingSoon[0].daysLeft, endingSoon[19].daysLeft], [1, 20]);
  }));

test('a member sees only the numbers of their own tenant, and no tenants in the lists', async () => {
  const admin = await service.createTenant({ accountCount: 2, endTime: dateInDays(5) });
  await service.createTenant({ accountCount: 1, endTime: dateInDays(3) }, admin);
  await admin.createDepartment();
  const shown = await overview(await service.createMember(admin));
  assert.deepEqual(
    [shown.departments, shown.users, shown.accounts, shown.tenantsBelow, shown.endingSoon, shown.full],
    [1, 2, { used: 2, limit: 2 }, 0, [], []],
  );
});
