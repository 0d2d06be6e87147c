// Only with test:long: it inserts 50,000 departments; contract/departments-counts tests the counts themselves.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS } from '../support/expect.ts';
import { startService } from '../support/service.ts';
import { dropSearchIndexes, insertDepartments } from '../support/trees.ts';
import { branchCountsOf } from './departments-counts.ts';

const service = await startService();
const { superuser } = service;
await dropSearchIndexes(superuser);

test('branchUserCount is absent if the branches of a page have more than 50,000 departments', async () => {
  const admin = await service.createTenant();
  const first = 6_000_000;
  // Two branches: a chain of 500 departments, and another one with 49,000 children below its first department.
  const parentOf = 'case when n > 2 and n <= 1000 then n - 2 when n > 1000 then 2 end';
  await superuser`alter table banyan.departments set (autovacuum_enabled = false)`;
  await insertDepartments(superuser, admin.tenantId, { first, count: 50_000, parentOf });
  const user = await admin.createUser({ userName: 'everywhere', deptId: first + 50_000, deptIds: [first + 999] });
  const read = async () => branchCountsOf((await admin.get(`${DEPTS}/0/children?branchCounts=true`)).data);
  assert.deepEqual(await read(), [1, 1]);
  const extra = await admin.createDepartment({ parentId: first + 999, deptName: 'one more' });
  assert.deepEqual(await read(), [undefined, undefined]);
  await admin.delete(`/system/user-api/${user}`);
  assert.deepEqual(await read(), [undefined, undefined], 'without users, the number of departments still counts');
  await admin.delete(`${DEPTS}/${extra}`);
  assert.deepEqual(await read(), [0, 0]);
});
