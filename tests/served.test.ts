import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import { test } from 'node:test';
import { connectOwner, LOCKS } from '../db/sql.ts';
import { makeDatabase } from './harness.ts';
import { newFolder, start, until } from './process.ts';

test('with DATABASE_URL it starts on that database, and leaves it running', async () => {
  const { databaseUrl } = await makeDatabase();
  const dataDir = newFolder();
  const first = start(dataDir, { DATABASE_URL: databaseUrl, BANYAN_ADMIN_PASSWORD: '' });
  const password = (await first.ready()) && first.told('Password');
  const id = await (await first.admin(password)).dept();
  assert.equal(await first.stop(), 0);
  assert.doesNotMatch(first.stderr, /Starting PostgreSQL|^ +Data /m);
  assert.equal(fs.existsSync(dataDir), false);

  // Any number of services may share it.
  const runs = [1, 2].map(() => start(dataDir, { DATABASE_URL: databaseUrl }));
  for (const run of runs) {
    const admin = await run.admin(password);
    assert.equal((await admin.get(`/system/dept-api/${id}`)).code, 200);
    assert.equal(run.told('Password'), '');
  }
  for (const run of runs) assert.equal(await run.stop(), 0);
});

test('a database that cannot be used is refused with a sentence that does not tell the password', async () => {
  const { name, databaseUrl } = await makeDatabase();
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
    ['postgres://me:hush-hush#1@host/banyan', /DATABASE_URL: must look like .* escaped as %23/],
    ['postgres://me:hush-hush%1@host/banyan', /DATABASE_URL: must look like .* escaped as %23/],
  ] as const) {
    const run = start(newFolder(), { DATABASE_URL: address });
    assert.equal(await run.ended, 1);
    assert.match(run.stderr, words);
    assert.match(run.stderr, /^Banyan did not start\. [\s\S]*DATABASE_URL/m);
    assert.doesNotMatch(run.stderr, /hush-hush|\n +at /);
    assert.equal(run.stderr.includes(secret), false);
  }
});

for (const [what, answer, told] of [
  ['drops them', (socket: net.Socket) => socket.resume().end(), 'CONNECTION_CLOSED'],
  ['says nothing', (socket: net.Socket) => socket.resume(), 'CONNECT_TIMEOUT'],
] as const) {
  test(`an address that takes connections and ${what} is given up`, async () => {
    let knocks = 0;
    const proxy = net.createServer((socket) => {
      knocks++;
      answer(socket.on('error', () => {}));
    });
    proxy.listen(0, '127.0.0.1').unref();
    await once(proxy, 'listening');
    const { port } = proxy.address() as net.AddressInfo;
    const run = start(newFolder(), { DATABASE_URL: `postgres://me:hush-hush@127.0.0.1:${port}/banyan` });
    assert.equal(await run.ended, 1);
    assert.equal(knocks, 1);
    assert.ok(
      run.stderr.includes(`Banyan did not start. The database of DATABASE_URL can't be used (${told})`),
      run.stderr,
    );
    assert.ok(!run.stderr.includes('hush-hush'));
    proxy.close();
  });
}

test('SIGTERM while another node prepares the tables: it does not wait for that', async () => {
  const { databaseUrl } = await makeDatabase();
  const other = connectOwner({ url: databaseUrl });
  await other`select pg_advisory_lock(${LOCKS.migrate})`;
  const run = start(newFolder(), { DATABASE_URL: databaseUrl });
  await until('it waits', async () => {
    const [row] = await other`
      select from pg_locks l join pg_database d on d.oid = l.database
      where d.datname = current_database() and l.locktype = 'advisory' and not l.granted`;
    return row;
  });
  assert.equal(await run.stop(), 0, run.stderr);
  await other.end();
});
