import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, startService } from '../harness.ts';
import { chance, firstSeed } from '../scale.ts';

/** Thousands of departments written at once, by a connection that has known nothing but small writes until then. */

const service = await startService({}, { connections: 1 });
const feed = '/system/change-api';
const dept = '/system/dept-api';

interface Row {
  action: string;
  resource: string;
  resourceId: string;
  before: { ancestors: string } | null;
  after: { ancestors: string } | null;
}

async function follow(client: Client, after = '0') {
  const rows: Row[] = [];
  for (;;) {
    const { data, text } = await client.get(`${feed}?after=${after}&limit=500`);
    assert.ok(data?.rows, text.slice(0, 300));
    rows.push(...data.rows);
    if (data.rows.length === 0) return { rows, next: after };
    after = data.next;
  }
}

/** A tenant whose few departments have been written and told one by one, often enough for plans to be kept. */
async function smallTenant() {
  const boss = await service.tenant();
  const ids: string[] = [];
  for (let n = 0; n < 8; n++) {
    ids.push(await boss.dept({ parentId: ids.at(-1) ?? 0 }));
    await boss.put(dept, { deptId: ids.at(-1), deptName: `d${n}` });
    await follow(boss);
  }
  return { boss, ids, ...(await follow(boss)) };
}

/** What the ledger keeps of a path: all of it, up to 2,000 characters. */
const kept = (path: string) => (path.length <= 2000 ? path : '');

test('each of a forest made at once is told with its path, and again when the branch is deleted', async () => {
  const { boss, ids, next } = await smallTenant();
  const [top, parentId] = [ids[0] as string, ids[2] as string];
  const { below } = chance(firstSeed);
  // Children stand before their parents as often as behind them.
  const order = Array.from({ length: 3_000 }, (_, n) => n).sort(() => below(2) - 0.5);
  const parents = order.map((_, n) => (n % 10 ? below(n) : null));
  const departments = order.map((n) => ({
    ref: `${n}`,
    ...(parents[n] == null ? {} : { parentRef: `${parents[n]}` }),
  }));
  const { deptIds } = (await boss.post(`${dept}/bulk`, { parentId, departments })).data;
  const idOf = new Map(order.map((n, at) => [n, deptIds[at] as number]));
  const pathOf = (n: number): string => {
    const parent = parents[n];
    return parent == null ? `0,${ids.slice(0, 3).join(',')}` : `${pathOf(parent)},${idOf.get(parent)}`;
  };
  const paths = new Map(order.map((n) => [String(idOf.get(n)), pathOf(n)]));

  const made = await follow(boss, next);
  assert.equal(made.rows.length, 3_000);
  for (const { resourceId, after } of made.rows) assert.equal(after?.ancestors, paths.get(resourceId));

  assert.equal((await boss.delete(`${dept}/${top}?subtree=true`)).code, 200);
  const { rows } = await follow(boss, made.next);
  assert.equal(rows.length, 3_008);
  for (const [n, id] of ids.entries()) paths.set(id, ['0', ...ids.slice(0, n)].join(','));
  for (const { action, resourceId, before } of rows) {
    assert.deepEqual([action, before?.ancestors], ['deleted', paths.get(resourceId)]);
  }
});

test('ten thousand, a thousand levels deep, are told and sealed; endless paths are left out', async () => {
  const { boss, next } = await smallTenant();
  const departments = Array.from({ length: 10_000 }, (_, n) => ({
    ref: `${n}`,
    ...(n % 1_000 ? { parentRef: `${n - 1}` } : {}),
  }));
  const { deptIds } = (await boss.post(`${dept}/bulk`, { departments })).data;
  const { rows, next: end } = await follow(boss, next);
  assert.equal(rows.length, 10_000);
  const told = new Map(rows.map(({ resourceId, after }) => [Number(resourceId), after?.ancestors]));
  let path = '0';
  for (const [n, id] of deptIds.entries()) {
    path = n % 1_000 ? `${path},${deptIds[n - 1]}` : '0';
    assert.equal(told.get(id), kept(path));
  }
  // One that comes alone is told as those that came together.
  const deep = deptIds.findIndex((id: number) => told.get(id) === '');
  const made = [await boss.dept({ parentId: deptIds[deep - 2] }), await boss.dept({ parentId: deptIds[deep - 1] })];
  const alone = (await follow(boss, end)).rows.map(({ resourceId, after }) => [resourceId, after?.ancestors]);
  assert.deepEqual(alone, [
    [made[0], told.get(deptIds[deep - 1])],
    [made[1], ''],
  ]);
});

test('a ledger that grew by forty thousand is followed by who knew it when it was small', async () => {
  const { boss, next } = await smallTenant();
  await service.superuser`
    insert into banyan.departments (tenant_id, dept_id, create_by)
    select ${boss.tenantId}, 60000000 + n, 'sql' from generate_series(1, 40000) n`;
  const { data, text } = await boss.get(`${feed}?after=${next}&limit=5`);
  assert.deepEqual(
    data?.rows?.map(({ resourceId }: Row) => resourceId),
    [1, 2, 3, 4, 5].map((n) => String(60000000 + n)),
    text.slice(0, 300),
  );
});
