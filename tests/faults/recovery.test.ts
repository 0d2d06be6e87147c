import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { isAlive } from '../../db/embedded.ts';
import {
  assertStopped,
  connectTo,
  killPostgres,
  postgresOf,
  processesIn,
  type Run,
  startUnhurried,
  usedFolder,
} from '../support/process.ts';
import { scale } from '../support/scale.ts';
import { waitFor } from '../support/wait.ts';

/** The folder's next start works, has what was acknowledged, and stops cleanly. */
async function assertRecovers(dataDir: string, acknowledged: string[] = []): Promise<void> {
  const run = startUnhurried(dataDir);
  const admin = await run.admin();
  for (const id of acknowledged) assert.equal((await admin.get(`/system/dept-api/${id}`)).code, 200, id);
  await admin.createDepartment();
  assert.equal(await run.stop(), 0, run.stderr);
  await assertStopped(dataDir);
}

/** Writes until the service dies, and tells what it had acknowledged. */
async function writeUntilKilled(run: Run, kill: () => unknown): Promise<string[]> {
  const admin = await run.admin();
  const acknowledged: string[] = [];
  const writer = async () => {
    for (;;) acknowledged.push(await admin.createDepartment());
  };
  const writers = Promise.allSettled([writer(), writer(), writer()]);
  await waitFor('enough was written', () => acknowledged.length > 20);
  kill();
  await writers;
  return acknowledged;
}

test('the service is killed: the next start finds PostgreSQL running, and every acknowledged write; it stops although PostgreSQL is gone', async () => {
  const dataDir = await usedFolder();
  const run = startUnhurried(dataDir);
  const acknowledged = await writeUntilKilled(run, () => run.child.kill('SIGKILL'));
  assert.equal(await run.ended, 'SIGKILL');
  const { pid } = postgresOf(dataDir);

  const next = startUnhurried(dataDir);
  const admin = await next.admin();
  assert.equal(postgresOf(dataDir).pid, pid);
  for (const id of acknowledged) assert.equal((await admin.get(`/system/dept-api/${id}`)).code, 200, id);

  // Stopped in its place, PostgreSQL cannot come back in between.
  process.kill(Number(next.child.pid), 'SIGSTOP');
  next.child.kill('SIGTERM');
  await killPostgres(dataDir);
  process.kill(Number(next.child.pid), 'SIGCONT');
  assert.equal(await next.ended, 0, next.stderr);
  assert.deepEqual(processesIn(dataDir), []);
  await assertRecovers(dataDir, acknowledged);
});

test('service and PostgreSQL are killed, all of it: the next start has every acknowledged write', async () => {
  const dataDir = await usedFolder();
  const run = startUnhurried(dataDir);
  const { socketDir } = await run.ready().then(() => postgresOf(dataDir));
  const acknowledged = await writeUntilKilled(run, () => {
    // A process of PostgreSQL may have ended by itself meanwhile.
    for (const pid of [Number(run.child.pid), ...processesIn(dataDir)]) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  });
  await killPostgres(dataDir);
  await assertRecovers(dataDir, acknowledged);
  assert.equal(fs.existsSync(socketDir), false);
});

test('PostgreSQL alone is killed, in the middle of work, and one of its processes: the service brings it back, goes on and keeps a second one off', async () => {
  const dataDir = await usedFolder();
  const run = startUnhurried(dataDir);
  const admin = await run.admin();
  const acknowledged: string[] = [];
  let done = false;
  const writer = async () => {
    while (!done) {
      const { code, headers, text } = await admin.post('/system/dept-api', {});
      if (code === 200) acknowledged.push(String(headers.location));
      else assert.equal(code, 503, text);
    }
  };
  const writers = Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(writer));
  for (let kills = 0; kills < scale(1, 10); kills++) {
    const before = acknowledged.length;
    await waitFor('more was written', () => dead(run) || acknowledged.length > before + 20);
    const { pid } = postgresOf(dataDir);
    process.kill(pid, 'SIGKILL');
    await waitFor('another is there', () => dead(run) || ![pid, undefined].includes(serverOf(dataDir)));
  }
  const before = acknowledged.length;
  await waitFor('it works again', () => dead(run) || acknowledged.length > before + 20);
  done = true;
  await writers;
  for (const location of acknowledged) assert.equal((await admin.get(location)).code, 200, location);

  run.stderr = '';
  const database = connectTo(dataDir);
  const [{ victim }] = await database<[{ victim: number }]>`select pg_backend_pid() as victim`;
  process.kill(victim, 'SIGKILL');
  await run.said('PostgreSQL went away');
  await database.end({ timeout: 1 });
  await waitFor('it answers again', async () => (await admin.get('/system/dept-api/list')).code === 200);
  await expectStartError(dataDir);
  await admin.createDepartment();
  assert.equal(await run.stop(), 0, run.stderr);
  await assertStopped(dataDir);
});

const dead = (run: Run) => run.child.exitCode !== null;

/** Its number, once it is ready. */
function serverOf(dataDir: string): number | undefined {
  let lines: string[] = [];
  try {
    lines = fs.readFileSync(path.join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n');
  } catch {
    // Not there at this moment.
  }
  return lines[7]?.trim() === 'ready' ? Number(lines[0]) : undefined;
}

/** Once the folder is held: after PostgreSQL has gone and come the service may answer a moment earlier than that. */
async function expectStartError(dataDir: string): Promise<void> {
  const database = connectTo(dataDir);
  await waitFor('the folder is held', async () => {
    const [row] = await database`select from pg_locks where locktype = 'advisory' and granted`;
    return row;
  });
  await database.end({ timeout: 1 });
  const second = startUnhurried(dataDir);
  assert.equal(await second.ended, 1);
  assert.ok(second.stderr.includes(`is using the data folder ${dataDir}.`), second.stderr);
}
