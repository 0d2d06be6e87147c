import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { give, run, type Seat, takeSeat } from './seat.ts';
import { StartRefused } from './start-refused.ts';

export interface EmbeddedServer {
  /** Where PostgreSQL's socket is. */
  socketDir: string;
  /** Of PostgreSQL's superuser `postgres`, who only prepares Banyan's own database. */
  password: string;
  /** It ran already: a killed run left it behind, or another Banyan uses it. */
  adopted: boolean;
  /** Starts it again, at the same socket, when it is gone. */
  revive(): Promise<void>;
  /** Ends a server that takes no connections and is not on its way to: the next `revive` starts another. */
  endStuck(): Promise<void>;
  stop(): Promise<void>;
}

type Progress = (sentence: string) => void;

/** Seconds that PostgreSQL may take to come up or to go down. Recovery after a crash can be long. */
const PATIENCE = 300;

/**
 * The embedded database: a real PostgreSQL under `dataDir/postgres`, on a Unix socket only. A server that a killed run
 * left behind is adopted; whether another Banyan holds it is for the caller to find out (it takes a lock in there).
 */
export async function startEmbedded(
  dataDir: string,
  progress: Progress,
  stop?: AbortSignal,
  extraSettings: Record<string, string> = {},
): Promise<EmbeddedServer> {
  const password = openDataDir(dataDir);
  const seat = takeSeat(dataDir);
  removeLeftovers(dataDir);
  if (!isCluster(seat)) {
    progress(`Making a database in ${seat.cluster}`);
    await initCluster(seat, dataDir, password, stop);
  }
  stop?.throwIfAborted();
  const { socketDir, adopted } = await bringUp(seat, progress, { stop, extraSettings });
  return {
    socketDir,
    password,
    adopted,
    async revive() {
      const running = await bringUp(seat, () => {}, { socketDir, extraSettings });
      if (running.socketDir !== socketDir) throw new Error(`PostgreSQL came back at ${running.socketDir}`);
    },
    async endStuck() {
      const found = findServer(seat);
      if (!found || isStarting(found.pid)) return;
      await pgCtl(seat, ['stop', '-w', '-t', '5', '-m', 'immediate']).catch(() => process.kill(found.pid, 'SIGKILL'));
    },
    async stop() {
      await pgCtl(seat, ['stop', '-w', '-t', `${PATIENCE}`, '-m', 'fast']).catch((error) => {
        if (findServer(seat)) throw error; // else it was gone already
      });
      removeSocketDir(socketDir);
    },
  };
}

/** Makes the folder when it isn't there, and returns the secret in it. */
function openDataDir(dataDir: string): string {
  try {
    fs.mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    fs.accessSync(dataDir, fs.constants.W_OK);
    return readSecret(path.join(dataDir, 'postgres-password'));
  } catch (error) {
    throw new StartRefused(
      `The data folder ${dataDir} can't be used (${(error as Error).message}). ` +
        'Give it to the user that runs Banyan, or set BANYAN_DATA_DIR to another folder.',
    );
  }
}

/** The secret in the file, made at first. It appears there whole, so that a kill leaves no half of it. */
function readSecret(file: string): string {
  if (!fs.existsSync(file)) {
    const aside = `${file}.new-${process.pid}`;
    fs.rmSync(aside, { force: true });
    fs.writeFileSync(aside, randomBytes(24).toString('base64url'), { mode: 0o600, flush: true });
    try {
      fs.linkSync(aside, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // another start was first
    }
    fs.rmSync(aside);
  }
  return fs.readFileSync(file, 'utf8');
}

/** Whether a start made a database in this folder. */
export const hasDatabase = (dataDir: string) => fs.existsSync(path.join(dataDir, 'postgres/PG_VERSION'));

const isCluster = (seat: Seat) => fs.existsSync(path.join(seat.cluster, 'PG_VERSION'));

/** What starts that were killed had not put in place yet. */
function removeLeftovers(dataDir: string) {
  for (const name of fs.readdirSync(dataDir)) {
    const pid = Number(/^postgres.*\.new-(\d+)$/.exec(name)?.[1]);
    // Numbers come again after a restart of the machine or the container: our own, in there, is a dead one's.
    if (!pid || (pid !== process.pid && isAlive(pid))) continue;
    remove(path.join(dataDir, name));
  }
}

/** An initdb whose start was killed may be writing in there still, for a moment. */
const remove = (folder: string) => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });

