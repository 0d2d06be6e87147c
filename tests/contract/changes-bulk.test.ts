import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHANGES, DEPTS, resultOf } from '../support/expect.ts';
import { scale } from '../support/scale.ts';
import { startService } from '../support/service.ts';
import { createSmallTenant, expectFewRowsRead, readChanges, startWithOneConnection } from './changes-bulk.ts';

/** The path that a change stores: the whole path up to 2,000 characters, otherwise none. */
const storedPath = (path: string) => (path.length <= 2000 ? path : '');

test('changes of departments hundreds of levels deep are recorded, without paths over 2,000 characters', async (t) => {
  const service = await startWithOneConnection();
  const { admin, next } = await createSmallTenant(service);
  const depth = scale(600, 1_000);
  const count = scale(600, 10_000);
  const departments = Array.from({ length: count }, (_, n) => ({
    ref: `${n}`,
    ...(n % depth ? { parentRef: `${n - 1}` } : {}),
  }));
  const { deptIds } = (await admin.post(`${DEPTS}/bulk`, { departments })).data;
  const { rows, next: end } = await readChanges(admin, next);
  assert.equal(rows.length, count);
  const paths = new Map(rows.map(({ resourceId, after }) => [Number(resourceId), after?.ancestors]));
  let path = '0';
  for (const [n, id] of deptIds.entries()) {
    path = n % depth ? `${path},${deptIds[n - 1]}` : '0';
    assert.equal(paths.get(id), storedPath(path));
  }
  // Departments created one at a time are recorded like those created in bulk.
  const deep = deptIds.findIndex((id: number) => paths.get(id) === '');
  const created = [
    await admin.createDepartment({ parentId: deptIds[deep - 2] }),
    await admin.createDepartment({ parentId: deptIds[deep - 1] }),
  ];
  const alone = (await readChanges(admin, end)).rows.map(({ resourceId, after }) => [resourceId, after?.ancestors]);
  assert.deepEqual(alone, [
    [created[0], paths.get(deptIds[deep - 1])],
    [created[1], ''],
  ]);
  await expectFewRowsRead(t, service, count);
});

test('after=latest begins after a whole bulk write, even if it has more changes than one transaction seals', async () => {
  // Nothing is sealed in the background.
  const service = await startService({}, { timing: { sealMs: 600_000 } });
  const admin = await service.createTenant();
  const departments = Array.from({ length: 5_100 }, (_, n) => ({ ref: `${n}` }));
  assert.equal(resultOf(await admin.post(`${DEPTS}/bulk`, { departments })), 'done');
  const { data: latest } = await admin.get(`${CHANGES}?after=latest`);
  assert.deepEqual(latest.rows, []);
  const id = await admin.createDepartment();
  const { rows } = await readChanges(admin, latest.next);
  assert.deepEqual(
    rows.map(({ resourceId }) => resourceId),
    [id],
  );
});
