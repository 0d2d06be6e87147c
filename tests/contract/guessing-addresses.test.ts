import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { openDatabase } from '../../db/connect.ts';
import { buildApp } from '../../server/app.ts';
import { readConfig } from '../../server/config.ts';
import { CHEAP_HASH, NO_DEADLINES } from '../support/database.ts';
import { keepPending } from '../support/guesses.ts';
import { type Answer, Client, PASSWORD, startService } from '../support/service.ts';
import { countWaiting, waitFor } from '../support/wait.ts';

const service = await startService();
await keepPending(service);

const WRONG = 'wrong password';
const FAILED = '401 LOGIN_FAILED';
const LOCKED = '429 TOO_MANY_LOGINS';
const FINE = '200 fine';
const reasonOf = ({ status, data }: Answer) => `${status} ${data?.reason ?? 'fine'}`;

let last = 0;
/** An address that nobody has called from yet. */
const address = () => `127.2.${++last >> 8}.${last & 255}`;

const logIn = (from: string, tenantId: string, password = PASSWORD, username = 'boss') =>
  service.anonymous.post('/auth/login', { tenantId, username, password }, { from });

async function fail(times: number, from: string, tenantId: string, username?: string): Promise<void> {
  for (let n = 1; n <= times; n++) assert.equal(reasonOf(await logIn(from, tenantId, WRONG, username)), FAILED);
}

/** Lets the delay of an account over all addresses pass, and whatever is not of it stay. */
const letDelayPass = (tenantId: string) => service.superuser`
  update banyan.login_failures set closed = now() - interval '1 second' where tenant_id = ${tenantId} and address = ''`;

/** How long an account is closed to all addresses from now on. */
async function delayOf(tenantId: string): Promise<number> {
  const [row] = await service.superuser<[{ seconds: number }]>`
    select extract(epoch from closed - seen)::float as seconds from banyan.login_failures
    where tenant_id = ${tenantId} and address = ''`;
  return row.seconds;
}

test('across addresses an account answers with growing delays, but not to an address that logged in before', async () => {
  const { tenantId } = await service.createTenant();
  const home = address();
  assert.equal(reasonOf(await logIn(home, tenantId)), FINE);
  for (const from of [address(), address()]) await fail(5, from, tenantId);
  const delays: number[] = [];
  for (let n = 0; n < 6; n++) {
    delays.push(await delayOf(tenantId));
    // Made long, so that the clock has no part in what follows.
    await service.superuser`
      update banyan.login_failures set closed = now() + interval '5 minutes'
      where tenant_id = ${tenantId} and address = ''`;
    const stranger = await logIn(address(), tenantId);
    assert.equal(reasonOf(stranger), LOCKED);
    const seconds = Number(stranger.headers['retry-after']);
    assert.ok(seconds > 0 && seconds <= 300, `Retry-After: ${seconds}`);
    assert.equal(reasonOf(await logIn(home, tenantId)), FINE, 'the owner is not locked out');
    await letDelayPass(tenantId);
    await fail(1, address(), tenantId);
  }
  for (const [n, delay] of delays.entries()) {
    assert.ok(delay > (delays[n - 1] ?? 0), `each is longer than the one before: ${delays}`);
  }
});

test('delays end by themselves, and have a limit', async () => {
  const { tenantId } = await service.createTenant();
  for (const from of [address(), address()]) await fail(5, from, tenantId);
  await service.superuser`
    update banyan.login_failures set failures = 1000000, closed = now() - interval '1 second'
    where tenant_id = ${tenantId} and address = ''`;
  await fail(1, address(), tenantId);
  const delay = await delayOf(tenantId);
  assert.ok(delay > 60 && delay <= 3600, `${delay} seconds`);
  await letDelayPass(tenantId);
  assert.equal(reasonOf(await logIn(address(), tenantId)), FINE);
});

test('an address that logged in before is still closed after 5 failures of its own', async () => {
  const { tenantId } = await service.createTenant();
  const home = address();
  assert.equal(reasonOf(await logIn(home, tenantId)), FINE);
  await fail(5, home, tenantId);
  assert.equal(reasonOf(await logIn(home, tenantId)), LOCKED);
});

test("growing delays of one tenant's account never touch another's of the same name", async () => {
  const [one, two] = await Promise.all([service.createTenant(), service.createTenant()]);
  for (const from of [address(), address()]) await fail(5, from, one.tenantId);
  await fail(1, address(), two.tenantId);
  assert.equal(reasonOf(await logIn(address(), two.tenantId)), FINE);
});

test('an address is throttled as a whole, whatever tenants and accounts it tries', async () => {
  const [one, two] = await Promise.all([service.createTenant(), service.createTenant()]);
  const from = address();
  const names = Array.from({ length: 60 }, (_, n) => `name${n}`);
  const answers = await Promise.all(names.map((name) => logIn(from, one.tenantId, WRONG, name)));
  for (const { tenantId } of [one, two]) {
    const answer = await logIn(from, tenantId);
    assert.equal(reasonOf(answer), LOCKED);
    assert.ok(Number(answer.headers['retry-after']) > 0);
  }
  assert.equal(reasonOf(await logIn(address(), one.tenantId)), FINE, 'other addresses are not');
  await service.superuser`update banyan.login_addresses set since = since - interval '1 hour' where address = ${from}`;
  assert.equal(reasonOf(await logIn(from, one.tenantId)), FINE, 'it ends by itself');
  assert.ok(answers.map(reasonOf).includes(FAILED));
  assert.ok(answers.map(reasonOf).includes(LOCKED), 'all 60 names at the same moment were answered');
});

