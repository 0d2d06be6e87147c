import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { environmentOf, isLinux, skipPrivileges, userOf, withDescendants } from '../operations/process-users.ts';
import {
  assertStopped,
  postgresOf,
  serveInProcess,
  startWithoutDeadlines,
  usedDataFolder,
} from '../support/process.ts';
import { firstSeed, report, scale, seededRandom } from '../support/scale.ts';
import { PASSWORD } from '../support/service.ts';
import { Writer } from './writer.ts';

/** A service process with its PostgreSQL: the user that it runs as, what its environment shows, and what a kill loses. */

const dataDir = await usedDataFolder();
let run = startWithoutDeadlines(dataDir, { BANYAN_ADMIN_USERNAME: 'first' });
const admin = await run.admin();

test('no process has the password of the first administrator in its environment', { skip: !isLinux }, () => {
  const { pid } = postgresOf(dataDir);
  for (const each of [...withDescendants(Number(run.child.pid)), ...withDescendants(pid)]) {
    assert.ok(!environmentOf(each).includes(PASSWORD), `process ${each} of ${run.child.pid}, PostgreSQL ${pid}`);
  }
  // The other settings are still in the environment.
  assert.match(environmentOf(Number(run.child.pid)), /BANYAN_ADMIN_USERNAME=first\0/);
});

test('a service that was started as root runs as the user of PostgreSQL', {
  skip: skipPrivileges,
}, async () => {
  const owner = fs.statSync(path.join(dataDir, 'postgres')).uid;
  assert.notEqual(owner, 0);
  assert.equal(userOf(Number(run.child.pid)), owner);
  assert.match(run.stderr, new RegExp(`Continuing as user ${owner}, without root's privileges`));
});

// This test comes last, because it kills the service of the others.
test('no acknowledged write is lost when the service is repeatedly killed under load, and every subsequent start succeeds', async (t) => {
  const kills = scale(1, 50);
  const { below } = seededRandom(firstSeed);
  const writer = new Writer(admin);
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
  // The last start is in this process, because starting another one is slow.
  const service = await serveInProcess({ BANYAN_DATA_DIR: dataDir });
  writer.moveTo(service.base);
  report(t, { kills, ...(await writer.check()), seed: firstSeed });
  await service.stop();
  await assertStopped(dataDir);
});
