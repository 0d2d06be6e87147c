import assert from 'node:assert/strict';
import { test } from 'node:test';
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

/** Logs in from the given address. A flood uses many: otherwise brute-force protection rejects the logins before hashing. */
const logIn = (username: string, from?: string) =>
  service.anonymous.post(
    '/auth/login',
    { tenantId: admin.tenantId, username, password: PASSWORD },
    from ? { from } : {},
  );

test('of a flood of logins 100 are admitted and the others fail immediately, while all other requests are served', async () => {
  const logins = scale(180, 1_000);
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

test('password hashing queues 200 passwords and rejects the next one', async () => {
  const passwords = await createPasswords(CHEAP_HASH);
  const outcomes = await Promise.allSettled(Array.from({ length: 203 }, () => passwords.hash('a password')));
  const failed = outcomes.filter((outcome) => outcome.status === 'rejected');
  assert.deepEqual(
    failed.map(({ reason: error }) => error.code),
    ['TOO_BUSY'],
  );
  assert.equal(await passwords.verify(await passwords.hash('a password'), 'a password'), true);
});
