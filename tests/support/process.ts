import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { openDatabase } from '../../db/connect.ts';
import type { ConnectionTiming, Sql } from '../../db/driver.ts';
import { readConfig } from '../../server/config.ts';
import type { BackupTiming } from '../../server/process/backups.ts';
import { serve } from '../../server/process/serve.ts';
import type { Timing } from '../../server/timing.ts';
import { afterFile } from './cleanup.ts';
import { CHEAP_HASH, connectWithoutDeadline, NO_DEADLINES, testFolder } from './database.ts';
import { recentLog } from './logs.ts';
import { Client, PASSWORD, RELAXED_TIMING } from './service.ts';
import { waitFor } from './wait.ts';

/** A process of the service or of one of its commands, with its output. */
export class Run {
  readonly child: ChildProcess;
  /** The JSON log. */
  stdout = '';
  /** Messages for people. */
  stderr = '';
  /** The exit code, or the name of the signal that ended it. */
  readonly ended: Promise<number | string>;

  constructor(child: ChildProcess) {
    this.child = child;
    child.stdout?.on('data', (chunk) => (this.stdout += chunk));
    child.stderr?.on('data', (chunk) => (this.stderr += chunk));
    this.ended = once(child, 'close').then(([code, signal]) => code ?? signal);
  }

  /** Waits until standard error contains this text. */
  async waitForOutput(text: string | RegExp): Promise<void> {
    const isPrinted = () => (typeof text === 'string' ? this.stderr.includes(text) : text.test(this.stderr));
    await waitFor(`"${text}" is printed`, () => {
      if (isPrinted()) return true;
      const { exitCode, signalCode } = this.child;
      assert.ok(
        exitCode === null && signalCode === null,
        `The process exited without printing "${text}":\n${this.stderr}`,
      );
      return false;
    });
  }

  /** Waits until the service is ready. Returns a client without a token. */
  async ready(): Promise<Client> {
    await this.waitForOutput('Try it:');
    return new Client(this.printed('Ready at').replace('localhost', '127.0.0.1'));
  }

  /** Waits until the service is ready, and logs in as its first administrator. */
  async admin(password = PASSWORD): Promise<Client> {
    const { base } = await this.ready();
    return logIn(base, password);
  }

