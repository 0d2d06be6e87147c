import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { openDatabase } from '../../db/connect.ts';
import { buildApp } from '../../server/app.ts';
import { readConfig } from '../../server/config.ts';
import { after } from '../support/cleanup.ts';
import { CHEAP_HASH, NO_DEADLINES } from '../support/database.ts';
import { outcomeOf } from '../support/expect.ts';
import { keepLoginsPending } from '../support/pending-logins.ts';
import { Client, PASSWORD, RELAXED_TIMING, startService } from '../support/service.ts';
import { countLockWaits, waitFor } from '../support/wait.ts';

const service = await startService();
await keepLoginsPending(service);

const WRONG = 'wrong password';
const FAILED = '401 LOGIN_FAILED';
const LOCKED = '429 TOO_MANY_LOGINS';
const SUCCEEDED = '200 OK';

let last = 0;
const newAddress = () => `127.2.${++last >> 8}.${last & 255}`;

const logIn = (from: string, tenantId: string, password = PASSWORD, username = 'boss') =>
  service.anonymous.post('/auth/login', { tenantId, username, password }, { from });

async function fail(times: number, from: string, tenantId: string, username?: string): Promise<void> {
  for (let n = 1; n <= times; n++) assert.equal(outcomeOf(await logIn(from, tenantId, WRONG, username)), FAILED);
}

/** Ends the lock of an account for all addresses; locks for single addresses stay. */
const endAccountLock = (tenantId: string) => service.superuser`
  update banyan.login_failures set locked_until = now() - interval '1 second' where tenant_id = ${tenantId} and address = ''`;

/** How long an account is locked for all addresses, in seconds. */
async function lockSecondsOf(tenantId: string): Promise<number> {
  const [row] = await service.superuser<[{ seconds: number }]>`
    select extract(epoch from locked_until - last_failure)::float as seconds from banyan.login_failures
    where tenant_id = ${tenantId} and address = ''`;
  return row.seconds;
}

test('failures from many addresses lock an account for longer each time, except for addresses that logged in before', async () => {
  const { tenantId } = await service.createTenant();
  const home = newAddress();
  assert.equal(outcomeOf(await logIn(home, tenantId)), SUCCEEDED);
  for (const from of [newAddress(), newAddress()]) await fail(5, from, tenantId);
  const durations: number[] = [];
  for (let n = 0; n < 6; n++) {
    durations.push(await lockSecondsOf(tenantId));
    // Extend the lock so that it cannot end during the checks below.
    await service.superuser`
      update banyan.login_failures set locked_until = now() + interval '5 minutes'
      where tenant_id = ${tenantId} and address = ''`;
    const rejected = await logIn(newAddress(), tenantId);
    assert.equal(outcomeOf(rejected), LOCKED);
    const seconds = Number(rejected.headers['retry-after']);
    assert.ok(seconds > 0 && seconds <= 300, `Retry-After: ${seconds}`);
    assert.equal(
      outcomeOf(await logIn(home, tenantId)),
      SUCCEEDED,
      'the address that logged in before is not locked out',
    );
    await endAccountLock(tenantId);
    await fail(1, newAddress(), tenantId);
  }
  for (const [n, duration] of durations.entries()) {
    assert.ok(duration > (durations[n - 1] ?? 0), `each lock is longer than the one before: ${durations}`);
  }
});

test('the lock of an account has an upper limit and expires', async () => {
  const { tenantId } = await service.createTenant();
  for (const from of [newAddress(), newAddress()]) await fail(5, from, tenantId);
  await service.superuser`
    update banyan.login_failures set failures = 1000000, locked_until = now() - interval '1 second'
    where tenant_id = ${tenantId} and address = ''`;
  await fail(1, newAddress(), tenantId);
  const seconds = await lockSecondsOf(tenantId);
  assert.equal(Math.round(seconds), 900);
  await endAccountLock(tenantId);
  assert.equal(outcomeOf(await logIn(newAddress(), tenantId)), SUCCEEDED);
});

