import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { openDatabase } from '../../db/connect.ts';
import {
  checkClock,
  checkDisk,
  checkEnvironment,
  checkNode,
  checkSealing,
  runDoctor,
} from '../../server/cli/doctor-command.ts';
import { readConfig } from '../../server/config.ts';
import { after, afterFile } from '../support/cleanup.ts';
import { connectWithoutDeadline, createDatabase, NO_DEADLINES } from '../support/database.ts';
import { newDataFolder } from '../support/process.ts';
import { createEmptyDatabase } from '../support/service.ts';

/** npm run doctor, with which an operator checks an installation. */

const { databaseUrl, superuserUrl } = await createDatabase();
const superuser = connectWithoutDeadline({ url: superuserUrl });
afterFile(() => superuser.end());
/** Brings tables and roles up to date, as a start of the service does. */
const prepare = async () =>
  (await openDatabase({ ...readConfig({ DATABASE_URL: databaseUrl }), timing: NO_DEADLINES })).close();
await prepare();
// The server of the tests runs without autovacuum, which the doctor reports as a problem.
const AUTOVACUUM = 'bloat        autovacuum is off';

/** Returns the exit code and the problems with their advice. */
async function examine(environment: Record<string, string> = { DATABASE_URL: databaseUrl }) {
  const lines: string[] = [];
  const status = await runDoctor({ environment, print: (line) => void lines.push(line) });
  const problems = lines.flatMap((line, n) =>
    line.startsWith('PROBLEM') ? [`${line.slice(9)} ${lines[n + 1]?.trim()}`] : [],
  );
  return { status, lines, problems, others: problems.filter((text) => !text.startsWith(AUTOVACUUM)) };
}

const setAge = (seconds: number) =>
  superuser`update banyan.changes set time = clock_timestamp() - ${seconds} * interval '1 second'`;
/** Gives all changes a time in the future: nobody seals them, and on a slow machine they would become too old. */
const setInFuture = () => setAge(-86_400);
await setInFuture();

test('a healthy database has one line for each check', async () => {
  const { status, lines, problems, others } = await examine();
  assert.deepEqual(others, []);
  assert.equal(problems.length, 1, lines.join('\n'));
  assert.equal(status, 1);
  const checks = lines.filter((line) => line.startsWith('ok ')).map((line) => line.slice(9, 22).trim());
  const expected = [
    'Node.js',
    'settings',
    'PostgreSQL',
    'tables',
    'roles',
    'connections',
    'clock',
    'indexes',
    'ledger',
  ];
  assert.deepEqual(checks, expected);
});

test('a missing index is found, and the advice creates it again', async () => {
  for (const index of ['departments_leader', 'departments_search']) {
    await superuser`drop index banyan.${superuser(index)}`;
    const { others } = await examine();
    assert.equal(others.length, 1, others.join('\n'));
    const [, statement] = new RegExp(`^indexes +${index} is missing → Run: (.*)$`).exec(String(others[0])) ?? [];
    // An administrator who pastes it has the default search path.
    await superuser.unsafe(`begin; set local search_path = public; ${statement}; commit`);
  }
  assert.deepEqual((await examine()).others, []);
});

test('an invalid index is found, and the advice repairs it', async () => {
  await superuser`
    update pg_index set indisvalid = false where indexrelid = 'banyan.users_name'::regclass`;
  const { others } = await examine();
  const [, statement] = /^indexes +users_name is invalid and not used → Run: (.*)$/.exec(String(others[0])) ?? [];
  await superuser.unsafe(String(statement));
  assert.deepEqual((await examine()).others, []);
});

test('a role that bypasses row-level security is found', async () => {
  const [{ role }] = await superuser<[{ role: string }]>`
    select 'banyan_service_' || oid as role from pg_database where datname = current_database()`;
  await superuser.unsafe(`alter role ${role} bypassrls`);
  const { others } = await examine();
  assert.equal(others.length, 1);
  assert.match(String(others[0]), /^roles .* has BYPASSRLS.* → Revoke that privilege, then start again\./);
  await superuser.unsafe(`alter role ${role} nobypassrls`);
});

test('tables of another version are found', async () => {
  await superuser`update banyan.functions set checksum = 'other' where name = 'tenant_state.sql'`;
  const { others } = await examine();
  assert.match(String(others[0]), /^tables +The tables are older than this version .* → Start once with/);
  assert.equal(others.length, 1);
  await prepare();
  assert.deepEqual((await examine()).others, []);
});

