import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { connectOwner } from '../../db/driver.ts';
import { DEPTS } from '../support/expect.ts';
import { launch, logIn, newDataFolder, project } from '../support/process.ts';
import { isLong, report } from '../support/scale.ts';
import { createEmptyDatabase, PASSWORD, startService } from '../support/service.ts';
import { dropSearchIndexes, expectedTree, insertDepartments, requestTree } from '../support/trees.ts';

/** Trees too large to hold in memory are streamed: complete, from one snapshot, and with bounded memory. */

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

test('a large tree limited by depth marks the departments whose children are cut off', async () => {
  // The last level alone exceeds the streaming threshold, so hasChildren is looked up while streaming.
  const client = await service.createTenant();
  await insertDepartments(superuser, client.tenantId, { first: 4_000_000, count: 10_500, parentOf: 'null' });
  await insertDepartments(superuser, client.tenantId, { first: 5_000_000, count: 40, parentOf: '-1000000 + n * 250' });
  const { text, data } = await client.get(`${DEPTS}/tree?depth=1`);
  assert.equal(data.length, 10_500);
  assert.equal(text.match(/"hasChildren":true,"children":\[\]/g)?.length, 40);
});

test('a streamed tree reads one snapshot although departments change meanwhile', async () => {
  const client = await service.createTenant();
  const name = `repeat('名', 100)`;
  await insertDepartments(superuser, client.tenantId, {
    first: 6_000_000,
    count: 10_500,
    parentOf: 'case when n > 9 then n / 9 end',
    name,
  });
  const expected = await expectedTree(superuser, client.tenantId);
  const reading = await requestTree(client);
  await superuser.begin(async (tx) => {
    await tx`set local session_replication_role = replica`; // records no changes
    await tx`
      update departments set dept_name = 'changed', parent_id = null, order_num = -1 where tenant_id = ${client.tenantId}`;
  });
  const { text, complete } = await reading.rest();
  assert.ok(complete);
  assert.ok(text() === expected, 'the text differs from the expected tree');
  assert.match((await client.get(`${DEPTS}/tree?depth=1`)).text, /changed/);
});

if (isLong) {
  test('streaming 1,000,000 departments grows the process by at most 170 MB, uncollected garbage included', {
    skip: process.platform !== 'linux',
  }, async (t) => {
    const { databaseUrl, superuserUrl } = await createEmptyDatabase();
    const run = launch([`${project}/scripts/start.js`], {
      cwd: project,
      env: { DATABASE_URL: databaseUrl, BANYAN_ADMIN_PASSWORD: PASSWORD, BANYAN_DATA_DIR: newDataFolder() },
    });
    const { base } = await run.ready();
    const admin = await logIn(base, PASSWORD);
    const sql = connectOwner({ url: superuserUrl });
    await insertDepartments(sql, '000000', {
      first: 1_000_000,
      count: 898_999,
      parentOf: 'case when n > 10 then n / 10 end',
    });
    await insertDepartments(sql, '000000', {
      first: 2_000_000,
      count: 1_000,
      parentOf: 'case when n > 1 then n - 1 else -999999 end',
    });
    await insertDepartments(sql, '000000', { first: 3_000_000, count: 100_001, parentOf: '-1999998' });
    const memory = (name: string) =>
      Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(fs.readFileSync(`/proc/${run.child.pid}/status`, 'utf8'))?.[1]) /
      1024;
    for (let n = 0; n < 20; n++) await admin.get(`${DEPTS}/tree?rootId=2000001`);
    const before = memory('VmRSS');
    for (const times of [1, 2]) {
      const began = performance.now();
      const { response } = await requestTree(admin);
      const firstByte = performance.now() - began;
      let [nodes, bytes] = [0, 0];
      for await (const chunk of response) {
        bytes += chunk.length;
        for (let at = chunk.indexOf('"hasChildren"'); at >= 0; at = chunk.indexOf('"hasChildren"', at + 1)) nodes++;
      }
      assert.ok(response.complete);
      // The count misses the few matches that are split between two chunks.
      assert.ok(nodes > 990_000 && nodes <= 1_000_000, `${nodes}`);
      const grown = memory('VmHWM') - before;
      report(t, {
        times,
        bytes,
        firstByteMs: Math.round(firstByte),
        ms: Math.round(performance.now() - began),
        beforeMB: Math.round(before),
        grownMB: Math.round(grown),
      });
      assert.ok(grown < 170, `${grown} MB`);
    }
    await sql.end();
    assert.equal(await run.stop(), 0);
  });
}
