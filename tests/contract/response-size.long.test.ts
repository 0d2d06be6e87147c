// Only with test:long: it reads 50 MB of paths and 28 MB of changes; contract/response-size tests pages that end early, and contract/deep-trees paths that are too long.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHANGES, DEPTS, expectError, TENANTS } from '../support/expect.ts';
import { startService } from '../support/service.ts';
import { insertDepartments } from '../support/trees.ts';
import { expectFits, LIMIT, readAll } from './response-size.ts';

const service = await startService();
const { superuser } = service;

test('pages of departments end early when their paths are long', async () => {
  const admin = await service.createTenant();
  // These are deeper than new departments may be; existing ones stay readable.
  const [first, depth] = [7_000_000, 3_000];
  await insertDepartments(superuser, admin.tenantId, { first, count: depth, parentOf: 'nullif(n - 1, 0)' });
  await insertDepartments(superuser, admin.tenantId, {
    first: first + depth,
    count: 500,
    parentOf: `-1`,
    name: `'leaf'`,
  });
  const last = first + depth - 1;
  const list = `${DEPTS}/list?pageSize=500&deptName=leaf&withPath=true`;
  expectError(await admin.get(list), 400, 'PATHS_TOO_LONG', { limit: LIMIT });
  const listed = await readAll((cursor) => admin.get(`${list}&cursor=${cursor}`));
  assert.equal(new Set(listed.rows.map(({ deptId }) => deptId)).size, 500);
  assert.ok(listed.rows.every(({ pathNames }) => (pathNames as string[]).length === depth - 1));
  const children = await readAll((cursor) => admin.get(`${DEPTS}/${last}/children?limit=500&cursor=${cursor}`));
  assert.equal(new Set(children.rows.map(({ deptId }) => deptId)).size, 501);
  assert.ok(listed.pages > 1 && children.pages > 1, `${listed.pages}, ${children.pages} pages`);
  const ids = listed.rows.map(({ deptId }) => deptId);
  expectError(await admin.post(`${DEPTS}/batch-read`, { ids }), 400, 'PATHS_TOO_LONG', { limit: LIMIT });
  assert.equal((await admin.post(`${DEPTS}/batch-read`, { ids: ids.slice(0, 100) })).data.rows.length, 100);
});

test('pages of the feed and of the audit log end early when the changes are large', async () => {
  const admin = await service.createTenant();
  const child = await service.createTenant({}, admin);
  const ruleBo = { modelZr: '规'.repeat(65_536), modelPf: '则'.repeat(65_536) };
  for (let n = 0; n < 18; n++) await admin.put(TENANTS, { id: child.id, tenantName: `version ${n}`, ruleBo });
  const ids = new Set<number>();
  let pages = 0;
  for (let after = '0'; ; pages++) {
    const response = await admin.get(`${CHANGES}?limit=1000&after=${after}`);
    expectFits(response);
    if (response.data.rows.length === 0) break;
    for (const { id } of response.data.rows) assert.ok(!ids.has(id) && ids.add(id));
    after = response.data.next;
  }
  assert.ok(pages > 1, `${pages} pages`);
  const audit = await readAll((cursor) =>
    admin.get(`${CHANGES}/list?limit=500&resource=tenant&below=false&cursor=${cursor}`),
  );
  assert.ok(audit.pages > 1, `${audit.pages} pages`);
  const changes = audit.rows.filter(({ resourceId, action }) => resourceId === child.id && action === 'updated');
  assert.equal(changes.length, 18);
  assert.ok(changes.every(({ id }) => ids.has(id)));
});
