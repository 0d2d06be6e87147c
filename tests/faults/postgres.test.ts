import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { assertStopped, postgresOf, start, until, usedFolder } from '../process.ts';
import { chance, firstSeed, report, scale } from '../scale.ts';
import { Writer } from './writer.ts';

const BACK_WITHIN_MS = 10_000;

test('PostgreSQL stopped at once under load, again and again: 503 meanwhile, soon back, nothing lost', async (t) => {
  const stops = scale(2, 50);
  const { below } = chance(firstSeed);
  const dataDir = await usedFolder();
  const run = start(dataDir);
  const writer = new Writer(await run.admin());
  writer.start(16);
  let slowestBackMs = 0;
  for (let stop = 0; stop < stops; stop++) {
    await writer.acknowledges(50);
    await setTimeout(below(100)); // any moment will do
    const { pid } = postgresOf(dataDir);
    const stopped = performance.now();
    process.kill(pid, 'SIGQUIT'); // what `pg_ctl stop -m immediate` sends
    await until('another PostgreSQL runs', () => {
      try {
        return postgresOf(dataDir).pid !== pid;
      } catch {
        return false; // no lock file in this moment
      }
    });
    await writer.acknowledges(1);
    const backMs = Math.round(performance.now() - stopped);
    assert.ok(backMs < BACK_WITHIN_MS, `back after ${backMs} ms`);
    slowestBackMs = Math.max(slowestBackMs, backMs);
  }
  const figures = await writer.check();
  report(t, { stops, ...figures, ...writer.tally.counts, slowestBackMs, seed: firstSeed });
  assert.equal(run.child.exitCode, null, run.stderr);
  assert.equal(await run.stop(), 0, run.stderr);
  await assertStopped(dataDir);
});
