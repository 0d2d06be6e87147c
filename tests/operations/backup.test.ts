import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { startEmbedded } from '../../db/embedded/cluster.ts';
import { callTool, departmentNames, manifestOf, newFolder, runTool } from '../support/backups.ts';
import { assertStopped, newDataFolder, serveInProcess, usedDataFolder } from '../support/process.ts';
import { report, scale } from '../support/scale.ts';
import { Client } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** `npm run backup` and `npm run restore` of the embedded database. */

/** The database and the backup of all tests. */
const dataDir = await usedDataFolder();
const folder = newFolder('backup');

/** Creates departments continuously, and records when each creation was acknowledged. */
function startWriters(admin: Client, count: number) {
  const acknowledged: { name: string; time: number }[] = [];
  let stopped = false;
  let next = 0;
  const write = async () => {
    while (!stopped) {
      const name = `d${next++}`;
      await admin.createDepartment({ deptName: name });
      acknowledged.push({ name, time: Date.now() });
    }
  };
  const writers = Promise.all(Array.from({ length: count }, write));
  return {
    acknowledged,
    async stop() {
      stopped = true;
      await writers;
    },
  };
}

const service = await serveInProcess({ BANYAN_DATA_DIR: dataDir });
const admin = await service.admin();
const writers = startWriters(admin, scale(1, 8));
await waitFor('there are writes before the backup', () => writers.acknowledged.length >= scale(20, 5_000));
const taken = await runTool('backup', dataDir, ['--to', folder]);
assert.equal(taken.status, 0, taken.stderr);
const count = writers.acknowledged.length;
await waitFor('there are writes after the backup', () => writers.acknowledged.length > count + scale(3, 20));
await writers.stop();
await service.stop();

test('a backup that is taken under load contains every write that was acknowledged before its end', async (t) => {
  const { started, time, counts } = manifestOf(folder);
  const isDuring = (ack: { time: number }) => ack.time >= Date.parse(started) && ack.time < Date.parse(time);
  const during = writers.acknowledged.filter(isDuring).length;
  assert.ok(during > 0, 'the service wrote while the backup was taken');
  const restored = newDataFolder();
  const restore = await callTool('restore', restored, ['--from', folder]);
  assert.equal(restore.status, 0, restore.stderr);
  assert.match(restore.stderr, /All ledgers are intact and match the hashes in the backup/);
  assert.match(restore.stderr, /Next: start the service, and take a new backup/);

  const { base, stop } = await serveInProcess({ BANYAN_DATA_DIR: restored });
  // The keys that sign tokens are in the backup too.
  const client = new Client(base, admin.token);
  const names = await departmentNames(client);
  const expected = writers.acknowledged.filter((ack) => ack.time < Date.parse(time));
  assert.deepEqual(
    expected.filter(({ name }) => !names.has(name)),
    [],
  );
  assert.ok(names.size < writers.acknowledged.length, 'writes after the backup are not in it');
  const [before = 0, after = 0] = counts.departments ?? [];
  assert.ok(names.size >= before && names.size <= after, `${names.size} is between ${before} and ${after}`);
  await client.createDepartment({ deptName: 'after the restore' });
  await stop();
  report(t, { acknowledged: writers.acknowledged.length, during, restored: names.size, counts });
});

test('only its owner can read a backup, it has no files of the running server, and it is never overwritten', async () => {
  assert.equal(fs.statSync(folder).mode & 0o777, 0o700);
  const names = fs.readdirSync(path.join(folder, 'postgres'));
  assert.ok(names.includes('backup_label'));
  for (const name of ['postmaster.pid', 'postmaster.opts', 'recovery.signal']) assert.ok(!names.includes(name), name);
  assert.deepEqual(fs.readdirSync(path.join(folder, 'postgres/pg_replslot')), []);
  const twice = await callTool('backup', dataDir, ['--to', folder]);
  assert.deepEqual([twice.status, /already exists/.test(twice.stderr)], [2, true], twice.stderr);
  await assertStopped(dataDir);
  assert.equal((await callTool('backup', dataDir, [])).status, 1);
  const external = await callTool('backup', dataDir, ['--to', `${folder}2`], { DATABASE_URL: 'postgres://a@b/c' });
  assert.deepEqual([external.status, /pg_basebackup/.test(external.stderr)], [2, true], external.stderr);
});

test('an interrupted backup is reported, and leaves nothing behind', async () => {
  const target = newFolder('interrupted');
  const backup = await callTool('backup', dataDir, ['--to', target], {}, AbortSignal.abort());
  assert.deepEqual(
    [backup.status, /not backed up: the backup was interrupted\./.test(backup.stderr)],
    [2, true],
    backup.stderr,
  );
  assert.deepEqual(fs.readdirSync(path.dirname(target)), []);
  await assertStopped(dataDir);
});

test('a restore refuses an existing or running database and a damaged backup', async () => {
  const restoreTo = (target: string, ...args: string[]) => callTool('restore', target, ['--from', folder, ...args]);
  const existing = await restoreTo(dataDir);
  assert.deepEqual([existing.status, /Add --replace/.test(existing.stderr)], [2, true], existing.stderr);
  const server = await startEmbedded(dataDir, () => {});
  const running = await restoreTo(dataDir, '--replace');
  assert.deepEqual([running.status, /Stop the service first/.test(running.stderr)], [2, true], running.stderr);
  await server.stop();
  const target = newDataFolder();
  // Damage the first file: a restore copies and compares one after another.
  const file = path.join(folder, Object.keys(manifestOf(folder).files)[0] as string);
  const content = fs.readFileSync(file);
  fs.writeFileSync(file, Buffer.concat([Buffer.of(Number(content[0]) ^ 1), content.subarray(1)]));
  const damaged = await restoreTo(target);
  fs.writeFileSync(file, content);
  assert.deepEqual([damaged.status, /differs from what was written/.test(damaged.stderr)], [2, true], damaged.stderr);
  assert.deepEqual(fs.readdirSync(target), [], 'nothing was restored');
});
