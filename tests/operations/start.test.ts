import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { openDatabase } from '../../db/connect.ts';
import { StartupError } from '../../db/startup-error.ts';
import { readConfig } from '../../server/config.ts';
import { createFirstAdministratorOnce } from '../../server/process/first-start.ts';
import { CHEAP_HASH, NO_DEADLINES } from '../support/database.ts';
import { firstRun, logIn, newDataFolder, serveInProcess } from '../support/process.ts';
import { createEmptyDatabase, PASSWORD } from '../support/service.ts';

test('the first start prints its steps, its address and the administrator, and logs JSON', async () => {
  const { dataDir, stdout, stderr } = await firstRun();
  for (const step of ['Creating a database', 'Starting PostgreSQL', 'Preparing tables'])
    assert.match(stderr, new RegExp(`^  ${step}.* …$`, 'm'));
  for (const [name, value] of [
    ['Tenant', '000000'],
    ['User', 'admin'],
    ['Ready at', 'http://localhost:\\d+'],
    ['Data', dataDir],
  ])
    assert.match(stderr, new RegExp(`^ +${name} +${value}$`, 'm'));
  assert.match(stderr, /Try it:\n +curl .*health\/ready\n/);
  assert.ok(stderr.endsWith('Stopped.\n'));
  const log = stdout.trimEnd().split('\n');
  for (const line of log) assert.equal(typeof JSON.parse(line).msg, 'string');
  assert.ok(log.length >= 1);
});

test('a password from the environment is not printed', async () => {
  const { stdout, stderr } = await firstRun();
  assert.match(stderr, /^ +User +admin$/m);
  assert.match(stderr, /Password +as set in BANYAN_ADMIN_PASSWORD/);
  assert.equal((stderr + stdout).includes(PASSWORD), false);
});

test('the first administrator gets a random password, with which they can log in', async () => {
  const { databaseUrl } = await createEmptyDatabase();
  const config = readConfig({ DATABASE_URL: databaseUrl });
  const db = await openDatabase({ ...config, timing: NO_DEADLINES });
  const first = await createFirstAdministratorOnce(db, config, CHEAP_HASH);
  assert.equal(await createFirstAdministratorOnce(db, config, CHEAP_HASH), undefined);
  await db.close();
  const password = String(first?.generatedPassword);
  assert.ok(password.length >= 12);
  const { base } = await serveInProcess({ DATABASE_URL: databaseUrl });
  await logIn(base, password);
});

test('a data folder that is a file is rejected with a message that names it', async () => {
  const dataDir = newDataFolder();
  fs.writeFileSync(dataDir, '');
  await assert.rejects(openDatabase({ dataDir, timeZone: 'UTC' }), (error: Error) => {
    assert.ok(error instanceof StartupError, String(error));
    assert.ok(error.message.startsWith(`The data directory ${dataDir} can't be used`), error.message);
    assert.match(error.message, /BANYAN_DATA_DIR/);
    return true;
  });
});
