import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Database } from '../db/connect.ts';
import type { Sql } from '../db/sql.ts';
import { type Client, startService } from './harness.ts';

/** Plans are made once and kept: a new one each time would cost more than the statement, and an old one must stay good. */

const dept = '/system/dept-api';

/** What comes most often: reads whose paths are known and not known, creates, changes. */
async function everyday(boss: Client, rounds: number) {
  const [home, away] = [await boss.dept(), await boss.dept()];
  const branch = await boss.dept({ parentId: home });
  const leaf = await boss.dept({ parentId: branch });
  for (let round = 0; round < rounds; round++) {
    await boss.dept({ parentId: branch });
    assert.equal((await boss.put(dept, { deptId: branch, parentId: round % 2 ? home : away })).code, 200);
    for (let again = 0; again < 2; again++) {
      const { data } = await boss.get(`${dept}/${leaf}`);
      assert.equal(data.ancestors, `0,${round % 2 ? home : away},${branch}`);
    }
  }
}

test('no everyday statement is planned anew each time', async () => {
  const connections = new Set<Sql>();
  const between = (db: Database): Database => ({
    ...db,
    use: (work) =>
      db.use((sql) => {
        connections.add(sql);
        return work(sql);
      }),
  });
  const service = await startService({}, { between });
  await everyday(await service.tenant(), 15);
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
  const service = await startService();
  const { superuser } = service;
  const boss = await service.tenant();
  await superuser.unsafe('analyze');
  await everyday(boss, 10);
  await superuser`
    insert into banyan.departments (tenant_id, dept_name, create_by)
    select ${boss.tenantId}, 'many', 'test' from generate_series(1, 5000)`;
  await superuser`select pg_stat_force_next_flush()`;
  const scans = async () => {
    // Each of PostgreSQL's processes tells what it did about once a second, when it has done something.
    await setTimeout(1_100);
    await everyday(boss, 1);
    await setTimeout(100);
    return superuser`
      select relname::text as name, seq_scan::int as scans from pg_stat_user_tables
      where schemaname = 'banyan' and relname in ('departments', 'users', 'sessions', 'tenants') order by relname`;
  };
  const before = await scans();
  await everyday(boss, 10);
  assert.deepEqual([...(await scans())], [...before]);
});
