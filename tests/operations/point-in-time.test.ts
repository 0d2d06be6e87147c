import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import type { Sql } from '../../db/driver.ts';
import { startEmbedded } from '../../db/embedded/cluster.ts';
import { callTool, newFolder, nextSecond } from '../support/backups.ts';
import { connectTo, newDataFolder, usedDataFolder } from '../support/process.ts';
import { isLong } from '../support/scale.ts';
import { asTenant } from '../support/service.ts';

/** Continuous archiving, and restores to a given second in the past. */

const addDepartment = (sql: Sql, name: string) =>
  asTenant(
    sql,
    '000000',
    (tx) => tx`insert into departments (tenant_id, dept_name, create_by) values ('000000', ${name}, 'test')`,
  );

const [archive, folder] = [newFolder('wal'), newFolder('backup')];
const environment = { BANYAN_WAL_ARCHIVE: archive };

const startOn = (target: string) => startEmbedded(target, () => {}, undefined, {}, { walArchive: archive });
const dataDir = await usedDataFolder();
const server = await startOn(dataDir);
const superuser = connectTo(dataDir);
await addDepartment(superuser, 'in the backup');
// The ledger's archive has changes when the backup is taken, and is emptied later, as the README allows.
await superuser`
  insert into changes_archive
  select (jsonb_populate_record(c, jsonb_build_object('resource', 'login', 'change_id', 1000000 + c.change_id))).*
  from changes c`;
const taken = await callTool('backup', dataDir, ['--to', folder], environment);
assert.equal(taken.status, 0, taken.stderr);
await superuser`truncate changes_archive, tenant_versions_archive`;
await addDepartment(superuser, 'before');
const until = await nextSecond(superuser);
await addDepartment(superuser, 'after');
await superuser.end();
// A clean stop archives the last segment too.
await server.stop();

test('a restore from the WAL archive ends at the given second, even if the archive of the ledger was emptied before', async () => {
  const target = newDataFolder();
  const { status, stderr } = await callTool('restore', target, ['--from', folder, '--until', until], environment);
  assert.equal(status, 0, stderr);
  assert.match(stderr, new RegExp(`Recovering to ${until}`));
  const restored = await startOn(target);
  const sql = connectTo(target);
  const rows = await sql<{ name: string }[]>`select dept_name as name from banyan.departments order by 1`;
  assert.deepEqual(
    rows.map(({ name }) => name),
    ['before', 'in the backup'],
  );
  await sql.end();
  await restored.stop();
  // The restored database continues the archive on a new timeline.
  assert.ok(fs.readdirSync(archive).includes('00000002.history'), fs.readdirSync(archive).join());
});

test('a restore with invalid arguments, without an archive or to a time that is not covered fails with a message that says so', async () => {
  const target = newDataFolder();
  for (const [args, status, message, env = environment] of [
    [['--until', '2020-01-01T00:00:00Z'], 2, /The backup must have ended before 2020/],
    // Only this one restores all files and the archive first.
    ...(isLong ? [[['--until', '2999-01-01T00:00:00Z'], 2, /has no change after 2999.*--until latest/]] : []),
    [['--until', '2026-11-17 12:00:05'], 1, /a time with a time zone/],
    [['--until', 'latest'], 2, /--until needs the archive/, {}],
    [['--until', 'latest', '--wal-archive', `${archive}-gone`], 2, /There is no archive/],
    [['--timeline', '1'], 1, /needs --until/],
    [['--unknown'], 1, /Unknown option/],
  ] as [string[], number, RegExp, object?][]) {
    const outcome = await callTool('restore', target, ['--from', folder, ...args], env);
    assert.equal(outcome.status, status, outcome.stderr);
    assert.match(outcome.stderr, message);
    assert.equal(/Copying/.test(outcome.stderr), args.includes('2999-01-01T00:00:00Z'), outcome.stderr);
  }
  assert.deepEqual(fs.existsSync(target) ? fs.readdirSync(target) : [], []);
});
