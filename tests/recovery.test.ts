import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import {
  assertStopped,
  connectTo,
  killPostgres,
  postgresOf,
  processesIn,
  type Run,
  start,
  until,
  usedFolder,
} from './process.ts';

/** The folder's next start works, has what was acknowledged, and stops cleanly. */
async function assertRecovers(dataDir: string, acknowledged: string[] = []): Promise<void> {
  const run = start(dataDir);
  const admin = await run.admin();
  for (const id of acknowledged) assert.equal((await admin.get(`/system/dept-api/${id}`)).code, 200, id);
  await admin.dept();
  assert.equal(await run.stop(), 0, run.stderr);
  await assertStopped(dataDir);
}

/** Writes until the service dies, and tells what it had acknowledged. */
async function writeUntilKilled(run: Run, kill: () => unknown): Promise<string[]> {
  const admin = await run.admin();
  const acknowledged: string[] = [];
  const writer = async () => {
    for (;;) acknowledged.push(await admin.dept());
  };
  const writers = Promise.allSettled([writer(), writer(), writer()]);
  await until('enough was written', () => acknowledged.length > 20);
  kill();
  await writers;
  return acknowledged;
}

test('the service is killed: the next start finds PostgreSQL running, and every acknowledged write', async () => {
  const dataDir = await usedFolder();
  const run = start(dataDir);
  const acknowledged = await writeUntilKilled(run, () => run.child.kill('SIGKILL'));
  assert.equal(await run.ended, 'SIGKILL');
  const { pid } = postgresOf(dataDir);

  const next = start(dataDir);
  const admin = await next.admin();
  assert.equal(postgresOf(dataDir).pid, pid);
  for (const id of acknowledged) assert.equal((await admin.get(`/system/dept-api/${id}`)).code, 200, id);
  assert.equal(await next.stop(), 0);
  await assertStopped(dataDir);
});

test('service and PostgreSQL are killed, all of it: the next start has every acknowledged write', async () => {
  const dataDir = await usedFolder();
  const run = start(dataDir);
  const { socketDir } = await run.ready().then(() => postgresOf(dataDir));
  const acknowledged = await writeUntilKilled(run, () => {
    for (const pid of [Number(run.child.pid), ...processesIn(dataDir)]) process.kill(pid, 'SIGKILL');
  });
  await killPostgres(dataDir);
  await assertRecovers(dataDir, acknowledged);
  assert.equal(fs.existsSync(socketDir), false);
});

test('PostgreSQL alone is killed: the service brings it back and goes on', async () => {
  const dataDir = await usedFolder();
  const run = start(dataDir);
  const admin = await run.admin();
  const id = await admin.dept();
  const { pid } = postgresOf(dataDir);
  process.kill(pid, 'SIGKILL');
  await until('it answers again', async () => (await admin.get(`/system/dept-api/${id}`)).code === 200);
  assert.notEqual(postgresOf(dataDir).pid, pid);
  await admin.dept();
  await assertRefused(dataDir);
  assert.equal(await run.stop(), 0, run.stderr);
  await assertStopped(dataDir);
});

test('a process of PostgreSQL crashes: the service goes on, and still keeps a second one off', async () => {
  const dataDir = await usedFolder();
  const run = start(dataDir);
  const admin = await run.admin();
  const database = connectTo(dataDir);
  const [{ victim }] = await database<[{ victim: number }]>`select pg_backend_pid() as victim`;
  process.kill(victim, 'SIGKILL');
  await run.said('PostgreSQL went away');
  await until('it answers again', async () => (await admin.get('/system/dept-api/list')).code === 200);
  await until('the folder is held again', async () => {
    const [row] = await database`select from pg_locks where locktype = 'advisory' and granted`.catch(() => []);
    return row;
  });
  await database.end({ timeout: 1 });
  await assertRefused(dataDir);
  await admin.dept();
  assert.equal(await run.stop(), 0, run.stderr);
  await assertStopped(dataDir);
});

test('PostgreSQL is gone when the service is stopped: it stops all the same', async () => {
  const dataDir = await usedFolder();
  const run = start(dataDir);
  await run.ready();
  // Stopped in its place, PostgreSQL cannot come back in between.
  process.kill(Number(run.child.pid), 'SIGSTOP');
  run.child.kill('SIGTERM');
  await killPostgres(dataDir);
  process.kill(Number(run.child.pid), 'SIGCONT');
  assert.equal(await run.ended, 0, run.stderr);
  assert.deepEqual(processesIn(dataDir), []);
  await assertRecovers(dataDir);
});

async function assertRefused(dataDir: string): Promise<void> {
  const second = start(dataDir);
  assert.equal(await second.ended, 1);
  assert.ok(second.stderr.includes(`is using the data folder ${dataDir}.`), second.stderr);
}
