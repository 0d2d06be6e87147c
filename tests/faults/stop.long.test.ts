// Only with test:long: it stops the service again and again, and operations/workers.test.ts covers a stop under load.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { after } from '../support/cleanup.ts';
import { connectWithoutDeadline, createDatabase } from '../support/database.ts';
import { startOnDatabase } from '../support/process.ts';
import { report, Tally } from '../support/scale.ts';
import { waitFor } from '../support/wait.ts';

test('on SIGTERM under load the service answers every accepted request and stops', async (t) => {
  const stops = 10;
  const { databaseUrl, superuserUrl } = await createDatabase();
  const superuser = connectWithoutDeadline({ url: superuserUrl });
  after(() => superuser.end());
  const tally = new Tally();
  /** Departments whose requests got no response, and so must not have been executed. */
  const unanswered: string[] = [];
  for (let stop = 0; stop < stops; stop++) {
    // The workers below never pause, but a busy machine may delay one for longer than the default of half a second.
    const run = startOnDatabase(databaseUrl, {}, { timing: { shutdownIdleMs: 600_000 } });
    const client = await run.admin();
    let done = 0;
    const worker = async () => {
      for (;;) {
        const deptName = randomUUID();
        const response = await client.post('/system/dept-api', { deptName }).catch((error) => {
          // A request gets no response only when its connection is refused.
          assert.equal(error.code, 'ECONNREFUSED');
          tally.add(error.code);
          unanswered.push(deptName);
          return undefined;
        });
        if (!response) return;
        assert.equal(response.code, 200, response.text);
        tally.add('done');
        done++;
      }
    };
    const load = Promise.all(Array.from({ length: 16 }, worker));
    await waitFor('30 requests are answered', () => done >= 30);
    assert.equal(await run.stop(), 0, run.stderr);
    await load;
  }
  assert.equal(tally.get('ECONNREFUSED'), stops * 16);

  const rows = await superuser<{ name: string }[]>`select dept_name as name from banyan.departments`;
  assert.equal(rows.length, tally.get('done'), 'every department was acknowledged');
  const names = new Set(rows.map(({ name }) => name));
  assert.deepEqual(
    unanswered.filter((name) => names.has(name)),
    [],
    'no request without a response was executed',
  );
  report(t, { stops, ...tally.counts });
});
