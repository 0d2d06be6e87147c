import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../harness.ts';
import { plant } from '../trees.ts';
import { DEPTS } from './answers.ts';

/**
 * Branches of which PostgreSQL's statistics know nothing: a tenant that was just brought in, into an empty table and into
 * one that is known well. What goes through the tenant for each department of a level is cut off after some seconds.
 */

const service = await startService();
const { superuser } = service;
await superuser`alter table banyan.departments set (autovacuum_enabled = false)`;

for (const [what, first] of [
  ['an empty table', 1_000_000],
  ['a table that is known well', 2_000_000],
] as const) {
  test(`30,000 departments below one, just brought into ${what}: listed, counted, and their users`, async () => {
    const boss = await service.tenant();
    await plant(superuser, boss.tenantId, {
      first,
      count: 90_000,
      parentOf: 'case when n > 3 then case when n % 100 < 3 then n % 3 + 1 else n - n % 100 end end',
    });
    const [{ top, total }] = await superuser<[{ top: number; total: number }]>`
      with recursive branch (id) as (
        select ${first + 2}::bigint
        union all
        select d.dept_id from branch join banyan.departments d on d.tenant_id = ${boss.tenantId} and d.parent_id = id
      )
      select ${first + 2}::bigint as top, count(*) - 1 as total from branch`;
    assert.ok(total > 20_000, String(total));
    const numbered = await boss.get(`${DEPTS}/list?underId=${top}`);
    assert.deepEqual([numbered.status, numbered.data.total, numbered.data.rows?.length], [200, total, 20]);
    const next = await boss.get(`${DEPTS}/list?underId=${top}&cursor=`);
    assert.deepEqual(next.data.rows, numbered.data.rows);
    for (const query of ['', '&countOnly=true']) {
      const users = await boss.get(`${DEPTS}/${top}/users?below=true${query}`);
      assert.deepEqual([users.status, users.data.total], [200, 0], users.text);
    }
    await superuser`analyze banyan.departments`;
  });
}
