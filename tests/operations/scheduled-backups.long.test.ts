// Only with test:long: it starts six services; scheduled-backups.test.ts takes backups on a schedule in-process, and none before it is due.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { formatManifest, listBackups, type StoredBackup } from '../../db/backup/manifest.ts';
import { newFolder, runTool } from '../support/backups.ts';
import { scrape } from '../support/metrics.ts';
import { connectTo, newDataFolder, type Run, startWithoutDeadlines, usedDataFolder } from '../support/process.ts';
import { waitFor } from '../support/wait.ts';

/** Backups that the service takes by itself. */

const completed = ({ stderr }: Run) => stderr.match(/Backup \S+ is complete/g)?.length ?? 0;

/** Options of the service: a backup at this interval, and short pauses between retries and between checks of the archive. */
const backingUp = (everyMs: number) => ({ backupTiming: { everyMs, retryMs: 10, checkArchiveMs: 10 } });

test('with two workers, one backup is taken at a time, old ones are removed with the WAL that only they need, and one can be restored', async () => {
  const dataDir = await usedDataFolder();
  const [folder, archive] = [newFolder('backups'), newFolder('wal')];
  const settings = { BANYAN_BACKUP_FOLDER: folder, BANYAN_WAL_ARCHIVE: archive, BANYAN_BACKUP_KEEP: '2' };
  const run = startWithoutDeadlines(dataDir, { ...settings, BANYAN_WORKERS: '2', BANYAN_METRICS: '1' }, backingUp(1));
  const admin = await run.admin();
  // Someone else's files are kept.
  fs.mkdirSync(path.join(folder, 'my notes'));
  fs.mkdirSync(path.join(folder, '2026-11-17T12-00-05.123Z'));
  await admin.createDepartment({ deptName: 'a' });
  await waitFor('four backups are complete', () => completed(run) >= 4);
  const metrics = await scrape(admin.base);
  assert.ok(Number(metrics.sum('banyan_backups_total', { outcome: 'complete' })) >= 4, metrics.text);
  assert.equal(metrics.sum('banyan_backups_total', { outcome: 'failed' }), 0);
  assert.equal(await run.stop(), 0, run.stderr);
  // A backup is named after the time when it began, which is not before the end of the previous backup.
  const backups = [...run.stderr.matchAll(/Backup \S+\/(\S+) is complete: .* (\S+)$/gm)];
  assert.ok(backups.length >= 4, run.stderr);
  for (const [n, [, name]] of backups.slice(1).entries())
    assert.ok(String(name) >= String(backups[n]?.[2]).replaceAll(':', '-'), run.stderr);
  const kept = listBackups(folder);
  // There may be a third one, for which no older one has been removed yet.
  assert.ok(kept.length === 2 || kept.length === 3, `${kept.length}`);
  const others = fs.readdirSync(folder).filter((name) => !kept.some((backup) => path.basename(backup.folder) === name));
  assert.deepEqual(others.sort(), ['2026-11-17T12-00-05.123Z', 'my notes']);
  const first = String(kept[0]?.manifest.firstSegment).slice(8);
  const segments = fs.readdirSync(archive).filter((name) => /^[0-9A-F]{24}$/.test(name));
  assert.ok(segments.length > 0);
  assert.ok(segments.includes(String(kept[0]?.manifest.firstSegment)), `the oldest backup needs ${first}: ${segments}`);
  assert.ok(segments.length <= kept.length * 2 + 4, `the archive has been cleaned up: ${segments} since ${first}`);
  const restored = await runTool('restore', newDataFolder(), ['--from', folder, '--until', 'latest'], settings);
  assert.equal(restored.status, 0, restored.stderr);
  assert.match(restored.stderr, /1 departments/);
});

