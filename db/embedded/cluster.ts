import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { StartupError } from '../startup-error.ts';
import {
  chooseRuntimeUser,
  chownTo,
  closeFolder,
  type OpenFolder,
  openFolder,
  openWritableFolder,
  pathInProgram,
  type RuntimeUser,
  runProgram,
} from './runtime-user.ts';

export interface EmbeddedServer {
  /** The folder with PostgreSQL's socket. */
  socketDir: string;
  /** The password of the superuser `postgres`, which only creates Banyan's own database. */
  password: string;
  /** Whether the server was already running: a killed process left it behind, or another Banyan uses it. */
  adopted: boolean;
  /** The folder with PostgreSQL's files. It can be reached even after this process has given up root's privileges. */
  clusterDir: string;
  /** The same for the archive of its write-ahead log, if there is one. */
  walArchive?: string | undefined;
  runtimeUser: RuntimeUser;
  /** Starts the server again on the same socket, if it is not running. */
  restart(): Promise<void>;
  /** Stops the server without a clean shutdown, unless it is starting. */
  stopImmediately(): Promise<void>;
  stop(): Promise<void>;
}

type Progress = (sentence: string) => void;

/** Where a server's files are, and how it is started. */
interface Cluster {
  runtimeUser: RuntimeUser;
  /** The folder with PostgreSQL's files. */
  files: OpenFolder;
  walArchive: OpenFolder | undefined;
  settings: Record<string, string>;
  timeoutSeconds: number;
}

export interface ServerOptions {
  /** The folder in which PostgreSQL keeps copies of its write-ahead log, if any. */
  walArchive?: string | undefined;
  /** How long PostgreSQL may take to start. Recovery after a crash can be long. */
  timeoutSeconds?: number;
}

/** The setting that says which folder the server archives to; '' if it does not. */
export const WAL_ARCHIVE_SETTING = 'banyan.wal_archive';

/** After this time PostgreSQL archives a segment of its write-ahead log even if it is not full. */
const ARCHIVE_SECONDS = 60;

/** How long PostgreSQL may take to start or to stop. Recovery after a crash can be long. */
const TIMEOUT_SECONDS = 300;

/**
 * Starts the embedded database: a real PostgreSQL under `dataDir/postgres`, on a Unix socket only. A server that a killed
 * process left behind is adopted. The caller must check that no other Banyan uses it, by taking a lock in the database.
 */
export async function startEmbedded(
  dataDir: string,
  progress: Progress,
  signal?: AbortSignal,
  extraSettings: Record<string, string> = {},
  { walArchive, timeoutSeconds = TIMEOUT_SECONDS }: ServerOptions = {},
): Promise<EmbeddedServer> {
  const password = openDataDir(dataDir);
  const runtimeUser = chooseRuntimeUser(dataDir);
  removeLeftovers(dataDir);
  if (!hasCluster(runtimeUser)) {
    progress(`Creating a database in ${runtimeUser.clusterDir}`);
    await initCluster(runtimeUser, dataDir, password, signal);
  }
  signal?.throwIfAborted();
  const archive = walArchive ? openWritableFolder(walArchive, 'BANYAN_WAL_ARCHIVE', runtimeUser) : undefined;
  const cluster: Cluster = {
    runtimeUser,
    files: openFolder(runtimeUser.clusterDir),
    walArchive: archive,
    settings: { ...(archive ? archiveSettings(archive, walArchive as string) : {}), ...extraSettings },
    timeoutSeconds,
  };
  const { socketDir, adopted } = await findOrStart(cluster, progress, { signal });
  return {
    socketDir,
    password,
    adopted,
    clusterDir: cluster.files.path,
    walArchive: archive?.path,
    runtimeUser,
    async restart() {
      const running = await findOrStart(cluster, () => {}, { socketDir });
      if (running.socketDir !== socketDir)
        throw new Error(`PostgreSQL was restarted with its socket in ${running.socketDir}`);
    },
    async stopImmediately() {
      const server = findServer(cluster.files.path);
      if (!server || isStarting(server.pid)) return;
      await pgCtl(cluster, ['stop', '-w', '-t', '5', '-m', 'immediate']).catch(() =>
        process.kill(server.pid, 'SIGKILL'),
      );
    },
    async stop() {
      await pgCtl(cluster, ['stop', '-w', '-t', `${TIMEOUT_SECONDS}`, '-m', 'fast']).catch((error) => {
        if (findServer(cluster.files.path)) throw error; // Otherwise it had already stopped.
      });
      removeSocketDir(socketDir);
      for (const folder of [cluster.files, cluster.walArchive]) if (folder) closeFolder(folder);
    },
  };
}

