import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS } from '../support/expect.ts';
import { startService } from '../support/service.ts';
import {
  countOpenTransactions,
  dropSearchIndexes,
  expectedTree,
  insertDepartments,
  requestTree,
} from '../support/trees.ts';
import { flatten } from './departments-counts.ts';

/** Large trees are streamed: complete, from one snapshot, and with bounded memory. */

const service = await startService();
const { superuser } = service;
const admin = await service.createTenant();
await dropSearchIndexes(superuser);
// Trees with more than 10,000 departments are streamed: this one is a bushy tree with a chain of 500 below its first
// department and 5,500 siblings below its second.
await insertDepartments(superuser, admin.tenantId, {
  first: 1_000_000,
  count: 5_000,
  parentOf: 'case when n > 7 then n / 7 end',
});
await insertDepartments(superuser, admin.tenantId, {
  first: 2_000_000,
  count: 500,
  parentOf: 'case when n = 1 then -999999 else n - 1 end',
});
await insertDepartments(superuser, admin.tenantId, { first: 3_000_000, count: 5_500, parentOf: '-1999998' });

test('a streamed tree of 11,000 departments matches the expected text byte for byte', async () => {
  const expected = await expectedTree(superuser, admin.tenantId);
  const response = await admin.get(`${DEPTS}/tree`);
  assert.equal(response.headers['transfer-encoding'], 'chunked', 'the response is not streamed');
  assert.equal(response.headers['content-type'], 'application/json; charset=utf-8');
  assert.ok(response.text === expected, 'the text differs from the expected tree');
});

test('a streamed tree includes the user counts', async () => {
  const user = await admin.createUser({ userName: 'everywhere' });
  await superuser`
    insert into banyan.user_departments (tenant_id, user_id, dept_id, main)
    select tenant_id, ${user}, dept_id, false from banyan.departments
    where tenant_id = ${admin.tenantId} and dept_id % 5 = 0`;
  const { data, headers } = await admin.get(`${DEPTS}/tree?counts=true`);
  assert.equal(headers['transfer-encoding'], 'chunked', 'the response is not streamed');
  const nodes = flatten(data);
  assert.equal(nodes.length, 11_000);
  for (const { deptId, userCount } of nodes) assert.equal(userCount, deptId % 5 === 0 ? 1 : 0, String(deptId));
});

test('HEAD returns the headers without a body', async () => {
  const { status, text, headers } = await admin.call('HEAD', `${DEPTS}/tree`);
  assert.deepEqual([status, text, headers['content-type']], [200, '', 'application/json; charset=utf-8']);
});

test('rootId and depth limit a large tree', async () => {
  const root = 1_000_001;
  const { text } = await admin.get(`${DEPTS}/tree?rootId=${root}`);
  assert.ok(text === (await expectedTree(superuser, admin.tenantId, root)), 'the text differs from the expected tree');
  const shallow = await admin.get(`${DEPTS}/tree?depth=6`);
  const levels = (nodes: { children: never[]; hasChildren: boolean }[]): number =>
    nodes.reduce((most, { children }) => Math.max(most, 1 + levels(children)), 0);
  assert.equal(levels(shallow.data), 6);
  // Exactly the departments whose children are cut off have hasChildren and no children.
  const cut = shallow.text.match(/"hasChildren":true,"children":\[\]/g)?.length;
  const [{ parents }] = await superuser<[{ parents: number }]>`
    with recursive level (id, n) as (
      select dept_id, 1 from departments where tenant_id = ${admin.tenantId} and parent_id is null
      union all
      select c.dept_id, n + 1 from level join departments c on c.tenant_id = ${admin.tenantId} and c.parent_id = id
      where n < 6
    )
    select count(*) as parents from level where n = 6 and exists (
      select from departments c where c.tenant_id = ${admin.tenantId} and c.parent_id = id)`;
  assert.equal(cut, parents);
});

test('a streamed tree reads one snapshot although departments change meanwhile', async () => {
  const client = await service.createTenant();
  // The response is larger than the buffers of the sockets, so the service is still reading the tree while departments change.
  await insertDepartments(superuser, client.tenantId, {
    first: 6_000_000,
    count: 18_000,
    parentOf: 'case when n > 9 then n / 9 end',
    name: `repeat('🌳', 100)`,
    leader: `repeat('🌳', 50)`,
  });
  const expected = await expectedTree(superuser, client.tenantId);
  const reading = await requestTree(client);
  await superuser.begin(async (tx) => {
    await tx`set local session_replication_role = replica`; // records no changes
    await tx`
      update departments set dept_name = 'changed', parent_id = null, order_num = -1 where tenant_id = ${client.tenantId}`;
  });
  assert.equal(await countOpenTransactions(superuser), 1, 'the tree is still being read');
  const { text, complete } = await reading.rest();
  assert.ok(complete);
  assert.ok(text() === expected, 'the text differs from the expected tree');
  assert.match((await client.get(`${DEPTS}/tree?depth=1`)).text, /changed/);
});
