import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '../../db/connect.ts';
import { isAlive } from '../../db/embedded/processes.ts';
import { readConfig } from '../../server/config.ts';
import { NO_DEADLINES } from '../support/database.ts';
import { assertStopped, logIn, processesIn, usedDataFolder } from '../support/process.ts';
import { report, scale } from '../support/scale.ts';
import { PASSWORD } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import { startNode } from './node.ts';
import { Writer } from './writer.ts';

test('requests fail with 503 when they exceed their deadline while PostgreSQL is frozen, and no acknowledged write is lost', async (t) => {
  const dataDir = await usedDataFolder();
  const database = await openDatabase({ ...readConfig({}), dataDir, timing: NO_DEADLINES });
  // While PostgreSQL is frozen, requests to the second node exceed their deadline and requests to the first node wait.
  const nodeWithoutDeadline = await startNode(database.service);
  const nodeWithDeadline = await startNode(database.service, { timing: { responseMs: 300 } });
  const admin = await logIn(nodeWithoutDeadline.base, PASSWORD);
  const caller = nodeWithDeadline.as(admin);
  const signal = (name: NodeJS.Signals) => {
    // A process of PostgreSQL may have exited by itself meanwhile.
    for (const pid of processesIn(dataDir)) if (isAlive(pid)) process.kill(pid, name);
  };
  const writer = new Writer(admin);
  const freezes = scale(1, 5);
  for (let freeze = 0; freeze < freezes; freeze++) {
    const rejected = () => writer.tally.get('TOO_BUSY');
    const expected = rejected() + 16;
    const { acknowledged } = writer;
    let list: Promise<unknown> | undefined;
    writer.moveTo(nodeWithDeadline.base);
    signal('SIGSTOP');
    try {
      writer.start(16);
      list = admin.get('/system/dept-api/list').then(({ code }) => assert.equal(code, 200));
      const others = [
        caller.get('/health/ready'),
        caller.get('/system/dept-api/list'),
        caller.put('/system/dept-api', { deptId: 1, deptName: 'x' }),
        caller.post('/auth/login', { tenantId: '000000', username: 'admin', password: PASSWORD }),
      ];
      assert.equal((await caller.get('/health/live')).code, 200);
      let settled = 0;
      for (const response of others) void response.then(() => settled++);
      await waitFor('all other requests have a response', () => settled === others.length);
      for (const { status, text } of await Promise.all(others)) assert.equal(status, 503, text);
      await waitFor('all writes were rejected', () => rejected() >= expected);
      assert.equal(writer.acknowledged, acknowledged);
    } finally {
      signal('SIGCONT');
    }
    // The writers retry on the node that has no deadlines.
    writer.moveTo(nodeWithoutDeadline.base);
    await writer.waitForAcknowledged(30);
    await writer.stop();
    await list;
    await waitFor(
      'the node with a deadline is ready again',
      async () => (await caller.get('/health/ready')).code === 200,
    );
  }
  report(t, { freezes, ...(await writer.check()), ...writer.tally.counts });
  await Promise.all([nodeWithoutDeadline.close(), nodeWithDeadline.close()]);
  await database.close();
  await assertStopped(dataDir);
});
