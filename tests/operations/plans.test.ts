import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Database } from '../../db/connect.ts';
import type { Sql } from '../../db/driver.ts';
import { csv, importFile } from '../support/import.ts';
import { type Client, startService } from '../support/service.ts';

/** The service uses generic plans: planning each time would cost more than the statement, and an old plan must stay fast. */

const dept = '/system/dept-api';

/** Runs the most common operations: reads with and without a cached path, creates and updates. */
async function runCommonOperations(admin: Client, rounds: number) {
  const [home, away] = [await admin.createDepartment(), await admin.createDepartment()];
  const subtree = await admin.createDepartment({ parentId: home });
  const leaf = await admin.createDepartment({ parentId: subtree });
  for (let round = 0; round < rounds; round++) {
    await admin.createDepartment({ parentId: subtree });
    assert.equal((await admin.put(dept, { deptId: subtree, parentId: round % 2 ? home : away })).code, 200);
    for (let again = 0; again < 2; again++) {
      const { data } = await admin.get(`${dept}/${leaf}`);
      assert.equal(data.ancestors, `0,${round % 2 ? home : away},${subtree}`);
    }
  }
}

/** Starts a service and collects its connections. They are idle between requests, because background work is disabled. */
async function startObserved() {
  const connections = new Set<Sql>();
  const wrapDatabase = (db: Database): Database => ({
    ...db,
    use: (work) =>
      db.use((sql) => {
        connections.add(sql);
        return work(sql);
      }),
  });
  const timing = { sealMs: 600_000, webhookPollMs: 600_000 };
  return { service: await startService({}, { wrapDatabase, timing }), connections };
}

test('common statements use a generic plan', async () => {
  const { service, connections } = await startObserved();
  await runCommonOperations(await service.createTenant(), 15);
  let cached = 0;
  for (const sql of connections) {
    const statements = await sql<{ statement: string; custom: number; generic: number }[]>`
      select statement, custom_plans::int as custom, generic_plans::int as generic from pg_prepared_statements`;
    // PostgreSQL makes five custom plans before it considers a generic one.
    assert.deepEqual(
      statements.filter(({ custom }) => custom > 5),
      [],
    );
    cached += statements.filter(({ generic }) => generic > 5).length;
  }
  assert.ok(cached >= 5, `${cached} statements used a generic plan`);
});

test('a plan made for an almost empty table causes no sequential scans when the table is large', async () => {
  const { service, connections } = await startObserved();
  const { superuser } = service;
  const admin = await service.createTenant();
  await superuser.unsafe('analyze');
  await runCommonOperations(admin, 10);
  await superuser`
    insert into banyan.departments (tenant_id, dept_name, create_by)
    select ${admin.tenantId}, 'many', 'test' from generate_series(1, 5000)`;
  const scans = async () => {
    // By default PostgreSQL's backends report their statistics about once a second.
    for (const sql of connections) await sql`select pg_stat_force_next_flush()`;
    return superuser`
      select relname::text as name, seq_scan::int as scans from pg_stat_user_tables
      where schemaname = 'banyan' and relname in ('departments', 'users', 'sessions', 'tenants') order by relname`;
  };
  await runCommonOperations(admin, 1);
  const before = await scans();
  await runCommonOperations(admin, 10);
  assert.deepEqual([...(await scans())], [...before]);
});

test('names of an import are never looked up with a generic plan, which would compare each row with all of them', async () => {
  const { service, connections } = await startObserved();
  const admin = await service.createTenant();
  const file = csv([['部门路径'], ['总部'], ['总部/部门']]);
  for (let n = 0; n < 10; n++) assert.equal((await importFile(admin, 'dept', 'apply', file)).code, 200);
  const plans = { custom: 0, generic: 0 };
  for (const sql of connections) {
    const [row] = await sql<[{ custom: number; generic: number }]>`
      select coalesce(sum(custom_plans), 0)::int as custom, coalesce(sum(generic_plans), 0)::int as generic
      from pg_prepared_statements where statement like ${'%dept_name = any(%'}`;
    plans.custom += row.custom;
    plans.generic += row.generic;
  }
  assert.ok(plans.custom > 5 * connections.size, JSON.stringify(plans));
  assert.equal(plans.generic, 0);
});