  /** Returns the value that the start message prints beside a name, or ''. */
  printed = (name: string) => new RegExp(`^ +${name} +(\\S+)`, 'm').exec(this.stderr)?.[1] ?? '';

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
 * Starts the service on a data folder as `npm start` does, with its default deadlines. It does not inherit the environment
 * of the tests.
 */
export const start = (dataDir: string, environment: Environment = {}): Run =>
  launch([path.join(project, 'scripts/start.js')], launchOptions(dataDir, environment));

/** Deadlines and intervals that a test is about. */
interface Deadlines {
  timing?: Partial<Timing>;
  connectionTiming?: Partial<ConnectionTiming>;
  backupTiming?: BackupTiming;
}

/**
 * Starts the service on a data folder with a cheap password hash and without deadlines, so that no request fails because the
 * machine is slow. Tests of a deadline set their own.
 */
export function startWithoutDeadlines(
  dataDir: string,
  environment: Environment = {},
  { timing, connectionTiming, ...others }: Deadlines = {},
): Run {
  const options = {
    ...others,
    timing: { ...RELAXED_TIMING, shutdownMs: 600_000, ...timing },
    connectionTiming: { ...NO_DEADLINES, ...connectionTiming },
    passwordCost: CHEAP_HASH,
  };
  const env = { BANYAN_TEST_OPTIONS: JSON.stringify(options), ...environment };
  return launch([serviceProcess], launchOptions(dataDir, env));
}

/** Starts the service on a database of a running server: there is no data folder and no PostgreSQL to start. */
export const startOnDatabase = (databaseUrl: string, environment: Environment = {}, deadlines: Deadlines = {}): Run =>
  startWithoutDeadlines(
    path.join(os.tmpdir(), 'no-data-folder'),
    { DATABASE_URL: databaseUrl, ...environment },
    deadlines,
  );

/**
 * Runs the service in this process, on the database that BANYAN_DATA_DIR or DATABASE_URL names, for tests that are not about
 * the process: starting one is slow.
 */
export async function serveInProcess(environment: Environment, timing: Partial<Timing> = {}) {
  const config = readConfig({ PORT: '0', BANYAN_ADMIN_PASSWORD: PASSWORD, ...environment });
  const db = await openDatabase({ ...config, timing: NO_DEADLINES });
  const server = await serve({
    db,
    config,
    timing: { ...RELAXED_TIMING, shutdownMs: 600_000, ...timing },
    passwordCost: CHEAP_HASH,
    output: recentLog,
  });
  const base = `http://127.0.0.1:${server.port}`;
  let stopping: Promise<void> | undefined;
  const stop = () => (stopping ??= server.close().then(() => db.close()));
  afterFile(stop);
  return { base, stop, admin: () => logIn(base, PASSWORD) };
}

export const serviceProcess = fileURLToPath(new URL('./service-process.js', import.meta.url));

const isFolder = (name: string) => fs.statSync(name, { throwIfNoEntry: false })?.isDirectory() === true;

const launchOptions = (dataDir: string, environment: Environment) => ({
  cwd: isFolder(path.dirname(dataDir)) ? path.dirname(dataDir) : os.tmpdir(),
  env: { BANYAN_DATA_DIR: dataDir, BANYAN_ADMIN_PASSWORD: PASSWORD, ...environment },
});

let temp: string | undefined;

/**
 * Returns the temporary folder of the test file's processes, in which embedded servers create their socket folders. Removing it
 * also removes the socket folder of a server that was killed before it wrote its lock file. Everyone may create files in it, as
 * in that of the system: a service that has given up root's privileges creates and removes folders there.
 */
function tempFolder(): string {
  if (temp) return temp;
  const folder = fs.mkdtempSync(path.join(testFolder(), 'temp-'));
  fs.chmodSync(folder, 0o1777);
  afterFile(() => {
    temp = undefined;
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  });
  temp = folder;
  return folder;
}

interface LaunchOptions {
  cwd: string;
  env: Environment;
  /** The user and the group that the process runs as, if the tests run as root. */
  uid?: number;
}

export function launch(args: string[], { cwd, env, uid }: LaunchOptions): Run {
  const all = { PATH: process.env.PATH ?? '', PORT: '0', TMPDIR: tempFolder(), ...env };
  // Create a process group, so that all its processes can be killed.
  const child = spawn(process.execPath, args, {
    cwd,
    env: all,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const run = new Run(child);
  afterFile(async () => {
    if (child.pid && child.exitCode === null && child.signalCode === null) killQuietly(-child.pid);
    await run.ended;
  });
  return run;
}

/** Returns the path of a data folder that does not exist yet, in a new folder below `parent`. */
export function newDataFolder(parent = testFolder()): string {
  const folder = makeFolder(parent);
  afterFile(() => removeFolder(folder));
  return path.join(folder, 'data');
}

const makeFolder = (parent = testFolder()) => fs.realpathSync(fs.mkdtempSync(path.join(parent, 'banyan-process-')));

interface FirstRun {
  dataDir: string;
  stdout: string;
  stderr: string;
}

/** Runs a first start, whose folder `usedDataFolder` copies. The first process that needs it runs it for all. */
export async function firstRun(): Promise<FirstRun> {
  const folder = path.join(testFolder(), 'first-run');
  const resultFile = path.join(folder, 'run.json');
  try {
    fs.mkdirSync(folder);
  } catch {
    await waitFor(
      'another process has finished the first run',
      () => fs.existsSync(resultFile) || !fs.existsSync(folder),
    );
    return fs.existsSync(resultFile) ? JSON.parse(fs.readFileSync(resultFile, 'utf8')) : firstRun();
  }
  try {
    const dataDir = path.join(folder, 'data');
    const run = startWithoutDeadlines(dataDir);
    await run.ready();
    assert.equal(await run.stop(), 0, run.stderr);
    const { stdout, stderr } = run;
    fs.writeFileSync(`${resultFile}.new`, JSON.stringify({ dataDir, stdout, stderr }));
    fs.renameSync(`${resultFile}.new`, resultFile);
    return { dataDir, stdout, stderr };
  } catch (error) {
    await removeFolder(folder);
    throw error;
  }
}

/** Returns a data folder as a former run left it. Copying one is faster than a first start. */
export async function usedDataFolder(dataDir = newDataFolder()): Promise<string> {
  const { dataDir: template } = await firstRun();
  const { status, stderr } = spawnSync('cp', ['-pR', template, dataDir], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return dataDir;
}

/** Returns the process id and socket folder of the PostgreSQL on a data folder, from its lock file. */
export function postgresOf(dataDir: string): { pid: number; socketDir: string } {
  const lines = fs.readFileSync(path.join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n');
  return { pid: Number(lines[0]), socketDir: String(lines[4]) };
}

/** Connects to the embedded database directly, as PostgreSQL's superuser. */
export function connectTo(dataDir: string): Sql {
  const password = fs.readFileSync(path.join(dataDir, 'postgres-password'), 'utf8');
  const host = postgresOf(dataDir).socketDir;
  return connectWithoutDeadline({ host, database: 'banyan', username: 'postgres', password });
}

/** Returns the ids of the processes of PostgreSQL or initdb that use a data folder. */
export const processesIn = (dataDir: string): number[] =>
  commands()
    .filter(([pid, command]) => /postgres|initdb|pg_ctl/.test(command) && usesFolder(pid, command, dataDir))
    .map(([pid]) => pid);

/** Lists all processes with their command lines. On Linux it starts no process, because it is polled. */
function commands(): [pid: number, command: string][] {
  if (process.platform === 'linux') {
    const pids = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.map((pid) => [Number(pid), commandOf(pid)]);
  }
  const { stdout } = spawnSync('ps', ['-A', '-ww', '-o', 'pid=,args='], { encoding: 'utf8' });
  return stdout.split('\n').map((line) => [Number.parseInt(line, 10), line]);
}

/** Returns '' if the process has just exited. */
function commandOf(pid: string): string {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

function usesFolder(pid: number, command: string, dataDir: string): boolean {
  if (command.includes(dataDir)) return true;
  // If the tests run as root, the folder is not on the command line, but Linux shows the working directory and open files of a
  // process.
  return ['cwd', 'fd/3'].some((name) => {
    try {
      return fs.readlinkSync(`/proc/${pid}/${name}`).startsWith(dataDir);
    } catch {
      return false;
    }
  });
}

/** Runs `npm run verify-ledger`. */
export async function assertLedgerIntact(databaseUrl: string): Promise<void> {
  const script = path.join(project, 'dist/server/cli/verify-ledger.js');
  const run = launch([script], { cwd: testFolder(), env: { DATABASE_URL: databaseUrl } });
  assert.equal(await run.ended, 0, run.stderr);
  assert.match(run.stderr, /The ledger is intact/);
}

/** Asserts that PostgreSQL has shut down cleanly and left no process. */
export async function assertStopped(dataDir: string) {
  // PostgreSQL removes its lock file shortly before it exits.
  await waitFor(`no process uses ${dataDir}`, () => processesIn(dataDir).length === 0);
  assert.equal(fs.existsSync(path.join(dataDir, 'postgres/postmaster.pid')), false);
}

/** Kills all processes of PostgreSQL, as a power failure would. */
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
    // The process has already exited.
  }
}

async function removeFolder(folder: string) {
  const lockFile = path.join(folder, 'data/postgres/postmaster.pid');
  const socketDir = fs.existsSync(lockFile) ? postgresOf(path.join(folder, 'data')).socketDir : '';
  await killPostgres(folder);
  if (path.basename(socketDir).startsWith('banyan-')) fs.rmSync(socketDir, { recursive: true, force: true });
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
}
