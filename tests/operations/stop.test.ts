import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import { test } from 'node:test';
import { connectOwner } from '../../db/sql.ts';
import { createDatabase } from '../support/database.ts';
import {
  assertStopped,
  connectTo,
  newFolder,
  postgresOf,
  start,
  startServed,
  startUnhurried,
  usedFolder,
} from '../support/process.ts';
import type { Client } from '../support/service.ts';
import { countWaiting, waitFor } from '../support/wait.ts';

test('SIGTERM: the request under way is answered, who asked nothing is sent away, and PostgreSQL is stopped', async () => {
  const dataDir = await usedFolder();
  const run = startUnhurried(dataDir);
  const admin = await run.admin();
  const { socketDir } = postgresOf(dataDir);
  // Browsers open connections in advance; somebody's request may never be finished.
  const unused = [await connect(admin.base), await connect(admin.base)];
  unused[1]?.write('GET /health/live HT');

  // The table is locked, so that a request is under way for as long as we want.
  const database = connectTo(dataDir);
  let answer: ReturnType<Client['post']> | undefined;
  await database.begin(async (tx) => {
    await tx`lock table banyan.departments`;
    answer = admin.post('/system/dept-api', { deptName: 'last' });
    await waitFor('the request waits', async () => {
      const [lock] = await tx`select from pg_locks where not granted`;
      return lock;
    });
    run.child.kill('SIGTERM');
    // npm passes the signal on, and the terminal sends it to the whole group.
    run.child.kill('SIGTERM');
    await run.said('SIGTERM: finishing open requests');
    await waitFor('the unused connections are closed', () => unused.every((socket) => socket.destroyed));
    await assert.rejects(connect(admin.base));
    assert.equal(run.child.exitCode, null);
  });
  assert.equal((await answer)?.code, 200);
  assert.equal(await run.ended, 0);
  await database.end({ timeout: 1 });
  assert.ok(run.stderr.endsWith('Stopped.\n'));
  await assertStopped(dataDir);
  assert.equal(fs.existsSync(socketDir), false);
});

test('a request that is not answered does not keep the service from stopping when the terminal is closed', async (t) => {
  const { databaseUrl, superuserUrl } = await createDatabase();
  const run = startServed(databaseUrl, {}, { timing: { lastAnswersMs: 100 } });
  const admin = await run.admin();
  const superuser = connectOwner({ url: superuserUrl });
  t.after(() => superuser.end());
  await superuser.begin(async (tx) => {
    await tx`lock table banyan.departments`;
    const answer = admin.post('/system/dept-api', {}).catch(() => undefined);
    await waitFor('the request waits', async () => (await countWaiting(tx)) === 1);
    void run.kill('SIGHUP');
    // The table is locked until the service has stopped.
    await waitFor('the service stops', () => run.child.exitCode !== null);
    assert.equal(await run.ended, 0, run.stderr);
    assert.notEqual((await answer)?.code, 200);
  });
});

test('SIGTERM at each step of a first start: it stops, leaves nothing running, and the next start goes on until Ctrl-C', async () => {
  const dataDir = newFolder();
  for (const step of ['Making a database', 'Starting PostgreSQL', 'Preparing tables']) {
    const run = start(dataDir);
    await run.said(step);
    assert.equal(await run.stop(), 0, run.stderr);
    assert.ok(run.stderr.endsWith('Stopped.\n'), run.stderr);
    assert.doesNotMatch(run.stderr, /did not start/);
    await assertStopped(dataDir);
    const left = fs.readdirSync(dataDir).filter((name) => !['postgres', 'postgres-password'].includes(name));
    assert.deepEqual(left, []);
  }
  const next = start(dataDir);
  await next.admin();
  assert.equal(await next.kill('SIGINT'), 0);
  await assertStopped(dataDir);
});

async function connect(base: string): Promise<net.Socket> {
  const { hostname, port } = new URL(base);
  const socket = net.connect(Number(port), hostname);
  await once(socket, 'connect');
  return socket.on('error', () => {}).resume();
}
