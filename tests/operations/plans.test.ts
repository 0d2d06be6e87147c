import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Database } from '../../db/connect.ts';
import type { Sql } from '../../db/sql.ts';
import { type Client, startService } from '../support/service.ts';

/** Plans are made once and kept: a new one each time would cost more than the statement, and an old one must stay good. */

const dept = '/system/dept-api';

/** What comes most often: reads whose paths are known and not known, creates, changes. */
async function everyday(boss: Client, rounds: number) {
  const [home, away] = [await boss.createDepartment(), await boss.createDepartment()];
  const branch = await boss.createDepartment({ parentId: home });
  const leaf = await boss.createDepartment({ parentId: branch });
  for (let round = 0; round < rounds; round++) {
    await boss.createDepartment({ parentId: branch });
    assert.equal((await boss.put(dept, { deptId: branch, parentId: round % 2 ? home : away })).code, 200);
    for (let again = 0; again < 2; again++) {
      const { data } = await boss.get(`${dept}/${leaf}`);
      assert.equal(data.ancestors, `0,${round % 2 ? home : away},${branch}`);
    }
  }
}

/** A service whose connections are known. Between requests they are idle: nothing works in the background. */
async function startKnown() {
  const connections = new Set<Sql>();
  const between = (db: Database): Database => ({
    ...db,
    use: (work) =>
      db.use((sql) => {
        connections.add(sql);
        return work(sql);
      }),
  });
  const timing = { sealMs: 600_000, webhookPollMs: 600_000 };
  return { service: await startService({}, { between, timing }), connections };
}

test('no everyday statement is planned anew each time', async () => {
  const { service, connections } = await startKnown();
  await everyday(await service.createTenant(), 15);
  let kept = 0;
  for (const sql of connections) {
    const statements = await sql<{ statement: string; anew: number; kept: number }[]>`
      select statement, custom_plans::int as anew, generic_plans::int as kept from pg_prepared_statements`;
    // PostgreSQL makes five for trial.
    assert.deepEqual(
      statements.filter(({ anew }) => anew > 5),
      [],
    );
    kept += statements.filter((statement) => statement.kept > 5).length;
  }
  assert.ok(kept >= 5, `${kept} statements had their plan kept`);
});

test('a plan that was made while there was next to nothing is good when there is much', async () => {
  const { service, connections } = await startKnown();
  const { superuser } = service;
  const boss = await service.createTenant();
  await superuser.unsafe('analyze');
  await everyday(boss, 10);
  await superuser`
    insert into banyan.departments (tenant_id, dept_name, create_by)
    select ${boss.tenantId}, 'many', 'test' from generate_series(1, 5000)`;
  const scans = async () => {
    // By default PostgreSQL's processes report their statistics about once a second.
    for (const sql of connections) await sql`select pg_stat_force_next_flush()`;
    return superuser`
      select relname::text as name, seq_scan::int as scans from pg_stat_user_tables
      where schemaname = 'banyan' and relname in ('departments', 'users', 'sessions', 'tenants') order by relname`;
  };
  await everyday(boss, 1);
  const before = await scans();
  await everyday(boss, 10);
  assert.deepEqual([...(await scans())], [...before]);
});
