import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { StartupError } from '../startup-error.ts';
import { canRun, copyBinaries, createLinks, findPackage } from './binaries.ts';

/** The user that the embedded PostgreSQL runs as, with the binaries and the data that it uses. */
export interface RuntimeUser {
  /** If unset, PostgreSQL runs as the user of this process. */
  uid?: number;
  gid?: number;
  binDir: string;
  clusterDir: string;
}

/** A folder that stays reachable when this process drops root's privileges. */
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
 * the owner of the data, otherwise `postgres`, otherwise `nobody`. That user may be unable to enter the folders above the binaries
 * and the data. So binaries that it cannot run are copied, and the data is passed as an open folder instead of a path (see
 * `runProgram`).
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
  // A cleanup of a temporary folder removes old files one by one, which would leave an incomplete copy. So prefer /var/cache, then
  // /var/tmp, which is cleaned less often than the temporary folder.
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
