// Only with test:long: it starts processes as another user; start.test.ts covers a first start, and privileges.long.test.ts the choice of a user.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { assertStopped, launch, newDataFolder, serviceProcess, usedDataFolder } from '../support/process.ts';
import { PASSWORD } from '../support/service.ts';
import { skipPrivileges, userOf } from './process-users.ts';

/** A user without an entry in /etc/passwd, as in a container that runs with an arbitrary user id. */

const users = fs.readFileSync('/etc/passwd', 'utf8').split('\n');
const isFree = (uid: number) => users.every((line) => line.split(':')[2] !== String(uid));
const uid = [54_321, 54_322, 54_323].find(isFree) as number;

/** Starts the service as that user, who owns everything in the folder of the data. */
function startNameless(dataDir: string) {
  const folder = path.dirname(dataDir);
  const { status, stderr } = spawnSync('chown', ['-R', `${uid}:${uid}`, folder], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  const env = { BANYAN_DATA_DIR: dataDir, BANYAN_ADMIN_PASSWORD: PASSWORD, TMPDIR: folder };
  return launch([serviceProcess], { cwd: folder, env, uid });
}

test('a user without a name cannot create a database, and the error says what to do', {
  skip: skipPrivileges,
}, async () => {
  const dataDir = newDataFolder(os.tmpdir());
  const run = startNameless(dataDir);
  assert.equal(await run.ended, 1);
  assert.match(run.stderr, new RegExp(`Banyan did not start\\. .* but user ${uid} has none\\.`));
  assert.match(run.stderr, new RegExp(`/etc/passwd, such as "banyan:x:${uid}:${uid}:.*DATABASE_URL`));
  assert.doesNotMatch(run.stderr, /initdb: error|\n +at /);
  assert.deepEqual(fs.readdirSync(dataDir), ['postgres-password']);
});

test('a user without a name runs the service on an existing database', { skip: skipPrivileges }, async () => {
  const dataDir = await usedDataFolder(newDataFolder(os.tmpdir()));
  const run = startNameless(dataDir);
  const admin = await run.admin();
  await admin.createDepartment();
  assert.equal(userOf(Number(run.child.pid)), uid);
  assert.equal(await run.stop(), 0, run.stderr);
  await assertStopped(dataDir);
});
