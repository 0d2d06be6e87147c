import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hash, verify as verifyArgon2 } from '@node-rs/argon2';
import { type FairnessKey, fairnessKeyOfAddress, fairnessKeyOfTenant } from '../../server/auth/fair-queue.ts';
import { createPasswords } from '../../server/auth/passwords.ts';
import { CHEAP_HASH } from '../support/database.ts';
import { DEPTS, expectError, readDept } from '../support/expect.ts';
import { scale, Tally } from '../support/scale.ts';
import { type ApiResponse, PASSWORD, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** Checking a password is slow by design. A flood of logins must not block other requests. */

const service = await startService();
const admin = await service.createTenant();
const member = await service.createMember(admin, { userName: 'reader' });
const id = await admin.createDepartment({ deptName: 'still here' });

/**
 * Logs in from the given address. The flood of the first test uses many: otherwise brute-force protection rejects the logins
 * before hashing.
 */
const logIn = (username: string, from?: string) =>
  service.anonymous.post(
    '/auth/login',
    { tenantId: admin.tenantId, username, password: PASSWORD },
    from ? { from } : {},
  );

test('100 logins of a flood are admitted, the others are rejected while the 100 wait, and all other requests are served', async () => {
  const logins = scale(120, 1_000);
  const rejected: ApiResponse[] = [];
  const statuses = new Tally();
  // No login completes while the table of failed logins is locked.
  const { flood } = await service.superuser.begin(async (tx) => {
    await tx`lock table login_failures in access exclusive mode`;
    const flood = Array.from({ length: logins }, async (_, n) => {
      const response = await logIn(`nobody${n}`, `127.1.${n >> 7}.${1 + (n & 127)}`);
      statuses.add(response.status);
      if (response.status === 503) rejected.push(response);
    });
    await waitFor('all logins beyond 100 are rejected', () => rejected.length >= logins - 100);
    assert.equal((await readDept(member, id)).deptName, 'still here');
    assert.equal((await admin.get(`${DEPTS}/list`)).code, 200);
    assert.equal((await service.root.post(DEPTS, {})).code, 200);
    assert.deepEqual(statuses.counts, { 503: logins - 100 }, 'the other 100 are still pending');
    return { flood };
  });
  await Promise.all(flood);
  for (const response of rejected) {
    expectError(response, 503, 'TOO_BUSY');
    assert.match(String(response.headers['retry-after']), /^[1-9]\d*$/);
  }
  assert.deepEqual(statuses.counts, { 401: 100, 503: logins - 100 });
  // All slots are free again.
  assert.equal((await logIn('reader')).code, 200);
});

test('a flood from one address makes room for a login from another one', async () => {
  const statuses = new Tally();
  const { flood, login } = await service.superuser.begin(async (tx) => {
    await tx`lock table login_failures in access exclusive mode`;
    const flood = Array.from({ length: 101 }, async (_, n) =>
      statuses.add((await logIn(`stranger${n}`, '127.3.0.1')).status),
    );
    await waitFor('the queue is full', () => statuses.counts[503] === 1);
    const login = logIn('reader', '127.3.0.2');
    await waitFor('the flood makes room', () => statuses.counts[503] === 2);
    return { flood, login };
  });
  assert.equal((await login).code, 200);
  await Promise.all(flood);
});

/** Starts password checks whose hashing the test ends one by one. Returns the order in which they begin. */
async function startChecks(tasks: [name: string, fairnessKey: FairnessKey][]): Promise<string[]> {
  const started: string[] = [];
  const pending: (() => void)[] = [];
  const verify = (_hash: unknown, name: unknown) =>
    new Promise<boolean>((resolve) => {
      started.push(String(name));
      pending.push(() => resolve(true));
    });
  const passwords = await createPasswords(CHEAP_HASH, { hash, verify: verify as typeof verifyArgon2 });
  const checks = tasks.map(([name, fairnessKey]) => passwords.verify('', name, fairnessKey));
  while (started.length < tasks.length || pending.length > 0) {
    await waitFor('a check begins', () => pending.length > 0);
    pending.shift()?.();
  }
  await Promise.all(checks);
  return started;
}
const keyOf = (address: string, tenantId: string) => fairnessKeyOfAddress({ address, tenantId });

test('a login with a generated password takes the same slow check as one of an unknown account', async () => {
  const checked: string[] = [];
  const verify: typeof verifyArgon2 = (stored, password) => {
    checked.push(String(stored).split('$')[3] as string);
    return verifyArgon2(stored, password);
  };
  const passwords = await createPasswords(CHEAP_HASH, { hash, verify });
  const stored = await passwords.hashGenerated('a generated one');
  const fairnessKey = keyOf('a', 't');
  assert.equal(await passwords.verify(stored, 'a generated one', fairnessKey), true);
  assert.equal(await passwords.verify(stored, 'another one', fairnessKey), false);
  assert.deepEqual(checked, ['m=8,t=1,p=1', 'm=16,t=1,p=1', 'm=8,t=1,p=1', 'm=16,t=1,p=1']);
  assert.ok(passwords.needsRehash(stored), 'the first login replaces the hash');
});

test('password checks are scheduled round-robin by address and by tenant', async () => {
  const start: [string, FairnessKey][] = ['x', 'y'].map((name) => [name, keyOf(name, name)]);
  const oneAddress = Array.from({ length: 4 }, (_, n): [string, FairnessKey] => [`a${n}`, keyOf('a', `t${n}`)]);
  assert.deepEqual(await startChecks([...start, ...oneAddress, ['own', keyOf('b', 't0')]]), [
    ...['x', 'y', 'a0', 'own', 'a1', 'a2', 'a3'],
  ]);
  const oneTenant = Array.from({ length: 4 }, (_, n): [string, FairnessKey] => [`t${n}`, keyOf(`a${n}`, 't')]);
  assert.deepEqual(await startChecks([...start, ...oneTenant, ['own', keyOf('b', 'other')]]), [
    ...['x', 'y', 't0', 'own', 't1', 't2', 't3'],
  ]);
  const callers = Array.from({ length: 4 }, (_, n): [string, FairnessKey] => [
    `c${n}`,
    fairnessKeyOfTenant({ tenantId: 't', address: `a${n}` }),
  ]);
  assert.deepEqual(await startChecks([...start, ...callers, ['own', keyOf('b', 't')]]), [
    ...['x', 'y', 'c0', 'own', 'c1', 'c2', 'c3'],
  ]);
});

test('at 200 queued passwords, the newest of the longest queue is rejected to admit one of another address', async () => {
  const passwords = await createPasswords(CHEAP_HASH);
  const outcomeOf = (hashing: Promise<string>) => hashing.then(() => 'hashed').catch(({ code }) => code as string);
  const hashes = Array.from({ length: 203 }, () => outcomeOf(passwords.hash('a password', keyOf('a', 't'))));
  const other = outcomeOf(passwords.hash('a password', keyOf('b', 't')));
  assert.deepEqual(await Promise.all(hashes), [...Array(201).fill('hashed'), 'TOO_BUSY', 'TOO_BUSY']);
  assert.equal(await other, 'hashed');
  const fairnessKey = keyOf('a', 't');
  assert.equal(
    await passwords.verify(await passwords.hash('a password', fairnessKey), 'a password', fairnessKey),
    true,
  );
});
