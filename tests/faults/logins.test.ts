import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPasswords } from '../../server/auth/passwords.ts';
import { CHEAP_HASH } from '../support/database.ts';
import { DEPTS, expectError, readDept } from '../support/expect.ts';
import { scale, Tally } from '../support/scale.ts';
import { type Answer, PASSWORD, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** Checking a password is slow on purpose. A flood of logins leaves room for everything else. */

const service = await startService();
const boss = await service.createTenant();
const member = await service.createMember(boss, { userName: 'reader' });
const id = await boss.createDepartment({ deptName: 'still here' });

/** From many addresses, or the guard against guessing would stop them before any hashing. */
const logIn = (username: string, from?: string) =>
  service.anonymous.post(
    '/auth/login',
    { tenantId: boss.tenantId, username, password: PASSWORD },
    from ? { from } : {},
  );

test('a flood of logins: 100 are admitted, the others are refused at once, and everything else is served', async () => {
  const logins = scale(180, 1_000);
  const refused: Answer[] = [];
  const statuses = new Tally();
  // None of them is decided while the failures that are known are locked.
  const flood = await service.superuser.begin(async (tx) => {
    await tx`lock table login_failures in access exclusive mode`;
    const flood = Array.from({ length: logins }, async (_, n) => {
      const answer = await logIn(`nobody${n}`, `127.1.${n >> 7}.${1 + (n & 127)}`);
      statuses.add(answer.status);
      if (answer.status === 503) refused.push(answer);
    });
    await waitFor('all beyond 100 are refused', () => refused.length >= logins - 100);
    assert.equal((await readDept(member, id)).deptName, 'still here');
    assert.equal((await boss.get(`${DEPTS}/list`)).code, 200);
    assert.equal((await service.root.post(DEPTS, {})).code, 200);
    assert.deepEqual(statuses.counts, { 503: logins - 100 }, 'the others are still being decided');
    return { flood };
  });
  await Promise.all(flood.flood);
  for (const answer of refused) {
    expectError(answer, 503, 'TOO_BUSY');
    assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/);
  }
  assert.deepEqual(statuses.counts, { 401: 100, 503: logins - 100 });
  // All places are free again.
  assert.equal((await logIn('reader')).code, 200);
});

test('beside those that are being hashed 200 passwords wait, and the next is refused', async () => {
  const passwords = await createPasswords(CHEAP_HASH);
  const outcomes = await Promise.allSettled(Array.from({ length: 203 }, () => passwords.hash('a password')));
  const failed = outcomes.filter((outcome) => outcome.status === 'rejected');
  assert.deepEqual(
    failed.map(({ reason }) => reason.reason),
    ['TOO_BUSY'],
  );
  assert.equal(await passwords.verify(await passwords.hash('a password'), 'a password'), true);
});
