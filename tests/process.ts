import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connectOwner, type Sql } from '../db/sql.ts';
import { Client, PASSWORD } from './harness.ts';

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
    await until(`"${words}" is said`, () => {
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
export const project = fileURLToPath(new URL('../..', import.meta.url));

const runs: Run[] = [];
const folders: string[] = [];

/** Starts the service on a data folder. The environment is empty otherwise: nothing of who runs the tests gets in. */
export function start(dataDir: string, environment: Record<string, string> = {}): Run {
  return launch([path.join(project, 'scripts/start.js')], {
    cwd: folders.find((folder) => dataDir.startsWith(folder)) ?? os.tmpdir(),
    env: { BANYAN_DATA_DIR: dataDir, BANYAN_ADMIN_PASSWORD: PASSWORD, ...environment },
  });
}

export function launch(args: string[], { cwd, env }: { cwd: string; env: Record<string, string> }): Run {
  const { PATH = '', TMPDIR } = process.env;
  const all = { PATH, PORT: '0', ...(TMPDIR ? { TMPDIR } : {}), ...env };
  // A group of its own, so that all of it can be ended.
  const child = spawn(process.execPath, args, { cwd, env: all, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const run = new Run(child);
  runs.push(run);
  return run;
}

/** A data folder that does not exist yet, in a folder of its own. */
export function newFolder(): string {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'banyan-process-')));
  folders.push(folder);
  return path.join(folder, 'data');
}

let template: Promise<{ dataDir: string; run: Run }> | undefined;

/** A first start, stopped again, whose folder `usedFolder` copies. */
export function firstRun(): Promise<{ dataDir: string; run: Run }> {
  template ??= (async () => {
    const dataDir = newFolder();
    const run = start(dataDir);
    await run.ready();
    assert.equal(await run.stop(), 0);
    return { dataDir, run };
  })();
  return template;
}

/** A data folder as a former run left it. A copy is quicker than a first start. */
export async function usedFolder(): Promise<string> {
  const { dataDir: former } = await firstRun();
  const dataDir = newFolder();
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
export function processesIn(dataDir: string): number[] {
  const { stdout } = spawnSync('ps', ['-A', '-ww', '-o', 'pid=,args='], { encoding: 'utf8' });
  return stdout
    .split('\n')
    .map((line) => ({ pid: Number.parseInt(line, 10), command: line }))
    .filter(({ pid, command }) => /postgres|initdb|pg_ctl/.test(command) && worksIn(pid, command, dataDir))
    .map(({ pid }) => pid);
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
  await until(`nothing runs in ${dataDir}`, () => processesIn(dataDir).length === 0);
  assert.equal(fs.existsSync(path.join(dataDir, 'postgres/postmaster.pid')), false);
}

/** Kills PostgreSQL at once and entirely, as a power cut would. */
export async function killPostgres(dataDir: string) {
  await until('PostgreSQL is dead', () => {
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

/** Polls; tests share a small machine, so patience is long. */
export async function until(what: string, isSo: () => unknown | Promise<unknown>): Promise<void> {
  for (const deadline = Date.now() + 60_000; !(await isSo()); await setTimeout(20)) {
    assert.ok(Date.now() < deadline, `Waited in vain until ${what}`);
  }
}

async function cleanUp() {
  for (const { child } of runs) if (child.pid && child.exitCode === null) killQuietly(-child.pid);
  await Promise.all(runs.map(({ ended }) => ended));
  for (const folder of folders) {
    const lockFile = path.join(folder, 'data/postgres/postmaster.pid');
    const socketDir = fs.existsSync(lockFile) ? postgresOf(path.join(folder, 'data')).socketDir : '';
    await killPostgres(folder);
    if (path.basename(socketDir).startsWith('banyan-')) fs.rmSync(socketDir, { recursive: true, force: true });
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  }
}

after(cleanUp);
// Who ends the tests early finds nothing left either.
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => cleanUp().finally(() => process.exit(1)));
