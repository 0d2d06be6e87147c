// Only with test:long: large ledgers; contract/changes-bulk tests one bulk creation, contract/departments-delete-subtree the deletion.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHANGES, DEPTS } from '../support/expect.ts';
import { firstSeed, seededRandom } from '../support/scale.ts';
import { createSmallTenant, expectFewRowsRead, type Row, readChanges, startWithOneConnection } from './changes-bulk.ts';

test('each department of a bulk creation and of a subtree delete is recorded with its path', async (t) => {
  const service = await startWithOneConnection();
  const { admin, ids, next } = await createSmallTenant(service);
  const count = 3_000;
  const [top, parentId] = [ids[0] as string, ids[2] as string];
  const { below } = seededRandom(firstSeed);
  // The order is shuffled, so a child may precede its parent.
  const order = Array.from({ length: count }, (_, n) => n).sort(() => below(2) - 0.5);
  const parents = order.map((_, n) => (n % 10 ? below(n) : null));
  const departments = order.map((n) => ({
    ref: `${n}`,
    ...(parents[n] == null ? {} : { parentRef: `${parents[n]}` }),
  }));
  const { deptIds } = (await admin.post(`${DEPTS}/bulk`, { parentId, departments })).data;
  const idOf = new Map(order.map((n, at) => [n, deptIds[at] as number]));
  const pathOf = (n: number): string => {
    const parent = parents[n];
    return parent == null ? `0,${ids.slice(0, 3).join(',')}` : `${pathOf(parent)},${idOf.get(parent)}`;
  };
  const paths = new Map(order.map((n) => [String(idOf.get(n)), pathOf(n)]));

  const created = await readChanges(admin, next);
  assert.equal(created.rows.length, count);
  for (const { resourceId, after } of created.rows) assert.equal(after?.ancestors, paths.get(resourceId));

  assert.equal((await admin.delete(`${DEPTS}/${top}?subtree=true`)).code, 200);
  const { rows } = await readChanges(admin, created.next);
  assert.equal(rows.length, count + 8);
  for (const [n, id] of ids.entries()) paths.set(id, ['0', ...ids.slice(0, n)].join(','));
  for (const { action, resourceId, before } of rows) {
    assert.deepEqual([action, before?.ancestors], ['deleted', paths.get(resourceId)]);
  }
  await expectFewRowsRead(t, service, count);
});

test('reading changes stays cheap on a connection whose plans date from a small ledger', async (t) => {
  const service = await startWithOneConnection();
  const { admin, next } = await createSmallTenant(service);
  const count = 40_000;
  await service.superuser`
    insert into banyan.departments (tenant_id, dept_id, create_by)
    select ${admin.tenantId}, 60000000 + n, 'sql' from generate_series(1, ${count}) n`;
  const { data, text } = await admin.get(`${CHANGES}?after=${next}&limit=5`);
  assert.deepEqual(
    data?.rows?.map(({ resourceId }: Row) => resourceId),
    [1, 2, 3, 4, 5].map((n) => String(60000000 + n)),
    text.slice(0, 300),
  );
  await expectFewRowsRead(t, service, count);
});
