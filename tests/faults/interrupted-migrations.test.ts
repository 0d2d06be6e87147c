import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { openDatabase } from '../../db/connect.ts';
import { readConfig } from '../../server/config.ts';
import { createFirstAdministratorOnce } from '../../server/process/first-start.ts';
import { after } from '../support/cleanup.ts';
import { CHEAP_HASH, connectWithoutDeadline, NO_DEADLINES } from '../support/database.ts';
import { project, startOnDatabase } from '../support/process.ts';
import { isLong, report } from '../support/scale.ts';
import { createEmptyDatabase, PASSWORD, startService } from '../support/service.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';

test('the next start completes a migration that was interrupted before its commit', async (t) => {
  const { databaseUrl, superuserUrl } = await createEmptyDatabase();
  const superuser = connectWithoutDeadline({ url: superuserUrl });
  const owner = connectWithoutDeadline({ url: databaseUrl });
  after(() => Promise.all([superuser.end(), owner.end()]));
  const optionsWith = (lines: string[]) => ({
    databaseUrl,
    dataDir: '',
    timeZone: 'UTC',
    timing: NO_DEADLINES,
    progress: (line: string) => void lines.push(line),
  });
  /** Starts the service and interrupts it, by a signal or by closing its connection, once its migration waits for our row. */
  const interrupt = async (file: string, isProcess: boolean) => {
    const lines: string[] = [];
    const run = isProcess ? startOnDatabase(databaseUrl) : undefined;
    const opened = run ? undefined : assert.rejects(openDatabase(optionsWith(lines)));
    // It must wait for our row, not for the lock of the previous start, which PostgreSQL keeps until it notices the kill.
    await waitFor(`${file} waits`, async () => (await countLockWaits(owner, 'transactionid')) > 0);
    assert.match(run?.stderr ?? lines.join(), new RegExp(`Preparing tables: ${file}`));
    if (run) await run.kill('SIGKILL');
    else
      await superuser`
        select pg_terminate_backend(pid) from pg_locks join pg_stat_activity using (pid)
        where datname = current_database() and not granted`;
    await opened;
  };
  const applied = async () =>
    (await owner<{ name: string }[]>`select name from banyan.migrations order by 1`).map(nameOf);
  const tables = async () =>
    (
      await owner<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = 'banyan'::regnamespace order by 1`
    ).map(nameOf);
  const files = fs
    .readdirSync(path.join(project, 'db/schema'))
    .filter((name) => /^\d{4}_/.test(name))
    .sort();

  // Create the schema and its first tables as the very first start does, so that we can insert a conflicting row.
  await owner`create schema banyan`;
  await owner`
    create table banyan.migrations (
      version int primary key, name text not null, checksum text not null, applied timestamptz not null default now())`;
  await owner`
    create table banyan.functions (
      name text primary key, checksum text not null, applied timestamptz not null default now())`;
  for (const [index, file] of files.entries()) {
    const before = index === 0 ? await tables() : [];
    // The last statement of a migration inserts its row and has to wait for ours: by then all is done, but not committed.
    await superuser`begin`;
    await superuser`insert into banyan.migrations values (${Number.parseInt(file, 10)}, 'conflicting', '')`;
    // The everyday run only closes the connection, which is all that PostgreSQL notices of a killed process.
    await interrupt(file, isLong);
    await superuser`rollback`;
    await waitFor(
      'no statement of the interrupted start waits for a lock',
      async () => (await countLockWaits(owner)) === 0,
    );
    assert.deepEqual(await applied(), files.slice(0, index));
    if (index === 0) assert.deepEqual(await tables(), before, 'the interrupted migration was rolled back');
  }

  const lines: string[] = [];
  const database = await openDatabase(optionsWith(lines));
  const config = readConfig({ DATABASE_URL: databaseUrl, BANYAN_ADMIN_PASSWORD: PASSWORD });
  await createFirstAdministratorOnce(database, config, CHEAP_HASH);
  await database.close();
  assert.match(lines.join(), new RegExp(`Preparing tables: ${files.at(-1)}`));
  assert.deepEqual(await applied(), files);
  const { root } = await startService({ DATABASE_URL: databaseUrl });
  await root.createDepartment();
  report(t, { migrations: files.length });
});

const nameOf = ({ name }: { name: string }) => name;
