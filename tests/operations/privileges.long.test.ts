// Only with test:long: it starts six services, five of them with a first start and two with workers; faults/kill-service.test.ts checks one service with its PostgreSQL.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { csv, importFile } from '../support/import.ts';
import { PostgresProxy } from '../support/postgres-proxy.ts';
import {
  assertStopped,
  newDataFolder,
  postgresOf,
  start,
  startOnDatabase,
  startWithoutDeadlines,
} from '../support/process.ts';
import { createEmptyDatabase, PASSWORD } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import {
  closedFolder,
  environmentOf,
  isLinux,
  isRoot,
  skipPrivileges,
  userOf,
  withDescendants,
} from './process-users.ts';

for (const workers of ['1', '2']) {
  test(`no process has the password of the first administrator in its environment, with ${workers} workers`, {
    skip: !isLinux,
  }, async () => {
    const dataDir = newDataFolder();
    const run = start(dataDir, { BANYAN_WORKERS: workers, BANYAN_ADMIN_USERNAME: 'first' });
    await run.ready();
    const service = withDescendants(Number(run.child.pid));
    // Two workers have a parent process; a single one is the process itself.
    assert.equal(service.length, workers === '1' ? 1 : 3);
    const { pid } = postgresOf(dataDir);
    for (const each of [...service, ...withDescendants(pid)]) {
      const environment = environmentOf(each);
      assert.ok(!environment.includes(PASSWORD), `process ${each} of ${run.child.pid}, PostgreSQL ${pid}`);
    }
    // The other settings are still in the environment.
    assert.match(environmentOf(Number(run.child.pid)), /BANYAN_ADMIN_USERNAME=first\0/);
    assert.equal(await run.stop(), 0, run.stderr);
  });
}

test('a service that was started as root runs as the user of PostgreSQL, imports, reports no archiving failure, and replaces a worker as that user', {
  skip: skipPrivileges,
}, async () => {
  const dataDir = newDataFolder();
  const run = startWithoutDeadlines(dataDir, { BANYAN_WORKERS: '2', BANYAN_LEDGER_DAYS: '1' });
  const admin = await run.admin();
  const owner = fs.statSync(path.join(dataDir, 'postgres')).uid;
  assert.notEqual(owner, 0);
  const pids = withDescendants(Number(run.child.pid));
  assert.equal(pids.length, 3);
  assert.deepEqual(pids.map(userOf), [owner, owner, owner]);
  assert.match(run.stderr, new RegExp(`Continuing as user ${owner}, without root's privileges`));

  const imported = await importFile(admin, 'dept', 'apply', csv([['部门路径'], ['总部'], ['总部/研发中心']]));
  assert.equal(imported.code, 200, imported.text);
  // A worker that is replaced runs as that user too.
  const [, worker] = pids;
  process.kill(Number(worker), 'SIGKILL');
  const replaced = await waitFor('the worker is replaced', () => {
    const now = withDescendants(Number(run.child.pid));
    return now.length === 3 && !now.includes(Number(worker)) ? now : undefined;
  });
  assert.deepEqual(replaced.map(userOf), [owner, owner, owner]);
  await run.stop();
  assert.doesNotMatch(run.stderr, /Archiving failed/);
  await assertStopped(dataDir);
});

test('a service that gave up its privileges restarts PostgreSQL after a crash, and stops it', {
  skip: skipPrivileges,
}, async () => {
  const dataDir = newDataFolder();
  const run = startWithoutDeadlines(dataDir);
  const admin = await run.admin();
  assert.notEqual(userOf(Number(run.child.pid)), 0);
  const { pid } = postgresOf(dataDir);
  process.kill(pid, 'SIGKILL');
  await waitFor('a new PostgreSQL is running', () => {
    try {
      return postgresOf(dataDir).pid !== pid;
    } catch {
      return false; // there is no lock file at this moment
    }
  });
  await waitFor(
    'the service writes',
    async () => (await admin.post('/system/dept-api', { deptName: 'a' })).code === 200,
  );
  const imported = await importFile(admin, 'dept', 'apply', csv([['部门路径'], ['总部']]));
  assert.equal(imported.code, 200, imported.text);
  assert.equal(await run.stop(), 0, run.stderr);
  await assertStopped(dataDir);
});

test('a service that was started as root in a folder that others cannot enter says so, and keeps running as root', {
  skip: isRoot
    ? closedFolder === undefined && 'other users can enter all folders above Node.js and the project'
    : 'it needs root',
}, async () => {
  const run = startWithoutDeadlines(newDataFolder());
  const admin = await run.admin();
  assert.equal(userOf(Number(run.child.pid)), 0);
  assert.match(run.stderr, /The service keeps running as root: user \d+ cannot read \//);
  const imported = await importFile(admin, 'dept', 'apply', csv([['部门路径'], ['总部']]));
  assert.equal(imported.code, 200, imported.text);
  assert.equal(await run.stop(), 0, run.stderr);
});

test('with DATABASE_URL a service that was started as root runs as nobody', { skip: skipPrivileges }, async () => {
  const { databaseUrl } = await createEmptyDatabase();
  // Only PostgreSQL's user can enter the folder of its socket.
  const url = new URL(databaseUrl);
  url.port = String(await new PostgresProxy(`${url.searchParams.get('host')}/.s.PGSQL.5432`).listen());
  url.hostname = '127.0.0.1';
  url.searchParams.delete('host');
  const run = startOnDatabase(url.href);
  const admin = await run.admin();
  await admin.createDepartment({ deptName: 'a' });
  const nobody = /^nobody:[^:]*:(\d+):/m.exec(fs.readFileSync('/etc/passwd', 'utf8'))?.[1];
  assert.equal(userOf(Number(run.child.pid)), Number(nobody));
  assert.equal(await run.stop(), 0, run.stderr);
});
