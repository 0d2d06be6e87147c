import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectWithoutDeadline, createDatabase } from '../support/database.ts';
import { serveInProcess } from '../support/process.ts';
import type { Client } from '../support/service.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';
import { connect } from './raw-connection.ts';

/** How a service stops. */

const { databaseUrl, superuserUrl } = await createDatabase();

test('when a service stops, the request in flight is answered, and idle connections are closed', async () => {
  const service = await serveInProcess({ DATABASE_URL: databaseUrl });
  const admin = await service.admin();
  // Browsers open connections in advance, and a client may never finish its request.
  const unused = [await connect(admin.base), await connect(admin.base)];
  unused[1]?.write('GET /health/live HT');
  const superuser = connectWithoutDeadline({ url: superuserUrl });
  let response: ReturnType<Client['post']> | undefined;
  let stopped = false;
  let stopping: Promise<void> | undefined;
  await superuser.begin(async (tx) => {
    await tx`lock table banyan.departments`;
    response = admin.post('/system/dept-api', { deptName: 'last' });
    await waitFor('the request waits for the table', async () => (await countLockWaits(tx)) === 1);
    stopping = service.stop().then(() => {
      stopped = true;
    });
    await waitFor('the unused connections are closed', () => unused.every((socket) => socket.destroyed));
    await assert.rejects(connect(admin.base));
    assert.equal(stopped, false);
  });
  assert.equal((await response)?.code, 200);
  await stopping;
  await superuser.end();
});

test('a service that stops waits only until its deadline for a request that never completes', async () => {
  const service = await serveInProcess({ DATABASE_URL: databaseUrl }, { shutdownMs: 100 });
  const admin = await service.admin();
  const superuser = connectWithoutDeadline({ url: superuserUrl });
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
