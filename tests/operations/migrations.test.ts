import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { openDatabase } from '../../db/connect.ts';
import { connectOwner, LOCKS, type Sql } from '../../db/sql.ts';
import { StartRefused } from '../../db/start-refused.ts';
import { createDatabase, createEmptyDatabase, NO_DEADLINES } from '../support/database.ts';
import { countWaiting, waitFor } from '../support/wait.ts';

async function freshDatabase(create = createEmptyDatabase) {
  const { databaseUrl, superuserUrl } = await create();
  const superuser = connectOwner({ url: superuserUrl });
  after(() => superuser.end());
  const told: string[] = [];
  const progress = (line: string) => void told.push(line);
  const place = { databaseUrl, dataDir: '', timeZone: 'UTC', timing: NO_DEADLINES, progress };
  /** Starts and stops; tells what was told. */
  const start = async () => {
    told.length = 0;
    await (await openDatabase(place)).close();
    return [...told];
  };
  return { databaseUrl, superuser, start };
}

/** All that a start could make or change: tables with their files, columns, policies, functions, rights, logins. */
async function shape(superuser: Sql): Promise<unknown> {
  const parts = [
    superuser`select * from banyan.migrations order by version`,
    superuser`select * from banyan.service_login`,
    superuser`
      select oid, relname, relkind, relfilenode, relacl::text, relrowsecurity, relforcerowsecurity from pg_class
      where relnamespace = 'banyan'::regnamespace order by oid`,
    superuser`
      select attrelid, attname, atttypid, attnotnull from pg_attribute join pg_class c on c.oid = attrelid
      where relnamespace = 'banyan'::regnamespace order by attrelid, attnum`,
    superuser`select oid, conname from pg_constraint where connamespace = 'banyan'::regnamespace order by oid`,
    superuser`select oid, polname, polrelid from pg_policy order by oid`,
    superuser`select oid, proname, proacl::text from pg_proc where pronamespace = 'banyan'::regnamespace order by oid`,
    superuser`select last_value from banyan.dept_serial`,
    superuser`select oid, rolname, rolpassword from pg_authid where rolname in (select role from banyan.service_login)`,
  ];
  return Promise.all(parts);
}

const refusedWith = (sentence: RegExp) => (error: unknown) => {
  assert.ok(error instanceof StartRefused, String(error));
  assert.match(error.message, sentence);
  return true;
};

test('migrations that have run change nothing when they run again', async () => {
  const { superuser, start } = await freshDatabase();
  assert.match((await start()).join('\n'), /^Preparing tables: 0001_/);
  const before = await shape(superuser);
  assert.deepEqual(await start(), []);
  assert.deepEqual(await shape(superuser), before);
});

test('of several processes that start at once on an empty database each succeeds, and one makes the tables', async () => {
  const { databaseUrl, superuser } = await freshDatabase();
  const script = `
    import { openDatabase } from ${JSON.stringify(new URL('../../db/connect.js', import.meta.url).href)};
    const progress = (line) => console.log(line);
    const { DATABASE_URL: databaseUrl, TIMING } = process.env;
    const timing = JSON.parse(TIMING);
    const db = await openDatabase({ databaseUrl, dataDir: '', timeZone: 'UTC', timing, progress });
    const [{ user }] = await db.use((sql) => sql\`select current_user as user\`);
    await db.close();
    console.log(user);`;
  const run = () =>
    promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
      env: { DATABASE_URL: databaseUrl, TIMING: JSON.stringify(NO_DEADLINES) },
    });
  // All of them stand at the same door before it opens.
  await superuser`select pg_advisory_lock(${LOCKS.migrate})`;
  const starts = [run(), run(), run()];
  const settled = Promise.allSettled(starts);
  // Three processes that start, on a machine that may be busy.
  await waitFor('all wait', async () => (await countWaiting(superuser)) === starts.length);
  await superuser`select pg_advisory_unlock(${LOCKS.migrate})`;
  for (const result of await settled) assert.equal(result.status, 'fulfilled', JSON.stringify(result));
  const told = (await Promise.all(starts)).map(({ stdout }) => stdout.trim().split('\n'));
  assert.equal(told.filter((lines) => lines.some((line) => /Preparing tables: 0001_/.test(line))).length, 1);
  assert.equal(new Set(told.map((lines) => lines.at(-1))).size, 1, 'all work as one role');
  const applied = await superuser`select version from banyan.migrations`;
  assert.equal(applied.length, told.flat().length - starts.length);
});

test('a database that another version of a migration made is refused', async () => {
  const { superuser, start } = await freshDatabase(createDatabase);
  await start();
  const rows = await superuser<{ version: number; name: string; checksum: string }[]>`select * from banyan.migrations`;
  for (const { version, name, checksum } of rows) {
    await superuser`update banyan.migrations set checksum = 'x' where version = ${version}`;
    await assert.rejects(start(), refusedWith(new RegExp(`The migration ${name} is not the one`)));
    await superuser`update banyan.migrations set checksum = ${checksum}, name = 'x.sql' where version = ${version}`;
    await assert.rejects(start(), refusedWith(/is not the one/));
    await superuser`update banyan.migrations set name = ${name} where version = ${version}`;
  }
  await start();
});

test('a newer database is refused, and left as it is', async () => {
  const { superuser, start } = await freshDatabase(createDatabase);
  await start();
  await superuser`insert into banyan.migrations (version, name, checksum) values (9999, '9999_future.sql', 'x')`;
  const before = await shape(superuser);
  await assert.rejects(start(), refusedWith(/newer than this version of Banyan \(9999_future\.sql\)/));
  assert.deepEqual(await shape(superuser), before);
});

test('a migration that fails leaves nothing half done', async () => {
  const { superuser, start } = await freshDatabase();
  // In the way of one of the first migration's later tables.
  await superuser.unsafe(`
    create schema banyan authorization test_owner;
    create table banyan.sessions (a int);
    alter table banyan.sessions owner to test_owner`);
  await assert.rejects(start(), refusedWith(/sessions/));
  const tables = await superuser<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'banyan' order by 1`;
  assert.deepEqual(
    tables.map(({ name }) => name),
    ['migrations', 'sessions'],
  );
  await superuser`drop table banyan.sessions`;
  assert.match((await start()).join('\n'), /Preparing tables: 0001_/);
});

test("a service's lost login is made anew", async () => {
  const { superuser, start } = await freshDatabase(createDatabase);
  await start();
  await superuser`delete from banyan.service_login`;
  await start();
  const [{ role }] = await superuser<[{ role: string }]>`select role from banyan.service_login`;
  await superuser.unsafe(`drop owned by "${role}"; drop role "${role}"`);
  await start();
});
