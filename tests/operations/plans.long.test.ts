// Only with test:long: it needs a large table and many imports, until PostgreSQL would choose another plan; plans.test.ts covers the plans of common statements.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csv, importFile } from '../support/import.ts';
import { runCommonOperations, startObserved } from './observed-service.ts';

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
