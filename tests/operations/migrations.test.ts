import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { openDatabase } from '../../db/connect.ts';
import { LOCKS, type Sql } from '../../db/driver.ts';
import { readSchema } from '../../db/migrate.ts';
import { StartupError } from '../../db/startup-error.ts';
import { after } from '../support/cleanup.ts';
import { connectWithoutDeadline, createDatabase, createEmptyDatabase, NO_DEADLINES } from '../support/database.ts';
import { newDataFolder } from '../support/process.ts';
import { isLong } from '../support/scale.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';

async function prepareDatabase(create = createEmptyDatabase) {
  const { databaseUrl, superuserUrl } = await create();
  const superuser = connectWithoutDeadline({ url: superuserUrl });
  after(() => superuser.end());
  const lines: string[] = [];
  const progress = (line: string) => void lines.push(line);
  const options = { databaseUrl, dataDir: '', timeZone: 'UTC', timing: NO_DEADLINES, progress };
  /** Opens and closes the database. Returns the progress messages. */
  const start = async () => {
    lines.length = 0;
    await (await openDatabase(options)).close();
    return [...lines];
  };
  return { databaseUrl, superuser, start };
}

/** Reads what a start could create or change: tables and their files, columns, policies, functions, privileges and roles. */
async function describeSchema(superuser: Sql): Promise<unknown> {
  const parts = [
    superuser`select * from banyan.migrations order by version`,
    superuser`select * from banyan.functions order by name`,
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

const isStartupError = (message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof StartupError, String(error));
  assert.match(error.message, message);
  return true;
};

test('a second start changes nothing', async () => {
  const { superuser, start } = await prepareDatabase();
  assert.match((await start()).join('\n'), /^Preparing tables: 0001_/);
  const before = await describeSchema(superuser);
  assert.deepEqual(await start(), []);
  assert.deepEqual(await describeSchema(superuser), before);
});

test('several processes can start concurrently on an empty database, and one of them creates the tables', async () => {
  const { databaseUrl, superuser } = await prepareDatabase();
  const script = `
    import { openDatabase } from ${JSON.stringify(new URL('../../db/connect.js', import.meta.url).href)};
    const progress = (line) => console.log(line);
    const { DATABASE_URL: databaseUrl, TIMING } = process.env;
    const timing = JSON.parse(TIMING);
    const db = await openDatabase({ databaseUrl, dataDir: '', timeZone: 'UTC', timing, progress });
    const [{ user }] = await db.use((sql) => sql\`select current_user as user\`);
    await db.close();
    console.log(user);`;
  const runProcess = async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
      env: { DATABASE_URL: databaseUrl, TIMING: JSON.stringify(NO_DEADLINES) },
    });
    return stdout.trim().split('\n');
  };
  /** The same in this process, which makes no difference to PostgreSQL: it sees only connections. */
  const runHere = async () => {
    const lines: string[] = [];
    const progress = (line: string) => void lines.push(line);
    const db = await openDatabase({ databaseUrl, dataDir: '', timeZone: 'UTC', timing: NO_DEADLINES, progress });
    const [{ user }] = await db.use((sql) => sql<[{ user: string }]>`select current_user as user`);
    await db.close();
    return [...lines, user];
  };
  const run = isLong ? runProcess : runHere;
  // Hold the migration lock until all processes wait for it.
  await superuser`select pg_advisory_lock(${LOCKS.migrate})`;
  const starts = [run(), run(), run()];
  const settled = Promise.allSettled(starts);
  await waitFor('all processes wait for the lock', async () => (await countLockWaits(superuser)) === starts.length);
  await superuser`select pg_advisory_unlock(${LOCKS.migrate})`;
  for (const result of await settled) assert.equal(result.status, 'fulfilled', JSON.stringify(result));
  const outputs = await Promise.all(starts);
  assert.equal(outputs.filter((lines) => lines.some((line) => /Preparing tables: 0001_/.test(line))).length, 1);
  assert.equal(new Set(outputs.map((lines) => lines.at(-1))).size, 1, 'all processes use one role');
  const applied = await superuser`select version from banyan.migrations`;
  assert.equal(applied.length, outputs.flat().length - starts.length);
});

