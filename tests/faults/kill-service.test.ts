import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertStopped, serveInProcess, startWithoutDeadlines, usedDataFolder } from '../support/process.ts';
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
    if (kill === kills - 1) break;
    run = startWithoutDeadlines(dataDir);
    writer.moveTo((await run.ready()).base);
    // The check reads everything, so it runs only after every tenth kill.
    if (kill % 10 === 9) await writer.check();
  }
  // The last start is in this process, because starting another one takes long.
  const service = await serveInProcess({ BANYAN_DATA_DIR: dataDir });
  writer.moveTo(service.base);
  report(t, { kills, ...(await writer.check()), seed: firstSeed });
  await service.stop();
  await assertStopped(dataDir);
});
