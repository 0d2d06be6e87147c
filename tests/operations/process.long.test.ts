// Only with test:long: starting a process with its PostgreSQL takes three seconds of CPU time; process.test.ts stops a service that serves, workers.test.ts stops processes with SIGTERM, and start.test.ts stops PostgreSQL.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { assertStopped, connectTo, postgresOf, startWithoutDeadlines, usedDataFolder } from '../support/process.ts';
import type { Client } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import { connect } from './raw-connection.ts';

const dataDir = await usedDataFolder();
const run = startWithoutDeadlines(dataDir);
const admin = await run.admin();

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
    // A second signal must change nothing: a terminal signals the whole group, and npm passes the signal on as well.
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