test('an address that logged in before is still locked after 5 failures of its own', async () => {
  const { tenantId } = await service.createTenant();
  const home = newAddress();
  assert.equal(outcomeOf(await logIn(home, tenantId)), SUCCEEDED);
  await fail(5, home, tenantId);
  assert.equal(outcomeOf(await logIn(home, tenantId)), LOCKED);
});

test('the lock of an account does not affect the account of the same name in another tenant', async () => {
  const [one, two] = await Promise.all([service.createTenant(), service.createTenant()]);
  for (const from of [newAddress(), newAddress()]) await fail(5, from, one.tenantId);
  await fail(1, newAddress(), two.tenantId);
  assert.equal(outcomeOf(await logIn(newAddress(), two.tenantId)), SUCCEEDED);
});

test('an address with too many failures is locked out of all accounts of all tenants', async () => {
  const [one, two] = await Promise.all([service.createTenant(), service.createTenant()]);
  const from = newAddress();
  const names = Array.from({ length: 60 }, (_, n) => `name${n}`);
  const responses = await Promise.all(names.map((name) => logIn(from, one.tenantId, WRONG, name)));
  for (const { tenantId } of [one, two]) {
    const response = await logIn(from, tenantId);
    assert.equal(outcomeOf(response), LOCKED);
    assert.ok(Number(response.headers['retry-after']) > 0);
  }
  assert.equal(outcomeOf(await logIn(newAddress(), one.tenantId)), SUCCEEDED, 'other addresses are not locked out');
  await service.superuser`update banyan.login_addresses set window_start = window_start - interval '1 hour' where address = ${from}`;
  assert.equal(outcomeOf(await logIn(from, one.tenantId)), SUCCEEDED, 'the lock expires');
  assert.ok(responses.map(outcomeOf).includes(FAILED));
  assert.ok(responses.map(outcomeOf).includes(LOCKED), 'none of 60 concurrent guesses was rejected as too many');
});

test('concurrent guesses on one account from many addresses lock it', async () => {
  const { tenantId } = await service.createTenant();
  // The first locks last seconds, so on a slow machine they could end before the next guess.
  await service.superuser.unsafe(`
    create function public.lengthen() returns trigger language plpgsql as $$
    begin
      new.locked_until := new.locked_until + interval '1 hour';
      return new;
    end $$;
    create trigger lengthen before update on banyan.login_failures for each row
      when (new.tenant_id = '${tenantId}' and new.address = '' and new.locked_until > old.locked_until)
      execute function public.lengthen()`);
  const responses = await Promise.all(Array.from({ length: 25 }, () => logIn(newAddress(), tenantId, WRONG)));
  assert.ok(responses.map(outcomeOf).includes(LOCKED), 'none of 25 concurrent guesses was rejected as too many');
});

test('a client cannot choose its address with a header', async () => {
  const { tenantId } = await service.createTenant();
  const from = newAddress();
  const guess = (n: number, password: string) =>
    service.anonymous.post(
      '/auth/login',
      { tenantId, username: 'boss', password },
      { from, headers: { 'x-forwarded-for': `10.0.0.${n}`, forwarded: `for=10.0.0.${n}`, 'x-real-ip': `10.0.0.${n}` } },
    );
  for (let n = 1; n <= 5; n++) assert.equal(outcomeOf(await guess(n, WRONG)), FAILED);
  assert.equal(outcomeOf(await guess(6, PASSWORD)), LOCKED);
});

const proxied = await startService({ BANYAN_TRUST_PROXY: '127.0.0.1' });