test('a start fails when an applied migration has another checksum or name', async () => {
  const { superuser, start } = await prepareDatabase(createDatabase);
  await start();
  const rows = await superuser<{ version: number; name: string; checksum: string }[]>`select * from banyan.migrations`;
  for (const { version, name, checksum } of rows) {
    await superuser`update banyan.migrations set checksum = 'x' where version = ${version}`;
    await assert.rejects(start(), isStartupError(new RegExp(`The migration ${name} is not the one`)));
    await superuser`update banyan.migrations set checksum = ${checksum}, name = 'x.sql' where version = ${version}`;
    await assert.rejects(start(), isStartupError(/is not the one/));
    await superuser`update banyan.migrations set name = ${name} where version = ${version}`;
  }
  await start();
});

test('a start on a newer database fails and changes nothing', async () => {
  const { superuser, start } = await prepareDatabase(createDatabase);
  await start();
  await superuser`insert into banyan.migrations (version, name, checksum) values (9999, '9999_future.sql', 'x')`;
  const before = await describeSchema(superuser);
  await assert.rejects(start(), isStartupError(/newer than this version of Banyan \(9999_future\.sql\)/));
  assert.deepEqual(await describeSchema(superuser), before);
});

test('a failed migration is rolled back', async () => {
  const { superuser, start } = await prepareDatabase();
  // This table conflicts with one that the first migration creates later.
  await superuser.unsafe(`
    create schema banyan authorization test_owner;
    create table banyan.sessions (a int);
    alter table banyan.sessions owner to test_owner`);
  await assert.rejects(start(), isStartupError(/sessions/));
  const tables = await superuser<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'banyan' order by 1`;
  assert.deepEqual(
    tables.map(({ name }) => name),
    ['functions', 'migrations', 'sessions'],
  );
  await superuser`drop table banyan.sessions`;
  assert.match((await start()).join('\n'), /Preparing tables: 0001_/);
});

test("a start recreates the service's role and password when they are lost", async () => {
  const { superuser, start } = await prepareDatabase(createDatabase);
  await start();
  const readRoles = () => superuser<{ role: string; exists: boolean }[]>`
    select role, exists (select from pg_roles where rolname = role) as exists from banyan.service_login`;
  await superuser`delete from banyan.service_login`;
  await start();
  const [{ role, exists }] = (await readRoles()) as unknown as [{ role: string; exists: boolean }];
  assert.equal(exists, true);
  await superuser.unsafe(`drop owned by "${role}"; drop role "${role}"`);
  await start();
  assert.deepEqual([...(await readRoles())], [{ role, exists: true }]);
});

test('a start replaces a function whose file has changed', async () => {
  const { superuser, start } = await prepareDatabase(createDatabase);
  await superuser.unsafe(`
    create or replace function banyan.next_tenant_id() returns bigint language sql volatile as 'select 1::bigint';
    update banyan.functions set checksum = 'of another version' where name = 'next_tenant_id.sql'`);
  await start();
  const [{ id }] = await superuser<[{ id: string }]>`
    select set_config('search_path', 'banyan', false), banyan.next_tenant_id()::text as id`;
  assert.notEqual(id, '1');
});

test('files that are neither migrations nor functions are ignored', () => {
  const folder = newDataFolder();
  const add = (name: string) => {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), 'select 1');
  };
  const others = [
    '.DS_Store',
    'README.md',
    '0001_first.sql~',
    '0003_third.sql.orig',
    'functions/.DS_Store',
    'functions/a.txt',
  ];
  for (const name of ['0002_second.sql', '0001_first.sql', 'functions/a.sql', ...others]) add(name);
  const { migrations, functions } = readSchema(pathToFileURL(`${folder}/`));
  assert.deepEqual(
    migrations.map(({ name, version }) => [name, version]),
    [
      ['0001_first.sql', 1],
      ['0002_second.sql', 2],
    ],
  );
  assert.deepEqual(
    functions.map(({ name }) => name),
    ['a.sql'],
  );
});
