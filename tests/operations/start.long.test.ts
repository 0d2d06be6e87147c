// Only with test:long: each test starts up to three services; start.test.ts covers a first start, and config-environment.test.ts a start that fails.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { assertStopped, logIn, newDataFolder, start, usedDataFolder } from '../support/process.ts';
import { createEmptyDatabase } from '../support/service.ts';

test('the first start prints its address, the administrator and a working example call', async () => {
  const dataDir = newDataFolder();
  const first = start(dataDir, { BANYAN_ADMIN_PASSWORD: '' });
  const { base } = await first.ready();
  for (const step of ['Creating a database', 'Starting PostgreSQL', 'Preparing tables']) {
    assert.match(first.stderr, new RegExp(`^  ${step}.* …$`, 'm'));
  }
  assert.equal(first.printed('User'), 'admin');
  assert.equal(first.printed('Tenant'), '000000');
  assert.equal(first.printed('Data'), dataDir);
  const password = first.printed('Password');
  assert.ok(password.length >= 12);

  const call = /Try it:\n +(curl .*)/.exec(first.stderr)?.[1] ?? '';
  const { stdout } = spawnSync('sh', ['-c', call], { encoding: 'utf8' });
  const { code, data } = JSON.parse(stdout);
  assert.deepEqual([code, data.token_type], [200, 'Bearer']);

  const admin = await logIn(base, password);
  const id = await admin.createDepartment({ deptName: '总部' });
  assert.equal(await first.stop(), 0);

  // Messages for people go to standard error and JSON to standard output, without secrets.
  assert.ok(first.stderr.endsWith('Stopped.\n'));
  const log = first.stdout.trimEnd().split('\n');
  for (const line of log) assert.equal(typeof JSON.parse(line).msg, 'string');
  assert.ok(log.length >= 4);
  assert.equal(first.stdout.includes(password), false);

  const second = start(dataDir, { BANYAN_ADMIN_PASSWORD: '' });
  const again = await logIn((await second.ready()).base, password);
  assert.equal((await again.get(`/system/dept-api/${id}`)).data.deptName, '总部');
  assert.deepEqual([second.printed('User'), second.printed('Password')], ['', '']);
  assert.equal(second.stderr.includes(password), false);
  assert.match(second.stderr, /Try it:\n +curl .*health\/ready\n/);
  assert.equal(await second.stop(), 0);
});

test('a .env file is read, and the environment overrides it', async () => {
  const dataDir = await usedDataFolder();
  const lines = ['BANYAN_DATA_DIR=./data', 'BANYAN_LOG_LEVEL=silent', 'HOST=256.0.0.1'];
  fs.writeFileSync(path.join(path.dirname(dataDir), '.env'), lines.join('\n'));
  const run = start(dataDir, { HOST: '127.0.0.1' });
  await run.ready();
  assert.equal(run.printed('Data'), dataDir);
  assert.equal(await run.stop(), 0);
  assert.equal(run.stdout, '');
});

test('a start on a taken port fails with a message that names the port, and a first start still prints the password', async () => {
  const { databaseUrl } = await createEmptyDatabase();
  const environment = { DATABASE_URL: databaseUrl, BANYAN_ADMIN_PASSWORD: '' };
  const other = net.createServer().listen(0, '127.0.0.1').unref();
  await once(other, 'listening');
  const port = String((other.address() as net.AddressInfo).port);
  const run = start(newDataFolder(), { ...environment, PORT: port });
  assert.equal(await run.ended, 1);
  other.close();
  assert.match(run.stderr, new RegExp(`Banyan did not start\\. Port ${port} is in use: `));
  assert.doesNotMatch(run.stderr, /\n +at /);

  const next = start(newDataFolder(), environment);
  await next.admin(run.printed('Password'));
  assert.equal(await next.stop(), 0);
});

for (const workers of ['1', '2']) {
  test(`a start on a taken port stops PostgreSQL, and the next start works at once, with ${workers} workers`, async () => {
    const dataDir = await usedDataFolder();
    const other = net.createServer().listen(0, '127.0.0.1').unref();
    await once(other, 'listening');
    const PORT = String((other.address() as net.AddressInfo).port);
    const run = start(dataDir, { PORT, BANYAN_WORKERS: workers });
    assert.equal(await run.ended, 1);
    assert.match(run.stderr, new RegExp(`Banyan did not start\\. Port ${PORT} is in use: `));
    await assertStopped(dataDir);
    other.close();

    const next = start(dataDir, { BANYAN_WORKERS: workers });
    await next.admin();
    assert.equal(await next.stop(), 0, next.stderr);
    await assertStopped(dataDir);
  });
}

test('a start with a HOST of another machine fails with a message and stops PostgreSQL', async () => {
  const dataDir = await usedDataFolder();
  const run = start(dataDir, { HOST: '192.0.2.1' });
  assert.equal(await run.ended, 1);
  assert.match(run.stderr, /Banyan did not start\. HOST .*192\.0\.2\.1/);
  await assertStopped(dataDir);
});

test('a start with invalid settings names each of them and creates nothing', async () => {
  const dataDir = newDataFolder();
  const invalid = {
    PORT: '80800',
    DATABASE_URL: 'mysql://me:secretive@host/db',
    BANYAN_ADMIN_PASSWORD: 'short',
    BANYAN_TIME_ZONE: 'Mars/Base',
    BANYAN_ERROR_STATUS: 'maybe',
    BANYAN_ACCESS_TOKEN_SECONDS: '-1',
    BANYAN_LOG_LEVEL: 'loud',
  };
  const run = start(dataDir, invalid);
  assert.equal(await run.ended, 1);
  for (const name of Object.keys(invalid)) assert.match(run.stderr, new RegExp(`^  ${name}\\b.*: must `, 'm'));
  assert.doesNotMatch(run.stderr, /secretive|short|\n +at /);
  assert.equal(fs.existsSync(dataDir), false);
});

test('a start with an unwritable data folder fails with a message that names it', async () => {
  const parent = path.dirname(newDataFolder());
  const file = path.join(parent, 'file');
  fs.writeFileSync(file, '');
  fs.chmodSync(parent, 0o500);
  // Permissions do not restrict root; only paths that cannot be folders fail.
  const folders =
    process.getuid?.() === 0 ? [path.join(file, 'data'), file] : [path.join(file, 'data'), file, `${parent}/data`];
  for (const dataDir of folders) {
    const run = start(dataDir);
    assert.equal(await run.ended, 1);
    assert.ok(run.stderr.includes(`Banyan did not start. The data directory ${dataDir} can't be used`), run.stderr);
    assert.match(run.stderr, /BANYAN_DATA_DIR/);
    assert.doesNotMatch(run.stderr, /\n +at /);
  }
  fs.chmodSync(parent, 0o700);
});
