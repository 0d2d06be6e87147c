// Only with test:long: large trees again, with a wide last level and with a million departments; contract/departments-tree-large tests streaming and depth.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { connectWithoutDeadline } from '../support/database.ts';
import { DEPTS } from '../support/expect.ts';
import { launch, logIn, newDataFolder, project } from '../support/process.ts';
import { report } from '../support/scale.ts';
import { createEmptyDatabase, PASSWORD, startService } from '../support/service.ts';
import { dropSearchIndexes, insertDepartments, requestTree } from '../support/trees.ts';

const service = await startService();
const { superuser } = service;
await dropSearchIndexes(superuser);

test('a large tree limited by depth marks the departments whose children are cut off', async () => {
  // The last level alone exceeds the streaming threshold, so hasChildren is looked up while streaming.
  const client = await service.createTenant();
  await insertDepartments(superuser, client.tenantId, { first: 4_000_000, count: 10_500, parentOf: 'null' });
  await insertDepartments(superuser, client.tenantId, { first: 5_000_000, count: 40, parentOf: '-1000000 + n * 250' });
  const { text, data } = await client.get(`${DEPTS}/tree?depth=1`);
  assert.equal(data.length, 10_500);
  assert.equal(text.match(/"hasChildren":true,"children":\[\]/g)?.length, 40);
});

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
  const sql = connectWithoutDeadline({ url: superuserUrl });
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
