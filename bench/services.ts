import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { connectOwner, type Sql } from '../db/driver.ts';
import { startEmbedded } from '../db/embedded/cluster.ts';

/** The processes of a benchmark: PostgreSQL, the service as an operator starts it, and the bare web server. */

export const PASSWORD = 'correct horse';

export interface Process {
  base: string;
  pid: number;
  stop(): Promise<void>;
}

export interface BenchDatabase {
  databaseUrl: string;
  superuserUrl: string;
  /** The driver accepts a Unix socket only as this option, not in a URL. */
  socket: { host: string };
  superuser: Sql;
  close(): Promise<void>;
}

/** Starts PostgreSQL in a temporary folder, with an empty database. */
export async function startDatabase(): Promise<BenchDatabase> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'banyan-bench-'));
  const server = await startEmbedded(folder, () => {});
  const { socketDir, password } = server;
  const admin = postgres({ host: socketDir, username: 'postgres', password, database: 'postgres', max: 1 });
  await admin.unsafe(`create role bench login createrole password '${password}'`);
  await admin.unsafe('create database bench owner bench');
  await admin.end();
  const address = (user: string) =>
    `postgres://${user}:${password}@localhost/bench?host=${encodeURIComponent(socketDir)}`;
  const superuser = connectOwner({ url: address('postgres') });
  return {
    databaseUrl: address('bench'),
    superuserUrl: `postgres://postgres:${password}@localhost/bench`,
    socket: { host: socketDir },
    superuser,
    async close() {
      await superuser.end();
      await server.stop();
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

const start = (file: string, env: Record<string, string>, silent: boolean): ChildProcess =>
  fork(fileURLToPath(new URL(file, import.meta.url)), {
    // As `npm start` does (server/process/workers.ts).
    execArgv: ['--no-allocation-site-pretenuring'],
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', silent ? 'ignore' : 'inherit', 'pipe', 'ipc'],
  });

const asProcess = (child: ChildProcess, base: string): Process => ({
  base,
  pid: child.pid as number,
  async stop() {
    child.kill('SIGTERM');
    await once(child, 'exit');
  },
});

/** Starts the service as `npm start` does once it is compiled. It logs as usual, and the log is discarded. */
export async function startService(databaseUrl: string, env: Record<string, string> = {}): Promise<Process> {
  const child = start(
    '../server/main.js',
    { DATABASE_URL: databaseUrl, PORT: '0', BANYAN_ADMIN_PASSWORD: PASSWORD, ...env },
    true,
  );
  let output = '';
  child.stderr?.on('data', (chunk) => (output += chunk));
  for (;;) {
    const [, base] = /Ready at +(\S+)/.exec(output) ?? [];
    if (base) return asProcess(child, base.replace('localhost', '127.0.0.1'));
    if (child.exitCode !== null) throw new Error(output);
    await setTimeout(10);
  }
}

export async function startBare(body: string): Promise<Process> {
  const child = start('./bare.js', { BENCH_BODY: body }, true);
  const [{ port }] = (await once(child, 'message')) as [AddressInfo];
  return asProcess(child, `http://127.0.0.1:${port}`);
}

/** Returns the CPU time in seconds that the processes have used so far. */
export function cpuSeconds(pids: number[]): number {
  const seconds = (pid: number) => {
    const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / 100;
  };
  return pids.reduce((sum, pid) => sum + seconds(pid), 0);
}

/** Returns the process ids of PostgreSQL's backends for a service. */
export async function backendsOf({ superuser }: BenchDatabase, { pid }: Process): Promise<number[]> {
  const rows = await superuser<{ pid: number }[]>`
    select pid from pg_stat_activity where application_name = ${`banyan ${pid}`}`;
  return rows.map((row) => row.pid);
}

export async function call(base: string, method: string, url: string, token = '', body?: unknown) {
  const response = await fetch(`${base}${url}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`the response to ${method} ${url} was ${text}`);
  return { text, headers: response.headers, data: JSON.parse(text).data };
}

/** Creates a tenant. Returns its id and a token of its administrator. */
export async function createTenant(base: string): Promise<{ tenantId: string; token: string }> {
  const root = await logIn(base, '000000', 'admin');
  const created = await call(base, 'POST', '/system/tenant-api', root, { username: 'boss', password: PASSWORD });
  const { data } = await call(base, 'GET', created.headers.get('location') as string, root);
  return { tenantId: data.tenantId, token: await logIn(base, data.tenantId, 'boss') };
}

export async function logIn(base: string, tenantId: string, username: string): Promise<string> {
  const { data } = await call(base, 'POST', '/auth/login', '', { tenantId, username, password: PASSWORD });
  return data.access_token;
}
