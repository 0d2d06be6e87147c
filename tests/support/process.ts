import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ConnectionTiming, connectOwner, type Sql } from '../../db/sql.ts';
import type { Timing } from '../../server/timing.ts';
import { afterFile } from './cleanup.ts';
import { CHEAP_HASH, NO_DEADLINES, testFolder } from './database.ts';
import { Client, PASSWORD, UNHURRIED } from './service.ts';
import { waitFor } from './wait.ts';

/** The service as its operator sees it: a process, its words, its data folder, and PostgreSQL beside it. */
export class Run {
  readonly child: ChildProcess;
  /** The JSON log. */
  stdout = '';
  /** The words for people. */
  stderr = '';
  /** The exit code, or the name of the signal that ended it. */
  readonly ended: Promise<number | string>;

  constructor(child: ChildProcess) {
    this.child = child;
    child.stdout?.on('data', (chunk) => (this.stdout += chunk));
    child.stderr?.on('data', (chunk) => (this.stderr += chunk));
    this.ended = once(child, 'close').then(([code, signal]) => code ?? signal);
  }

  /** Waits until these words were said. */
  async said(words: string | RegExp): Promise<void> {
    const heard = () => (typeof words === 'string' ? this.stderr.includes(words) : words.test(this.stderr));
    await waitFor(`"${words}" is said`, () => {
      if (heard()) return true;
      const { exitCode, signalCode } = this.child;
      assert.ok(exitCode === null && signalCode === null, `Ended without saying "${words}":\n${this.stderr}`);
      return false;
    });
  }

  /** Waits until it serves; the client has no token. */
  async ready(): Promise<Client> {
    await this.said('Try it:');
    return new Client(this.told('Ready at').replace('localhost', '127.0.0.1'));
  }

  /** Waits until it serves, and logs in as its first administrator. */
  async admin(password = PASSWORD): Promise<Client> {
    const { base } = await this.ready();
    return logIn(base, password);
  }

  /** What stands beside a name in the greeting, or ''. */
  told = (name: string) => new RegExp(`^ +${name} +(\\S+)`, 'm').exec(this.stderr)?.[1] ?? '';

  kill(signal: NodeJS.Signals): Promise<number | string> {
    this.child.kill(signal);
    return this.ended;
  }

  stop = () => this.kill('SIGTERM');
}

export async function logIn(base: string, password: string, username = 'admin'): Promise<Client> {
  const body = { tenantId: '000000', username, password };
  const { data, text } = await new Client(base).post('/auth/login', body);
  assert.ok(data?.access_token, text);
  return new Client(base, data.access_token);
}

/** The project's folder; tests run compiled, from dist/tests. */
export const project = fileURLToPath(new URL('../../..', import.meta.url));

type Environment = Record<string, string>;

/**
 * Starts the service on a data folder as `npm start` does, with its usual deadlines. The environment is empty otherwise:
 * nothing of the environment of the tests gets in.
 */
export const start = (dataDir: string, environment: Environment = {}): Run =>
  launch([path.join(project, 'scripts/start.js')], onFolder(dataDir, environment));

/** Deadlines and intervals that are the subject of a test. */
interface Deadlines {
  timing?: Partial<Timing>;
  connectionTiming?: Partial<ConnectionTiming>;
}

/**
 * Starts the service on a data folder without deadlines, so that no request fails because the machine is slow, and with a
 * cheap password hash. Tests whose subject is a deadline set their own.
 */
export function startUnhurried(
  dataDir: string,
  environment: Environment = {},
  { timing, connectionTiming }: Deadlines = {},
): Run {
  const footing = {
    timing: { ...UNHURRIED, lastAnswersMs: 600_000, ...timing },
    connectionTiming: { ...NO_DEADLINES, ...connectionTiming },
    passwordCost: CHEAP_HASH,
  };
  const env = { BANYAN_TEST_FOOTING: JSON.stringify(footing), ...environment };
  return launch([serviceProcess], onFolder(dataDir, env));
}

/** The same on a database of a server that runs already: there is no data folder, and no PostgreSQL to start. */
export const startServed = (databaseUrl: string, environment: Environment = {}, deadlines: Deadlines = {}): Run =>
  startUnhurried(path.join(os.tmpdir(), 'no-data-folder'), { DATABASE_URL: databaseUrl, ...environment }, deadlines);

export const serviceProcess = fileURLToPath(new URL('./service-process.js', import.meta.url));

const isFolder = (name: string) => fs.statSync(name, { throwIfNoEntry: false })?.isDirectory() === true;

const onFolder = (dataDir: string, environment: Environment) => ({
  cwd: isFolder(path.dirname(dataDir)) ? path.dirname(dataDir) : os.tmpdir(),
  env: { BANYAN_DATA_DIR: dataDir, BANYAN_ADMIN_PASSWORD: PASSWORD, ...environment },
});

let temp: string | undefined;

/**
 * The temp folder of this file's processes: embedded servers have their sockets in there. One that is killed before it has
 * written its lock file leaves a folder that nobody can find. PostgreSQL's user has to enter it.
 */
function tempFolder(): string {
  if (temp) return temp;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'banyan-temp-'));
  fs.chmodSync(folder, 0o755);
  afterFile(() => {
    temp = undefined;
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  });
  temp = folder;
  return folder;
}

