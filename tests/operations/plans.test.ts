import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '../support/service.ts';
import { startObserved } from './observed-service.ts';

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
