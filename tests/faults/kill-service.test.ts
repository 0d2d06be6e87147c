import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertStopped, startWithoutDeadlines, usedDataFolder } from '../support/process.ts';
import { firstSeed, report, scale, seededRandom } from '../support/scale.ts';
import { Writer } from './writer.ts';

test('no acknowledged write is lost when the service is repeatedly killed under load, and each next start succeeds', async (t) => {
  const kills = scale(1, 100);
  const { below } = seededRandom(firstSeed);
  const dataDir = await usedDataFolder();
  let run = startWithoutDeadlines(dataDir);
  const writer = new Writer(await run.admin());
  for (let kill = 0; kill < kills; kill++) {
    writer.start();
    await writer.waitForAcknowledged(20 + below(20)); // any moment will do
    assert.equal(await run.kill('SIGKILL'), 'SIGKILL', run.stderr);
    await writer.stop();
    run = startWithoutDeadlines(dataDir);
    writer.moveTo((await run.ready()).base);
    // The check reads everything, so it runs only after every tenth kill.
    if (kill % 10 === 9) await writer.check();
  }
  report(t, { kills, ...(await writer.check()), seed: firstSeed });
  assert.equal(await run.stop(), 0, run.stderr);
  await assertStopped(dataDir);
});
