import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { connectOwner } from '../../db/sql.ts';
import { createDatabase } from '../support/database.ts';
import { startServed } from '../support/process.ts';
import { report, scale, Tally } from '../support/scale.ts';
import { waitFor } from '../support/wait.ts';

test('SIGTERM under load: every request that was accepted is answered, and the service stops', async (t) => {
  const stops = scale(1, 20);
  const { databaseUrl, superuserUrl } = await createDatabase();
  const superuser = connectOwner({ url: superuserUrl });
  after(() => superuser.end());
  const tally = new Tally();
  /** Departments whose requests got no answer, and so must not have been accepted. */
  const unanswered: string[] = [];
  for (let stop = 0; stop < stops; stop++) {
    // The callers below never pause. One that this machine holds up for half a second is not sent away.
    const run = startServed(databaseUrl, {}, { timing: { lastRequestsMs: 600_000 } });
    const client = await run.admin();
    let done = 0;
    const worker = async () => {
      for (;;) {
        const deptName = randomUUID();
        const answer = await client.post('/system/dept-api', { deptName }).catch((error) => {
          // A request gets no answer only when its connection is refused.
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
    await waitFor('requests are answered', () => done >= 30);
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
    'a request without an answer was not begun',
  );
  report(t, { stops, ...tally.counts });
});