test('changes that nobody seals are found', async () => {
  after(setInFuture);
  await setAge(3_600);
  const { others } = await examine();
  const [{ age }] = await superuser<[{ age: number }]>`
    select extract(epoch from clock_timestamp() - min(time))::float8 as age from banyan.changes`;
  const text = /^ledger +the oldest change that is not sealed is (\d+) seconds old → Start the/;
  const seconds = Number(text.exec(String(others.at(-1)))?.[1]);
  assert.ok(seconds >= 3_600 && seconds <= Math.round(age), others.join('\n'));
  assert.equal(checkSealing(60).advice, undefined);
  assert.match(String(checkSealing(61).advice), /ledger could not be sealed/);
});

test('a table with many dead rows is found', async () => {
  await superuser`create table banyan.scratch (id int primary key)`;
  await superuser`insert into banyan.scratch select generate_series(1, 20000)`;
  await superuser`delete from banyan.scratch where id > 100`;
  await superuser`select pg_stat_force_next_flush()`;
  const { others } = await examine();
  assert.ok(
    others.some((text) => /^bloat +scratch has 19900 dead and 100 live rows → Run: vacuum/.test(text)),
    others.join(),
  );
  await superuser`drop table banyan.scratch`;
});

test('a database without tables, and one that does not respond, are problems with advice', async () => {
  const empty = await createEmptyDatabase();
  const { others, status } = await examine({ DATABASE_URL: empty.databaseUrl });
  assert.deepEqual(others, [
    'database     the tables do not exist or belong to another version → Start the service once.',
  ]);
  assert.equal(status, 1);
  const none = await examine({ DATABASE_URL: 'postgres://me:secretive@127.0.0.1:1/none' });
  assert.match(
    none.others.join(),
    /^database +it cannot be used: .*→ Check that it is running, and check DATABASE_URL\.$/,
  );
  assert.doesNotMatch(none.lines.join(), /secretive/);
  const missing = await examine({ BANYAN_DATA_DIR: newDataFolder() });
  assert.match(missing.others.join(), /^database +There is no database in .* → Run this command in the directory/);
});

test('invalid and unknown settings, and a .env file that other users can read, are found', async () => {
  const { others } = await examine({ PORT: '80800', BANYAN_LOG_LEVEL: 'loud', BANYAN_ADMIN_PASWORD: 'x' });
  assert.deepEqual(
    others.map((text) => text.split(/ +/)[1]),
    ['BANYAN_ADMIN_PASWORD', 'PORT', 'BANYAN_LOG_LEVEL'],
  );
  const file = path.join(path.dirname(newDataFolder()), '.env');
  fs.writeFileSync(file, 'PORT=8080\nDATABASE_URL=postgres://a:b@c/d\n', { mode: 0o644 });
  assert.deepEqual(
    [...checkEnvironment({}, file)].map(({ advice }) => advice),
    [`Run: chmod 600 ${file}`],
  );
  fs.chmodSync(file, 0o600);
  assert.deepEqual([...checkEnvironment({}, file)], []);
});

test('a version, a disk and a clock beyond their limits are problems', () => {
  const isProblem = ({ advice }: { advice?: string }) => advice !== undefined;
  assert.deepEqual(['18.20.4', '20.18.9', '20.19.0', '24.1.0'].map(checkNode).map(isProblem), [
    true,
    true,
    false,
    false,
  ]);
  const disk = (free: number) => checkDisk('/', { bavail: free, blocks: 1_000_000, bsize: 4_096 } as fs.StatsFs);
  assert.deepEqual([260_000, 500_000].map(disk).map(isProblem), [true, false]);
  const full = { bavail: 4_000_000, blocks: 100_000_000, bsize: 4_096 } as fs.StatsFs;
  assert.ok(isProblem(checkDisk('/', full)), 'four percent of a large disk');
  const clock = (aheadMs: number, uncertaintyMs = 5) => checkClock({ aheadMs, uncertaintyMs });
  assert.deepEqual([-2_100, 1_900, 2_100].map((ms) => clock(ms)).map(isProblem), [true, false, true]);
  assert.ok(!isProblem(clock(2_100, 200)), 'the difference may be due to a slow connection');
});