/** Whether a server is running on this data directory, or is just starting or stopping. */
export const isRunning = (dataDir: string): boolean => findServer(path.join(dataDir, 'postgres')) !== undefined;

/** Kills the server on this data directory, if there is one, also while it is starting. */
export function killServer(dataDir: string): void {
  const server = findServer(path.join(dataDir, 'postgres'));
  if (server?.pid) process.kill(server.pid, 'SIGQUIT');
}

/** PostgreSQL's own module copies each segment to a temporary file, flushes and renames it, and never overwrites another one. */
const archiveSettings = (archive: OpenFolder, folder: string) => ({
  archive_mode: 'on',
  archive_library: 'basic_archive',
  'basic_archive.archive_directory': pathInProgram(archive, 1),
  archive_timeout: `${ARCHIVE_SECONDS}`,
  [WAL_ARCHIVE_SETTING]: folder,
});

/** Creates the data directory if it does not exist, and returns the password that it contains. */
function openDataDir(dataDir: string): string {
  try {
    fs.mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    fs.accessSync(dataDir, fs.constants.W_OK);
    return readOrCreateSecret(path.join(dataDir, 'postgres-password'));
  } catch (error) {
    throw new StartupError(
      `The data directory ${dataDir} can't be used (${(error as Error).message}). ` +
        'Make the user that runs Banyan its owner, or set BANYAN_DATA_DIR to another directory.',
    );
  }
}

