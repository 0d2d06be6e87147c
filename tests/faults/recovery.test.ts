import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { openDatabase } from '../../db/connect.ts';
import { LOCKS, type Sql } from '../../db/driver.ts';
import { readConfig } from '../../server/config.ts';
import { NO_DEADLINES } from '../support/database.ts';
import { assertStopped, connectTo, logIn, postgresOf, usedDataFolder } from '../support/process.ts';
import { scale } from '../support/scale.ts';
import { PASSWORD } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import { startNode } from './node.ts';

test('the service recovers when PostgreSQL is killed under load or a backend is killed, and locks the folder again', async () => {
  const dataDir = await usedDataFolder();
  const lines: string[] = [];
  const progress = (line: string) => void lines.push(line);
  const opened = await openDatabase({ ...readConfig({}), dataDir, timing: NO_DEADLINES, progress });
  const node = await startNode(opened.service);
  const admin = await logIn(node.base, PASSWORD);
  const acknowledged: string[] = [];
  let done = false;
  const writer = async () => {
    while (!done) {
      const { code, headers, text } = await admin.post('/system/dept-api', {});
      if (code === 200) acknowledged.push(String(headers.location));
      else assert.equal(code, 503, text);
    }
  };
  const writers = Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(writer));
  for (let kills = 0; kills < scale(1, 5); kills++) {
    const before = acknowledged.length;
    await waitFor('20 more departments were created', () => acknowledged.length > before + 20);
    const { pid } = postgresOf(dataDir);
    process.kill(pid, 'SIGKILL');
    await waitFor('a new PostgreSQL is ready', () => ![pid, undefined].includes(readyPostgresPid(dataDir)));
  }
  const before = acknowledged.length;
  await waitFor('writes succeed again', () => acknowledged.length > before + 20);
  done = true;
  await writers;
  for (const location of acknowledged) assert.equal((await admin.get(location)).code, 200, location);

  lines.length = 0;
  const database = connectTo(dataDir);
  // Until the service has locked the folder again, it is still handling the former loss and does not report another one.
  await waitForFolderLock(database);
  const [{ victim }] = await database<[{ victim: number }]>`select pg_backend_pid() as victim`;
  process.kill(victim, 'SIGKILL');
  await waitFor('the loss is reported', () => lines.join().includes('PostgreSQL has stopped'));
  await database.end({ timeout: 1 });
  await waitFor('reads succeed again', async () => (await admin.get('/system/dept-api/list')).code === 200);
  await assertFolderInUse(dataDir);
  await admin.createDepartment();
  await node.close();
  await opened.close();
  await assertStopped(dataDir);
});

function readyPostgresPid(dataDir: string): number | undefined {
  let lines: string[] = [];
  try {
    lines = fs.readFileSync(path.join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n');
  } catch {
    // There is no lock file at this moment.
  }
  return lines[7]?.trim() === 'ready' ? Number(lines[0]) : undefined;
}

/** Waits for the folder lock: after a restart of PostgreSQL the service may serve requests a moment before it has the lock. */
async function waitForFolderLock(database: Sql): Promise<void> {
  await waitFor('the folder is locked', async () => {
    const [row] = await database`
      select from pg_locks where locktype = 'advisory' and objid = ${LOCKS.service} and granted`;
    return row;
  });
}

/** Asserts that a second service cannot start on the folder. */
async function assertFolderInUse(dataDir: string): Promise<void> {
  const database = connectTo(dataDir);
  await waitForFolderLock(database);
  await database.end({ timeout: 1 });
  const opened = openDatabase({ ...readConfig({}), dataDir, timing: NO_DEADLINES });
  await assert.rejects(opened, ({ message }) => message.includes(`is using the data directory ${dataDir}.`));
}
