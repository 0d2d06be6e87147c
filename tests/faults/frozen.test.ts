import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '../../db/connect.ts';
import { isAlive } from '../../db/embedded.ts';
import { readConfig } from '../../server/config.ts';
import { NO_DEADLINES } from '../support/database.ts';
import { assertStopped, logIn, processesIn, usedFolder } from '../support/process.ts';
import { report, scale } from '../support/scale.ts';
import { PASSWORD } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import { startNode } from './node.ts';
import { Writer } from './writer.ts';

test('a frozen database: requests are told in time to come again, and nothing is lost once it goes on', async (t) => {
  const dataDir = await usedFolder();
  const database = await openDatabase({ ...readConfig({}), dataDir, timing: NO_DEADLINES });
  // Requests to the first wait as long as it takes. The others exceed their deadline while the database is frozen.
  const patient = await startNode(database.service);
  const hurried = await startNode(database.service, { timing: { responseMs: 300 } });
  const admin = await logIn(patient.base, PASSWORD);
  const caller = hurried.as(admin);
  const signal = (name: NodeJS.Signals) => {
    // A process of PostgreSQL may have ended by itself meanwhile.
    for (const pid of processesIn(dataDir)) if (isAlive(pid)) process.kill(pid, name);
  };
  const writer = new Writer(admin);
  const freezes = scale(1, 5);
  for (let freeze = 0; freeze < freezes; freeze++) {
    const refusals = () => writer.tally.get('TOO_BUSY');
    const wanted = refusals() + 16;
    const { acknowledged } = writer;
    let listed: Promise<unknown> | undefined;
    writer.moveTo(hurried.base);
    signal('SIGSTOP');
    try {
      writer.start(16);
      listed = admin.get('/system/dept-api/list').then(({ code }) => assert.equal(code, 200));
      const others = [
        caller.get('/health/ready'),
        caller.get('/system/dept-api/list'),
        caller.put('/system/dept-api', { deptId: 1, deptName: 'x' }),
        caller.post('/auth/login', { tenantId: '000000', username: 'admin', password: PASSWORD }),
      ];
      assert.equal((await caller.get('/health/live')).code, 200);
      let answered = 0;
      for (const answer of others) void answer.then(() => answered++);
      await waitFor('all others are answered', () => answered === others.length);
      for (const { status, text } of await Promise.all(others)) assert.equal(status, 503, text);
      await waitFor('all writes were told to come again', () => refusals() >= wanted);
      assert.equal(writer.acknowledged, acknowledged);
    } finally {
      signal('SIGCONT');
    }
    // They come again, to a node that has no deadline.
    writer.moveTo(patient.base);
    await writer.acknowledges(30);
    await writer.stop();
    await listed;
    await waitFor('the other node serves again', async () => (await caller.get('/health/ready')).code === 200);
  }
  report(t, { freezes, ...(await writer.check()), ...writer.tally.counts });
  await Promise.all([patient.close(), hurried.close()]);
  await database.close();
  await assertStopped(dataDir);
});