test('a trusted proxy supplies the address, and an IPv6 /64 network counts as one address', async () => {
  const { tenantId } = await proxied.createTenant();
  const guess = (username: string, forwarded: string, password: string, from = '127.0.0.1') =>
    proxied.anonymous.post(
      '/auth/login',
      { tenantId, username, password },
      { from, headers: { 'x-forwarded-for': forwarded } },
    );
  for (const host of ['1', '2', 'a:b', 'ffff:0:1', '1:2:3']) {
    assert.equal(outcomeOf(await guess('boss', `2001:db8:0:1::${host}`, WRONG)), FAILED);
  }
  assert.equal(outcomeOf(await guess('boss', '2001:db8:0:1:1:2:3:4', PASSWORD)), LOCKED);
  assert.equal(
    outcomeOf(await guess('boss', '2001:0DB8:0000:0001::9', PASSWORD)),
    LOCKED,
    'the same network in another notation',
  );
  assert.equal(outcomeOf(await guess('boss', '2001:db8:0:2::1', PASSWORD)), SUCCEEDED);
  assert.equal(outcomeOf(await guess('boss', '10.0.0.1', PASSWORD)), SUCCEEDED);
  // Only the last entry comes from the proxy; earlier entries come from the client and are not trusted.
  for (let n = 1; n <= 5; n++) assert.equal(outcomeOf(await guess('a', `10.9.9.${n}, 10.0.0.2`, WRONG)), FAILED);
  assert.equal(outcomeOf(await guess('a', '10.9.9.6, 10.0.0.2', WRONG)), LOCKED);
  // The header of a client that does not come through the proxy is ignored.
  for (let n = 1; n <= 5; n++) assert.equal(outcomeOf(await guess('b', `10.0.0.${n}`, WRONG, '127.0.0.9')), FAILED);
  assert.equal(outcomeOf(await guess('b', '10.0.0.6', WRONG, '127.0.0.9')), LOCKED);
});

test('a client behind a trusted proxy gets no extra attempts with other ports, other notations or an invalid X-Forwarded-For', async () => {
  const { tenantId } = await proxied.createTenant();
  const guess = async (username: string, forwarded: string) =>
    outcomeOf(
      await proxied.anonymous.post(
        '/auth/login',
        { tenantId, username, password: WRONG },
        { headers: { 'x-forwarded-for': forwarded } },
      ),
    );
  for (const [username, spellings] of Object.entries({
    port: ['7.7.7.7:1', '7.7.7.7:65535', '7.7.7.7', '::ffff:7.7.7.7', '[::ffff:707:707]:80', '7.7.7.7:2'],
    port6: ['[2001:db8::1]:1', '[2001:db8::1]:2', '[2001:db8::1]', '2001:db8::1', '2001:db8::2', '[2001:db8::3]:9'],
    text: ['unknown', '_hidden', 'a.example', '7.7.7', '7.7.7.7:1:2', '[x]:1'],
  })) {
    const outcomes = [];
    for (const spelling of spellings) outcomes.push(await guess(username, spelling));
    assert.deepEqual(outcomes, [...Array(5).fill(FAILED), LOCKED], username);
  }
});

test('concurrent guesses on two nodes are counted together', async () => {
  const { tenantId } = await service.createTenant();
  const node = await startNode();
  const from = newAddress();
  await fail(4, from, tenantId);
  const guess = (client: Client) =>
    client.post('/auth/login', { tenantId, username: 'boss', password: WRONG }, { from });
  const { guesses } = await service.superuser.begin(async (tx) => {
    // Lock the counter until both nodes want to count their attempt, of which only one is still allowed.
    await tx`select from banyan.login_failures where tenant_id = ${tenantId} and address = ${from} for update`;
    const guesses = Promise.all([guess(service.anonymous), guess(node)]);
    await waitFor('both guesses wait for a lock', async () => (await countLockWaits(service.owner)) === 2);
    return { guesses };
  });
  assert.deepEqual((await guesses).map(outcomeOf).sort(), [FAILED, LOCKED]);
});

/** Starts another node of the service that shares only the database with the first. */
async function startNode(): Promise<Client> {
  const config = readConfig({ DATABASE_URL: service.databaseUrl, BANYAN_LOG_LEVEL: 'silent' });
  const db = await openDatabase({ ...config, timing: NO_DEADLINES });
  const app = await buildApp({ db, config, passwordCost: CHEAP_HASH, timing: RELAXED_TIMING });
  after(async () => {
    await app.close();
    await db.close();
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  return new Client(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`);
}
