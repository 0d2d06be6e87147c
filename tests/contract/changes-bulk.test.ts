import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { CHANGES, DEPTS } from '../support/expect.ts';
import { firstSeed, report, scale, seededRandom } from '../support/scale.ts';
import { type Client, type Service, startService } from '../support/service.ts';

/**
 * Bulk writes on a connection that has run only small writes before. PostgreSQL caches the plans of the small writes;
 * a cached plan that reads a whole table for each row would take minutes.
 */

const startSmall = () => startService({}, { connections: 1 });

interface Row {
  action: string;
  resource: string;
  resourceId: string;
  before: { ancestors: string } | null;
  after: { ancestors: string } | null;
}

async function readChanges(client: Client, after = '0') {
  const rows: Row[] = [];
  for (;;) {
    const { data, text } = await client.get(`${CHANGES}?after=${after}&limit=500`);
    assert.ok(data?.rows, text.slice(0, 300));
    rows.push(...data.rows);
    if (data.rows.length === 0) return { rows, next: after };
    after = data.next;
  }
}

/** Creates a tenant whose departments are written and read one by one, often enough for plans to be cached. */
async function createSmallTenant(service: Service) {
  const admin = await service.createTenant();
  const ids: string[] = [];
  for (let n = 0; n < 8; n++) {
    ids.push(await admin.createDepartment({ parentId: ids.at(-1) ?? 0 }));
    await admin.put(DEPTS, { deptId: ids.at(-1), deptName: `d${n}` });
    await readChanges(admin);
  }
  return { admin, ids, ...(await readChanges(admin)) };
}

/** Expects that the service has read only a few rows for each row written, so no plan reads whole tables. */
async function expectFewRowsRead(t: TestContext, { superuser }: Service, written: number): Promise<void> {
  // A connection flushes its statistics when it ends at the latest.
  await superuser`
    select pg_terminate_backend(pid, 300000) from pg_stat_activity
    where datname = current_database() and usename like 'banyan\\_service%'`;
  const rows = await superuser<{ name: string; read: number }[]>`
    select t.relname as name, t.seq_tup_read + (
      select sum(i.idx_tup_read) from pg_stat_user_indexes i where i.relid = t.relid)::bigint as read
    from pg_stat_user_tables t where t.relname in ('departments', 'changes', 'unsealed_changes')`;
  assert.equal(rows.length, 3);
  for (const { name, read } of rows) {
    report(t, { name, read, written });
    assert.ok(read > 0 && read < 50 * written, `${read} rows of ${name} were read`);
  }
}

/** The path that a change stores: the whole path up to 2,000 characters, otherwise none. */
const storedPath = (path: string) => (path.length <= 2000 ? path : '');

test('each department of a bulk creation and of a subtree delete is recorded with its path', async (t) => {
  const service = await startSmall();
  const { admin, ids, next } = await createSmallTenant(service);
  const count = scale(500, 3_000);
  const [top, parentId] = [ids[0] as string, ids[2] as string];
  const { below } = seededRandom(firstSeed);
  // In the shuffled order children precede their parents as often as they follow them.
  const order = Array.from({ length: count }, (_, n) => n).sort(() => below(2) - 0.5);
  const parents = order.map((_, n) => (n % 10 ? below(n) : null));
  const departments = order.map((n) => ({
    ref: `${n}`,
    ...(parents[n] == null ? {} : { parentRef: `${parents[n]}` }),
  }));
  const { deptIds } = (await admin.post(`${DEPTS}/bulk`, { parentId, departments })).data;
  const idOf = new Map(order.map((n, at) => [n, deptIds[at] as number]));
  const pathOf = (n: number): string => {
    const parent = parents[n];
    return parent == null ? `0,${ids.slice(0, 3).join(',')}` : `${pathOf(parent)},${idOf.get(parent)}`;
  };
  const paths = new Map(order.map((n) => [String(idOf.get(n)), pathOf(n)]));

  const created = await readChanges(admin, next);
  assert.equal(created.rows.length, count);
  for (const { resourceId, after } of created.rows) assert.equal(after?.ancestors, paths.get(resourceId));

  assert.equal((await admin.delete(`${DEPTS}/${top}?subtree=true`)).code, 200);
  const { rows } = await readChanges(admin, created.next);
  assert.equal(rows.length, count + 8);
  for (const [n, id] of ids.entries()) paths.set(id, ['0', ...ids.slice(0, n)].join(','));
  for (const { action, resourceId, before } of rows) {
    assert.deepEqual([action, before?.ancestors], ['deleted', paths.get(resourceId)]);
  }
  await expectFewRowsRead(t, service, count);
});

test('changes of departments hundreds of levels deep are recorded, without paths over 2,000 characters', async (t) => {
  const service = await startSmall();
  const { admin, next } = await createSmallTenant(service);
  const depth = scale(600, 1_000);
  const count = scale(1_200, 10_000);
  const departments = Array.from({ length: count }, (_, n) => ({
    ref: `${n}`,
    ...(n % depth ? { parentRef: `${n - 1}` } : {}),
  }));
  const { deptIds } = (await admin.post(`${DEPTS}/bulk`, { departments })).data;
  const { rows, next: end } = await readChanges(admin, next);
  assert.equal(rows.length, count);
  const paths = new Map(rows.map(({ resourceId, after }) => [Number(resourceId), after?.ancestors]));
  let path = '0';
  for (const [n, id] of deptIds.entries()) {
    path = n % depth ? `${path},${deptIds[n - 1]}` : '0';
    assert.equal(paths.get(id), storedPath(path));
  }
  // Departments created one at a time are recorded like those created in bulk.
  const deep = deptIds.findIndex((id: number) => paths.get(id) === '');
  const created = [
    await admin.createDepartment({ parentId: deptIds[deep - 2] }),
    await admin.createDepartment({ parentId: deptIds[deep - 1] }),
  ];
  const alone = (await readChanges(admin, end)).rows.map(({ resourceId, after }) => [resourceId, after?.ancestors]);
  assert.deepEqual(alone, [
    [created[0], paths.get(deptIds[deep - 1])],
    [created[1], ''],
  ]);
  await expectFewRowsRead(t, service, count);
});

test('reading changes stays cheap on a connection whose plans date from a small change log', async (t) => {
  const service = await startSmall();
  const { admin, next } = await createSmallTenant(service);
  const count = scale(2_000, 40_000);
  await service.superuser`
    insert into banyan.departments (tenant_id, dept_id, create_by)
    select ${admin.tenantId}, 60000000 + n, 'sql' from generate_series(1, ${count}) n`;
  const { data, text } = await admin.get(`${CHANGES}?after=${next}&limit=5`);
  assert.deepEqual(
    data?.rows?.map(({ resourceId }: Row) => resourceId),
    [1, 2, 3, 4, 5].map((n) => String(60000000 + n)),
    text.slice(0, 300),
  );
  await expectFewRowsRead(t, service, count);
});