export function launch(args: string[], { cwd, env }: { cwd: string; env: Environment }): Run {
  const all = { PATH: process.env.PATH ?? '', PORT: '0', TMPDIR: tempFolder(), ...env };
  // A group of its own, so that all of it can be ended.
  const child = spawn(process.execPath, args, { cwd, env: all, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const run = new Run(child);
  afterFile(async () => {
    if (child.pid && child.exitCode === null && child.signalCode === null) killQuietly(-child.pid);
    await run.ended;
  });
  return run;
}

/** A data folder that does not exist yet, in a folder of its own. */
export function newFolder(): string {
  const folder = makeFolder();
  afterFile(() => removeFolder(folder));
  return path.join(folder, 'data');
}

const makeFolder = () => fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'banyan-process-')));

interface FirstRun {
  dataDir: string;
  stdout: string;
  stderr: string;
}

/** A first start, stopped again, whose folder `usedFolder` copies. Whichever process needs it first makes it for all. */
export async function firstRun(): Promise<FirstRun> {
  const folder = path.join(testFolder(), 'first-run');
  const told = path.join(folder, 'run.json');
  try {
    fs.mkdirSync(folder);
  } catch {
    await waitFor('another process has made the first run', () => fs.existsSync(told) || !fs.existsSync(folder));
    return fs.existsSync(told) ? JSON.parse(fs.readFileSync(told, 'utf8')) : firstRun();
  }
  try {
    const dataDir = path.join(folder, 'data');
    const run = startUnhurried(dataDir);
    await run.ready();
    assert.equal(await run.stop(), 0, run.stderr);
    const { stdout, stderr } = run;
    fs.writeFileSync(`${told}.new`, JSON.stringify({ dataDir, stdout, stderr }));
    fs.renameSync(`${told}.new`, told);
    return { dataDir, stdout, stderr };
  } catch (error) {
    await removeFolder(folder);
    throw error;
  }
}

/** A data folder as a former run left it. A copy is quicker than a first start. */
export async function usedFolder(dataDir = newFolder()): Promise<string> {
  const { dataDir: former } = await firstRun();
  const { status, stderr } = spawnSync('cp', ['-pR', former, dataDir], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return dataDir;
}

/** PostgreSQL on a data folder, as its own lock file tells. */
export function postgresOf(dataDir: string): { pid: number; socketDir: string } {
  const lines = fs.readFileSync(path.join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n');
  return { pid: Number(lines[0]), socketDir: String(lines[4]) };
}

/** Into the embedded database, around the service, as PostgreSQL's superuser. */
export function connectTo(dataDir: string): Sql {
  const password = fs.readFileSync(path.join(dataDir, 'postgres-password'), 'utf8');
  const host = postgresOf(dataDir).socketDir;
  return connectOwner({ host, database: 'banyan', username: 'postgres', password });
}

/** The processes that work in a data folder: PostgreSQL's, or initdb's. */
export const processesIn = (dataDir: string): number[] =>
  commands()
    .filter(([pid, command]) => /postgres|initdb|pg_ctl/.test(command) && worksIn(pid, command, dataDir))
    .map(([pid]) => pid);

/** Every process with its command line. Linux is asked without starting a process: this is polled. */
function commands(): [pid: number, command: string][] {
  if (process.platform === 'linux') {
    const pids = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.map((pid) => [Number(pid), commandOf(pid)]);
  }
  const { stdout } = spawnSync('ps', ['-A', '-ww', '-o', 'pid=,args='], { encoding: 'utf8' });
  return stdout.split('\n').map((line) => [Number.parseInt(line, 10), line]);
}

/** Nothing, when the process ends in this moment. */
function commandOf(pid: string): string {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

function worksIn(pid: number, command: string, dataDir: string): boolean {
  if (command.includes(dataDir)) return true;
  // As root the folder is not on the command line; Linux tells where a process is, and which folder it was handed.
  return ['cwd', 'fd/3'].some((name) => {
    try {
      return fs.readlinkSync(`/proc/${pid}/${name}`).startsWith(dataDir);
    } catch {
      return false;
    }
  });
}

/** PostgreSQL is stopped, cleanly, and left nothing running. */
export async function assertStopped(dataDir: string) {
  // It removes its lock file as the last thing but one.
  await waitFor(`nothing runs in ${dataDir}`, () => processesIn(dataDir).length === 0);
  assert.equal(fs.existsSync(path.join(dataDir, 'postgres/postmaster.pid')), false);
}

/** Kills PostgreSQL at once and entirely, as a power cut would. */
export async function killPostgres(dataDir: string) {
  await waitFor('PostgreSQL is dead', () => {
    const pids = processesIn(dataDir);
    for (const pid of pids) killQuietly(pid);
    return pids.length === 0;
  });
}

function killQuietly(pid: number) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // gone already
  }
}

async function removeFolder(folder: string) {
  const lockFile = path.join(folder, 'data/postgres/postmaster.pid');
  const socketDir = fs.existsSync(lockFile) ? postgresOf(path.join(folder, 'data')).socketDir : '';
  await killPostgres(folder);
  if (path.basename(socketDir).startsWith('banyan-')) fs.rmSync(socketDir, { recursive: true, force: true });
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
}
