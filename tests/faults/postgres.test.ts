import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertStopped, postgresOf, startUnhurried, usedFolder } from '../support/process.ts';
import { chance, firstSeed, report, scale } from '../support/scale.ts';
import { waitFor } from '../support/wait.ts';
import { Writer } from './writer.ts';

test('PostgreSQL is stopped at once under load, again and again: 503 meanwhile, then it is back, and nothing is lost', async (t) => {
  const stops = scale(1, 50);
  const { below } = chance(firstSeed);
  const dataDir = await usedFolder();
  const run = startUnhurried(dataDir);
  const writer = new Writer(await run.admin());
  writer.start(16);
  for (let stop = 0; stop < stops; stop++) {
    await writer.acknowledges(30 + below(30)); // any moment will do
    const { pid } = postgresOf(dataDir);
    process.kill(pid, 'SIGQUIT'); // what `pg_ctl stop -m immediate` sends
    await waitFor('another PostgreSQL runs', () => {
      assert.equal(run.child.exitCode, null, run.stderr);
      try {
        return postgresOf(dataDir).pid !== pid;
      } catch {
        return false; // no lock file in this moment
      }
    });
    await writer.acknowledges(1);
  }
  const figures = await writer.check();
  report(t, { stops, ...figures, ...writer.tally.counts, seed: firstSeed });
  assert.equal(run.child.exitCode, null, run.stderr);
  assert.equal(await run.stop(), 0, run.stderr);
  await assertStopped(dataDir);
});
