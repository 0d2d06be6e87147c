// Only with test:long: the tests start the commands as processes, most of them beside a service; backup.test.ts and
// scheduled-backups.test.ts cover most of these rules in-process.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { departmentNames, manifestOf, newFolder, runTool, startTool } from '../support/backups.ts';
import {
  assertStopped,
  connectTo,
  newDataFolder,
  processesIn,
  startWithoutDeadlines,
  usedDataFolder,
} from '../support/process.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';

/** `npm run backup` and `npm run restore` of the embedded database. */

test('a backup of a stopped service starts and stops PostgreSQL, and only its owner can read the backup', async () => {
  const dataDir = await usedDataFolder();
  const folder = newFolder('backup');
  const { status, stderr } = await runTool('backup', dataDir, ['--to', folder]);
  assert.equal(status, 0, stderr);
  await assertStopped(dataDir);
  assert.equal(fs.statSync(folder).mode & 0o777, 0o700);
  const names = fs.readdirSync(path.join(folder, 'postgres'));
  assert.ok(names.includes('backup_label'));
  for (const name of ['postmaster.pid', 'postmaster.opts', 'recovery.signal']) assert.ok(!names.includes(name), name);
  assert.deepEqual(fs.readdirSync(path.join(folder, 'postgres/pg_replslot')), []);

  const twice = await runTool('backup', dataDir, ['--to', folder]);
  assert.deepEqual([twice.status, /already exists/.test(twice.stderr)], [2, true], twice.stderr);
  assert.equal((await runTool('backup', dataDir, [])).status, 1);
  const external = await runTool('backup', dataDir, ['--to', `${folder}2`], { DATABASE_URL: 'postgres://a@b/c' });
  assert.deepEqual([external.status, /pg_basebackup/.test(external.stderr)], [2, true], external.stderr);
});

test('a killed backup leaves nothing that can be restored, the next one removes its files even if it is interrupted, and a later one succeeds', async () => {
  const dataDir = await usedDataFolder();
  const run = startWithoutDeadlines(dataDir);
  await run.ready();
  const [superuser, observer] = [connectTo(dataDir), connectTo(dataDir)];
  const folder = newFolder('backup');
  /** Interrupts a backup after it has copied the files and before it ends: it then waits for this lock. */
  const interrupt = (signal: NodeJS.Signals) =>
    superuser.begin(async (tx) => {
      await tx`lock table departments`;
      const backup = startTool('backup', dataDir, ['--to', folder]);
      await waitFor('the backup waits', async () => (await countLockWaits(observer)) > 0);
      return { outcome: await backup.kill(signal), stderr: backup.stderr };
    });
  const parent = path.dirname(folder);
  assert.equal((await interrupt('SIGKILL')).outcome, 'SIGKILL');
  const [leftover, ...others] = fs.readdirSync(parent);
  assert.deepEqual([/^backup\.new-\d+$/.test(String(leftover)), others], [true, []]);
  const fromLeftover = await runTool('restore', newDataFolder(), ['--from', path.join(parent, String(leftover))]);
  assert.match(fromLeftover.stderr, /There is no complete backup in/);
  const slots = async () => [...(await superuser`select slot_name from pg_replication_slots`)];
  await waitFor('the replication slot is gone', async () => (await slots()).length === 0);

  const interrupted = await interrupt('SIGTERM');
  assert.equal(interrupted.outcome, 2);
  assert.match(interrupted.stderr, /The database was not backed up: the backup was interrupted\./);
  assert.deepEqual(fs.readdirSync(parent), [], 'the files of both backups are removed');

  const { status, stderr } = await runTool('backup', dataDir, ['--to', folder]);
  assert.equal(status, 0, stderr);
  assert.deepEqual(fs.readdirSync(parent), ['backup']);
  await Promise.all([superuser.end(), observer.end()]);
  assert.equal(await run.stop(), 0, run.stderr);
});

