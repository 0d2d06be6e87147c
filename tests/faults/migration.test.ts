import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { connectOwner } from '../../db/sql.ts';
import { makeDatabase } from '../harness.ts';
import { newFolder, project, start } from '../process.ts';
import { report } from '../scale.ts';
import { countWaiting, until } from '../waiting.ts';

test('each migration killed halfway: the next start completes it, and what was there is still there', async (t) => {
  const { databaseUrl, superuserUrl } = await makeDatabase();
  const superuser = connectOwner({ url: superuserUrl });
  const owner = connectOwner({ url: databaseUrl });
  after(() => Promise.all([superuser.end(), owner.end()]));
  const begin = () => start(newFolder(), { DATABASE_URL: databaseUrl });
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
    const run = begin();
    // For our row, not for the lock that the one before may hold until PostgreSQL notices that it was killed.
    await until(async () => (await countWaiting(owner, 'transactionid')) > 0, `${file} waits`, 60);
    assert.match(run.stderr, new RegExp(`Preparing tables: ${file}`));
    await run.kill('SIGKILL');
    await superuser`rollback`;
    await until(async () => (await countWaiting(owner)) === 0, 'the killed one is gone');
    assert.deepEqual(await applied(), files.slice(0, index));
    if (index === 0) assert.deepEqual(await tables(), before, 'nothing of it was kept');
    if (index === 1) await superuser`insert into banyan.login_addresses (address) values ('from before')`;
  }

  const run = begin();
  const admin = await run.admin();
  assert.match(run.stderr, new RegExp(`Preparing tables: ${files.at(-1)}`));
  assert.deepEqual(await applied(), files);
  assert.equal((await superuser`select from banyan.login_addresses where address = 'from before'`).length, 1);
  await admin.dept();
  report(t, { migrations: files.length });
  assert.equal(await run.stop(), 0, run.stderr);
});

const nameOf = ({ name }: { name: string }) => name;
