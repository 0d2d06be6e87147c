import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { startEmbedded } from '../../db/embedded.ts';
import {
  assertStopped,
  connectTo,
  killPostgres,
  newFolder,
  postgresOf,
  processesIn,
  project,
  start,
  startUnhurried,
  usedFolder,
} from '../support/process.ts';
import { chance, firstSeed, scale } from '../support/scale.ts';
import { waitFor } from '../support/wait.ts';

test('a lock file that names another process is no obstacle, and that process is left alone', async () => {
  const [dataDir, other] = [await usedFolder(), await usedFolder()];
  const neighbour = await startEmbedded(other, () => {});
  const lockFile = path.join(dataDir, 'postgres/postmaster.pid');
  const write = (pid: number | '') => {
    const lines = [pid, path.dirname(lockFile), 1700000000, 5432, '/tmp/banyan-gone00', '', '  1234   1', 'ready   '];
    fs.writeFileSync(lockFile, pid ? `${lines.join('\n')}\n` : '');
    fs.utimesSync(lockFile, 1700000000, 1700000000);
  };
  // The machine went down; its numbers are given to others now: to us, to another PostgreSQL. Or nothing was written yet.
  for (const pid of [process.pid, postgresOf(other).pid, ''] as const) {
    write(pid);
    const server = await startEmbedded(dataDir, () => {});
    assert.notEqual(postgresOf(dataDir).pid, pid);
    await server.stop();
  }
  const database = connectTo(other);
  assert.equal((await database`select from banyan.tenants`).length, 1);
  await database.end();
  await neighbour.stop();
});

test('the socket is gone from the temp folder: the server nobody can reach is stopped, and started anew', async () => {
  const dataDir = await usedFolder();
  const run = startUnhurried(dataDir);
  const id = await (await run.admin()).createDepartment();
  const { pid, socketDir } = postgresOf(dataDir);
  await run.kill('SIGKILL');
  fs.rmSync(socketDir, { recursive: true });

  const next = startUnhurried(dataDir);
  const admin = await next.admin();
  assert.notEqual(postgresOf(dataDir).pid, pid);
  assert.equal((await admin.get(`/system/dept-api/${id}`)).code, 200);

  // The same, while a service is connected: that one is not cut off.
  fs.rmSync(postgresOf(dataDir).socketDir, { recursive: true });
  const second = startUnhurried(dataDir);
  assert.equal(await second.ended, 1);
  assert.match(second.stderr, /another Banyan is using it, but its socket in .* is gone\. Stop that Banyan/);
  // Over the connections that it has: while all of them are in use nobody can open one more, and is told to come again.
  await waitFor('it goes on', async () => (await admin.post('/system/dept-api', {})).code === 200);
  assert.equal(await next.stop(), 0, next.stderr);
  await assertStopped(dataDir);
});

/** A first start that is killed while initdb works: where initdb was faster, another one. */
const killedInInitdb = () =>
  waitFor('a start is killed while initdb works', async () => {
    const dataDir = newFolder();
    const run = start(dataDir);
    const made = path.join(dataDir, 'postgres');
    const making = path.join(dataDir, `postgres.new-${run.child.pid}/cluster/base`);
    await waitFor('initdb works', () => fs.existsSync(making) || fs.existsSync(made));
    await run.kill('SIGKILL');
    return fs.existsSync(made) ? undefined : dataDir;
  });

test('what a first start that was killed had not finished is cleared away', async () => {
  const dataDir = await killedInInitdb();

  // In a container the next process may well have the number of the one before.
  fs.mkdirSync(path.join(dataDir, `postgres.new-${process.pid}/cluster`), { recursive: true });
  const server = await startEmbedded(dataDir, () => {});
  assert.equal(server.adopted, false);
  await server.stop();
  await waitFor('initdb is gone', () => processesIn(dataDir).length === 0);
  assert.deepEqual(fs.readdirSync(dataDir).sort(), ['postgres', 'postgres-password']);
});

test('killed at any moment of its start, again and again, it starts in the end', async () => {
  const dataDir = newFolder();
  const migrations = fs.readdirSync(path.join(project, 'db/migrations'));
  const moments = ['Banyan', 'Making a database', 'Starting PostgreSQL', ...migrations];
  const { pick } = chance(firstSeed);
  const rounds = ['Starting PostgreSQL', pick(migrations)];
  for (let round = 0; round < scale(2, 30); round++) {
    const run = start(dataDir);
    // Steps that an earlier start has completed are not said again.
    await run.said(new RegExp(`${rounds[round] ?? pick(moments)}|Try it:`));
    await run.kill('SIGKILL');
    if (round % 2) await killPostgres(dataDir);
  }
  const run = start(dataDir);
  await (await run.admin()).createDepartment();
  assert.equal(await run.stop(), 0, run.stderr);
  await assertStopped(dataDir);
  assert.deepEqual(fs.readdirSync(dataDir).sort(), ['postgres', 'postgres-password']);
});