test('backups of other databases, and those with other names, are never removed', async () => {
  const dataDir = await usedDataFolder();
  const folder = newFolder('backups');
  const settings = { BANYAN_BACKUP_FOLDER: folder, BANYAN_BACKUP_KEEP: '1' };
  const first = startWithoutDeadlines(dataDir, settings, backingUp(3_600_000));
  await first.ready();
  await waitFor('the first backup is complete', () => completed(first) === 1);
  assert.equal(await first.stop(), 0, first.stderr);
  const [backup] = listBackups(folder) as [StoredBackup];
  fs.renameSync(backup.folder, path.join(folder, 'before the upgrade'));
  const foreign = path.join(folder, '2020-01-01T00-00-00.000Z');
  fs.mkdirSync(foreign);
  const { name, text } = formatManifest({ ...backup.manifest, system: '7', time: '2020-01-01T00:00:00.000Z' });
  fs.writeFileSync(path.join(foreign, name), text);

  const second = startWithoutDeadlines(dataDir, settings, backingUp(1));
  await second.ready();
  await waitFor('three backups are complete', () => completed(second) >= 3);
  assert.equal(await second.stop(), 0, second.stderr);
  const names = listBackups(folder).map((each) => path.basename(each.folder));
  assert.deepEqual(names.slice(0, 2), ['2020-01-01T00-00-00.000Z', 'before the upgrade']);
  // There may be a second one, for which the older one has not been removed yet.
  assert.ok(names.length === 3 || names.length === 4, String(names));
});

test('a failed backup is reported and retried', async () => {
  const dataDir = await usedDataFolder();
  const folder = newFolder('backups');
  const first = startWithoutDeadlines(dataDir, { BANYAN_BACKUP_FOLDER: folder }, backingUp(3_600_000));
  await first.ready();
  await waitFor('the first backup is complete', () => completed(first) === 1);
  const superuser = connectTo(dataDir);
  const slots = async () => (await superuser`select from pg_replication_slots`).length;
  await waitFor('the slot of the backup is gone', async () => (await slots()) === 0);
  // A backup needs a replication slot, and there are ten.
  for (let n = 0; n < 10; n++) await superuser`select pg_create_physical_replication_slot(${`slot${n}`})`;
  await superuser.end();
  assert.equal(await first.stop(), 0, first.stderr);

  const second = startWithoutDeadlines(dataDir, { BANYAN_BACKUP_FOLDER: folder }, backingUp(1));
  await second.ready();
  const failures = () => second.stderr.match(/The scheduled backup failed and will be retried: .*slots/g)?.length ?? 0;
  await waitFor('two attempts have failed', () => failures() >= 2);
  assert.equal(listBackups(folder).length, 1, 'the one that exists is kept');
  const again = connectTo(dataDir);
  await again`select pg_drop_replication_slot(slot_name) from pg_replication_slots`;
  await again.end();
  await waitFor('a backup is complete', () => completed(second) >= 1);
  assert.equal(await second.stop(), 0, second.stderr);
});

test('archiving that fails is reported', async () => {
  const dataDir = await usedDataFolder();
  const archive = newFolder('wal');
  const run = startWithoutDeadlines(dataDir, { BANYAN_WAL_ARCHIVE: archive }, backingUp(1));
  await run.ready();
  const superuser = connectTo(dataDir);
  const [{ segment }] = await superuser<[{ segment: string }]>`
    select pg_walfile_name(pg_current_wal_insert_lsn()) as segment`;
  // A file with the same name and different content is never overwritten.
  fs.writeFileSync(path.join(archive, segment), 'of another database');
  await superuser`create table something ()`;
  await superuser`select pg_switch_wal()`;
  await run.waitForOutput(`PostgreSQL cannot archive ${segment} in ${archive}`);
  assert.equal(fs.readFileSync(path.join(archive, segment), 'utf8'), 'of another database');
  fs.rmSync(path.join(archive, segment));
  await waitFor('it is archived', () => fs.existsSync(path.join(archive, segment)));
  await superuser.end();
  assert.equal(await run.stop(), 0, run.stderr);
});
