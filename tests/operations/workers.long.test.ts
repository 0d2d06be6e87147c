// Only with test:long: each test starts a service with two workers; workers.test.ts replaces a worker and stops them, and config-environment.test.ts covers a start that fails.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type net from 'node:net';
import { test } from 'node:test';
import { isAlive } from '../../db/embedded/processes.ts';
import { createDatabase } from '../support/database.ts';
import { startOnDatabase } from '../support/process.ts';
import { waitFor } from '../support/wait.ts';
import { callOverNewConnections, TWO_WORKERS, waitForAnswers } from './worker-requests.ts';

const { databaseUrl } = await createDatabase();

test('a killed worker is replaced while the other keeps running', async () => {
  const run = startOnDatabase(databaseUrl, TWO_WORKERS);
  const call = callOverNewConnections(await run.admin());
  const before = await waitForAnswers(run, call, 2);
  const [victim] = before;
  process.kill(Number(victim), 'SIGKILL');
  await run.waitForOutput('Worker exited (SIGKILL), starting another one');
  const after = await waitForAnswers(run, call, 2);
  assert.deepEqual(
    after.filter((pid) => before.includes(pid)),
    [before[1]],
  );
});

test('the workers exit when their parent process is killed', async () => {
  const run = startOnDatabase(databaseUrl, TWO_WORKERS);
  const workers = await waitForAnswers(run, callOverNewConnections(await run.admin()), 2);
  await run.kill('SIGKILL');
  await waitFor('the workers have exited', () => !workers.some(isAlive));
});

test('a start on a taken port fails with a message that names the port, and leaves nothing running', async () => {
  const server = http.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  const run = startOnDatabase(databaseUrl, { ...TWO_WORKERS, PORT: String(port) });
  assert.equal(await run.ended, 1);
  assert.ok(run.stderr.includes(`Banyan did not start. Port ${port} is in use`), run.stderr);
  // No process of its group is left.
  assert.throws(() => process.kill(-Number(run.child.pid), 0), { code: 'ESRCH' });
  server.close();
});
