// Only with test:long: recovery.test.ts covers a PostgreSQL that has crashed, and disk-full.test.ts a full disk.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outcomeOf } from '../support/expect.ts';
import { connectTo, startWithoutDeadlines } from '../support/process.ts';
import { report, Tally } from '../support/scale.ts';
import { assertRecovered, createDisk } from './disk.ts';

test('PostgreSQL crashes without space for its WAL, and the service reports it and restarts it once there is space', async (t) => {
  const disk = await createDisk();
  const run = startWithoutDeadlines(disk.dataDir);
  const admin = await run.admin();
  const tally = new Tally();
  const acknowledged: string[] = [];
  for (let n = 0; n < 20; n++) acknowledged.push(`/system/dept-api/${await admin.createDepartment()}`);
  const superuser = connectTo(disk.dataDir);
  disk.fill('wal');
  // Use up the rest of the WAL segment, and require a new one.
  await assert.rejects(async () => {
    for (let left = 50; left > 0; left--)
      await superuser`select pg_logical_emit_message(true, 'x', 'x'), pg_switch_wal()`;
  });
  await superuser.end({ timeout: 1 });
  for (let n = 0; n < 10; n++) {
    const write = await admin.post('/system/dept-api', {});
    if (write.status === 200) acknowledged.push(String(write.headers.location));
    tally.add(outcomeOf(write));
    tally.add(`read: ${outcomeOf(await admin.get(acknowledged[0] as string))}`);
  }
  for (const outcome of Object.keys(tally.counts))
    assert.match(outcome, /^(read: )?(200 OK|503 (DATABASE_AWAY|TOO_BUSY))$/);
  disk.free();
  await assertRecovered(admin, acknowledged, () => run.stderr);
  report(t, { method: disk.method, ...tally.counts });
  assert.match(run.stderr, /PostgreSQL has stopped, restarting it/);
  assert.equal(await run.stop(), 0, run.stderr);
});
