import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import type { Client } from './harness.ts';
import { assertStopped, connectTo, newFolder, postgresOf, start, until, usedFolder } from './process.ts';

test('SIGTERM: the request under way is answered, who asked nothing is sent away, and PostgreSQL is stopped', async () => {
  const dataDir = await usedFolder();
  const run = start(dataDir);
  const admin = await run.admin();
  const { socketDir } = postgresOf(dataDir);
  // Browsers open connections in advance; somebody's request may never be finished.
  const unused = [await connect(admin.base), await connect(admin.base)];
  unused[1]?.write('GET /health/live HT');

  // The table is locked, so that a request is under way for as long as we want.
  const database = connectTo(dataDir);
  let answer: ReturnType<Client['post']> | undefined;
  await database.begin(async (tx) => {
    await tx`lock table banyan.departments`;
    answer = admin.post('/system/dept-api', { deptName: 'last' });
    await until('the request waits', async () => {
      const [lock] = await tx`select from pg_locks where not granted`;
      return lock;
    });
    run.child.kill('SIGTERM');
    // npm passes the signal on, and the terminal sends it to the whole group.
    run.child.kill('SIGTERM');
    await run.said('SIGTERM: finishing what is under way');
    await until('the unused connections are closed', () => unused.every((socket) => socket.destroyed));
    await assert.rejects(connect(admin.base));
    assert.equal(run.child.exitCode, null);
  });
  const { code, headers } = (await answer) ?? assert.fail();
  assert.equal(code, 200);
  assert.equal(await run.ended, 0);
  await database.end({ timeout: 1 });
  assert.ok(run.stderr.endsWith('Stopped.\n'));
  await assertStopped(dataDir);
  assert.equal(fs.existsSync(socketDir), false);

  // Ctrl-C; and the terminal is closed.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) {
    const next = start(dataDir);
    const { data } = await (await next.admin()).get(String(headers.location));
    assert.equal(data.deptName, 'last');
    assert.equal(await next.kill(signal), 0);
    await assertStopped(dataDir);
  }
});

for (const [moment, words] of [
  ['the database is made', 'Making a database'],
  ['PostgreSQL is started', 'Starting PostgreSQL'],
  ['the tables are prepared', 'Preparing tables'],
] as const) {
  test(`SIGTERM while ${moment}: it stops, leaves nothing running, and the next start works`, async () => {
    const dataDir = newFolder();
    const run = start(dataDir);
    await run.said(words);
    assert.equal(await run.stop(), 0, run.stderr);
    assert.ok(run.stderr.endsWith('Stopped.\n'), run.stderr);
    assert.doesNotMatch(run.stderr, /did not start/);
    await assertStopped(dataDir);
    const left = fs.readdirSync(dataDir).filter((name) => !['postgres', 'postgres-password'].includes(name));
    assert.deepEqual(left, []);
    assert.equal(fs.existsSync(path.join(dataDir, 'postgres')), words !== 'Making a database');

    const next = start(dataDir);
    await next.admin();
    assert.equal(await next.stop(), 0);
  });
}

async function connect(base: string): Promise<net.Socket> {
  const { hostname, port } = new URL(base);
  const socket = net.connect(Number(port), hostname);
  await once(socket, 'connect');
  return socket.on('error', () => {}).resume();
}
