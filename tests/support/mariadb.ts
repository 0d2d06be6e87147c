import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import mysql from 'mysql2/promise';
import { afterFile } from './cleanup.ts';
import type { RuoyiDatabase } from './ruoyi.ts';
import { waitFor } from './wait.ts';

/** A separate MariaDB in a temporary folder, from the packages of the system (Debian: mariadb-server). */

/** Why there is no MariaDB, or undefined. */
export const missingMariadb: string | undefined =
  spawnSync('mariadbd', ['--version']).status === 0 && spawnSync('mariadb-install-db', ['--help']).error === undefined
    ? undefined
    : 'MariaDB is not installed (Debian: apt install mariadb-server), so the import from MySQL was not tested.';

let socket: string | undefined;

/** Creates a database in a MariaDB that runs until the tests of the file have ended. */
export async function createMariadb(name: string): Promise<RuoyiDatabase> {
  socket ??= await startMariadb();
  const connection = await mysql.createConnection({ socketPath: socket, user: 'root' });
  await connection.query(`create database ${name} character set utf8mb4`);
  await connection.query(`use ${name}`);
  return {
    url: `mysql://root@localhost/${name}?socketPath=${encodeURIComponent(socket)}`,
    run: (statement) => connection.query(statement),
    close: () => connection.end(),
  };
}

async function startMariadb(): Promise<string> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'banyan-mariadb-'));
  const data = path.join(folder, 'data');
  const user = `--user=${os.userInfo().username}`;
  const install = spawnSync(
    'mariadb-install-db',
    ['--no-defaults', `--datadir=${data}`, user, '--auth-root-authentication-method=normal', '--skip-test-db'],
    { encoding: 'utf8' },
  );
  if (install.status !== 0) throw new Error(`mariadb-install-db failed: ${install.stdout}${install.stderr}`);
  const file = path.join(folder, 'socket');
  const server: ChildProcess = spawn(
    'mariadbd',
    ['--no-defaults', `--datadir=${data}`, `--socket=${file}`, `--pid-file=${folder}/pid`, user, '--skip-networking'],
    { stdio: 'ignore' },
  );
  const ended = once(server, 'exit');
  afterFile(async () => {
    server.kill('SIGTERM');
    await ended;
    socket = undefined;
    fs.rmSync(folder, { recursive: true, force: true });
  });
  await waitFor('MariaDB accepts connections', async () => {
    const connection = await mysql.createConnection({ socketPath: file, user: 'root' }).catch(() => undefined);
    await connection?.end();
    return connection !== undefined || server.exitCode !== null;
  });
  if (server.exitCode !== null) throw new Error(`mariadbd ended with ${server.exitCode}.`);
  return file;
}