test('a restore refuses damaged backups, existing databases and running services, without changing anything', async () => {
  const dataDir = await usedDataFolder();
  const folder = newFolder('backup');
  const backup = await runTool('backup', dataDir, ['--to', folder]);
  assert.equal(backup.status, 0, backup.stderr);
  const restoreTo = (target: string, ...args: string[]) => runTool('restore', target, ['--from', folder, ...args]);

  const existing = await restoreTo(dataDir);
  assert.deepEqual([existing.status, /Add --replace/.test(existing.stderr)], [2, true], existing.stderr);
  const run = startWithoutDeadlines(dataDir);
  const admin = await run.admin();
  await admin.createDepartment({ deptName: 'later' });
  const running = await restoreTo(dataDir, '--replace');
  assert.deepEqual([running.status, /Stop the service first/.test(running.stderr)], [2, true], running.stderr);
  assert.equal(await run.stop(), 0, run.stderr);

  const target = newDataFolder();
  const largest = Object.entries(manifestOf(folder).files).sort(([, a], [, b]) => b.size - a.size);
  const [name] = largest.find(([each]) => each.startsWith('postgres/base/')) ?? [''];
  for (const [file, change] of [
    [
      name,
      (bytes: Buffer) =>
        Buffer.concat([bytes.subarray(0, 100), Buffer.of(Number(bytes[100]) ^ 1), bytes.subarray(101)]),
    ],
    [name, (bytes: Buffer) => bytes.subarray(0, -1)],
    ['backup.json', (bytes: Buffer) => Buffer.from(bytes.toString().replace('"format"', '"Format"'))],
  ] as const) {
    const content = fs.readFileSync(path.join(folder, file));
    fs.writeFileSync(path.join(folder, file), change(content));
    const damaged = await restoreTo(target);
    assert.equal(damaged.status, 2);
    assert.match(damaged.stderr, new RegExp(`${file}.* (differs from what was written|is damaged)`));
    fs.writeFileSync(path.join(folder, file), content);
  }
  fs.renameSync(path.join(folder, name), path.join(folder, 'elsewhere'));
  assert.match((await restoreTo(target)).stderr, /is missing/);
  fs.renameSync(path.join(folder, 'elsewhere'), path.join(folder, name));
  assert.deepEqual(fs.readdirSync(target), [], 'nothing was restored');

  const replaced = await restoreTo(dataDir, '--replace');
  assert.equal(replaced.status, 0, replaced.stderr);
  const aside = /The previous database is in (\S+)\. /.exec(replaced.stderr)?.[1] ?? '';
  assert.ok(fs.existsSync(path.join(aside, 'postgres/PG_VERSION')), replaced.stderr);
  const again = startWithoutDeadlines(dataDir);
  const names = await departmentNames(await again.admin());
  assert.deepEqual([...names], [], 'the restored database is the one before the department was created');
  assert.equal(await again.stop(), 0, again.stderr);
});

test('a restore changes nothing if a record differs from the ledger, unless --ignore-errors is given', async () => {
  const dataDir = await usedDataFolder();
  const run = startWithoutDeadlines(dataDir);
  const admin = await run.admin();
  await admin.createDepartment({ deptName: 'a' });
  const superuser = connectTo(dataDir);
  await waitFor('all changes are sealed', async () => (await superuser`select from unsealed_changes`).length === 0);
  await superuser`alter table departments disable trigger user`;
  await superuser`update departments set dept_name = 'altered without a change'`;
  await superuser`alter table departments enable trigger user`;
  await superuser.end();
  const folder = newFolder('backup');
  assert.equal((await runTool('backup', dataDir, ['--to', folder])).status, 0);
  assert.equal(await run.stop(), 0, run.stderr);
  const target = newDataFolder();
  const refused = await runTool('restore', target, ['--from', folder]);
  assert.equal(refused.status, 2, refused.stderr);
  assert.match(refused.stderr, /Tenant 000000: department \d+/);
  assert.deepEqual(fs.readdirSync(target), []);
  // PostgreSQL removes its lock file shortly before it exits.
  await waitFor('PostgreSQL has exited', () => processesIn(target).length === 0);
  const forced = await runTool('restore', target, ['--from', folder, '--ignore-errors']);
  assert.equal(forced.status, 0, forced.stderr);
});
