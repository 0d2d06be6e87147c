// Only in the long run: it imports ten files, until PostgreSQL would choose a generic plan; plans covers the plans of common statements.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csv, importFile } from '../support/import.ts';
import { startObserved } from './observed-service.ts';

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
