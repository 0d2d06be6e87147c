import fs from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { connectOwner, type Sql } from '../driver.ts';
import { type EmbeddedServer, startEmbedded } from '../embedded/cluster.ts';
import { isRunning, killServer } from '../embedded/find-server.ts';
import { readLogTail } from '../embedded/run-program.ts';
import { chooseRuntimeUser, chownTo } from '../embedded/runtime-user.ts';
import { errorCode, isConnectionLost } from '../errors.ts';
import { StartupError } from '../startup-error.ts';
import { copyFile, syncFolders, writeFile } from './files.ts';
import type { StoredBackup } from './manifest.ts';
import { archivedFiles } from './segments.ts';

/** Connections to the restored database. */
export interface Connections {
  superuser: Sql;
  /** The owner of the tables. */
  owner: Sql;
}

export interface RestoreOptions {
  dataDir: string;
  backup: StoredBackup;
  /** A time in ISO 8601, or `latest`; both need the archive. If unset, the end of the backup. */
  until: string | undefined;
  /** The timeline to follow; if unset, the newest one. */
  timeline: string | undefined;
  walArchive: string;
  /** Moves an existing database to another folder in the data directory. */
  replace: boolean;
  /** Checks the restored database. If it throws, nothing is changed. */
  verify(connections: Connections): Promise<void>;
  progress(line: string): void;
  signal: AbortSignal;
}

/** Recovery may have to replay days of changes. */
const RECOVERY_TIMEOUT_SECONDS = 7 * 86_400;

/**
 * Restores a backup. The copy is recovered and verified in a separate folder, and moved into place only after that: a restore
 * that fails or is interrupted leaves everything as it was. Returns the folder of the database that was replaced, if any.
 */
export async function restoreBackup(options: RestoreOptions): Promise<{ replaced: string | undefined }> {
  const { dataDir, backup, progress, signal } = options;
  assertReplaceable(options);
  // Fail now if there is no archive: copying may take a long time. Its files are listed again later, with those added meanwhile.
  listArchived(options);
  fs.mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  // The next start removes this folder if we are killed.
  const folder = path.join(dataDir, `postgres.new-${process.pid}`);
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { mode: 0o700 });
  const kill = () => killServer(folder);
  signal.addEventListener('abort', kill);
  try {
    const owner = chooseRuntimeUser(dataDir);
    progress(`Copying the backup of ${backup.manifest.time}`);
    await copyBackup(backup, folder, signal);
    await prepareRecovery(options, path.join(folder, 'postgres'));
    chownAll(path.join(folder, 'postgres'), (file) => chownTo(file, owner));
    await recover(options, folder);
    signal.throwIfAborted();
    assertReplaceable(options); // A service may have been started meanwhile.
    return { replaced: await putInPlace(dataDir, folder) };
  } finally {
    signal.removeEventListener('abort', kill);
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
}

function assertReplaceable({ dataDir, replace }: RestoreOptions): void {
  if (isRunning(dataDir)) {
    throw new StartupError(`PostgreSQL is running on ${dataDir}. Stop the service first`);
  }
  if (fs.existsSync(path.join(dataDir, 'postgres')) && !replace) {
    throw new StartupError(
      `There is a database in ${dataDir}. Add --replace to move it aside, or set BANYAN_DATA_DIR to another folder`,
    );
  }
}

/** Copies the files that the manifest lists, and compares them with it. */
async function copyBackup({ folder: from, manifest }: StoredBackup, to: string, signal: AbortSignal): Promise<void> {
  for (const name of manifest.folders) fs.mkdirSync(path.join(to, name), { recursive: true, mode: 0o700 });
  for (const [name, expected] of Object.entries(manifest.files)) {
    const found = await copyFile(path.join(from, name), path.join(to, name), signal);
    if (found?.size === expected.size && found.sha256 === expected.sha256) continue;
    const problem = found ? 'differs from what was written' : 'is missing';
    throw new StartupError(`The backup is damaged: ${path.join(from, name)} ${problem}. Use another backup`);
  }
}

/** Lists the files of the archive that the restore needs. Throws if the archive is needed and does not exist. */
function listArchived({ backup, walArchive, until }: RestoreOptions): string[] {
  if (!walArchive || (until === undefined && !fs.existsSync(walArchive))) return [];
  const names = archivedFiles(walArchive, backup.manifest.firstSegment);
  return until === undefined ? names.filter((name) => name.endsWith('.history')) : names;
}

/**
 * Adds the archived log. It is copied to the log of the server instead of being read with a `restore_command`, because the
 * user that runs PostgreSQL may be unable to read the archive. The histories are needed in any case: the recovered database
 * starts a new timeline, whose number must not exist in the archive.
 */
async function prepareRecovery(options: RestoreOptions, cluster: string): Promise<void> {
  const { walArchive, signal } = options;
  await writeFile(path.join(cluster, 'recovery.signal'), '');
  for (const name of listArchived(options)) {
    const target = path.join(cluster, 'pg_wal', name);
    if (!fs.existsSync(target)) await copyFile(path.join(walArchive, name), target, signal);
  }
}

function chownAll(folder: string, chown: (file: string) => void): void {
  chown(folder);
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) chownAll(file, chown);
    else chown(file);
  }
}

