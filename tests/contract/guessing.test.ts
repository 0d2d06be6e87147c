import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outcomeOf } from '../support/expect.ts';
import { keepLoginsPending } from '../support/pending-logins.ts';
import { type Client, PASSWORD, startService } from '../support/service.ts';

const service = await startService();
await keepLoginsPending(service);

const WRONG = 'wrong password';
const FAILED = '401 LOGIN_FAILED';
const LOCKED = '429 TOO_MANY_LOGINS';

let last = 0;
const newAddress = () => `127.1.${++last >> 8}.${last & 255}`;

interface LoginAttempt {
  tenantId: string;
  username?: string;
  from: string;
}

const logIn = (password: string, { tenantId, username = 'boss', from }: LoginAttempt) =>
  service.anonymous.post('/auth/login', { tenantId, username, password }, { from });

/** Sends wrong guesses one by one and expects that each fails without a lock. */
async function fail(times: number, guess: LoginAttempt): Promise<void> {
  for (let n = 1; n <= times; n++) assert.equal(outcomeOf(await logIn(WRONG, guess)), FAILED, `failure ${n}`);
}

const endLocks = ({ tenantId }: Client) =>
  service.superuser`
    update banyan.login_failures set locked_until = now() - interval '1 second'
    where tenant_id = ${tenantId} and locked_until > now()`;

test('5 consecutive failures lock the account for that address, even with the correct password', async () => {
  const { tenantId } = await service.createTenant();
  const guess = { tenantId, from: newAddress() };
  await fail(5, guess);
  const response = await logIn(PASSWORD, guess);
  assert.equal(outcomeOf(response), LOCKED);
  const seconds = Number(response.headers['retry-after']);
  assert.ok(seconds > 0 && seconds <= 600, `Retry-After: ${seconds}`);
  const [row] = await service.superuser<[{ seconds: number }]>`
    select extract(epoch from locked_until - last_failure)::float as seconds from banyan.login_failures
    where tenant_id = ${tenantId} and address = ${guess.from}`;
  assert.equal(row.seconds, 600);
  assert.deepEqual(response.data, { reason: 'TOO_MANY_LOGINS', seconds });
  assert.equal(outcomeOf(await logIn(WRONG, guess)), LOCKED);
});

test('another address can still log in to a locked account', async () => {
  const { tenantId } = await service.createTenant();
  await fail(5, { tenantId, from: newAddress() });
  assert.equal(outcomeOf(await logIn(PASSWORD, { tenantId, from: newAddress() })), '200 OK');
});

test('the locked address can still log in to other accounts', async () => {
  const admin = await service.createTenant();
  const { tenantId } = admin;
  await admin.createUser({ userName: 'anna' });
  const from = newAddress();
  await fail(5, { tenantId, from });
  assert.equal(outcomeOf(await logIn(PASSWORD, { tenantId, from, username: 'anna' })), '200 OK');
});

test('a lock does not affect the account of the same name in another tenant', async () => {
  const [one, two] = await Promise.all([service.createTenant(), service.createTenant()]);
  const from = newAddress();
  await fail(5, { tenantId: one.tenantId, from });
  assert.equal(outcomeOf(await logIn(PASSWORD, { tenantId: one.tenantId, from })), LOCKED);
  assert.equal(outcomeOf(await logIn(PASSWORD, { tenantId: two.tenantId, from })), '200 OK');
});

test('a successful login resets the count of failures', async () => {
  const { tenantId } = await service.createTenant();
  const guess = { tenantId, from: newAddress() };
  await fail(4, guess);
  assert.equal(outcomeOf(await logIn(PASSWORD, guess)), '200 OK');
  await fail(4, guess);
  assert.equal(outcomeOf(await logIn(PASSWORD, guess)), '200 OK');
});

test('user names that differ only in case or width are counted as one account', async () => {
  const { tenantId } = await service.createTenant();
  const from = newAddress();
  for (const username of ['boss', 'BOSS', 'Boss', 'bosS', 'ｂｏｓｓ']) await fail(1, { tenantId, from, username });
  assert.equal(outcomeOf(await logIn(PASSWORD, { tenantId, from })), LOCKED);
});

test('a lock expires', async () => {
  const admin = await service.createTenant();
  const guess = { tenantId: admin.tenantId, from: newAddress() };
  await fail(5, guess);
  assert.equal(outcomeOf(await logIn(PASSWORD, guess)), LOCKED);
  await endLocks(admin);
  assert.equal(outcomeOf(await logIn(PASSWORD, guess)), '200 OK');
  await fail(4, guess);
});

test('once a lock has ended, further wrong guesses lock the account again', async () => {
  const admin = await service.createTenant();
  const guess = { tenantId: admin.tenantId, from: newAddress() };
  await fail(5, guess);
  await endLocks(admin);
  const responses = [];
  for (let n = 1; n <= 6; n++) responses.push(outcomeOf(await logIn(WRONG, guess)));
  assert.equal(responses[0], FAILED);
  assert.equal(responses.at(-1), LOCKED);
});

test('a rejected attempt does not extend the lock', async () => {
  const { tenantId } = await service.createTenant();
  const guess = { tenantId, from: newAddress() };
  await fail(5, guess);
  const lockedUntil = async () => {
    const [row] = await service.superuser<[{ lockedUntil: string }]>`
      select locked_until::text as "lockedUntil" from banyan.login_failures where tenant_id = ${tenantId} and address = ${guess.from}`;
    return row.lockedUntil;
  };
  const before = await lockedUntil();
  for (let n = 1; n <= 3; n++) assert.equal(outcomeOf(await logIn(WRONG, guess)), LOCKED);
  assert.equal(await lockedUntil(), before);
});

test('unknown users and tenants are counted and reported like known ones', async () => {
  const { tenantId } = await service.createTenant();
  const guessSixTimes = async (guess: LoginAttempt) => {
    const responses = [];
    for (let n = 1; n <= 6; n++) {
      const { status, msg, data, headers } = await logIn(WRONG, guess);
      responses.push([status, msg.replace(/\d+/, 'N'), data.reason, 'retry-after' in headers, headers['content-type']]);
    }
    return responses;
  };
  const known = await guessSixTimes({ tenantId, from: newAddress() });
  assert.deepEqual(await guessSixTimes({ tenantId, from: newAddress(), username: 'nobody' }), known);
  assert.deepEqual(await guessSixTimes({ tenantId: '999999999999999999', from: newAddress() }), known);
  assert.deepEqual(await guessSixTimes({ tenantId: 'acme', from: newAddress() }), known);
});

test('of 20 concurrent wrong guesses from one address 5 fail and 15 are rejected as too many', async () => {
  const { tenantId } = await service.createTenant();
  const guess = { tenantId, from: newAddress() };
  const responses = await Promise.all(Array.from({ length: 20 }, () => logIn(WRONG, guess)));
  assert.deepEqual(responses.map(outcomeOf).sort(), [...Array(5).fill(FAILED), ...Array(15).fill(LOCKED)]);
  assert.equal(outcomeOf(await logIn(PASSWORD, guess)), LOCKED);
});

test('20 concurrent logins with the correct password all succeed', async () => {
  const { tenantId } = await service.createTenant();
  const guess = { tenantId, from: newAddress() };
  const responses = await Promise.all(Array.from({ length: 20 }, () => logIn(PASSWORD, guess)));
  assert.deepEqual(responses.map(outcomeOf), Array(20).fill('200 OK'));
  assert.equal(new Set(responses.map(({ data }) => data.access_token)).size, 20);
});
