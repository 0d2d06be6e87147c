import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { startEmbedded } from '../../db/embedded/cluster.ts';
import { isRunning } from '../../db/embedded/find-server.ts';
import { commandOf } from '../../db/embedded/processes.ts';
import { StartupError } from '../../db/startup-error.ts';
import { assertStopped, connectTo, newDataFolder, postgresOf, usedDataFolder } from '../support/process.ts';
import { isLong } from '../support/scale.ts';
import { waitFor } from '../support/wait.ts';

test('a stale lock file with the pid of another process does not prevent a start, and that process is not touched', async () => {
  const [dataDir, other] = [await usedDataFolder(), await usedDataFolder()];
  const neighbour = await startEmbedded(other, () => {});
  const lockFile = path.join(dataDir, 'postgres/postmaster.pid');
  const write = (pid: number | '') => {
    const lines = [pid, path.dirname(lockFile), 1700000000, 5432, '/tmp/banyan-gone00', '', '  1234   1', 'ready   '];
    fs.writeFileSync(lockFile, pid ? `${lines.join('\n')}\n` : '');
    fs.utimesSync(lockFile, 1700000000, 1700000000);
  };
  // After a crash of the machine, the pid may belong to this process or another PostgreSQL, or the file may be empty.
  for (const pid of [process.pid, postgresOf(other).pid, ''] as const) {
    write(pid);
    const server = await startEmbedded(dataDir, () => {});
    assert.notEqual(postgresOf(dataDir).pid, pid);
    await server.stop();
  }
  const database = connectTo(other);
  assert.equal((await database`select from banyan.tenants`).length, 1);
  await database.end();
  await neighbour.stop();
});

test('a running PostgreSQL is found if the path of its socket contains a space', async (t) => {
  const dataDir = await usedDataFolder();
  const { TMPDIR } = process.env;
  const folder = fs.mkdtempSync('/tmp/with space ');
  fs.chmodSync(folder, 0o777);
  t.after(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    fs.rmSync(folder, { recursive: true });
  });
  process.env.TMPDIR = folder;
  const server = await startEmbedded(dataDir, () => {});
  assert.ok(postgresOf(dataDir).socketDir.startsWith(folder));
  assert.ok(isRunning(dataDir));
  await server.stop();
});

test('a start waits for a PostgreSQL whose socket was removed and whose shutdown checkpoint is slow', async () => {
  const dataDir = await usedDataFolder();
  await startEmbedded(dataDir, () => {});
  const { pid, socketDir } = postgresOf(dataDir);
  fs.rmSync(socketDir, { recursive: true });
  const checkpointer = await checkpointerOf(pid);
  process.kill(checkpointer, 'SIGSTOP');
  try {
    const interrupt = new AbortController();
    const outcome = startEmbedded(dataDir, () => {}, interrupt.signal).catch((error: Error) => String(error));
    await waitFor('PostgreSQL has begun to stop', () => /stopping/.test(readLockFile(dataDir)));
    interrupt.abort();
    // PostgreSQL cannot stop yet. The start was still waiting for it, so it ends because it is interrupted.
    assert.match(String(await outcome), /^AbortError/);
    assert.equal(postgresOf(dataDir).pid, pid);
  } finally {
    process.kill(checkpointer, 'SIGCONT');
  }
  const server = await startEmbedded(dataDir, () => {});
  assert.equal(server.adopted, false);
  assert.notEqual(postgresOf(dataDir).pid, pid);
  await server.stop();
  await assertStopped(dataDir);
});

test('a start that fails because a client is connected leaves PostgreSQL as it is', async () => {
  const dataDir = await usedDataFolder();
  const server = await startEmbedded(dataDir, () => {});
  const { pid, socketDir } = postgresOf(dataDir);
  const client = connectTo(dataDir);
  await client`select`;
  const socket = path.join(socketDir, '.s.PGSQL.5432');
  fs.renameSync(socket, `${socket}.away`);
  await assert.rejects(
    startEmbedded(dataDir, () => {}, undefined, {}, { timeoutSeconds: 0 }),
    (error: Error) => error instanceof StartupError && /another Banyan is using it, but its socket/.test(error.message),
  );
  assert.equal(postgresOf(dataDir).pid, pid);
  assert.match(readLockFile(dataDir), /ready/);
  // It is not shutting down: it accepts connections again as soon as its socket is back.
  fs.renameSync(`${socket}.away`, socket);
  const next = connectTo(dataDir);
  assert.equal((await next`select`).length, 1);
  for (const each of [client, next]) await each.end();
  await server.stop();
  await assertStopped(dataDir);
});

const readLockFile = (dataDir: string) => fs.readFileSync(path.join(dataDir, 'postgres/postmaster.pid'), 'utf8');

/** Waits for the checkpointer of a PostgreSQL: it sets its title only after it was started. */
const checkpointerOf = (pid: number) =>
  waitFor('there is a checkpointer', () => {
    const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    return children.map(Number).find((child) => /checkpointer/.test(commandOf(child)));
  });

test('the files of first starts that were killed are removed', async () => {
  // A first start is slow, so only the long run makes one.
  const dataDir = isLong ? newDataFolder() : await usedDataFolder();
  // In a container the next process may have the same pid as a killed one.
  for (const pid of [4_194_305, process.pid])
    fs.mkdirSync(path.join(dataDir, `postgres.new-${pid}/cluster/base`), { recursive: true });
  const server = await startEmbedded(dataDir, () => {});
  assert.equal(server.adopted, false);
  await server.stop();
  await assertStopped(dataDir);
  assert.deepEqual(fs.readdirSync(dataDir).sort(), ['postgres', 'postgres-password']);
});
