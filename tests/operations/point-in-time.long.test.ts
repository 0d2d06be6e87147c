// Only with test:long: it starts seven services for several timelines; point-in-time.test.ts restores once, in-process.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { departmentNames, newFolder, nextSecond, runTool } from '../support/backups.ts';
import { connectTo, newDataFolder, startWithoutDeadlines, usedDataFolder } from '../support/process.ts';

/** Continuous archiving, and restores to a given second in the past. */

test('a restore ends at the given second, continues the archive on a new timeline, and later restores follow it', async () => {
  const dataDir = await usedDataFolder();
  const archive = newFolder('wal');
  const environment = { BANYAN_WAL_ARCHIVE: archive };
  const folder = newFolder('backup');
  const run = startWithoutDeadlines(dataDir, environment);
  const admin = await run.admin();
  const superuser = connectTo(dataDir);
  await admin.createDepartment({ deptName: 'in the backup' });
  const backup = await runTool('backup', dataDir, ['--to', folder], environment);
  assert.equal(backup.status, 0, backup.stderr);
  await admin.createDepartment({ deptName: 'before' });
  const until = await nextSecond(superuser);
  await admin.createDepartment({ deptName: 'after' });
  await superuser.end();
  // A clean stop archives the last segment too.
  assert.equal(await run.stop(), 0, run.stderr);

  /** Restores to a new data folder, creates these departments, and returns those that were there before and the output. */
  const restore = async (newDepartments: string[], ...args: string[]) => {
    const target = newDataFolder();
    const { status, stderr } = await runTool('restore', target, ['--from', folder, ...args], environment);
    assert.equal(status, 0, stderr);
    const restored = startWithoutDeadlines(target, environment);
    const client = await restored.admin();
    const names = await departmentNames(client);
    for (const deptName of newDepartments) await client.createDepartment({ deptName });
    assert.equal(await restored.stop(), 0, restored.stderr);
    return { names: [...names].sort(), stderr };
  };
  const first = await restore(['on timeline 2'], '--until', until);
  assert.deepEqual(first.names, ['before', 'in the backup']);
  assert.match(first.stderr, new RegExp(`Recovering to ${until}`));
  const archived = fs.readdirSync(archive);
  assert.ok(archived.includes('00000002.history'), archived.join());
  assert.ok(archived.some((name) => /^00000002[0-9A-F]{16}$/.test(name)));

  const latest = await restore(['on timeline 3'], '--until', 'latest');
  assert.deepEqual(latest.names, ['before', 'in the backup', 'on timeline 2']);
  // What the first restore left out is still in the archive.
  const other = await restore([], '--until', 'latest', '--timeline', '1');
  assert.deepEqual(other.names, ['after', 'before', 'in the backup']);
  // Restore to the end of the backup itself. Its new timeline has a number that the archive does not have yet.
  const plain = await restore(['on timeline 5']);
  assert.deepEqual(plain.names, ['in the backup']);
  assert.ok(fs.readdirSync(archive).includes('00000005.history'), fs.readdirSync(archive).join());
});

test('archiving is enabled on a server that a killed service left running without it', async () => {
  const dataDir = await usedDataFolder();
  const archive = newFolder("w a'l");
  const killed = startWithoutDeadlines(dataDir);
  await killed.ready();
  await killed.kill('SIGKILL');
  const run = startWithoutDeadlines(dataDir, { BANYAN_WAL_ARCHIVE: archive });
  await run.ready();
  assert.match(run.stderr, /Restarting PostgreSQL, because BANYAN_WAL_ARCHIVE was changed/);
  assert.equal(await run.stop(), 0, run.stderr);
  assert.ok(fs.readdirSync(archive).length > 0);
});
