// Only with test:long: it inserts 90,000 departments twice; contract/search and contract/department-users test what these reads return.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectAsService, measureCost } from '../support/cost.ts';
import { DEPTS } from '../support/expect.ts';
import { report } from '../support/scale.ts';
import { startService } from '../support/service.ts';
import { captureQueries, type Query } from '../support/statements.ts';
import { insertDepartments } from '../support/trees.ts';

/**
 * The subtrees belong to a tenant that was just imported, so PostgreSQL's statistics do not cover them. The table was empty
 * before, or had current statistics. A plan that reads the whole tenant for each department of a level would take minutes.
 */

const queries: Query[] = [];
const service = await startService({}, { wrapDatabase: captureQueries(queries) });
const { superuser } = service;
await superuser`alter table departments set (autovacuum_enabled = false)`;
// These tests do not search, and inserts are twice as fast without this index.
await superuser`drop index departments_search`;
const connection = await connectAsService(service);
// A subtree of more than 20,000 departments is not read id by id.
const COUNT = 90_000;

for (const [what, first] of [
  ['an empty table', 1_000_000],
  ['a table with current statistics', 2_000_000],
] as const) {
  test(`reading a subtree of more than 20,000 departments just imported into ${what} reads few database blocks per department`, async (t) => {
    const admin = await service.createTenant();
    const { tenantId } = admin;
    // Departments 1 to 3 have no parent, and 4 to 99 are children of department 3. Of each further hundred, the first
    // three are children of department 2 (in every hundredth group, of department 3), the others of the first one.
    await insertDepartments(superuser, tenantId, {
      first,
      count: COUNT,
      parentOf: `case when n > 3 then
        case when n % 100 >= 3 then greatest(n - n % 100, 3) when n % 10000 < 3 then 3 else 2 end end`,
    });
    const top = first + 2;
    const [{ total }] = await superuser<[{ total: number }]>`
      with recursive subtree (id) as (
        select ${top}::bigint
        union all
        select d.dept_id from subtree join departments d on d.tenant_id = ${tenantId} and d.parent_id = id
      )
      select count(*) - 1 as total from subtree`;
    assert.ok(total > 20_000, String(total));
    /** Reads the path and expects only a few blocks read for each department of the tenant. */
    const readCheaply = async (path: string) => {
      queries.length = 0;
      const response = await admin.get(`${DEPTS}/${path}`);
      assert.equal(response.status, 200, response.text);
      const cost = await measureCost(connection, tenantId, [...queries]);
      report(t, { path, ...cost });
      assert.ok(cost.statements > 0);
      assert.ok(cost.blocks < 12 * COUNT, `${cost.blocks} blocks were read for ${path}`);
      return response;
    };
    const numbered = await readCheaply(`list?underId=${top}`);
    assert.deepEqual([numbered.data.total, numbered.data.rows?.length], [total, 20]);
    const byCursor = await readCheaply(`list?underId=${top}&cursor=`);
    assert.deepEqual(byCursor.data.rows, numbered.data.rows);
    for (const query of ['', '&countOnly=true']) {
      const users = await readCheaply(`${top}/users?below=true${query}`);
      assert.equal(users.data.total, 0, users.text);
    }
    await superuser`analyze departments`;
  });
}