/** Returns the secret in the file, and creates it at the first start. The file appears complete or not at all. */
function readOrCreateSecret(file: string): string {
  if (!fs.existsSync(file)) {
    const newFile = `${file}.new-${process.pid}`;
    fs.rmSync(newFile, { force: true });
    fs.writeFileSync(newFile, randomBytes(24).toString('base64url'), { mode: 0o600, flush: true });
    try {
      fs.linkSync(newFile, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // Another start was faster.
    }
    fs.rmSync(newFile);
  }
  return fs.readFileSync(file, 'utf8');
}

/** Whether an earlier start created a database in this data directory. */
export const hasDatabase = (dataDir: string) => fs.existsSync(path.join(dataDir, 'postgres/PG_VERSION'));

const hasCluster = ({ clusterDir }: RuntimeUser) => fs.existsSync(path.join(clusterDir, 'PG_VERSION'));

/** Removes the temporary files and folders of starts that were killed. */
function removeLeftovers(dataDir: string) {
  for (const name of fs.readdirSync(dataDir)) {
    const pid = Number(/^postgres.*\.new-(\d+)$/.exec(name)?.[1]);
    // Process ids repeat after a restart of the machine or container, so a file with our own id was left by a dead process.
    if (!pid || (pid !== process.pid && isAlive(pid))) continue;
    removeRecursively(path.join(dataDir, name));
  }
}

/** How often a removal is tried. */
const MAX_REMOVALS = 100;

/**
 * Removes a file or folder. Retries, because an initdb whose parent was killed may still be writing to the folder or removing
 * it: rmSync of Node.js 24 ends without an error, and without having removed the rest, when it finds that a file is gone.
 */
function removeRecursively(file: string): void {
  for (let n = 0; n < MAX_REMOVALS && fs.existsSync(file); n++) {
    fs.rmSync(file, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
}

async function initCluster(runtimeUser: RuntimeUser, dataDir: string, password: string, signal?: AbortSignal) {
  const { clusterDir } = runtimeUser;
  // The cluster is created in another folder and then renamed, so a start that is killed here leaves no incomplete one.
  const newDir = path.join(dataDir, `postgres.new-${process.pid}`);
  const passwordFile = path.join(newDir, 'password');
  fs.mkdirSync(newDir, { mode: 0o700 });
  try {
    fs.writeFileSync(passwordFile, password, { mode: 0o600 });
    for (const file of [newDir, passwordFile]) chownTo(file, runtimeUser);
    const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
    const auth = ['--username=postgres', '--auth=scram-sha-256', '--no-instructions'];
    const paths = (folder: string) => ['-D', `${folder}/cluster`, `--pwfile=${folder}/password`];
    const folder = openFolder(newDir);
    try {
      await runProgram(runtimeUser, 'initdb', [folder], (name) => [...paths(name), ...locale, ...auth], signal);
    } finally {
      closeFolder(folder);
    }
    try {
      fs.renameSync(path.join(newDir, 'cluster'), clusterDir);
      syncFolder(dataDir);
    } catch (error) {
      // If another start was faster, its database is as good as ours.
      if (!hasCluster(runtimeUser)) {
        throw new StartupError(
          `${clusterDir} exists but contains no database (${(error as Error).message}). Move it to another place.`,
        );
      }
    }
  } finally {
    removeRecursively(newDir);
  }
}

/** Flushes a folder: a file that was renamed into it survives a power failure only after that. */
function syncFolder(folder: string) {
  const descriptor = fs.openSync(folder, 'r');
  fs.fsyncSync(descriptor);
  fs.closeSync(descriptor);
}

interface StartOptions {
  /** If unset, a new folder is created. */
  socketDir?: string;
  signal?: AbortSignal | undefined;
}

/** Finds the server that is running on this data, or starts one. */
async function findOrStart(cluster: Cluster, progress: Progress, options: StartOptions) {
  const { runtimeUser, files } = cluster;
  const deadline = Date.now() + cluster.timeoutSeconds * 1000;
  let announced = false;
  for (;;) {
    const server = findServer(files.path);
    if (server?.state === 'ready' && server.reachable) return { socketDir: server.socketDir, adopted: true };
    if (server?.state === 'ready') await stopUnreachable(cluster, server);
    if (!server) {
      if (!announced) progress('Starting PostgreSQL');
      announced = true;
      const socketDir = createSocketDir(runtimeUser, options.socketDir);
      try {
        await startServer(cluster, socketDir);
        return { socketDir, adopted: false };
      } catch (error) {
        removeSocketDir(socketDir);
        // The processes of a killed server need a moment to exit, or another start was faster than ours.
        const transient = /shared memory block/.test((error as Error).message) || findServer(files.path);
        if (!transient || Date.now() > deadline) throw error;
      }
    }
    if (server && Date.now() > deadline) {
      throw new StartupError(
        `PostgreSQL (process ${server.pid}) on ${runtimeUser.clusterDir} has been ${server.state} for too long.`,
      );
    }
    options.signal?.throwIfAborted();
    await setTimeout(100);
  }
}

async function startServer(cluster: Cluster, socketDir: string) {
  const settings = {
    listen_addresses: '',
    unix_socket_directories: socketDir,
    logging_collector: 'on',
    log_directory: 'log',
    // One file per weekday, overwritten a week later.
    log_filename: 'postgresql-%a.log',
    log_truncate_on_rotation: 'on',
    log_rotation_size: '0',
    // Statements may contain personal data, and the error messages are sufficient.
    log_min_error_statement: 'panic',
    shared_buffers: `${sharedBuffersMB()}MB`,
    ...cluster.settings,
  };
  const options = Object.entries(settings).map(([name, value]) => `-c ${quoteForShell(`${name}=${value}`)}`);
  await pgCtl(cluster, ['start', '-w', '-t', `${cluster.timeoutSeconds}`, '-s', '-o', options.join(' ')]);
}

/** pg_ctl starts the server with a shell. */
const quoteForShell = (text: string) => (/^[\w./=:,+-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/**
 * Whether the server has a startup process, which makes the database ready. When that process fails because the disk is full,
 * PostgreSQL (18.4) may keep running without it indefinitely. Where we cannot tell, as on macOS, we assume that it has one.
 */
function isStarting(pid: number): boolean {
  try {
    const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
    return children.some((child) => /startup/.test(fs.readFileSync(`/proc/${child}/cmdline`, 'utf8')));
  } catch {
    return true;
  }
}

/** Returns the size of shared_buffers. A million departments need more than the default of 128 MB. */
function sharedBuffersMB(): number {
  const memory = Math.min(os.totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY) / 2 ** 20;
  return Math.round(Math.min(512, Math.max(32, memory / 8)));
}

/**
 * Stops a server whose socket was removed, for example by a cleanup of the temporary folder: no new connection can reach it.
 * The mode is `smart`, because a service that is still connected must not be interrupted.
 */
async function stopUnreachable(cluster: Cluster, { socketDir }: FoundServer) {
  await pgCtl(cluster, ['stop', '-w', '-t', '5', '-m', 'smart']).catch((error) => {
    if (!findServer(cluster.files.path)) return;
    throw new StartupError(
      `PostgreSQL runs on ${cluster.runtimeUser.clusterDir} and another Banyan is using it, but its socket in ${socketDir} is gone. ` +
        `Stop that Banyan, then start again. (${(error as Error).message})`,
    );
  });
}

interface FoundServer {
  pid: number;
  state: 'starting' | 'ready' | 'stopping';
  socketDir: string;
  reachable: boolean;
}

/** Finds the running server by PostgreSQL's own lock file. Removes that file if it is stale. */
function findServer(clusterDir: string): FoundServer | undefined {
  const lockFile = path.join(clusterDir, 'postmaster.pid');
  const modified = fs.statSync(lockFile, { throwIfNoEntry: false })?.mtimeMs;
  if (!modified) return undefined;
  const lines = readIfExists(lockFile).split('\n');
  const [pid, port, socketDir = '', status] = [Number(lines[0]), lines[3], lines[4], lines[7]?.trim()];
  // An empty file may be one that PostgreSQL is just writing. If the machine went down at that moment, the file stays empty,
  // and PostgreSQL would refuse to start.
  const beingWritten = !pid && Date.now() - modified < 2000;
  if (!beingWritten && !isServerAt(pid, socketDir)) {
    if (path.dirname(socketDir) === path.dirname(socketDirPrefix())) removeSocketDir(socketDir);
    // After a crash of the machine or container, another process may have this id, and PostgreSQL would refuse to start
    // as long as that process lives. If no process has it, PostgreSQL removes the file itself.
    if (!pid || isAlive(pid)) fs.rmSync(lockFile, { force: true });
    return undefined;
  }
  const state = status === 'ready' || status === 'stopping' ? status : 'starting';
  return { pid, state, socketDir, reachable: fs.existsSync(path.join(socketDir, `.s.PGSQL.${port}`)) };
}

/** Whether the process is the server with this socket folder. Each start creates a new one, so it identifies the server. */
function isServerAt(pid: number, socketDir: string): boolean {
  const [, serverDir] = /unix_socket_directories=([^\0\s]*\/banyan-\w+)/.exec(commandOf(pid)) ?? [];
  // PostgreSQL writes the folder to its lock file a little later. Until then any embedded server is accepted.
  return serverDir !== undefined && (socketDir === '' || serverDir === socketDir);
}

const commandOf = (pid: number): string =>
  process.platform === 'linux'
    ? readIfExists(`/proc/${pid}/cmdline`)
    : spawnSync('ps', ['-ww', '-o', 'args=', '-p', `${pid}`], { encoding: 'utf8' }).stdout;

/** Returns '' for a file that does not exist, because it may be removed at any moment. */
function readIfExists(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The prefix of socket folders. The path of a socket has at most 107 bytes, so they cannot be in the data directory. */
const socketDirPrefix = () => path.join(os.tmpdir().length < 60 ? os.tmpdir() : '/tmp', 'banyan-');

function createSocketDir(runtimeUser: RuntimeUser, socketDir?: string): string {
  if (socketDir) {
    removeSocketFiles(socketDir);
    // It usually exists: without root's privileges we might be unable to create it.
    fs.mkdirSync(socketDir, { mode: 0o700, recursive: true });
  }
  const folder = socketDir ?? fs.mkdtempSync(socketDirPrefix());
  chownTo(folder, runtimeUser);
  return folder;
}

/** Removes the files by name and not recursively: the path comes from a file that PostgreSQL's user could have changed. */
function removeSocketFiles(folder: string) {
  for (const name of ['.s.PGSQL.5432', '.s.PGSQL.5432.lock']) fs.rmSync(path.join(folder, name), { force: true });
}

function removeSocketDir(folder: string) {
  removeSocketFiles(folder);
  try {
    fs.rmdirSync(folder);
  } catch {
    // The folder is already gone, or contains other files.
  }
}

const pgCtl = ({ runtimeUser, files, walArchive }: Cluster, args: string[]) =>
  runProgram(runtimeUser, 'pg_ctl', walArchive ? [files, walArchive] : [files], (folder) => ['-D', folder, ...args]);
