import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { assertStopped, start, usedFolder } from '../process.ts';
import { report, scale, Tally } from '../scale.ts';

test('SIGTERM under load: every request that was accepted is answered, and it is gone within 10 seconds', async (t) => {
  const stops = scale(2, 20);
  const dataDir = await usedFolder();
  const tally = new Tally();
  /** What got no answer, and so must not have been accepted. */
  const unanswered: string[] = [];
  let slowestStopMs = 0;
  let token: string | undefined;
  for (let stop = 0; stop < stops; stop++) {
    const run = start(dataDir);
    const client = token ? Object.assign(await run.ready(), { token }) : await run.admin();
    token = client.token;
    let done = 0;
    const worker = async () => {
      for (;;) {
        const deptName = randomUUID();
        const answer = await client.post('/system/dept-api', { deptName }).catch((error) => {
          // The one way to get no answer: not to be let in.
          assert.equal(error.code, 'ECONNREFUSED');
          tally.add(error.code);
          unanswered.push(deptName);
          return undefined;
        });
        if (!answer) return;
        assert.equal(answer.code, 200, answer.text);
        tally.add('done');
        done++;
      }
    };
    const load = Promise.all(Array.from({ length: 16 }, worker));
    while (done < 30) await setTimeout(5);
    const asked = performance.now();
    assert.equal(await run.stop(), 0, run.stderr);
    slowestStopMs = Math.max(slowestStopMs, Math.round(performance.now() - asked));
    await load;
    await assertStopped(dataDir);
  }
  assert.ok(slowestStopMs < 10_000, `gone after ${slowestStopMs} ms`);
  assert.equal(tally.get('ECONNREFUSED'), stops * 16);

  const run = start(dataDir);
  const client = Object.assign(await run.ready(), { token });
  const { data } = await client.get('/system/dept-api/list?pageSize=1');
  assert.equal(data.total, tally.get('done'), 'all that is there was acknowledged');
  for (const deptName of unanswered) {
    const found = await client.get(`/system/dept-api/list?deptName=${deptName}`);
    assert.equal(found.data.total, 0, 'what got no answer was not begun');
  }
  report(t, { stops, ...tally.counts, slowestStopMs });
  assert.equal(await run.stop(), 0, run.stderr);
});
