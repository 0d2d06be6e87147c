import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectLikeService, costOf } from '../support/cost.ts';
import { DEPTS } from '../support/expect.ts';
import { report, scale } from '../support/scale.ts';
import { startService } from '../support/service.ts';
import { plant } from '../support/trees.ts';
import { type Query, watched } from '../support/watched.ts';

/**
 * Branches of which PostgreSQL's statistics know nothing: a tenant that was just imported, into an empty table and into
 * one with current statistics. A plan that reads the whole tenant for each department of a level would take minutes.
 */

const queries: Query[] = [];
const service = await startService({}, { between: watched(queries) });
const { superuser } = service;
await superuser`alter table departments set (autovacuum_enabled = false)`;
// Nothing is searched here, and without this index rows are written twice as fast.
await superuser`drop index departments_search`;
const connection = await connectLikeService(service);
// A branch of more than 20,000 is not read id by id.
const COUNT = scale(23_000, 90_000);

for (const [what, first] of [
  ['an empty table', 1_000_000],
  ['a table with current statistics', 2_000_000],
] as const) {
  test(`more than 20,000 departments below one, just imported into ${what}: listed, counted, and their users`, async (t) => {
    const boss = await service.createTenant();
    const { tenantId } = boss;
    // Of every hundred, three are below the second department (now and then the third), the others below the first of them.
    await plant(superuser, tenantId, {
      first,
      count: COUNT,
      parentOf: `case when n > 3 then
        case when n % 100 >= 3 then greatest(n - n % 100, 3) when n % 10000 < 3 then 3 else 2 end end`,
    });
    const top = first + 2;
    const [{ total }] = await superuser<[{ total: number }]>`
      with recursive branch (id) as (
        select ${top}::bigint
        union all
        select d.dept_id from branch join departments d on d.tenant_id = ${tenantId} and d.parent_id = id
      )
      select count(*) - 1 as total from branch`;
    assert.ok(total > 20_000, String(total));
    /** Asks, and expects that no more than a few blocks are read for each department of the tenant. */
    const ask = async (path: string) => {
      queries.length = 0;
      const answer = await boss.get(`${DEPTS}/${path}`);
      assert.equal(answer.status, 200, answer.text);
      const cost = await costOf(connection, tenantId, [...queries]);
      report(t, { path, ...cost });
      assert.ok(cost.statements > 0);
      assert.ok(cost.blocks < 12 * COUNT, `${cost.blocks} blocks were read for ${path}`);
      return answer;
    };
    const numbered = await ask(`list?underId=${top}`);
    assert.deepEqual([numbered.data.total, numbered.data.rows?.length], [total, 20]);
    const next = await ask(`list?underId=${top}&cursor=`);
    assert.deepEqual(next.data.rows, numbered.data.rows);
    for (const query of ['', '&countOnly=true']) {
      const users = await ask(`${top}/users?below=true${query}`);
      assert.equal(users.data.total, 0, users.text);
    }
    await superuser`analyze departments`;
  });
}
