import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { openDatabase } from '../../db/connect.ts';
import { connectOwner } from '../../db/sql.ts';
import { NO_DEADLINES } from '../support/database.ts';
import { newFolder, project, start } from '../support/process.ts';
import { isLong, report } from '../support/scale.ts';
import { createEmptyDatabase } from '../support/service.ts';
import { countWaiting, waitFor } from '../support/wait.ts';

test('each migration is cut off halfway: the next start completes it, and what was there is still there', async (t) => {
  const { databaseUrl, superuserUrl } = await createEmptyDatabase();
  const superuser = connectOwner({ url: superuserUrl });
  const owner = connectOwner({ url: databaseUrl });
  after(() => Promise.all([superuser.end(), owner.end()]));
  const begin = () => start(newFolder(), { DATABASE_URL: databaseUrl });
  /** Begins a start and ends it, by a signal or by the loss of its connection, once it waits for us. */
  const cutOff = async (file: string, isProcess: boolean) => {
    const said: string[] = [];
    const run = isProcess ? begin() : undefined;
    const progress = (line: string) => void said.push(line);
    const place = { databaseUrl, dataDir: '', timeZone: 'UTC', timing: NO_DEADLINES, progress };
    const opened = run ? undefined : assert.rejects(openDatabase(place));
    // For our row, not for the lock that the one before may hold until PostgreSQL notices that it was killed.
    await waitFor(`${file} waits`, async () => (await countWaiting(owner, 'transactionid')) > 0);
    assert.match(run?.stderr ?? said.join(), new RegExp(`Preparing tables: ${file}`));
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
  const files = fs.readdirSync(path.join(project, 'db/migrations')).sort();

  // As the first start of all makes it, so that we can stand in its way.
  await owner`create schema banyan`;
  await owner`
    create table banyan.migrations (
      version int primary key, name text not null, checksum text not null, applied timestamptz not null default now())`;
  for (const [index, file] of files.entries()) {
    const before = index === 0 ? await tables() : [];
    // Its last step, the note that it ran, has to wait for ours: by then all is made, and nothing committed.
    await superuser`begin`;
    await superuser`insert into banyan.migrations values (${Number.parseInt(file, 10)}, 'in the way', '')`;
    // For PostgreSQL a killed process is a lost connection. One process shows that; all of them would take long.
    await cutOff(file, isLong || index === 1);
    await superuser`rollback`;
    await waitFor('the killed one is gone', async () => (await countWaiting(owner)) === 0);
    assert.deepEqual(await applied(), files.slice(0, index));
    if (index === 0) assert.deepEqual(await tables(), before, 'nothing of it was kept');
    if (index === 1) await superuser`insert into banyan.login_addresses (address) values ('from before')`;
  }

  const run = begin();
  const admin = await run.admin();
  assert.match(run.stderr, new RegExp(`Preparing tables: ${files.at(-1)}`));
  assert.deepEqual(await applied(), files);
  assert.equal((await superuser`select from banyan.login_addresses where address = 'from before'`).length, 1);
  await admin.createDepartment();
  report(t, { migrations: files.length });
  assert.equal(await run.stop(), 0, run.stderr);
});

const nameOf = ({ name }: { name: string }) => name;
