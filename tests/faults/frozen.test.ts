import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAlive } from '../../db/embedded.ts';
import { PASSWORD } from '../harness.ts';
import { assertStopped, processesIn, start, until, usedFolder } from '../process.ts';
import { report, scale } from '../scale.ts';
import { DEADLINE_MS, SLACK_MS, Writer } from './writer.ts';

test('a database that freezes: 503 within the deadline, and once it thaws all goes on, without a loss', {
  timeout: 180_000,
}, async (t) => {
  const freezes = scale(1, 5);
  const dataDir = await usedFolder();
  const run = start(dataDir);
  const writer = new Writer(await run.admin());
  const signal = (name: NodeJS.Signals) => {
    // A process of PostgreSQL may have ended by itself meanwhile.
    for (const pid of processesIn(dataDir)) if (isAlive(pid)) process.kill(pid, name);
  };
  let [slowestMs, slowestBackMs] = [0, 0];
  for (let freeze = 0; freeze < freezes; freeze++) {
    writer.start(16);
    await writer.acknowledges(20);
    const refusals = () => writer.tally.get('TOO_BUSY') + writer.tally.get('DATABASE_AWAY');
    const wanted = refusals() + 16;
    signal('SIGSTOP');
    try {
      const asked = performance.now();
      const others = [
        writer.client.get('/health/ready'),
        writer.client.get('/system/dept-api/list'),
        writer.client.put('/system/dept-api', { deptId: 1, deptName: 'x' }),
        writer.client.post('/auth/login', { tenantId: '000000', username: 'admin', password: PASSWORD }),
      ];
      assert.equal((await writer.client.get('/health/live')).code, 200);
      for (const answer of await Promise.all(others)) assert.equal(answer.status, 503, answer.text);
      await until('all were told to come again', () => refusals() >= wanted);
      slowestMs = Math.max(slowestMs, Math.round(performance.now() - asked));
      assert.ok(slowestMs < DEADLINE_MS + SLACK_MS, `answered after ${slowestMs} ms`);
    } finally {
      signal('SIGCONT');
    }
    const thawed = performance.now();
    await writer.acknowledges(1);
    slowestBackMs = Math.max(slowestBackMs, Math.round(performance.now() - thawed));
    assert.ok(slowestBackMs < 10_000, `back after ${slowestBackMs} ms`);
    await writer.acknowledges(20);
    await writer.stop();
  }
  report(t, { freezes, ...(await writer.check()), ...writer.tally.counts, slowestBackMs });
  assert.equal(await run.stop(), 0, run.stderr);
  await assertStopped(dataDir);
});
