// Only with test:long: five starts take ten seconds of CPU time, and kill-service.test.ts and recovery.test.ts cover a crash of the service and of PostgreSQL.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { isAlive } from '../../db/embedded/processes.ts';
import {
  assertStopped,
  killPostgres,
  postgresOf,
  processesIn,
  type Run,
  startWithoutDeadlines,
  usedDataFolder,
} from '../support/process.ts';
import { waitFor } from '../support/wait.ts';

/** Asserts that the next start on the folder succeeds, has all acknowledged departments, and stops cleanly. */
async function assertRecovers(dataDir: string, acknowledged: string[] = []): Promise<void> {
  const run = startWithoutDeadlines(dataDir);
  const admin = await run.admin();
  for (const id of acknowledged) assert.equal((await admin.get(`/system/dept-api/${id}`)).code, 200, id);
  await admin.createDepartment();
  assert.equal(await run.stop(), 0, run.stderr);
  await assertStopped(dataDir);
}

/** Writes until the service is killed. Returns the ids of the acknowledged departments. */
async function writeUntilKilled(run: Run, kill: () => unknown): Promise<string[]> {
  const admin = await run.admin();
  const acknowledged: string[] = [];
  const writer = async () => {
    for (;;) acknowledged.push(await admin.createDepartment());
  };
  const writers = Promise.allSettled([writer(), writer(), writer()]);
  await waitFor('more than 20 departments were created', () => acknowledged.length > 20);
  kill();
  await writers;
  return acknowledged;
}

test('after the service is killed the next start uses the running PostgreSQL and has every acknowledged write; a service whose PostgreSQL is killed stops cleanly', async () => {
  const dataDir = await usedDataFolder();
  const run = startWithoutDeadlines(dataDir);
  const acknowledged = await writeUntilKilled(run, () => run.child.kill('SIGKILL'));
  assert.equal(await run.ended, 'SIGKILL');
  const { pid } = postgresOf(dataDir);

  const next = startWithoutDeadlines(dataDir);
  const admin = await next.admin();
  assert.equal(postgresOf(dataDir).pid, pid);
  for (const id of acknowledged) assert.equal((await admin.get(`/system/dept-api/${id}`)).code, 200, id);

  // Suspend the service, so that it cannot restart PostgreSQL before it handles SIGTERM.
  process.kill(Number(next.child.pid), 'SIGSTOP');
  next.child.kill('SIGTERM');
  await killPostgres(dataDir);
  process.kill(Number(next.child.pid), 'SIGCONT');
  assert.equal(await next.ended, 0, next.stderr);
  assert.deepEqual(processesIn(dataDir), []);
  await assertRecovers(dataDir, acknowledged);
});

test('after the service and PostgreSQL are killed the next start has every acknowledged write', async () => {
  const dataDir = await usedDataFolder();
  const run = startWithoutDeadlines(dataDir);
  const { socketDir } = await run.ready().then(() => postgresOf(dataDir));
  const acknowledged = await writeUntilKilled(run, () => {
    // A process of PostgreSQL may have exited by itself meanwhile.
    for (const pid of [Number(run.child.pid), ...processesIn(dataDir)]) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  });
  await killPostgres(dataDir);
  await assertRecovers(dataDir, acknowledged);
  assert.equal(fs.existsSync(socketDir), false);
});
