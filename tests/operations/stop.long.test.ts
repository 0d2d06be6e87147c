// Only with test:long: it starts five services, four of them with a first start; process.test.ts stops one while it serves, and external-database.test.ts aborts one that is starting.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { connectWithoutDeadline, createDatabase } from '../support/database.ts';
import { assertStopped, newDataFolder, start, startOnDatabase } from '../support/process.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';

test('a request that never completes does not prevent the service from stopping on SIGHUP', async (t) => {
  const { databaseUrl, superuserUrl } = await createDatabase();
  const run = startOnDatabase(databaseUrl, {}, { timing: { shutdownMs: 100 } });
  const admin = await run.admin();
  const superuser = connectWithoutDeadline({ url: superuserUrl });
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
