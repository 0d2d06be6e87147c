import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { connectOwner } from '../../db/driver.ts';
import { createDatabase } from '../support/database.ts';
import {
  assertStopped,
  connectTo,
  postgresOf,
  serveInProcess,
  startWithoutDeadlines,
  usedDataFolder,
} from '../support/process.ts';
import { type Client, PASSWORD } from '../support/service.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';
import { environmentOf, isLinux, keepsRoot, userOf, withDescendants } from './process-users.ts';

/** One service with its PostgreSQL: the user that it runs as, what its environment shows, and how it stops. */

const dataDir = await usedDataFolder();
const run = startWithoutDeadlines(dataDir, { BANYAN_ADMIN_USERNAME: 'first' });
const admin = await run.admin();

test('the password of the first administrator is in no environment', { skip: !isLinux }, () => {
  const { pid } = postgresOf(dataDir);
  for (const each of [...withDescendants(Number(run.child.pid)), ...withDescendants(pid)]) {
    assert.ok(!environmentOf(each).includes(PASSWORD), `process ${each} of ${run.child.pid}, PostgreSQL ${pid}`);
  }
  // Only its value was removed.
  assert.match(environmentOf(Number(run.child.pid)), /BANYAN_ADMIN_USERNAME=first\0/);
});

test('a service that was started as root runs as the user of PostgreSQL', {
  skip: keepsRoot,
}, async () => {
  const owner = fs.statSync(path.join(dataDir, 'postgres')).uid;
  assert.notEqual(owner, 0);
  assert.equal(userOf(Number(run.child.pid)), owner);
  assert.match(run.stderr, new RegExp(`Continuing as user ${owner}, without root's privileges`));
});

test('on SIGTERM the request in flight is answered, idle connections are closed, and PostgreSQL is stopped', async () => {
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

test('a service does not wait for a request that never completes when it stops', async () => {
  const { databaseUrl, superuserUrl } = await createDatabase();
  const service = await serveInProcess({ DATABASE_URL: databaseUrl }, { shutdownMs: 100 });
  const admin = await service.admin();
  const superuser = connectOwner({ url: superuserUrl });
  await superuser.begin(async (tx) => {
    await tx`lock table banyan.departments`;
    const response = admin.post('/system/dept-api', {}).catch(() => undefined);
    await waitFor('the request waits for the table', async () => (await countLockWaits(tx)) === 1);
    // The table stays locked until the service has stopped.
    await service.stop();
    assert.notEqual((await response)?.code, 200);
  });
  await superuser.end();
});

async function connect(base: string): Promise<net.Socket> {
  const { hostname, port } = new URL(base);
  const socket = net.connect(Number(port), hostname);
  await once(socket, 'connect');
  return socket.on('error', () => {}).resume();
}
