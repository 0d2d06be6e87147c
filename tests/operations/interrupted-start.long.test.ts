// Only with test:long: it kills starting services and starts new ones, again and again; interrupted-start.test.ts creates the files that a killed one leaves.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { startEmbedded } from '../../db/embedded/cluster.ts';
import {
  assertStopped,
  killPostgres,
  newDataFolder,
  postgresOf,
  processesIn,
  project,
  start,
  startWithoutDeadlines,
  usedDataFolder,
} from '../support/process.ts';
import { firstSeed, seededRandom } from '../support/scale.ts';
import { waitFor } from '../support/wait.ts';

test('a running PostgreSQL whose socket was removed is restarted, unless another service is connected to it', async () => {
  const dataDir = await usedDataFolder();
  const run = startWithoutDeadlines(dataDir);
  const id = await (await run.admin()).createDepartment();
  const { pid, socketDir } = postgresOf(dataDir);
  await run.kill('SIGKILL');
  fs.rmSync(socketDir, { recursive: true });

  const next = startWithoutDeadlines(dataDir);
  const admin = await next.admin();
  assert.notEqual(postgresOf(dataDir).pid, pid);
  assert.equal((await admin.get(`/system/dept-api/${id}`)).code, 200);

  // The same while a service is connected: PostgreSQL keeps running.
  fs.rmSync(postgresOf(dataDir).socketDir, { recursive: true });
  const second = startWithoutDeadlines(dataDir);
  assert.equal(await second.ended, 1);
  assert.match(second.stderr, /another Banyan is using it, but its socket in .* is gone\. Stop that Banyan/);
  // The service works with its open connections. While all are in use it cannot open another and responds with 503.
  await waitFor('writes succeed', async () => (await admin.post('/system/dept-api', {})).code === 200);
  assert.equal(await next.stop(), 0, next.stderr);
  await assertStopped(dataDir);
});

/** Kills a first start while initdb runs. Tries again if initdb was faster. Returns the data folder. */
const killDuringInitdb = () =>
  waitFor('a start is killed while initdb runs', async () => {
    const dataDir = newDataFolder();
    const run = start(dataDir);
    const finished = path.join(dataDir, 'postgres');
    const unfinished = path.join(dataDir, `postgres.new-${run.child.pid}/cluster/base`);
    await waitFor('initdb runs', () => fs.existsSync(unfinished) || fs.existsSync(finished));
    await run.kill('SIGKILL');
    return fs.existsSync(finished) ? undefined : dataDir;
  });

test('the unfinished files of a killed first start are removed', async () => {
  const dataDir = await killDuringInitdb();

  // In a container the next process may have the same pid as the killed one.
  fs.mkdirSync(path.join(dataDir, `postgres.new-${process.pid}/cluster`), { recursive: true });
  const server = await startEmbedded(dataDir, () => {});
  assert.equal(server.adopted, false);
  await server.stop();
  await waitFor('initdb has exited', () => processesIn(dataDir).length === 0);
  assert.deepEqual(fs.readdirSync(dataDir).sort(), ['postgres', 'postgres-password']);
});

test('a service that was repeatedly killed at any step of its start starts in the end', async () => {
  const dataDir = newDataFolder();
  const migrations = fs.readdirSync(path.join(project, 'db/schema')).filter((name) => /^\d{4}_/.test(name));
  const steps = ['Banyan', 'Creating a database', 'Starting PostgreSQL', ...migrations];
  const { pick } = seededRandom(firstSeed);
  /** The steps at which the first two rounds kill the service. Later rounds pick any step. */
  const firstSteps = ['Starting PostgreSQL', pick(migrations)];
  for (let round = 0; round < 15; round++) {
    const run = start(dataDir);
    // A step that an earlier start has completed is not printed again.
    await run.waitForOutput(new RegExp(`${firstSteps[round] ?? pick(steps)}|Try it:`));
    await run.kill('SIGKILL');
    if (round % 2) await killPostgres(dataDir);
  }
  const run = start(dataDir);
  await (await run.admin()).createDepartment();
  assert.equal(await run.stop(), 0, run.stderr);
  await assertStopped(dataDir);
  assert.deepEqual(fs.readdirSync(dataDir).sort(), ['postgres', 'postgres-password']);
});
