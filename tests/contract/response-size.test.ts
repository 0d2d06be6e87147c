import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectError, TENANTS } from '../support/expect.ts';
import { sample } from '../support/scale.ts';
import { startService } from '../support/service.ts';
import { captureQueries, type Query } from '../support/statements.ts';
import { expectFits, LIMIT, readAll } from './response-size.ts';

/**
 * Responses are at most 10 MB long. The large rules are written with SQL, because sending them over HTTP would be slow. The last
 * test is about something else: how many statements the overview sends.
 */

const queries: Query[] = [];
const service = await startService({}, { wrapDatabase: captureQueries(queries) });
const { superuser } = service;

/** Creates a tenant with children whose `rules` take more than 400 kB as JSON. */
async function createLargeChildren(count: number) {
  const admin = await service.createTenant();
  for (let n = 0; n < count; n++) await admin.create(TENANTS, { tenantName: `child ${n}` });
  const text = '规"则'.repeat(13_000);
  await superuser.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`
      update banyan.tenants set rules = rules || ${tx.json({ modelZr: text, modelPf: text, modelEd: text, catalogZr: text })}
      where parent_id = ${admin.tenantId}`;
  });
  return { admin, text };
}

test('lists of tenants have ruleBo only with fields=ruleBo, and then pages end early', async () => {
  const { admin, text } = await createLargeChildren(25);
  const path = `${TENANTS}/list?pageSize=500`;
  const plain = await admin.get(path);
  expectFits(plain);
  assert.equal(plain.data.rows.length, 26);
  assert.ok(plain.data.rows.every((row: object) => !('ruleBo' in row)));
  for (const sort of sample(['id', 'endTime'], 2)) {
    const { rows, pages } = await readAll((cursor) => admin.get(`${path}&sort=${sort}&fields=ruleBo&cursor=${cursor}`));
    assert.ok(pages > 1, `${pages} pages`);
    assert.equal(new Set(rows.map(({ id }) => id)).size, 26);
    assert.equal(rows.filter(({ ruleBo }) => (ruleBo as { modelZr: string }).modelZr === text).length, 25);
  }
  expectError(await admin.get(`${path}&fields=ruleBo`), 400, 'ANSWER_TOO_LARGE', { limit: LIMIT });
  const small = await admin.get(`${TENANTS}/list?pageSize=5&pageNum=2&fields=ruleBo`);
  assert.deepEqual([small.data.rows.length, small.data.total], [5, 26]);
  assert.equal((await admin.get(`${path}&fields=other`)).status, 400);
});

test('the overview counts the accounts of all tenants below with one statement', async () => {
  const admin = await service.createTenant();
  for (let n = 0; n < 5; n++) await service.createTenant({ accountCount: 1 }, admin);
  const count = async (client: typeof admin) => {
    queries.length = 0;
    const { data } = await client.get('/system/overview-api');
    return { full: data.full.length, statements: queries.filter(({ string }) => string?.includes('users')).length };
  };
  const before = await count(await service.createTenant());
  const { full, statements } = await count(admin);
  assert.equal(full, 5);
  assert.ok(statements <= before.statements + 1, `${statements} against ${before.statements}`);
});
