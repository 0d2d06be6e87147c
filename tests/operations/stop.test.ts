import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import { test } from 'node:test';
import { connectOwner } from '../../db/driver.ts';
import { createDatabase } from '../support/database.ts';
import {
  assertStopped,
  connectTo,
  newDataFolder,
  postgresOf,
  start,
  startOnDatabase,
  startWithoutDeadlines,
  usedDataFolder,
} from '../support/process.ts';
import type { Client } from '../support/service.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';

test('on SIGTERM the request in flight is answered, idle connections are closed, and PostgreSQL is stopped', async () => {
  const dataDir = await usedDataFolder();
  const run = startWithoutDeadlines(dataDir);
  const admin = await run.admin();
  const { socketDir } = postgresOf(dataDir);
  // Browsers open connections in advance, and a client may never finish its request.
  const unused = [await connect(admin.base), await connect(admin.base)];
  unused[1]?.write('GET /health/live HT');

  // Lock the table, to keep a request in flight for as long as the test needs.
  const database = connectTo(dataDir);
  let response: ReturnType<Client['post']> | undefined;
  await database.begin(async (tx) => {
    await tx`lock table banyan.departments`;
    response = admin.post('/system/dept-api', { deptName: 'last' });
    await waitFor('the request waits for the table', async () => {
      const [lock] = await tx`select from pg_locks where not granted`;
      return lock;
    });
    run.child.kill('SIGTERM');
    // npm passes the signal on, and the terminal sends it to the whole group.
    run.child.kill('SIGTERM');
    await run.waitForOutput('SIGTERM: finishing requests in flight');
    await waitFor('the unused connections are closed', () => unused.every((socket) => socket.destroyed));
    await assert.rejects(connect(admin.base));
    assert.equal(run.child.exitCode, null);
  });
  assert.equal((await response)?.code, 200);
  assert.equal(await run.ended, 0);
  await database.end({ timeout: 1 });
  assert.ok(run.stderr.endsWith('Stopped.\n'));
  await assertStopped(dataDir);
  assert.equal(fs.existsSync(socketDir), false);
});

test('a request that never completes does not prevent the service from stopping on SIGHUP', async (t) => {
  const { databaseUrl, superuserUrl } = await createDatabase();
  const run = startOnDatabase(databaseUrl, {}, { timing: { shutdownMs: 100 } });
  const admin = await run.admin();
  const superuser = connectOwner({ url: superuserUrl });
  t.after(() => superuser.end());
  await superuser.begin(async (tx) => {
    await tx`lock table banyan.departments`;
    const response = admin.post('/system/dept-api', {}).catch(() => undefined);
    await waitFor('the request waits for the table', async () => (await countLockWaits(tx)) === 1);
    void run.kill('SIGHUP');
    // The table stays locked until the service has stopped.
    await waitFor('the service stops', () => run.child.exitCode !== null);
    assert.equal(await run.ended, 0, run.stderr);
    assert.notEqual((await response)?.code, 200);
  });
});

test('on SIGTERM at any step of a first start the service stops and leaves nothing running, and the next start completes', async () => {
  const dataDir = newDataFolder();
  for (const step of ['Creating a database', 'Starting PostgreSQL', 'Preparing tables']) {
    const run = start(dataDir);
    // A step that an earlier start has completed is not printed again.
    await run.waitForOutput(new RegExp(`${step}|Try it:`));
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