test('one account tried at the same moment from many addresses is slowed down too', async () => {
  const { tenantId } = await service.createTenant();
  // The first delays are some seconds, which may be over when a slow machine comes to the next guess.
  await service.superuser.unsafe(`
    create function public.lengthen() returns trigger language plpgsql as $$
    begin
      new.closed := new.closed + interval '1 hour';
      return new;
    end $$;
    create trigger lengthen before update on banyan.login_failures for each row
      when (new.tenant_id = '${tenantId}' and new.address = '' and new.closed > old.closed)
      execute function public.lengthen()`);
  const answers = await Promise.all(Array.from({ length: 25 }, () => logIn(address(), tenantId, WRONG)));
  assert.ok(answers.map(reasonOf).includes(LOCKED), 'all 25 were answered');
});

test('nobody chooses his address by a header', async () => {
  const { tenantId } = await service.createTenant();
  const from = address();
  const guess = (n: number, password: string) =>
    service.anonymous.post(
      '/auth/login',
      { tenantId, username: 'boss', password },
      { from, headers: { 'x-forwarded-for': `10.0.0.${n}`, forwarded: `for=10.0.0.${n}`, 'x-real-ip': `10.0.0.${n}` } },
    );
  for (let n = 1; n <= 5; n++) assert.equal(reasonOf(await guess(n, WRONG)), FAILED);
  assert.equal(reasonOf(await guess(6, PASSWORD)), LOCKED);
});

test('behind a proxy that is trusted, the address is the one it tells; an IPv6 network is one address', async () => {
  const proxied = await startService({ BANYAN_TRUST_PROXY: '127.0.0.1' });
  const { tenantId } = await proxied.createTenant();
  const guess = (username: string, forwarded: string, password: string, from = '127.0.0.1') =>
    proxied.anonymous.post(
      '/auth/login',
      { tenantId, username, password },
      { from, headers: { 'x-forwarded-for': forwarded } },
    );
  for (const host of ['1', '2', 'a:b', 'ffff:0:1', '1:2:3']) {
    assert.equal(reasonOf(await guess('boss', `2001:db8:0:1::${host}`, WRONG)), FAILED);
  }
  assert.equal(reasonOf(await guess('boss', '2001:db8:0:1:1:2:3:4', PASSWORD)), LOCKED);
  assert.equal(reasonOf(await guess('boss', '2001:0DB8:0000:0001::9', PASSWORD)), LOCKED, 'however it is written');
  assert.equal(reasonOf(await guess('boss', '2001:db8:0:2::1', PASSWORD)), FINE);
  assert.equal(reasonOf(await guess('boss', '10.0.0.1', PASSWORD)), FINE);
  // Only the last hop is the proxy's word; what the client wrote before it is not believed.
  for (let n = 1; n <= 5; n++) assert.equal(reasonOf(await guess('a', `10.9.9.${n}, 10.0.0.2`, WRONG)), FAILED);
  assert.equal(reasonOf(await guess('a', '10.9.9.6, 10.0.0.2', WRONG)), LOCKED);
  // Who doesn't come through the proxy is not believed at all.
  for (let n = 1; n <= 5; n++) assert.equal(reasonOf(await guess('b', `10.0.0.${n}`, WRONG, '127.0.0.9')), FAILED);
  assert.equal(reasonOf(await guess('b', '10.0.0.6', WRONG, '127.0.0.9')), LOCKED);
});

test('guesses sent to two nodes at the same moment count together', async () => {
  const { tenantId } = await service.createTenant();
  const node = await startNode();
  const from = address();
  await fail(4, from, tenantId);
  const guess = (client: Client) =>
    client.post('/auth/login', { tenantId, username: 'boss', password: WRONG }, { from });
  const { guesses } = await service.superuser.begin(async (tx) => {
    // Both have compared the password before either is counted.
    await tx`select from banyan.login_failures where tenant_id = ${tenantId} and address = ${from} for update`;
    const guesses = Promise.all([guess(service.anonymous), guess(node)]);
    await waitFor('both wait', async () => (await countWaiting(service.owner)) === 2);
    return { guesses };
  });
  assert.deepEqual((await guesses).map(reasonOf).sort(), [FAILED, LOCKED]);
});

/** Another node of the service, which shares nothing with the first but the database. */
async function startNode(): Promise<Client> {
  const config = readConfig({ DATABASE_URL: service.databaseUrl, BANYAN_LOG_LEVEL: 'silent' });
  const db = await openDatabase({ ...config, timing: NO_DEADLINES });
  const timing = { responseMs: 600_000, loginQueueMs: 600_000 };
  const app = await buildApp({ db, config, passwordCost: CHEAP_HASH, timing });
  after(async () => {
    await app.close();
    await db.close();
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  return new Client(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`);
}
