import fs from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { connectOwner, type Sql } from '../driver.ts';
import type { EmbeddedServer } from '../embedded/cluster.ts';
import { StartupError } from '../startup-error.ts';
import { copyCluster } from './copy-cluster.ts';
import { assertAbsent, copyFile, type FileDigest, removeIncomplete, syncFolders, writeFile } from './files.ts';
import { formatManifest, type Manifest } from './manifest.ts';
import { segmentsBetween } from './segments.ts';

export interface BackupOptions {
  /** A folder that does not exist yet. */
  to: string;
  /** The version of Banyan. */
  version: string;
  signal?: AbortSignal;
}

/**
 * Takes a backup of a running embedded PostgreSQL while it is in use: a copy of its files between `pg_backup_start` and
 * `pg_backup_stop`, with the write-ahead log that makes the copy consistent (PostgreSQL's documentation, 25.3.4). The
 * binaries that we install do not include pg_basebackup.
 */
export async function takeBackup(server: EmbeddedServer, options: BackupOptions): Promise<Manifest> {
  const { to, signal } = options;
  const parent = path.dirname(to);
  fs.mkdirSync(parent, { recursive: true, mode: 0o700 });
  removeIncomplete(parent, (name) => name === path.basename(to));
  assertAbsent(to);
  // A backup that is interrupted never has the final name.
  const folder = `${to}.new-${process.pid}`;
  fs.mkdirSync(folder, { mode: 0o700 });
  const { socketDir: host, password } = server;
  const superuser = connectOwner({ host, database: 'banyan', username: 'postgres', password });
  // `pg_backup_start` waits for a checkpoint. An interrupted backup must not wait for that.
  const disconnect = () => void superuser.end({ timeout: 0 });
  signal?.addEventListener('abort', disconnect);
  try {
    const manifest = await copyAll(superuser, server, folder, options);
    signal?.throwIfAborted();
    fs.renameSync(folder, to);
    await syncFolders([parent]);
    return manifest;
  } catch (error) {
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    throw error;
  } finally {
    signal?.removeEventListener('abort', disconnect);
    // This also ends a backup that was not stopped, and drops the replication slot.
    await superuser.end({ timeout: 1 });
  }
}

async function copyAll(
  superuser: Sql,
  { clusterDir, password }: EmbeddedServer,
  folder: string,
  { version, signal }: BackupOptions,
): Promise<Manifest> {
  // The slot keeps the log that is written from now on. It is dropped with the session, even after a crash.
  await superuser`select pg_create_physical_replication_slot(${`banyan_backup_${process.pid}`}, true, true)`;
  const [begun] = await superuser<[{ started: Date }]>`
    select clock_timestamp() as started from pg_backup_start('banyan', fast => true)`;
  const copy = path.join(folder, 'postgres');
  const { folders, files } = await copyCluster(clusterDir, copy, signal);
  const before = await readState(superuser);
  const [{ time }] = await superuser<[{ time: Date }]>`select clock_timestamp() as time`;
  const [end] = await superuser<[BackupEnd]>`
    select labelfile as label, spcmapfile as tablespaces, pg_walfile_name(lsn - 1::numeric) as last
    from pg_backup_stop(wait_for_archive => false)`;
  if (end.tablespaces.trim() !== '') throw new StartupError('Tablespaces are not supported. Use pg_basebackup');
  await waitForCommits(superuser, signal);
  const after = await readState(superuser);
  const first = /^START WAL LOCATION: \S+ \(file ([0-9A-F]{24})\)/m.exec(end.label)?.[1] ?? '';
  files.backup_label = await writeFile(path.join(copy, 'backup_label'), end.label);
  for (const name of await segmentsBetween(path.join(clusterDir, 'pg_wal'), first, end.last)) {
    const segment = `pg_wal/${name}`;
    const digest = await copyFile(path.join(clusterDir, segment), path.join(copy, segment), signal);
    if (!digest) throw new Error(`PostgreSQL has removed ${segment}`);
    files[segment] = digest;
  }
  const manifest: Manifest = {
    format: 1,
    banyan: version,
    postgres: before.postgres,
    system: before.system,
    started: begun.started.toISOString(),
    time: time.toISOString(),
    firstSegment: first,
    lastSegment: end.last,
    counts: Object.fromEntries(
      Object.entries(before.counts).map(([name, count]) => [name, [count, after.counts[name] ?? count]]),
    ),
    heads: before.heads,
    folders: ['postgres', ...folders.map((name) => `postgres/${name}`)],
    files: {
      'postgres-password': await writeFile(path.join(folder, 'postgres-password'), password),
      ...prefixed(files),
    },
  };
  await syncFolders(manifest.folders.map((name) => path.join(folder, name)));
  const { name, text } = formatManifest(manifest);
  await writeFile(path.join(folder, name), text);
  await syncFolders([folder]);
  return manifest;
}

interface BackupEnd {
  label: string;
  tablespaces: string;
  /** The last segment that the backup needs. */
  last: string;
}

const prefixed = (files: Record<string, FileDigest>) =>
  Object.fromEntries(Object.entries(files).map(([name, digest]) => [`postgres/${name}`, digest]));

/** A transaction whose commit is in the log becomes visible a moment later. Waits for the transactions that are running now. */
async function waitForCommits(superuser: Sql, signal: AbortSignal | undefined): Promise<void> {
  const readRunning = async () =>
    (await superuser<{ id: string }[]>`select pg_snapshot_xip(pg_current_snapshot())::text as id`).map(({ id }) => id);
  for (let left = await readRunning(); left.length > 0; ) {
    await setTimeout(10, undefined, { signal });
    const running = new Set(await readRunning());
    left = left.filter((id) => running.has(id));
  }
}

interface State extends Pick<Manifest, 'postgres' | 'system' | 'heads'> {
  counts: Record<string, number>;
}

/**
 * Reads the counts and heads that a restore compares. Rows of tenants, departments and users are never removed; changes are
 * removed when the ledger's archive is emptied.
 */
async function readState(superuser: Sql): Promise<State> {
  const [server] = await superuser<[{ postgres: string; system: string; hasTables: boolean }]>`
    select current_setting('server_version') as postgres, system_identifier::text as system,
      to_regclass('banyan.seal_heads') is not null as "hasTables"
    from pg_control_system()`;
  if (!server.hasTables) return { ...server, counts: {}, heads: [] };
  const counts = await countRecords(superuser);
  const heads = await superuser<Manifest['heads']>`
    select tenant_id as "tenantId", seq, encode(hash, 'hex') as hash from seal_heads order by tenant_id`;
  return { ...server, counts, heads: heads.map((head) => ({ ...head })) };
}

/** Counts records of all tenants. Only a superuser sees all of them. */
export async function countRecords(superuser: Sql): Promise<Record<string, number>> {
  const [counts] = await superuser<[Record<string, number>]>`
    select (select count(*) from tenants) as tenants, (select count(*) from departments) as departments,
      (select count(*) from users) as users,
      (select count(*) from changes) + (select count(*) from changes_archive) as changes`;
  return { ...counts };
}
