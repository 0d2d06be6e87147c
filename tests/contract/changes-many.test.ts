import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { chance, firstSeed, report, scale } from '../support/scale.ts';
import { type Client, type Service, startService } from '../support/service.ts';

/**
 * Many departments written at once, by a connection that has known nothing but small writes until then. PostgreSQL keeps
 * the plans of those: one that reads a whole table for each row would take minutes.
 */

const startSmall = () => startService({}, { connections: 1 });
const feed = '/system/change-api';
const dept = '/system/dept-api';

interface Row {
  action: string;
  resource: string;
  resourceId: string;
  before: { ancestors: string } | null;
  after: { ancestors: string } | null;
}

async function follow(client: Client, after = '0') {
  const rows: Row[] = [];
  for (;;) {
    const { data, text } = await client.get(`${feed}?after=${after}&limit=500`);
    assert.ok(data?.rows, text.slice(0, 300));
    rows.push(...data.rows);
    if (data.rows.length === 0) return { rows, next: after };
    after = data.next;
  }
}

/** A tenant whose few departments have been written and told one by one, often enough for plans to be kept. */
async function smallTenant(service: Service) {
  const boss = await service.createTenant();
  const ids: string[] = [];
  for (let n = 0; n < 8; n++) {
    ids.push(await boss.createDepartment({ parentId: ids.at(-1) ?? 0 }));
    await boss.put(dept, { deptId: ids.at(-1), deptName: `d${n}` });
    await follow(boss);
  }
  return { boss, ids, ...(await follow(boss)) };
}

/** Expects that the service has read no more than some rows for each one that was written: no plan reads them all. */
async function expectFewRead(t: TestContext, { superuser }: Service, written: number): Promise<void> {
  // A connection reports what it has read when it ends, at the latest.
  await superuser`
    select pg_terminate_backend(pid, 300000) from pg_stat_activity
    where datname = current_database() and usename like 'banyan\\_service%'`;
  const rows = await superuser<{ name: string; read: number }[]>`
    select t.relname as name, t.seq_tup_read + (
      select sum(i.idx_tup_read) from pg_stat_user_indexes i where i.relid = t.relid)::bigint as read
    from pg_stat_user_tables t where t.relname in ('departments', 'changes', 'unsealed')`;
  assert.equal(rows.length, 3);
  for (const { name, read } of rows) {
    report(t, { name, read, written });
    assert.ok(read > 0 && read < 50 * written, `${read} rows of ${name} were read`);
  }
}

/** What the ledger keeps of a path: all of it, up to 2,000 characters. */
const kept = (path: string) => (path.length <= 2000 ? path : '');

test('each of a forest made at once is told with its path, and again when the branch is deleted', async (t) => {
  const service = await startSmall();
  const { boss, ids, next } = await smallTenant(service);
  const count = scale(1_000, 3_000);
  const [top, parentId] = [ids[0] as string, ids[2] as string];
  const { below } = chance(firstSeed);
  // Children stand before their parents as often as behind them.
  const order = Array.from({ length: count }, (_, n) => n).sort(() => below(2) - 0.5);
  const parents = order.map((_, n) => (n % 10 ? below(n) : null));
  const departments = order.map((n) => ({
    ref: `${n}`,
    ...(parents[n] == null ? {} : { parentRef: `${parents[n]}` }),
  }));
  const { deptIds } = (await boss.post(`${dept}/bulk`, { parentId, departments })).data;
  const idOf = new Map(order.map((n, at) => [n, deptIds[at] as number]));
  const pathOf = (n: number): string => {
    const parent = parents[n];
    return parent == null ? `0,${ids.slice(0, 3).join(',')}` : `${pathOf(parent)},${idOf.get(parent)}`;
  };
  const paths = new Map(order.map((n) => [String(idOf.get(n)), pathOf(n)]));

  const made = await follow(boss, next);
  assert.equal(made.rows.length, count);
  for (const { resourceId, after } of made.rows) assert.equal(after?.ancestors, paths.get(resourceId));

  assert.equal((await boss.delete(`${dept}/${top}?subtree=true`)).code, 200);
  const { rows } = await follow(boss, made.next);
  assert.equal(rows.length, count + 8);
  for (const [n, id] of ids.entries()) paths.set(id, ['0', ...ids.slice(0, n)].join(','));
  for (const { action, resourceId, before } of rows) {
    assert.deepEqual([action, before?.ancestors], ['deleted', paths.get(resourceId)]);
  }
  await expectFewRead(t, service, count);
});

test('many, hundreds of levels deep, are told and sealed; endless paths are left out', async (t) => {
  const service = await startSmall();
  const { boss, next } = await smallTenant(service);
  const depth = scale(600, 1_000);
  const count = scale(1_800, 10_000);
  const departments = Array.from({ length: count }, (_, n) => ({
    ref: `${n}`,
    ...(n % depth ? { parentRef: `${n - 1}` } : {}),
  }));
  const { deptIds } = (await boss.post(`${dept}/bulk`, { departments })).data;
  const { rows, next: end } = await follow(boss, next);
  assert.equal(rows.length, count);
  const told = new Map(rows.map(({ resourceId, after }) => [Number(resourceId), after?.ancestors]));
  let path = '0';
  for (const [n, id] of deptIds.entries()) {
    path = n % depth ? `${path},${deptIds[n - 1]}` : '0';
    assert.equal(told.get(id), kept(path));
  }
  // One that comes alone is told as those that came together.
  const deep = deptIds.findIndex((id: number) => told.get(id) === '');
  const made = [
    await boss.createDepartment({ parentId: deptIds[deep - 2] }),
    await boss.createDepartment({ parentId: deptIds[deep - 1] }),
  ];
  const alone = (await follow(boss, end)).rows.map(({ resourceId, after }) => [resourceId, after?.ancestors]);
  assert.deepEqual(alone, [
    [made[0], told.get(deptIds[deep - 1])],
    [made[1], ''],
  ]);
  await expectFewRead(t, service, count);
});

test('a ledger that grew by thousands is followed by who knew it when it was small', async (t) => {
  const service = await startSmall();
  const { boss, next } = await smallTenant(service);
  const count = scale(5_000, 40_000);
  await service.superuser`
    insert into banyan.departments (tenant_id, dept_id, create_by)
    select ${boss.tenantId}, 60000000 + n, 'sql' from generate_series(1, ${count}) n`;
  const { data, text } = await boss.get(`${feed}?after=${next}&limit=5`);
  assert.deepEqual(
    data?.rows?.map(({ resourceId }: Row) => resourceId),
    [1, 2, 3, 4, 5].map((n) => String(60000000 + n)),
    text.slice(0, 300),
  );
  await expectFewRead(t, service, count);
});
