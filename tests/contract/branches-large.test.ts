import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { connectOwner } from '../../db/sql.ts';
import { DEPTS } from '../support/expect.ts';
import { launch, logIn, newFolder, project } from '../support/process.ts';
import { isLong, report } from '../support/scale.ts';
import { createEmptyDatabase, PASSWORD, startService } from '../support/service.ts';
import { begin, expectedText, plant } from '../support/trees.ts';

/** Trees that are too large to be held in memory: right to the last byte, of one moment, at a bounded cost. */

const service = await startService();
const { superuser } = service;
const boss = await service.createTenant();
// Nothing is searched here, and without these indexes rows are written several times as fast.
await superuser`drop index departments_search, departments_by_name, departments_by_creation, departments_by_update`;
// More than 10,000 are streamed. A bush, a chain of 500 below its first department, and 5,500 siblings below its second.
await plant(superuser, boss.tenantId, { first: 1_000_000, count: 5_000, parentOf: 'case when n > 7 then n / 7 end' });
await plant(superuser, boss.tenantId, {
  first: 2_000_000,
  count: 500,
  parentOf: 'case when n = 1 then -999999 else n - 1 end',
});
await plant(superuser, boss.tenantId, { first: 3_000_000, count: 5_500, parentOf: '-1999998' });

test('11,000 departments, 500 deep, 5,500 siblings: the whole tree, to the byte', async () => {
  const expected = await expectedText(superuser, boss.tenantId);
  const answer = await boss.get(`${DEPTS}/tree`);
  assert.equal(answer.headers['transfer-encoding'], 'chunked', 'it was streamed');
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
  assert.ok(answer.text === expected, 'the text is another');
});

test('HEAD answers at once, without the body', async () => {
  const { status, text, headers } = await boss.call('HEAD', `${DEPTS}/tree`);
  assert.deepEqual([status, text, headers['content-type']], [200, '', 'application/json; charset=utf-8']);
});

test('a branch of it, and a depth', async () => {
  const root = 1_000_001;
  const { text } = await boss.get(`${DEPTS}/tree?rootId=${root}`);
  assert.ok(text === (await expectedText(superuser, boss.tenantId, root)), 'the text is another');
  const shallow = await boss.get(`${DEPTS}/tree?depth=6`);
  const levels = (nodes: { children: never[]; hasChildren: boolean }[]): number =>
    nodes.reduce((most, { children }) => Math.max(most, 1 + levels(children)), 0);
  assert.equal(levels(shallow.data), 6);
  // What is cut off says so, and nothing else does.
  const cut = shallow.text.match(/"hasChildren":true,"children":\[\]/g)?.length;
  const [{ parents }] = await superuser<[{ parents: number }]>`
    with recursive level (id, n) as (
      select dept_id, 1 from departments where tenant_id = ${boss.tenantId} and parent_id is null
      union all
      select c.dept_id, n + 1 from level join departments c on c.tenant_id = ${boss.tenantId} and c.parent_id = id
      where n < 6
    )
    select count(*) as parents from level where n = 6 and exists (
      select from departments c where c.tenant_id = ${boss.tenantId} and c.parent_id = id)`;
  assert.equal(cut, parents);
});

test('a large tree, cut by depth or not, tells what is cut off', async () => {
  // More than fits in memory at the last level: those are looked at while they are told.
  const client = await service.createTenant();
  await plant(superuser, client.tenantId, { first: 4_000_000, count: 10_500, parentOf: 'null' });
  await plant(superuser, client.tenantId, { first: 5_000_000, count: 40, parentOf: '-1000000 + n * 250' });
  const { text, data } = await client.get(`${DEPTS}/tree?depth=1`);
  assert.equal(data.length, 10_500);
  assert.equal(text.match(/"hasChildren":true,"children":\[\]/g)?.length, 40);
});

test('it is of one moment, whatever is written while it is sent', async () => {
  const client = await service.createTenant();
  const name = `repeat('名', 100)`;
  await plant(superuser, client.tenantId, {
    first: 6_000_000,
    count: 10_500,
    parentOf: 'case when n > 9 then n / 9 end',
    name,
  });
  const expected = await expectedText(superuser, client.tenantId);
  const reading = await begin(client);
  await superuser`
    update departments set dept_name = 'changed', parent_id = null, order_num = -1 where tenant_id = ${client.tenantId}`;
  const { text, whole } = await reading.rest();
  assert.ok(whole);
  assert.ok(text() === expected, 'the text is another');
  assert.match((await client.get(`${DEPTS}/tree?depth=1`)).text, /changed/);
});

if (isLong) {
  test('1,000,000 departments: the process grows by 170 MB at most, whatever waits to be collected included', {
    skip: process.platform !== 'linux',
  }, async (t) => {
    const { databaseUrl, superuserUrl } = await createEmptyDatabase();
    const run = launch([`${project}/scripts/start.js`], {
      cwd: project,
      env: { DATABASE_URL: databaseUrl, BANYAN_ADMIN_PASSWORD: PASSWORD, BANYAN_DATA_DIR: newFolder() },
    });
    const { base } = await run.ready();
    const admin = await logIn(base, PASSWORD);
    const sql = connectOwner({ url: superuserUrl });
    await plant(sql, '000000', { first: 1_000_000, count: 898_999, parentOf: 'case when n > 10 then n / 10 end' });
    await plant(sql, '000000', {
      first: 2_000_000,
      count: 1_000,
      parentOf: 'case when n > 1 then n - 1 else -999999 end',
    });
    await plant(sql, '000000', { first: 3_000_000, count: 100_001, parentOf: '-1999998' });
    const memory = (name: string) =>
      Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(fs.readFileSync(`/proc/${run.child.pid}/status`, 'utf8'))?.[1]) /
      1024;
    for (let n = 0; n < 20; n++) await admin.get(`${DEPTS}/tree?rootId=2000001`);
    const before = memory('VmRSS');
    for (const times of [1, 2]) {
      const began = performance.now();
      const { response } = await begin(admin);
      const firstByte = performance.now() - began;
      let [nodes, bytes] = [0, 0];
      for await (const chunk of response) {
        bytes += chunk.length;
        for (let at = chunk.indexOf('"hasChildren"'); at >= 0; at = chunk.indexOf('"hasChildren"', at + 1)) nodes++;
      }
      assert.ok(response.complete);
      // A few are split between two chunks.
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
