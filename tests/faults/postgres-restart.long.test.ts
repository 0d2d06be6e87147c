// Only with test:long: it stops PostgreSQL again and again, and recovery.test.ts covers one loss of PostgreSQL under load.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertStopped, postgresOf, startWithoutDeadlines, usedDataFolder } from '../support/process.ts';
import { firstSeed, report, seededRandom } from '../support/scale.ts';
import { waitFor } from '../support/wait.ts';
import { Writer } from './writer.ts';

test('no acknowledged write is lost when PostgreSQL is repeatedly stopped under load and restarted by the service', async (t) => {
  const stops = 50;
  const { below } = seededRandom(firstSeed);
  const dataDir = await usedDataFolder();
  const run = startWithoutDeadlines(dataDir);
  const writer = new Writer(await run.admin());
  writer.start(16);
  for (let stop = 0; stop < stops; stop++) {
    await writer.waitForAcknowledged(30 + below(30)); // any moment will do
    const { pid } = postgresOf(dataDir);
    process.kill(pid, 'SIGQUIT'); // what `pg_ctl stop -m immediate` sends
    await waitFor('a new PostgreSQL is running', () => {
      assert.equal(run.child.exitCode, null, run.stderr);
      try {
        return postgresOf(dataDir).pid !== pid;
      } catch {
        return false; // there is no lock file at this moment
      }
    });
    await writer.waitForAcknowledged(1);
  }
  const figures = await writer.check();
  report(t, { stops, ...figures, ...writer.tally.counts, seed: firstSeed });
  assert.equal(run.child.exitCode, null, run.stderr);
  assert.equal(await run.stop(), 0, run.stderr);
  await assertStopped(dataDir);
});
