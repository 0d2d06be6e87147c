// Only with test:long: each test starts one or two services, most of them behind a pooler; pooler.test.ts opens the database behind one, in-process.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { openDatabase } from '../../db/connect.ts';
import { connectionSettings, defaultConnectionTiming, LOCKS } from '../../db/driver.ts';
import { connectWithoutDeadline } from '../support/database.ts';
import { startPooler } from '../support/pooler.ts';
import { launch, newDataFolder, project, type Run, start } from '../support/process.ts';
import { type Client, createEmptyDatabase, PASSWORD } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** A connection pooler between the service and PostgreSQL. docs/operations.md says which are supported and how to configure them. */

/** Runs a command-line tool asynchronously, because the pooler runs in this process. */
async function runTool(name: string, databaseUrl: string, ...args: string[]) {
  const script = path.join(project, `dist/server/cli/${name}.js`);
  const run = launch([script, ...args], { cwd: path.dirname(newDataFolder()), env: { DATABASE_URL: databaseUrl } });
  return { status: await run.ended, stderr: run.stderr };
}

/** Returns the exit code of a start that should fail, or 'serving' if it succeeds. */
const outcomeOf = (run: Run) =>
  Promise.race([
    run.ended,
    run.ready().then(
      () => 'serving',
      () => run.ended,
    ),
  ]);

/** Creates the tables and the service's role, as a first start does: the role gets the deadlines of a regular start. */
const prepare = async (databaseUrl: string) =>
  (await openDatabase({ databaseUrl, dataDir: '', timeZone: 'Asia/Shanghai' })).close();

async function useService(admin: Client) {
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

test('the service and its tools work behind a pooler that drops settings and session state', async () => {
  const { databaseUrl, superuserUrl } = await createEmptyDatabase();
  const pooled = await startPooler(databaseUrl, { settings: 'dropped', resetsSessions: true });
  const run = start(newDataFolder(), { DATABASE_URL: pooled });
  const admin = await run.admin();
  const { createTime } = await useService(admin);
  // Times are in the time zone of the service, whatever that of the server is.
  const superuser = connectWithoutDeadline({ url: superuserUrl });
  const [row] = await superuser<[{ right: boolean; tables: number }]>`
    select abs(extract(epoch from (${createTime}::timestamp at time zone 'Asia/Shanghai') - now())) < 3600 as right,
      (select count(*)::int from pg_tables where schemaname = 'public') as tables`;
  assert.deepEqual({ ...row }, { right: true, tables: 0 });
  // The role has the timeouts and other settings that the service's connections request.
  const [role] = await superuser<{ settings: string[] }[]>`
    select setconfig as settings from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase
    where d.datname = current_database()`;
  assert.deepEqual(
    role?.settings.toSorted(),
    Object.entries(connectionSettings(defaultConnectionTiming))
      .map((pair) => pair.join('='))
      .toSorted(),
  );
  await superuser.end();

  assert.match((await runTool('verify-ledger', pooled)).stderr, /The ledger is intact\./);
  const reset = await runTool('reset-password', pooled, '000000', 'admin');
  assert.equal(reset.status, 0, reset.stderr);
  assert.equal((await admin.get('/auth/me')).data.reason, 'SESSION_ENDED');
  assert.equal(await run.stop(), 0);
});

test('a start behind a pooler that drops session locks holds the migration lock while it prepares the tables', async () => {
  const { databaseUrl, superuserUrl } = await createEmptyDatabase();
  await prepare(databaseUrl);
  const superuser = connectWithoutDeadline({ url: superuserUrl });
  await superuser`begin`;
  await superuser`lock table banyan.migrations`;
  const pooled = await startPooler(databaseUrl, { settings: 'dropped', resetsSessions: true });
  const run = start(newDataFolder(), { DATABASE_URL: pooled });
  // A separate connection: within the open transaction pg_stat_activity would not change.
  const watcher = connectWithoutDeadline({ url: superuserUrl });
  const readWaiting = () => watcher<{ locks: boolean }[]>`
    select bool_or(l.locktype = 'advisory' and l.objid = ${LOCKS.migrate} and l.granted) as locks
    from pg_stat_activity a join pg_locks l using (pid)
    where a.datname = current_database() and a.wait_event_type = 'Lock' group by a.pid`;
  await waitFor('the service waits for the table', async () => (await readWaiting()).length === 1);
  assert.deepEqual(
    (await readWaiting()).map(({ locks }) => locks),
    [true],
  );
  await superuser`commit`;
  await Promise.all([superuser.end(), watcher.end()]);
  await run.ready();
  assert.equal(await run.stop(), 0);
});

test('a start behind a pooler that rejects settings fails and says how to configure it', async () => {
  const { databaseUrl } = await createEmptyDatabase();
  const run = start(newDataFolder(), { DATABASE_URL: await startPooler(databaseUrl, { settings: 'refused' }) });
  assert.equal(await outcomeOf(run), 1);
  assert.match(
    run.stderr,
    /Banyan did not start\. The pooler at DATABASE_URL rejects Banyan's settings \(unsupported startup parameter: search_path\)\. .*ignore_startup_parameters = search_path, default_transaction_isolation, statement_timeout, idle_in_transaction_session_timeout, enable_seqscan, jit /,
  );
  assert.doesNotMatch(run.stderr, /\n +at /);
});

test('a start fails and names the settings that the pooler drops and the role does not have', async () => {
  const { name, databaseUrl, superuserUrl } = await createEmptyDatabase();
  await prepare(databaseUrl);
  const superuser = connectWithoutDeadline({ url: superuserUrl });
  const [{ role, password }] = await superuser<
    [{ role: string; password: string }]
  >`select * from banyan.service_login`;
  await superuser.unsafe(`alter role "${role}" in database ${name} reset statement_timeout`);
  await superuser.end();
  // Connect as the service's own role, which cannot change its settings.
  const url = new URL(await startPooler(databaseUrl, { settings: 'dropped' }));
  Object.assign(url, { username: role, password });
  const run = start(newDataFolder(), { DATABASE_URL: url.href, BANYAN_ADMIN_PASSWORD: PASSWORD });
  assert.equal(await outcomeOf(run), 1);
  assert.match(
    run.stderr,
    new RegExp(`drops the settings statement_timeout, and the role ${role} does not have them\\.`),
  );
  assert.doesNotMatch(run.stderr, /\n +at /);

  // A start as the owner sets them again.
  await prepare(databaseUrl);
  const again = start(newDataFolder(), { DATABASE_URL: url.href });
  await useService(await again.admin());
  assert.equal(await again.stop(), 0);
});

test('a start whose service role cannot log in fails with a message that names the role', async () => {
  const { databaseUrl, superuserUrl } = await createEmptyDatabase();
  await prepare(databaseUrl);
  const superuser = connectWithoutDeadline({ url: superuserUrl });
  const [{ role }] = await superuser<[{ role: string }]>`select role from banyan.service_login`;
  await superuser.unsafe(`alter role "${role}" password 'another'`);
  await superuser.end();
  const run = start(newDataFolder(), { DATABASE_URL: databaseUrl });
  assert.equal(await outcomeOf(run), 1);
  assert.match(
    run.stderr,
    new RegExp(`Banyan did not start\\. The service's own role ${role} cannot log in \\(.*\\)\\. A pooler`),
  );
  assert.doesNotMatch(run.stderr, /\n +at /);
});
