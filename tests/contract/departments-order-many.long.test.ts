// Only with test:long: it inserts more than 120,000 departments; contract/departments-order tests the rules with fewer.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS, expectError, expectOk } from '../support/expect.ts';
import { startService } from '../support/service.ts';
import { dropSearchIndexes, insertDepartments } from '../support/trees.ts';

/** These tests reorder more siblings than one statement updates, and reorder or delete more departments than a request may. */

const service = await startService();
const { superuser } = service;
const admin = await service.createTenant();
const COUNT = 20_500;
const FIRST = 1_000_000;
await dropSearchIndexes(superuser);

test('reordering more than 20,000 siblings numbers each once and records one change for each updated row', async () => {
  const { tenantId } = admin;
  await insertDepartments(superuser, tenantId, { first: FIRST, count: COUNT, parentOf: 'case when n > 1 then 1 end' });
  const children = await superuser<{ id: number }[]>`
    select dept_id as id from departments where tenant_id = ${tenantId} and parent_id is not null
    order by order_num, dept_id`;
  const last = children.at(-1)?.id;
  expectOk(await admin.put(`${DEPTS}/order`, { parentId: FIRST + 1, deptIds: [last] }));
  const numbered = await superuser<{ id: number; number: number }[]>`
    select dept_id as id, order_num as number from departments where tenant_id = ${tenantId} and parent_id is not null
    order by order_num`;
  const expected = [last, ...children.slice(0, -1).map(({ id }) => id)];
  assert.deepEqual(
    numbered.map(({ id, number }) => [id, number]),
    expected.map((id, n) => [id, n + 1]),
  );
  const [{ recorded, changed }] = await superuser<[{ recorded: number; changed: number }]>`
    select count(*) as recorded, count(distinct resource_id) as changed from changes
    where tenant_id = ${tenantId} and resource = 'department' and (after ->> 'order_num')::int > 0`;
  // A sibling that keeps its number is not updated, and rows inserted by insertDepartments have no changes.
  const [{ written }] = await superuser<[{ written: number }]>`
    select count(*) as written from departments where tenant_id = ${tenantId} and update_by = 'boss'`;
  assert.ok(written > 20_000, `only ${written} rows were updated`);
  assert.deepEqual([recorded, changed], [written, written]);
});

test('reordering or deleting more than 100,000 departments in one request is rejected', async () => {
  const other = await service.createTenant();
  const first = 5_000_000;
  await insertDepartments(superuser, other.tenantId, {
    first,
    count: 100_002,
    parentOf: 'case when n > 1 then 1 end',
  });
  const parentId = first + 1;
  for (const [language, text] of [
    ['zh', /^parentId 为 5000001 的部门超过 100000 个，无法排序，请先将部分部门移至其他上级部门$/],
    ['en', /^More than 100000 departments have the parentId 5000001,.* Move some to another parent first\.$/],
  ] as const) {
    const order = { parentId, deptIds: [first + 3] };
    const response = await other.put(`${DEPTS}/order`, order, { headers: { 'accept-language': language } });
    expectError(response, 409, 'BRANCH_TOO_LARGE', { limit: 100_000, parentId });
    assert.match(response.msg, text);
  }
  expectError(await other.delete(`${DEPTS}/${parentId}?subtree=true`), 409, 'BRANCH_TOO_LARGE', { limit: 100_000 });
});
