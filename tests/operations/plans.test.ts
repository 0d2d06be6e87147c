import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCommonOperations, startObserved } from './observed-service.ts';

/** The service uses generic plans, because planning a statement each time would cost more than executing it. */

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
