import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { formatManifest, listBackups } from '../../db/backup/manifest.ts';
import { openDatabase } from '../../db/connect.ts';
import type { EmbeddedServer } from '../../db/embedded/cluster.ts';
import { readConfig } from '../../server/config.ts';
import { createMetrics } from '../../server/metrics/metrics.ts';
import { type BackupTiming, openBackups, watchArchive } from '../../server/process/backups.ts';
import { newFolder } from '../support/backups.ts';
import { afterFile } from '../support/cleanup.ts';
import { NO_DEADLINES } from '../support/database.ts';
import { connectTo, usedDataFolder } from '../support/process.ts';
import { waitFor } from '../support/wait.ts';

/** Backups that the service takes by itself, in this process. */

const dataDir = await usedDataFolder();
const [folder, archive] = [newFolder('backups'), newFolder('wal')];
const config = readConfig({
  BANYAN_DATA_DIR: dataDir,
  BANYAN_BACKUP_FOLDER: folder,
  BANYAN_WAL_ARCHIVE: archive,
  BANYAN_BACKUP_KEEP: '1',
});
const db = await openDatabase({ ...config, timing: NO_DEADLINES });
const superuser = connectTo(dataDir);
afterFile(async () => {
  await superuser.end();
  await db.close();
});

const HOUR_MS = 3_600_000;

/** Takes backups until `stop`. */
async function takeBackups(timing: BackupTiming) {
  const lines: string[] = [];
  const metrics = await createMetrics();
  const backups = openBackups(db.embedded as EmbeddedServer, config, (line) => lines.push(line), timing);
  const stop = backups.start(metrics.backupCounter());
  const count = (text: RegExp) => lines.filter((line) => text.test(line)).length;
  return {
    stop,
    completed: () => count(/^Backup \S+ is complete/),
    failed: () => count(/The scheduled backup failed and will be retried: /),
    /** The values of banyan_backups_total. */
    counted: async () => {
      const metric = (await metrics.snapshot()).find(({ name }) => name === 'banyan_backups_total');
      return Object.fromEntries(metric?.values.map(({ labels, value }) => [labels.outcome, value]) ?? []);
    },
  };
}

test('backups are retried until they succeed, and old ones are removed with the WAL that only they need', async () => {
  // A backup needs a replication slot, and there are ten.
  for (let n = 0; n < 10; n++) await superuser`select pg_create_physical_replication_slot(${`slot${n}`})`;
  const backups = await takeBackups({ everyMs: 1, retryMs: 10 });
  // Someone else's files are kept.
  fs.mkdirSync(path.join(folder, 'my notes'));
  await waitFor('two attempts have failed', () => backups.failed() >= 2);
  await superuser`select pg_drop_replication_slot(slot_name) from pg_replication_slots`;
  const oldest = await waitFor('the first backup is complete', () => listBackups(folder)[0]);
  await waitFor('another one is complete', () => backups.completed() >= 2);
  // The next one is interrupted, and leaves nothing behind.
  const isCopying = (name: string) => fs.existsSync(path.join(folder, name, 'postgres/base'));
  await waitFor('the next one has begun', () =>
    fs.readdirSync(folder).some((name) => /\.new-/.test(name) && isCopying(name)),
  );
  await waitFor('the oldest is removed', () => listBackups(folder).every((each) => each.folder !== oldest.folder));
  await backups.stop();
  assert.deepEqual(await backups.counted(), { complete: backups.completed(), failed: backups.failed() });
  const kept = listBackups(folder);
  // There may be a second one, for which the older one has not been removed yet.
  assert.ok(kept.length === 1 || kept.length === 2, String(kept.length));
  const names = kept.map((backup) => path.basename(backup.folder));
  assert.deepEqual(fs.readdirSync(folder).sort(), [...names, 'my notes']);
  const segments = fs.readdirSync(archive).filter((name) => /^[0-9A-F]{24}$/.test(name));
  assert.ok(segments.length > 0 && !segments.includes(oldest.manifest.firstSegment), String(segments));
  // A millisecond before the next one is due, none is taken: the clock is read again instead.
  const dueAt = Date.parse(String(kept.at(-1)?.manifest.time)) + HOUR_MS;
  let checks = 0;
  const later = await takeBackups({ everyMs: HOUR_MS, now: () => dueAt - (++checks === 1 ? 1 : HOUR_MS) });
  await waitFor('it is checked again', () => checks === 2 || later.completed() > 0);
  await later.stop();
  assert.deepEqual(await later.counted(), { complete: 0, failed: 0 });
});

test('a backup that is dated in the future is kept, and neither delays nor replaces others', async () => {
  const [former] = listBackups(folder);
  assert.ok(former);
  const future = path.join(folder, '2999-01-01T00-00-00.000Z');
  const { name, text } = formatManifest({ ...former.manifest, time: '2999-01-01T00:00:00.000Z' });
  fs.mkdirSync(future);
  fs.writeFileSync(path.join(future, name), text);
  let checks = 0;
  const now = () => {
    checks++;
    return Date.now();
  };
  const backups = await takeBackups({ everyMs: 1, now });
  await waitFor('two backups are complete', () => backups.completed() >= 2 || checks > 100);
  await backups.stop();
  assert.ok(backups.completed() >= 2, 'backups are taken');
  const folders = listBackups(folder).map((backup) => backup.folder);
  assert.equal(folders.at(-1), future);
  // There may be a second one, for which the older one has not been removed yet.
  assert.ok(folders.length === 2 || folders.length === 3, folders.join());
  assert.ok(!folders.includes(former.folder));
  // The archive keeps the WAL that a restore of that backup needs.
  assert.ok(fs.readdirSync(archive).includes(former.manifest.firstSegment), 'its segments are kept');
  fs.rmSync(future, { recursive: true });
});

test('archiving that fails is reported', async () => {
  const lines: string[] = [];
  const stopWatching = watchArchive(db, config, (line) => lines.push(line), { checkArchiveMs: 10 });
  const [{ segment }] = await superuser<[{ segment: string }]>`
    select pg_walfile_name(pg_current_wal_insert_lsn()) as segment`;
  // A file with the same name and different content is never overwritten.
  fs.writeFileSync(path.join(archive, segment), 'of another database');
  await superuser`create table something ()`;
  await superuser`select pg_switch_wal()`;
  await waitFor('it is reported', () =>
    lines.includes(
      `PostgreSQL cannot archive ${segment} in ${archive}, and retries. Its log has the cause (postgres/log in the data directory)`,
    ),
  );
  fs.rmSync(path.join(archive, segment));
  await waitFor('it is archived', () => fs.existsSync(path.join(archive, segment)));
  stopWatching();
});
