import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { test } from 'node:test';
import { openDatabase } from '../../db/connect.ts';
import { LOCKS } from '../../db/driver.ts';
import { connectWithoutDeadline, NO_DEADLINES } from '../support/database.ts';
import { createEmptyDatabase } from '../support/service.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';

test('an unusable database is rejected with a message that does not contain the password', async () => {
  const { name, databaseUrl } = await createEmptyDatabase();
  const secret = new URL(databaseUrl).password;
  for (const [address, expected] of [
    ['postgres://me:hush-hush@127.0.0.1:1/banyan', /ECONNREFUSED.*Check that it is running, and check host, port/],
    // The name servers may take longer than the connection timeout.
    [
      'postgres://me:hush-hush@no-such-host.invalid/banyan',
      /(ENOTFOUND|EAI_AGAIN|CONNECT_TIMEOUT).*Check that it is running/,
    ],
    // This fails immediately, because it is the broadcast address.
    ['postgres://me:hush-hush@255.255.255.255/banyan', /(ENETUNREACH|EACCES|EHOSTUNREACH).*Check that it is running/],
    [databaseUrl.replace(secret, 'hush-hush'), /28P01.*password authentication failed/],
    [databaseUrl.replace(name, 'no_such_database'), /3D000.*"no_such_database" does not exist/],
  ] as const) {
    const opened = openDatabase({ databaseUrl: address, dataDir: '', timeZone: 'UTC' });
    const { message } = await opened.then(
      () => assert.fail(`opened ${address}`),
      (error) => error as Error,
    );
    assert.match(message, expected);
    assert.doesNotMatch(message, /hush-hush/);
    assert.equal(message.includes(secret), false);
  }
});

test('a server that closes connections or never responds is rejected after one attempt', async () => {
  const cases = [
    [(socket: net.Socket) => socket.resume().end(), NO_DEADLINES, 'CONNECTION_CLOSED'],
    [(socket: net.Socket) => socket.resume(), { ...NO_DEADLINES, connectMs: 100 }, 'CONNECT_TIMEOUT'],
  ] as const;
  await Promise.all(
    cases.map(async ([respond, timing, code]) => {
      let connections = 0;
      const server = net.createServer((socket) => {
        connections++;
        respond(socket.on('error', () => {}));
      });
      server.listen(0, '127.0.0.1').unref();
      await once(server, 'listening');
      const { port } = server.address() as net.AddressInfo;
      const databaseUrl = `postgres://me:hush-hush@127.0.0.1:${port}/banyan`;
      const { message } = await openDatabase({ databaseUrl, dataDir: '', timeZone: 'UTC', timing }).then(
        () => assert.fail('opened'),
        (error) => error as Error,
      );
      await waitFor('the server has seen the attempt', () => connections > 0);
      assert.equal(connections, 1);
      assert.ok(message.startsWith(`The database at DATABASE_URL can't be used (${code})`), message);
      assert.ok(!message.includes('hush-hush'));
      server.close();
    }),
  );
});

test('opening a database can be aborted while another node prepares the tables', async () => {
  const { databaseUrl } = await createEmptyDatabase();
  const other = connectWithoutDeadline({ url: databaseUrl });
  await other`select pg_advisory_lock(${LOCKS.migrate})`;
  const stop = new AbortController();
  const opened = openDatabase({ databaseUrl, dataDir: '', timeZone: 'UTC', timing: NO_DEADLINES, signal: stop.signal });
  const outcome = opened.catch((error) => error);
  await waitFor('it waits for the lock', async () => (await countLockWaits(other)) === 1);
  stop.abort(new Error('stopped'));
  // The other node still holds the lock.
  assert.equal(String(await outcome), 'Error: stopped');
  await other.end();
});