async function initCluster(seat: Seat, dataDir: string, password: string, stop?: AbortSignal) {
  // Made aside and put in place whole, so that a start that is killed here leaves nothing half done.
  const aside = path.join(dataDir, `postgres.new-${process.pid}`);
  const passwordFile = path.join(aside, 'password');
  fs.mkdirSync(aside, { mode: 0o700 });
  try {
    fs.writeFileSync(passwordFile, password, { mode: 0o600 });
    for (const file of [aside, passwordFile]) give(file, seat);
    const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
    const auth = ['--username=postgres', '--auth=scram-sha-256', '--no-instructions'];
    const where = (folder: string) => ['-D', `${folder}/cluster`, `--pwfile=${folder}/password`];
    await run(seat, 'initdb', aside, (folder) => [...where(folder), ...locale, ...auth], stop);
    try {
      fs.renameSync(path.join(aside, 'cluster'), seat.cluster);
      syncFolder(dataDir);
    } catch (error) {
      // Another start may have been a moment faster; its database is as good as ours.
      if (!isCluster(seat)) {
        throw new StartRefused(`${seat.cluster} is no database, but in the way (${(error as Error).message}).`);
      }
    }
  } finally {
    remove(aside);
  }
}

/** A name in a folder survives a power cut only once the folder is on the disk too. */
function syncFolder(folder: string) {
  const open = fs.openSync(folder, 'r');
  fs.fsyncSync(open);
  fs.closeSync(open);
}

interface Want {
  socketDir?: string;
  stop?: AbortSignal | undefined;
  extraSettings: Record<string, string>;
}

/** Finds the server that runs on this data, or starts one: at `socketDir`, or wherever there is room. */
async function bringUp(seat: Seat, progress: Progress, want: Want) {
  const deadline = Date.now() + PATIENCE * 1000;
  let said = false;
  for (;;) {
    const found = findServer(seat);
    if (found?.state === 'ready' && found.reachable) return { socketDir: found.socketDir, adopted: true };
    if (found?.state === 'ready') await stopUnreachable(seat, found);
    if (!found) {
      if (!said) progress('Starting PostgreSQL');
      said = true;
      const socketDir = makeSocketDir(seat, want.socketDir);
      try {
        await startServer(seat, socketDir, want.extraSettings);
        return { socketDir, adopted: false };
      } catch (error) {
        removeSocketDir(socketDir);
        // The processes of a killed server need a moment to go; or another start was a moment faster than ours.
        const passing = /shared memory block/.test((error as Error).message) || findServer(seat);
        if (!passing || Date.now() > deadline) throw error;
      }
    }
    if (found && Date.now() > deadline) {
      throw new StartRefused(`PostgreSQL (process ${found.pid}) on ${seat.cluster} is ${found.state} for too long.`);
    }
    want.stop?.throwIfAborted();
    await setTimeout(100);
  }
}

async function startServer(seat: Seat, socketDir: string, extraSettings: Record<string, string>) {
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
    shared_buffers: `${buffersMB()}MB`,
    ...extraSettings,
  };
  const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  await pgCtl(seat, ['start', '-w', '-t', `${PATIENCE}`, '-s', '-o', options.join(' ')]);
}

/**
 * Whether a process of it makes the database ready. PostgreSQL (18.4) may go on without one, for ever, when that process
 * ended for lack of room on the disk. Where it can't be told, as elsewhere than on Linux, it is believed.
 */
function isStarting(pid: number): boolean {
  try {
    const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
    return children.some((child) => /startup/.test(fs.readFileSync(`/proc/${child}/cmdline`, 'utf8')));
  } catch {
    return true;
  }
}

