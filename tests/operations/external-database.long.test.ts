// Only with test:long: it starts six services; logs.test.ts starts one on an external database, and external-database.test.ts covers the errors in-process.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { LOCKS } from '../../db/driver.ts';
import { connectWithoutDeadline } from '../support/database.ts';
import { newDataFolder, start, startOnDatabase } from '../support/process.ts';
import { createEmptyDatabase } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

test('with DATABASE_URL the service starts on that database and leaves it running', async () => {
  const { databaseUrl } = await createEmptyDatabase();
  const dataDir = newDataFolder();
  const first = start(dataDir, { DATABASE_URL: databaseUrl, BANYAN_ADMIN_PASSWORD: '' });
  const password = (await first.ready()) && first.printed('Password');
  const id = await (await first.admin(password)).createDepartment();
  assert.equal(await first.stop(), 0);
  assert.doesNotMatch(first.stderr, /Starting PostgreSQL|^ +Data /m);
  assert.equal(fs.existsSync(dataDir), false);

  // Several services may share the database.
  const runs = [1, 2].map(() => startOnDatabase(databaseUrl));
  for (const run of runs) {
    const admin = await run.admin(password);
    assert.equal((await admin.get(`/system/dept-api/${id}`)).code, 200);
    assert.equal(run.printed('Password'), '');
  }
  for (const run of runs) assert.equal(await run.stop(), 0);
});

test('a start with an unusable DATABASE_URL ends with a message without the password and without a stack trace', async () => {
  for (const [address, expected] of [
    ['postgres://me:hush-hush@127.0.0.1:1/banyan', /ECONNREFUSED.*Check that it is running, and check host, port/],
    ['postgres://me:hush-hush#1@host/banyan', /DATABASE_URL: must look like .*percent-encoded \(# as %23\)/],
  ] as const) {
    const run = start(newDataFolder(), { DATABASE_URL: address });
    assert.equal(await run.ended, 1);
    assert.match(run.stderr, expected);
    assert.match(run.stderr, /^Banyan did not start\. [\s\S]*DATABASE_URL/m);
    assert.doesNotMatch(run.stderr, /hush-hush|\n +at /);
  }
});

test('a service that waits for another node to prepare the tables stops on SIGTERM', async () => {
  const { databaseUrl } = await createEmptyDatabase();
  const other = connectWithoutDeadline({ url: databaseUrl });
  await other`select pg_advisory_lock(${LOCKS.migrate})`;
  const run = startOnDatabase(databaseUrl);
  await waitFor('the service waits for the lock', async () => {
    const [row] = await other`
      select from pg_locks l join pg_database d on d.oid = l.database
      where d.datname = current_database() and l.locktype = 'advisory' and not l.granted`;
    return row;
  });
  assert.equal(await run.stop(), 0, run.stderr);
  await other.end();
});
