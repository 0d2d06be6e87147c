// Only with test:long: it uses the PostgreSQL of the system and starts two services; point-in-time.test.ts restores the embedded one to a given second.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { findUser } from '../../db/embedded/runtime-user.ts';
import { departmentNames, newFolder, nextSecond } from '../support/backups.ts';
import { afterFile } from '../support/cleanup.ts';
import { connectWithoutDeadline } from '../support/database.ts';
import { launch, project, startOnDatabase } from '../support/process.ts';
import { waitFor } from '../support/wait.ts';

/** The commands of docs/operations.md for a backup of an external PostgreSQL, with the packages of the system. */

/** The folder with the newest PostgreSQL that has pg_basebackup. The embedded one does not have it. */
const binDir = ['18', '17', '16', '15']
  .map((version) => `/usr/lib/postgresql/${version}/bin`)
  .find((folder) => fs.existsSync(path.join(folder, 'pg_basebackup')));
const missing = binDir
  ? false
  : 'PostgreSQL is not installed (Debian: apt install postgresql), so the backup of an external PostgreSQL was not tested.';

/** PostgreSQL refuses to run as root. */
const user = process.getuid?.() === 0 ? (findUser('postgres') ?? findUser('nobody')) : undefined;

function run(program: string, ...args: string[]): void {
  // A server keeps the output open, so it must not be a pipe.
  const log = fs.openSync(path.join(path.dirname(String(args[1])), 'log'), 'a');
  const { status, error } = spawnSync(path.join(String(binDir), program), args, {
    cwd: '/',
    // On a slow machine a start may take longer than the 60 s that pg_ctl waits by default.
    env: { ...process.env, PGCTLTIMEOUT: '600' },
    stdio: ['ignore', log, log],
    ...user,
  });
  fs.closeSync(log);
  const output = fs.readFileSync(path.join(path.dirname(String(args[1])), 'log'), 'utf8');
  assert.equal(status, 0, error?.message ?? output.slice(-2000));
}

test('an external PostgreSQL is restored to a given second with pg_basebackup and its archive', {
  skip: missing,
}, async () => {
  const folder = newFolder('served');
  const [data, base, wal, socket] = ['data', 'base', 'wal', 's'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
    string,
  ];
  for (const name of [folder, wal, socket]) {
    fs.mkdirSync(name, { mode: 0o700 });
    if (user) fs.chownSync(name, user.uid, user.gid);
  }
  run('initdb', '-D', data, '--username=postgres', '--auth=trust', '--encoding=UTF8', '--no-sync');
  const settings = (lines: string[]) => `${lines.join('\n')}\n`;
  fs.appendFileSync(
    path.join(data, 'postgresql.conf'),
    settings([
      `listen_addresses = ''`,
      `unix_socket_directories = '${socket}'`,
      'archive_mode = on',
      `archive_command = 'test ! -f ${wal}/%f && cp %p ${wal}/%f.new && mv ${wal}/%f.new ${wal}/%f'`,
    ]),
  );
  const stop = (cluster: string) => {
    if (fs.existsSync(path.join(cluster, 'postmaster.pid'))) run('pg_ctl', '-D', cluster, '-w', '-m', 'fast', 'stop');
  };
  afterFile(() => [data, base].forEach(stop));
  run('pg_ctl', '-D', data, '-w', 'start');
  const connect = (database: string) => connectWithoutDeadline({ host: socket, database, username: 'postgres' });
  const superuser = connect('postgres');
  await superuser`create role banyan login createrole password 'secret'`;
  await superuser`create database banyan owner banyan`;
  const databaseUrl = `postgres://banyan:secret@localhost/banyan?host=${encodeURIComponent(socket)}`;
  const service = startOnDatabase(databaseUrl);
  const admin = await service.admin();
  await admin.createDepartment({ deptName: 'in the backup' });
  run('pg_basebackup', '-D', base, '-h', socket, '-U', 'postgres', '--wal-method=stream', '--checkpoint=fast');
  await admin.createDepartment({ deptName: 'before' });
  const until = await nextSecond(superuser);
  await admin.createDepartment({ deptName: 'after' });
  assert.equal(await service.stop(), 0, service.stderr);
  await superuser.end();
  // A clean stop archives the last segment too.
  stop(data);

  fs.appendFileSync(
    path.join(base, 'postgresql.auto.conf'),
    settings([
      `restore_command = 'cp ${wal}/%f %p'`,
      `recovery_target_time = '${until.replace('T', ' ').replace('Z', '+00')}'`,
      `recovery_target_action = 'promote'`,
    ]),
  );
  fs.writeFileSync(path.join(base, 'recovery.signal'), '');
  run('pg_ctl', '-D', base, '-w', 'start');
  const restored = connect('banyan');
  await waitFor('the recovery has ended', async () => {
    const [row] = await restored<[{ recovering: boolean }]>`select pg_is_in_recovery() as recovering`;
    return !row.recovering;
  });
  await restored.end();
  const again = startOnDatabase(databaseUrl);
  assert.deepEqual([...(await departmentNames(await again.admin()))].sort(), ['before', 'in the backup']);
  assert.equal(await again.stop(), 0, again.stderr);
  const verify = launch([path.join(project, 'dist/server/cli/verify-ledger.js')], {
    cwd: folder,
    env: { DATABASE_URL: databaseUrl },
  });
  assert.equal(await verify.ended, 0, verify.stderr);
  stop(base);
});