/** What PostgreSQL keeps of its tables in memory: by default 128 MB, less than a million departments take. */
function buffersMB(): number {
  const memory = Math.min(os.totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY) / 2 ** 20;
  return Math.round(Math.min(512, Math.max(32, memory / 8)));
}

/** Something cleaned the temp folder: nobody can connect any more, and who still is connected must not be cut off. */
async function stopUnreachable(seat: Seat, { socketDir }: Found) {
  await pgCtl(seat, ['stop', '-w', '-t', '5', '-m', 'smart']).catch((error) => {
    if (!findServer(seat)) return;
    throw new StartRefused(
      `PostgreSQL runs on ${seat.cluster} and another Banyan is using it, but its socket in ${socketDir} is gone. ` +
        `Stop that Banyan, then start again. (${(error as Error).message})`,
    );
  });
}

interface Found {
  pid: number;
  state: 'starting' | 'ready' | 'stopping';
  socketDir: string;
  reachable: boolean;
}

/** The live server on this data, as PostgreSQL's own lock file tells. */
function findServer(seat: Seat): Found | undefined {
  const lockFile = path.join(seat.cluster, 'postmaster.pid');
  const written = fs.statSync(lockFile, { throwIfNoEntry: false })?.mtimeMs;
  if (!written) return undefined;
  const lines = read(lockFile).split('\n');
  const [pid, port, socketDir = '', status] = [Number(lines[0]), lines[3], lines[4], lines[7]?.trim()];
  // Not written yet; or never, when the machine went down in that moment, and then PostgreSQL would refuse to start.
  const writing = !pid && Date.now() - written < 2000;
  if (!writing && !isServerAt(pid, socketDir)) {
    if (path.dirname(socketDir) === path.dirname(socketBase())) removeSocketDir(socketDir);
    // After a crash of the machine or its container the number may be another process's by now, and PostgreSQL would
    // wait for that one to go away. That a process is dead it sees itself.
    if (!pid || isAlive(pid)) fs.rmSync(lockFile, { force: true });
    return undefined;
  }
  const state = status === 'ready' || status === 'stopping' ? status : 'starting';
  return { pid, state, socketDir, reachable: fs.existsSync(path.join(socketDir, `.s.PGSQL.${port}`)) };
}

/** Its socket folder is made for each start anew, so that it tells this server from any other. */
function isServerAt(pid: number, socketDir: string): boolean {
  const [, started] = /unix_socket_directories=([^\0\s]*\/banyan-\w+)/.exec(commandOf(pid)) ?? [];
  // Until PostgreSQL has written the folder into its lock file, any embedded server will do.
  return started !== undefined && (socketDir === '' || started === socketDir);
}

const commandOf = (pid: number): string =>
  process.platform === 'linux'
    ? read(`/proc/${pid}/cmdline`)
    : spawnSync('ps', ['-ww', '-o', 'args=', '-p', `${pid}`], { encoding: 'utf8' }).stdout;

/** Nothing, when the file goes away in this moment. */
function read(file: string): string {
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

/** Short paths: a socket's may have 107 bytes at most, whatever the depth of the data folder. */
const socketBase = () => path.join(os.tmpdir().length < 60 ? os.tmpdir() : '/tmp', 'banyan-');

function makeSocketDir(seat: Seat, wanted?: string): string {
  if (wanted) {
    removeSocketDir(wanted);
    fs.mkdirSync(wanted, { mode: 0o700 });
  }
  const folder = wanted ?? fs.mkdtempSync(socketBase());
  give(folder, seat);
  return folder;
}

/** By the names that are in there, so that nothing else goes when PostgreSQL's user tells us a wrong folder. */
function removeSocketDir(folder: string) {
  for (const name of ['.s.PGSQL.5432', '.s.PGSQL.5432.lock']) fs.rmSync(path.join(folder, name), { force: true });
  try {
    fs.rmdirSync(folder);
  } catch {
    // gone already, or not only the server's
  }
}

const pgCtl = (seat: Seat, args: string[]) => run(seat, 'pg_ctl', seat.cluster, (folder) => ['-D', folder, ...args]);
