import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertStopped, startUnhurried, usedFolder } from '../support/process.ts';
import { chance, firstSeed, report, scale } from '../support/scale.ts';
import { Writer } from './writer.ts';

test('killed under writes, again and again: nothing acknowledged is lost, and each next start just works', async (t) => {
  const kills = scale(2, 100);
  const { below } = chance(firstSeed);
  const dataDir = await usedFolder();
  let run = startUnhurried(dataDir);
  const writer = new Writer(await run.admin());
  for (let kill = 0; kill < kills; kill++) {
    writer.start();
    await writer.acknowledges(20 + below(20)); // any moment will do
    assert.equal(await run.kill('SIGKILL'), 'SIGKILL', run.stderr);
    await writer.stop();
    run = startUnhurried(dataDir);
    writer.moveTo((await run.ready()).base);
    // The check reads everything, so that one in ten kills is enough.
    if (kill % 10 === 9) await writer.check();
  }
  report(t, { kills, ...(await writer.check()), seed: firstSeed });
  assert.equal(await run.stop(), 0, run.stderr);
  await assertStopped(dataDir);
});
