import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { openDatabase } from '../../db/connect.ts';
import { connectOwner, defaultConnectionTiming, LOCKS, settingsOf } from '../../db/sql.ts';
import { startPooler } from '../support/pooler.ts';
import { launch, newFolder, project, type Run, start } from '../support/process.ts';
import { type Client, createEmptyDatabase, PASSWORD } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** A pooler between the service and its PostgreSQL: docs/operations.md says which, and how it is told to behave. */

/** Not waited for idly: the pooler is in this process. */
async function command(name: string, databaseUrl: string, ...args: string[]) {
  const script = path.join(project, `dist/server/${name}.js`);
  const run = launch([script, ...args], { cwd: path.dirname(newFolder()), env: { DATABASE_URL: databaseUrl } });
  return { status: await run.ended, stderr: run.stderr };
}

/** The exit code of a start that is to fail; one that serves is not waited for. */
const endOf = (run: Run) =>
  Promise.race([
    run.ended,
    run.ready().then(
      () => 'serving',
      () => run.ended,
    ),
  ]);

/** Makes the tables and the service's role, as a first start does. */
const prepare = async (databaseUrl: string) =>
  (await openDatabase({ databaseUrl, dataDir: '', timeZone: 'Asia/Shanghai' })).close();

async function useIt(admin: Client) {
  const [top, other] = [
    await admin.createDepartment({ deptName: '总部' }),
    await admin.createDepartment({ deptName: '市场部' }),
  ];
  const below = await admin.createDepartment({ deptName: '前端组', parentId: Number(top) });
  const moved = await admin.put('/system/dept-api', { deptId: Number(top), deptName: '总部', parentId: Number(other) });
  assert.equal(moved.code, 200, moved.text);
  const { data } = await admin.get(`/system/dept-api/${below}`);
  assert.equal(data.ancestors, `0,${other},${top}`);
  return data;
}

test('behind a pooler that drops settings and forgets sessions all is prepared, and served', async () => {
  const { databaseUrl, superuserUrl } = await createEmptyDatabase();
  const pooled = await startPooler(databaseUrl, { settings: 'dropped', forgets: true });
  const run = start(newFolder(), { DATABASE_URL: pooled });
  const admin = await run.admin();
  const { createTime } = await useIt(admin);
  // In the zone of the service, whatever the server's is.
  const superuser = connectOwner({ url: superuserUrl });
  const [noted] = await superuser<[{ right: boolean; tables: number }]>`
    select abs(extract(epoch from (${createTime}::timestamp at time zone 'Asia/Shanghai') - now())) < 3600 as right,
      (select count(*)::int from pg_tables where schemaname = 'public') as tables`;
  assert.deepEqual({ ...noted }, { right: true, tables: 0 });
  // A statement that waits is ended, as the service's connections ask for.
  const [role] = await superuser<{ settings: string[] }[]>`
    select setconfig as settings from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase
    where d.datname = current_database()`;
  assert.deepEqual(
    role?.settings.toSorted(),
    Object.entries(settingsOf(defaultConnectionTiming))
      .map((pair) => pair.join('='))
      .toSorted(),
  );
  await superuser.end();

  assert.match((await command('verify-ledger', pooled)).stderr, /The ledger is whole\./);
  const reset = await command('reset-password', pooled, '000000', 'admin');
  assert.equal(reset.status, 0, reset.stderr);
  assert.equal((await admin.get('/auth/me')).data.reason, 'SESSION_ENDED');
  assert.equal(await run.stop(), 0);
});

test('whoever prepares the tables is alone while he does, also behind a pooler that forgets locks of sessions', async () => {
  const { databaseUrl, superuserUrl } = await createEmptyDatabase();
  await prepare(databaseUrl);
  const superuser = connectOwner({ url: superuserUrl });
  await superuser`begin`;
  await superuser`lock table banyan.migrations`;
  const pooled = await startPooler(databaseUrl, { settings: 'dropped', forgets: true });
  const second = start(newFolder(), { DATABASE_URL: pooled });
  // Not within that transaction, which would be told the same each time.
  const watcher = connectOwner({ url: superuserUrl });
  const looks = () => watcher<{ locks: boolean }[]>`
    select bool_or(l.locktype = 'advisory' and l.objid = ${LOCKS.migrate} and l.granted) as locks
    from pg_stat_activity a join pg_locks l using (pid)
    where a.datname = current_database() and a.wait_event_type = 'Lock' group by a.pid`;
  await waitFor('it waits for the table', async () => (await looks()).length === 1);
  assert.deepEqual(
    (await looks()).map(({ locks }) => locks),
    [true],
  );
  await superuser`commit`;
  await Promise.all([superuser.end(), watcher.end()]);
  await second.ready();
  assert.equal(await second.stop(), 0);
});

test('a pooler that takes no settings is named at the start, with what to tell it', async () => {
  const { databaseUrl } = await createEmptyDatabase();
  const run = start(newFolder(), { DATABASE_URL: await startPooler(databaseUrl, { settings: 'refused' }) });
  assert.equal(await endOf(run), 1);
  assert.match(
    run.stderr,
    /Banyan did not start\. The pooler at DATABASE_URL takes no settings \(unsupported startup parameter: search_path\)\. .*ignore_startup_parameters = search_path, statement_timeout, idle_in_transaction_session_timeout, enable_seqscan, jit /,
  );
  assert.doesNotMatch(run.stderr, /\n +at /);
});

test('settings that are neither passed on nor the role’s are named: statements would have no end', async () => {
  const { name, databaseUrl, superuserUrl } = await createEmptyDatabase();
  await prepare(databaseUrl);
  const superuser = connectOwner({ url: superuserUrl });
  const [{ role, password }] = await superuser<
    [{ role: string; password: string }]
  >`select * from banyan.service_login`;
  await superuser.unsafe(`alter role "${role}" in database ${name} reset statement_timeout`);
  await superuser.end();
  // As the service's own role, who cannot give himself what is missing.
  const url = new URL(await startPooler(databaseUrl, { settings: 'dropped' }));
  Object.assign(url, { username: role, password });
  const run = start(newFolder(), { DATABASE_URL: url.href, BANYAN_ADMIN_PASSWORD: PASSWORD });
  assert.equal(await endOf(run), 1);
  assert.match(
    run.stderr,
    new RegExp(`drops the settings statement_timeout, and the role ${role} does not have them\\.`),
  );
  assert.doesNotMatch(run.stderr, /\n +at /);

  // A start of the owner gives it back.
  await prepare(databaseUrl);
  const again = start(newFolder(), { DATABASE_URL: url.href });
  await useIt(await again.admin());
  assert.equal(await again.stop(), 0);
});

test('a pooler that does not know the service’s own role is told apart from one that does not know the owner', async () => {
  const { databaseUrl, superuserUrl } = await createEmptyDatabase();
  await prepare(databaseUrl);
  const superuser = connectOwner({ url: superuserUrl });
  const [{ role }] = await superuser<[{ role: string }]>`select role from banyan.service_login`;
  await superuser.unsafe(`alter role "${role}" password 'another'`);
  await superuser.end();
  const run = start(newFolder(), { DATABASE_URL: databaseUrl });
  assert.equal(await endOf(run), 1);
  assert.match(
    run.stderr,
    new RegExp(`Banyan did not start\\. The service's own role ${role} is not let in \\(.*\\)\\. A pooler`),
  );
  assert.doesNotMatch(run.stderr, /\n +at /);
});