const recoveryTarget = ({ until, timeline }: RestoreOptions): Record<string, string> => {
  if (until === undefined) return { recovery_target: 'immediate', recovery_target_timeline: 'current' };
  return {
    recovery_target_timeline: timeline ?? 'latest',
    ...(until === 'latest' ? {} : { recovery_target_time: formatTime(until) }),
  };
};

/** Formats a time in UTC: when PostgreSQL reads this setting, it does not know the names of time zones yet, not even `Z`. */
function formatTime(time: string): string {
  const [, seconds = '', fraction = '', zone = ''] = /^(.{19})(\.\d+)?(.*)$/.exec(time) ?? [];
  return `${new Date(seconds + zone).toISOString().slice(0, 19).replace('T', ' ')}${fraction}+00`;
}

async function recover(options: RestoreOptions, folder: string): Promise<void> {
  const { progress, signal, until, verify } = options;
  const target = until === undefined ? 'the end of the backup' : until === 'latest' ? 'the end of the archive' : until;
  progress(`Recovering to ${target}`);
  const settings = {
    ...recoveryTarget(options),
    recovery_target_action: 'promote',
    restore_command: 'false',
    // Accept connections only when recovery has ended.
    hot_standby: 'off',
    // The service archives what is written here: it must not be removed before that.
    wal_keep_size: '1000000000',
  };
  const limits = { timeoutSeconds: RECOVERY_TIMEOUT_SECONDS };
  const server = await startEmbedded(folder, () => {}, signal, settings, limits).catch((error: Error) => {
    throw explainRecovery(error.message, options);
  });
  try {
    await waitUntilRecovered(server, folder, options);
    await withConnections(server, async (connections) => {
      await describeResult(connections.superuser, progress);
      progress('Verifying');
      await verify(connections);
    });
  } finally {
    await server.stop();
  }
  markHistory(path.join(folder, 'postgres/pg_wal'));
}

/** Waits until the server accepts connections. pg_ctl does not: without `hot_standby`, it returns as soon as recovery begins. */
async function waitUntilRecovered(server: EmbeddedServer, folder: string, options: RestoreOptions): Promise<void> {
  for (;;) {
    try {
      return await withConnections(server, async ({ superuser }) => void (await superuser`select 1`));
    } catch (error) {
      options.signal.throwIfAborted();
      if (!isRunning(folder)) throw explainRecovery(readLogTail(path.join(folder, 'postgres')), options);
      // 57P03: it is still recovering. When recovery fails, it drops connections for a moment before it exits.
      const code = errorCode(error);
      if (code !== '57P03' && code !== 'ENOENT' && !isConnectionLost(code)) throw error;
    }
    await setTimeout(200);
  }
}

async function withConnections(server: EmbeddedServer, work: (connections: Connections) => Promise<void>) {
  const { socketDir: host, password } = server;
  const connect = (username: string) => connectOwner({ host, database: 'banyan', username, password });
  const [superuser, owner] = [connect('postgres'), connect('banyan')];
  try {
    await work({ superuser, owner });
  } finally {
    await Promise.all([superuser.end({ timeout: 1 }), owner.end({ timeout: 1 })]);
  }
}

async function describeResult(superuser: Sql, progress: (line: string) => void): Promise<void> {
  const [{ time }] = await superuser<[{ time: Date | null }]>`select pg_last_xact_replay_timestamp() as time`;
  if (time) progress(`The last change that was recovered was committed at ${time.toISOString()}`);
}

function explainRecovery(message: string, { until, walArchive }: RestoreOptions): Error {
  const isIncomplete = /recovery ended before configured recovery target was reached/.test(message);
  if (!isIncomplete) return new StartupError(`PostgreSQL could not recover the backup. ${message}`);
  return new StartupError(
    `The archive ${walArchive} has no change after ${until}, so PostgreSQL cannot tell whether it is complete until then. ` +
      'To recover all that it has: --until latest',
  );
}

/** Lets the service archive the history of the new timeline: PostgreSQL does that only if it archives during recovery. */
function markHistory(pgWal: string): void {
  const newest = fs
    .readdirSync(pgWal)
    .filter((name) => name.endsWith('.history'))
    .sort()
    .at(-1);
  if (!newest) return;
  const { uid, gid } = fs.statSync(path.join(pgWal, newest));
  const mark = path.join(pgWal, 'archive_status', `${newest}.ready`);
  fs.writeFileSync(mark, '', { mode: 0o600 });
  if (process.getuid?.() === 0) fs.chownSync(mark, uid, gid);
}

async function putInPlace(dataDir: string, folder: string): Promise<string | undefined> {
  let replaced: string | undefined;
  if (fs.existsSync(path.join(dataDir, 'postgres'))) {
    // Move it within the data directory, which may be the root of a volume and cannot be renamed then.
    replaced = path.join(dataDir, `replaced-${new Date().toISOString().replaceAll(':', '-')}`);
    fs.mkdirSync(replaced, { mode: 0o700 });
    for (const name of ['postgres', 'postgres-password'])
      if (fs.existsSync(path.join(dataDir, name))) fs.renameSync(path.join(dataDir, name), path.join(replaced, name));
  }
  // The database comes last: without its password it could not be used.
  for (const name of ['postgres-password', 'postgres'])
    fs.renameSync(path.join(folder, name), path.join(dataDir, name));
  await syncFolders([dataDir]);
  return replaced;
}
