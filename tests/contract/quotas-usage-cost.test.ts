import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectAsService, countRowsRead } from '../support/cost.ts';
import { expectOk, read } from '../support/expect.ts';
import { insertUses } from '../support/quotas.ts';
import { report, scale } from '../support/scale.ts';
import { type Client, startService } from '../support/service.ts';
import { captureQueries, type Query } from '../support/statements.ts';
import { consume, dataOf, put, QUOTAS } from './quotas.ts';

/**
 * The cost of sums of uses, in rows that are read: it depends on the number of days, callers and tenants, not on the number of
 * uses.
 */

const NOW = new Date('2027-06-30T12:00:00+08:00');
const DAYS = 40;
const CALLERS = 5;
const USES_PER_DAY = scale(100, 1_000);
/** June 2027. */
const RANGE_DAYS = 30;
const RANGE = 'quota=calls&from=2027-06-01&to=2027-06-30';

const queries: Query[] = [];
const service = await startService({}, { quotaTime: () => NOW, wrapDatabase: captureQueries(queries) });
const connection = await connectAsService(service);
const above = await service.createTenant();
const pool = await service.createTenant({}, above);
const tenants = [await service.createTenant({}, pool), await service.createTenant({}, pool)] as const;
const [one] = tenants;
expectOk(await put(service.root, pool, 'calls', { total: 1_000_000, pooled: true }));
for (const tenant of tenants) {
  const { tenantId } = tenant;
  // Creates the counters of the tenant and of the pool.
  dataOf(await consume(tenant, 'calls', 1));
  const uses = Array.from({ length: DAYS * USES_PER_DAY }, (_, n) => ({
    quota: 'calls',
    amount: 1,
    time: new Date(NOW.getTime() - Math.floor(n / USES_PER_DAY) * 86_400_000 - (n % USES_PER_DAY) * 1_000),
    subject: `subject ${n % 3}`,
    user_id: n % 2 ? String(1_000 + (n % CALLERS)) : null,
    key_id: n % 2 ? null : String(2_000 + (n % CALLERS)),
    counted: { [tenantId]: 0, [pool.tenantId]: 0 },
  }));
  await insertUses(service.superuser, tenantId, uses);
}
await service.superuser.unsafe('analyze banyan.quota_uses, banyan.quota_sums, banyan.quota_caller_sums');

/** What a tenant has used in the last 30 days. */
const USED = RANGE_DAYS * USES_PER_DAY + 1;

/** Reads a path, and counts the rows of quotas, uses and sums that its statements read. */
async function rowsRead(client: Client, path: string) {
  queries.length = 0;
  const data = await read(client, `${QUOTAS}${path}`);
  const { statements, rows } = await countRowsRead(connection, client.tenantId, [...queries], 'quota');
  assert.ok(statements > 0);
  return { data, rows };
}

for (const [what, client, query, used, limit] of [
  ['in total', one, '', USED, RANGE_DAYS],
  ['in total by month', one, '&per=month', USED, RANGE_DAYS],
  // Each user and each key, and the administrator.
  ['by user', one, '&by=user', USED, 2 * CALLERS * RANGE_DAYS + 1],
  ['by key', one, '&by=key', USED, 2 * CALLERS * RANGE_DAYS + 1],
  ['by department', one, '&by=department&per=month', USED, 2 * CALLERS * RANGE_DAYS + 1],
  // Also the three counters.
  ['of a pool by tenant', pool, '&by=tenant', 2 * USED, 2 * RANGE_DAYS + 3],
] as const) {
  test(`sums ${what} read a row for each day and group, not for each use`, async (t) => {
    const { data, rows } = await rowsRead(client, `/usage?${RANGE}${query}`);
    assert.equal(
      data.reduce((sum: number, { amount }: { amount: number }) => sum + amount, 0),
      used,
    );
    report(t, { uses: used, rows });
    assert.ok(rows <= limit, `${rows} rows were read, at most ${limit} are needed`);
  });
}

test('sums of all quotas read only the days in question', async (t) => {
  const { rows } = await rowsRead(one, '/usage?from=2027-06-29');
  report(t, { rows });
  assert.ok(rows <= 2, `${rows} rows were read`);
});

test('the list of quotas of the tenants below reads a row for each day and tenant', async (t) => {
  const { data, rows } = await rowsRead(above, '/below');
  const recent = Object.fromEntries(
    data.rows.map((row: { tenantId: string; recent: number }) => [row.tenantId, row.recent]),
  );
  assert.deepEqual(recent, {
    [pool.tenantId]: 2 * USED,
    ...Object.fromEntries(tenants.map(({ tenantId }) => [tenantId, USED])),
  });
  report(t, { uses: 2 * USED, rows });
  // The days of both tenants, for themselves and for the pool; and some rows for the state of each quota.
  const limit = 4 * RANGE_DAYS + 30;
  assert.ok(rows <= limit, `${rows} rows were read, at most ${limit} are needed`);
});
