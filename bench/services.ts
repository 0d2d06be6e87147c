import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { startEmbedded } from '../db/embedded.ts';
import { connectOwner, type Sql } from '../db/sql.ts';

/** The processes of a run: PostgreSQL, the service as its operator starts it, and the bare web server. */

export const PASSWORD = 'correct horse';

export interface Process {
  base: string;
  pid: number;
  stop(): Promise<void>;
}

export interface Place {
  databaseUrl: string;
  superuserUrl: string;
  /** For the driver itself, which takes a Unix socket only this way. */
  socket: { host: string };
  superuser: Sql;
  close(): Promise<void>;
}

/** A PostgreSQL of its own in a temporary folder, with an empty database in it. */
export async function makePlace(): Promise<Place> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'banyan-bench-'));
  const server = await startEmbedded(folder, () => {});
  const { socketDir, password } = server;
  const first = postgres({ host: socketDir, username: 'postgres', password, database: 'postgres', max: 1 });
  await first.unsafe(`create role bench login createrole password '${password}'`);
  await first.unsafe('create database bench owner bench');
  await first.end();
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
    execArgv: [],
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

/** The service as `npm start` runs it once all is built, its log included (to nowhere). */
export async function startService(databaseUrl: string, env: Record<string, string> = {}): Promise<Process> {
  const child = start(
    '../server/main.js',
    { DATABASE_URL: databaseUrl, PORT: '0', BANYAN_ADMIN_PASSWORD: PASSWORD, ...env },
    true,
  );
  let said = '';
  child.stderr?.on('data', (chunk) => (said += chunk));
  for (;;) {
    const [, base] = /Ready at +(\S+)/.exec(said) ?? [];
    if (base) return asProcess(child, base.replace('localhost', '127.0.0.1'));
    if (child.exitCode !== null) throw new Error(said);
    await setTimeout(10);
  }
}

export async function startBare(body: string): Promise<Process> {
  const child = start('./bare.js', { BENCH_BODY: body }, true);
  const [{ port }] = (await once(child, 'message')) as [AddressInfo];
  return asProcess(child, `http://127.0.0.1:${port}`);
}

/** Seconds of processor time that processes have used so far. */
export function cpuSeconds(pids: number[]): number {
  const seconds = (pid: number) => {
    const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / 100;
  };
  return pids.reduce((sum, pid) => sum + seconds(pid), 0);
}

/** The processes of PostgreSQL that work for a service. */
export async function backendsOf({ superuser }: Place, { pid }: Process): Promise<number[]> {
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
  if (!response.ok) throw new Error(`${method} ${url} answered ${text}`);
  return { text, headers: response.headers, data: JSON.parse(text).data };
}

/** A tenant of its own, and the token of its administrator. */
export async function makeTenant(base: string): Promise<{ tenantId: string; token: string }> {
  const root = await logIn(base, '000000', 'admin');
  const made = await call(base, 'POST', '/system/tenant-api', root, { username: 'boss', password: PASSWORD });
  const { data } = await call(base, 'GET', made.headers.get('location') as string, root);
  return { tenantId: data.tenantId, token: await logIn(base, data.tenantId, 'boss') };
}

export async function logIn(base: string, tenantId: string, username: string): Promise<string> {
  const { data } = await call(base, 'POST', '/auth/login', '', { tenantId, username, password: PASSWORD });
  return data.access_token;
}
