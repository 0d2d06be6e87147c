import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { assertStopped, start, usedFolder } from '../process.ts';
import { chance, firstSeed, report, scale } from '../scale.ts';
import { Writer } from './writer.ts';

test('killed under writes, again and again: nothing acknowledged is lost, and each next start just works', async (t) => {
  const kills = scale(3, 100);
  const { below } = chance(firstSeed);
  const dataDir = await usedFolder();
  let run = start(dataDir);
  const writer = new Writer(await run.admin());
  let slowestStartMs = 0;
  for (let kill = 0; kill < kills; kill++) {
    writer.start();
    await writer.acknowledges(20);
    await setTimeout(below(100)); // any moment will do
    assert.equal(await run.kill('SIGKILL'), 'SIGKILL', run.stderr);
    await writer.stop();
    const killed = performance.now();
    run = start(dataDir);
    writer.moveTo((await run.ready()).base);
    slowestStartMs = Math.max(slowestStartMs, Math.round(performance.now() - killed));
    // Every so often is enough: the check reads all there is.
    if (kill % 10 === 0) await writer.check();
  }
  report(t, { kills, ...(await writer.check()), slowestStartMs, seed: firstSeed });
  assert.equal(await run.stop(), 0, run.stderr);
  await assertStopped(dataDir);
});
