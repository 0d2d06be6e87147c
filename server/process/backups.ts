import { setTimeout } from 'node:timers/promises';
import { removeOldBackups } from '../../db/backup/retention.ts';
import { takeBackup } from '../../db/backup/take-backup.ts';
import type { PreparedDatabase } from '../../db/connect.ts';
import type { EmbeddedServer } from '../../db/embedded/cluster.ts';
import { closeFolder, openWritableFolder } from '../../db/embedded/runtime-user.ts';
import type { Config } from '../config.ts';
import type { CountBackup } from '../metrics/metrics.ts';
import { version } from '../version.ts';

/** Intervals and the clock of scheduled backups. Tests pass others. */
export interface BackupTiming {
  /** If unset, BANYAN_BACKUP_EVERY_HOURS. */
  everyMs?: number;
  /** The pause after a backup that failed. */
  retryMs?: number;
  /** How often the archive of the write-ahead log is checked. */
  checkArchiveMs?: number;
  now?: () => number;
}

const HOUR_MS = 3_600_000;

type Print = (line: string) => void;

/**
 * Opens the folder for scheduled backups of the embedded database. The returned `start` begins to take them. Only one
 * process does so: with several workers, their parent. The folder must be opened while this process is root, so call
 * `openBackups` before it drops its privileges.
 */
export function openBackups(
  server: EmbeddedServer,
  { backupFolder, backupEveryHours, backupKeep }: Config,
  print: Print,
  { everyMs = backupEveryHours * HOUR_MS, retryMs = 600_000, now = Date.now }: BackupTiming = {},
): { start(count?: CountBackup): () => Promise<void> } {
  const folder = openWritableFolder(backupFolder, 'BANYAN_BACKUP_FOLDER', server.runtimeUser);
  const stopping = new AbortController();
  const { signal } = stopping;

  const runOnce = async (count: CountBackup) => {
    const checkedAt = now();
    const newest = await removeOldBackups(server, folder.path, backupKeep, checkedAt);
    const dueIn = newest ? newest.getTime() + everyMs - checkedAt : 0;
    // The system clock may be changed meanwhile, and a timer runs for at most 24 days.
    if (dueIn > 0) return Math.min(dueIn, everyMs, HOUR_MS);
    const name = new Date().toISOString().replaceAll(':', '-');
    const { time } = await takeBackup(server, { to: `${folder.path}/${name}`, version, signal });
    count('complete');
    print(`Backup ${backupFolder}/${name} is complete: it contains everything before ${time}`);
    await removeOldBackups(server, folder.path, backupKeep, now());
    return Math.min(everyMs, HOUR_MS);
  };
  const runAll = async (count: CountBackup) => {
    while (!signal.aborted) {
      const pauseMs = await runOnce(count).catch((error: Error) => {
        if (signal.aborted) return 0;
        count('failed');
        print(`The scheduled backup failed and will be retried: ${error.message}`);
        return retryMs;
      });
      await setTimeout(pauseMs, undefined, { signal }).catch(() => {});
    }
  };
  return {
    start(count = () => {}) {
      const running = runAll(count);
      return async () => {
        stopping.abort();
        await running;
        closeFolder(folder);
      };
    },
  };
}

/** Reports when PostgreSQL cannot archive its write-ahead log. It retries indefinitely, and keeps the log until it succeeds. */
export function watchArchive(
  db: PreparedDatabase,
  { walArchive }: Config,
  print: Print,
  { checkArchiveMs = 60_000 }: BackupTiming = {},
): () => void {
  let reported = 0;
  const check = () =>
    db.use(async (sql) => {
      const [row] = await sql<[{ failures: number; isFailing: boolean; segment: string | null }]>`
        select failed_count as failures, last_failed_wal as segment,
          coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) as "isFailing"
        from pg_stat_archiver`;
      if (row.isFailing && row.failures > reported) {
        print(
          `PostgreSQL cannot archive ${row.segment} in ${walArchive}, and retries. Its log has the cause (postgres/log in the data directory)`,
        );
      }
      reported = row.failures;
    });
  // The database may be unavailable: the next check tries again.
  const timer = setInterval(() => void check().catch(() => {}), checkArchiveMs).unref();
  return () => clearInterval(timer);
}
