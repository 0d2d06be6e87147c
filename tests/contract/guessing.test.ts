import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepPending } from '../support/guesses.ts';
import { type Answer, type Client, PASSWORD, startService } from '../support/service.ts';

const service = await startService();
await keepPending(service);

const WRONG = 'wrong password';
const reasonOf = ({ status, data }: Answer) => `${status} ${data?.reason ?? 'fine'}`;
const FAILED = '401 LOGIN_FAILED';
const LOCKED = '429 TOO_MANY_LOGINS';

let last = 0;
/** An address that nobody has called from yet. */
const address = () => `127.1.${++last >> 8}.${last & 255}`;

interface Guess {
  tenantId: string;
  username?: string;
  from: string;
}

const logIn = (password: string, { tenantId, username = 'boss', from }: Guess) =>
  service.anonymous.post('/auth/login', { tenantId, username, password }, { from });

/** Sends wrong guesses one after the other; insists that each was a plain failure. */
async function fail(times: number, guess: Guess): Promise<void> {
  for (let n = 1; n <= times; n++) assert.equal(reasonOf(await logIn(WRONG, guess)), FAILED, `failure ${n}`);
}

/** Lets the time of all locks of a tenant's accounts pass. */
const letLocksPass = ({ tenantId }: Client) =>
  service.superuser`
    update banyan.login_failures set closed = now() - interval '1 second'
    where tenant_id = ${tenantId} and closed > now()`;

test('5 failures in a row close the account to that address, the right password included', async () => {
  const { tenantId } = await service.createTenant();
  const guess = { tenantId, from: address() };
  await fail(5, guess);
  const answer = await logIn(PASSWORD, guess);
  assert.equal(reasonOf(answer), LOCKED);
  const seconds = Number(answer.headers['retry-after']);
  assert.ok(seconds > 0 && seconds <= 600, `Retry-After: ${seconds}`);
  const [row] = await service.superuser<[{ seconds: number }]>`
    select extract(epoch from closed - seen)::float as seconds from banyan.login_failures
    where tenant_id = ${tenantId} and address = ${guess.from}`;
  assert.equal(row.seconds, 600);
  assert.deepEqual(answer.data, { reason: 'TOO_MANY_LOGINS', seconds });
  assert.equal(reasonOf(await logIn(WRONG, guess)), LOCKED);
});

test('another address can still log in to a closed account', async () => {
  const { tenantId } = await service.createTenant();
  await fail(5, { tenantId, from: address() });
  assert.equal(reasonOf(await logIn(PASSWORD, { tenantId, from: address() })), '200 fine');
});

test('the closed address can still log in to other accounts', async () => {
  const boss = await service.createTenant();
  const { tenantId } = boss;
  await boss.createUser({ userName: 'anna' });
  const from = address();
  await fail(5, { tenantId, from });
  assert.equal(reasonOf(await logIn(PASSWORD, { tenantId, from, username: 'anna' })), '200 fine');
});

test("one tenant's locks never touch another's account of the same name", async () => {
  const [one, two] = await Promise.all([service.createTenant(), service.createTenant()]);
  const from = address();
  await fail(5, { tenantId: one.tenantId, from });
  assert.equal(reasonOf(await logIn(PASSWORD, { tenantId: one.tenantId, from })), LOCKED);
  assert.equal(reasonOf(await logIn(PASSWORD, { tenantId: two.tenantId, from })), '200 fine');
});

test('a success begins the row of failures anew', async () => {
  const { tenantId } = await service.createTenant();
  const guess = { tenantId, from: address() };
  await fail(4, guess);
  assert.equal(reasonOf(await logIn(PASSWORD, guess)), '200 fine');
  await fail(4, guess);
  assert.equal(reasonOf(await logIn(PASSWORD, guess)), '200 fine');
});

test('a user name in other letters is the same account to guess on', async () => {
  const { tenantId } = await service.createTenant();
  const from = address();
  for (const username of ['boss', 'BOSS', 'Boss', 'bosS', 'ｂｏｓｓ']) await fail(1, { tenantId, from, username });
  assert.equal(reasonOf(await logIn(PASSWORD, { tenantId, from })), LOCKED);
});

test('a lock ends by itself', async () => {
  const boss = await service.createTenant();
  const guess = { tenantId: boss.tenantId, from: address() };
  await fail(5, guess);
  assert.equal(reasonOf(await logIn(PASSWORD, guess)), LOCKED);
  await letLocksPass(boss);
  assert.equal(reasonOf(await logIn(PASSWORD, guess)), '200 fine');
  await fail(4, guess);
});

test('who goes on guessing after a lock is locked again', async () => {
  const boss = await service.createTenant();
  const guess = { tenantId: boss.tenantId, from: address() };
  await fail(5, guess);
  await letLocksPass(boss);
  const answers = [];
  for (let n = 1; n <= 6; n++) answers.push(reasonOf(await logIn(WRONG, guess)));
  assert.equal(answers[0], FAILED);
  assert.equal(answers.at(-1), LOCKED);
});

test('a refused attempt makes no lock longer', async () => {
  const { tenantId } = await service.createTenant();
  const guess = { tenantId, from: address() };
  await fail(5, guess);
  const closed = async () => {
    const [row] = await service.superuser<[{ closed: string }]>`
      select closed::text from banyan.login_failures where tenant_id = ${tenantId} and address = ${guess.from}`;
    return row.closed;
  };
  const before = await closed();
  for (let n = 1; n <= 3; n++) assert.equal(reasonOf(await logIn(WRONG, guess)), LOCKED);
  assert.equal(await closed(), before);
});

test('unknown users and tenants are counted and answered like known ones', async () => {
  const { tenantId } = await service.createTenant();
  const story = async (guess: Guess) => {
    const answers = [];
    for (let n = 1; n <= 6; n++) {
      const { status, msg, data, headers } = await logIn(WRONG, guess);
      answers.push([status, msg.replace(/\d+/, 'N'), data.reason, 'retry-after' in headers, headers['content-type']]);
    }
    return answers;
  };
  const known = await story({ tenantId, from: address() });
  assert.deepEqual(await story({ tenantId, from: address(), username: 'nobody' }), known);
  assert.deepEqual(await story({ tenantId: '999999999999999999', from: address() }), known);
  assert.deepEqual(await story({ tenantId: 'acme', from: address() }), known);
});

test('20 wrong guesses at the same moment from one address: 5 are answered, the rest are too many', async () => {
  const { tenantId } = await service.createTenant();
  const guess = { tenantId, from: address() };
  const answers = await Promise.all(Array.from({ length: 20 }, () => logIn(WRONG, guess)));
  assert.deepEqual(answers.map(reasonOf).sort(), [...Array(5).fill(FAILED), ...Array(15).fill(LOCKED)]);
  assert.equal(reasonOf(await logIn(PASSWORD, guess)), LOCKED);
});

test('20 right logins at the same moment all succeed', async () => {
  const { tenantId } = await service.createTenant();
  const guess = { tenantId, from: address() };
  const answers = await Promise.all(Array.from({ length: 20 }, () => logIn(PASSWORD, guess)));
  assert.deepEqual(answers.map(reasonOf), Array(20).fill('200 fine'));
  assert.equal(new Set(answers.map(({ data }) => data.access_token)).size, 20);
});
