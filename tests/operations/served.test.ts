import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import { test } from 'node:test';
import { openDatabase } from '../../db/connect.ts';
import { connectOwner, LOCKS } from '../../db/sql.ts';
import { newFolder, start, startServed } from '../support/process.ts';
import { createEmptyDatabase } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

test('with DATABASE_URL it starts on that database, and leaves it running', async () => {
  const { databaseUrl } = await createEmptyDatabase();
  const dataDir = newFolder();
  const first = start(dataDir, { DATABASE_URL: databaseUrl, BANYAN_ADMIN_PASSWORD: '' });
  const password = (await first.ready()) && first.told('Password');
  const id = await (await first.admin(password)).createDepartment();
  assert.equal(await first.stop(), 0);
  assert.doesNotMatch(first.stderr, /Starting PostgreSQL|^ +Data /m);
  assert.equal(fs.existsSync(dataDir), false);

  // Any number of services may share it.
  const runs = [1, 2].map(() => startServed(databaseUrl));
  for (const run of runs) {
    const admin = await run.admin(password);
    assert.equal((await admin.get(`/system/dept-api/${id}`)).code, 200);
    assert.equal(run.told('Password'), '');
  }
  for (const run of runs) assert.equal(await run.stop(), 0);
});

test('a database that cannot be used is refused with a sentence that does not tell the password', async () => {
  const { name, databaseUrl } = await createEmptyDatabase();
  const secret = new URL(databaseUrl).password;
  for (const [address, words] of [
    ['postgres://me:hush-hush@127.0.0.1:1/banyan', /ECONNREFUSED.*Check that it runs, and the host, port/],
    // The name servers may take longer to say so than a connection is waited for.
    [
      'postgres://me:hush-hush@no-such-host.invalid/banyan',
      /(ENOTFOUND|EAI_AGAIN|CONNECT_TIMEOUT).*Check that it runs/,
    ],
    // Fails at once, before anybody could listen.
    ['postgres://me:hush-hush@255.255.255.255/banyan', /(ENETUNREACH|EACCES|EHOSTUNREACH).*Check that it runs/],
    [databaseUrl.replace(secret, 'hush-hush'), /28P01.*password authentication failed/],
    [databaseUrl.replace(name, 'no_such_database'), /3D000.*"no_such_database" does not exist/],
  ] as const) {
    const opening = openDatabase({ databaseUrl: address, dataDir: '', timeZone: 'UTC' });
    const { message } = await opening.then(
      () => assert.fail(`opened ${address}`),
      (error) => error as Error,
    );
    assert.match(message, words);
    assert.doesNotMatch(message, /hush-hush/);
    assert.equal(message.includes(secret), false);
  }
});

test('a start with an address that cannot be used ends with a sentence, without the password and without a stack', async () => {
  for (const [address, words] of [
    ['postgres://me:hush-hush@127.0.0.1:1/banyan', /ECONNREFUSED.*Check that it runs, and the host, port/],
    ['postgres://me:hush-hush#1@host/banyan', /DATABASE_URL: must look like .* escaped as %23/],
  ] as const) {
    const run = start(newFolder(), { DATABASE_URL: address });
    assert.equal(await run.ended, 1);
    assert.match(run.stderr, words);
    assert.match(run.stderr, /^Banyan did not start\. [\s\S]*DATABASE_URL/m);
    assert.doesNotMatch(run.stderr, /hush-hush|\n +at /);
  }
});

test('an address that takes connections and drops them, or says nothing, is given up', async () => {
  const attempts = [
    [(socket: net.Socket) => socket.resume().end(), 'CONNECTION_CLOSED'],
    // After ten seconds.
    [(socket: net.Socket) => socket.resume(), 'CONNECT_TIMEOUT'],
  ] as const;
  await Promise.all(
    attempts.map(async ([answer, told]) => {
      let knocks = 0;
      const proxy = net.createServer((socket) => {
        knocks++;
        answer(socket.on('error', () => {}));
      });
      proxy.listen(0, '127.0.0.1').unref();
      await once(proxy, 'listening');
      const { port } = proxy.address() as net.AddressInfo;
      const databaseUrl = `postgres://me:hush-hush@127.0.0.1:${port}/banyan`;
      const { message } = await openDatabase({ databaseUrl, dataDir: '', timeZone: 'UTC' }).then(
        () => assert.fail('opened'),
        (error) => error as Error,
      );
      assert.equal(knocks, 1);
      assert.ok(message.startsWith(`The database of DATABASE_URL can't be used (${told})`), message);
      assert.ok(!message.includes('hush-hush'));
      proxy.close();
    }),
  );
});

test('SIGTERM while another node prepares the tables: it does not wait for that', async () => {
  const { databaseUrl } = await createEmptyDatabase();
  const other = connectOwner({ url: databaseUrl });
  await other`select pg_advisory_lock(${LOCKS.migrate})`;
  const run = startServed(databaseUrl);
  await waitFor('it waits', async () => {
    const [row] = await other`
      select from pg_locks l join pg_database d on d.oid = l.database
      where d.datname = current_database() and l.locktype = 'advisory' and not l.granted`;
    return row;
  });
  assert.equal(await run.stop(), 0, run.stderr);
  await other.end();
});
