import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { hash, verify } from '@node-rs/argon2';
import { createPasswords } from '../../server/auth/passwords.ts';
import { after } from '../support/cleanup.ts';
import { CHEAP_HASH } from '../support/database.ts';
import { outcomeOf } from '../support/expect.ts';
import { PASSWORD, shareService } from '../support/service.ts';

/**
 * A request with an Idempotency-Key has its passwords hashed once more, slowly, for the stored fingerprint. Nobody may use that
 * to keep the service busy.
 */

const service = await shareService();
const admin = await service.createTenant();
const member = await service.createMember(admin);

let hashes = 0;
const counting: typeof hash = (password, options) => {
  hashes++;
  return hash(password, options);
};
const { passwords } = service.app;
const original = { ...passwords };
after(() => Object.assign(passwords, original));
Object.assign(passwords, await createPasswords(CHEAP_HASH, { hash: counting, verify }));
hashes = 0;

/** Runs a call and returns how many passwords it hashed. */
async function hashesOf(call: () => Promise<unknown>): Promise<number> {
  const before = hashes;
  await call();
  return hashes - before;
}
const withKey = (key: string = randomUUID()) => ({ headers: { 'idempotency-key': key } });
const manyFields = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`password${n}`, PASSWORD]));

test('nothing is hashed for a caller whose session has ended or who does not have the required permission', async () => {
  const ended = await service.createMember(admin, { roles: ['admin'] });
  await ended.post('/auth/logout');
  const user = { userName: 'new', password: PASSWORD, ...manyFields };
  const password = { oldPassword: PASSWORD, newPassword: PASSWORD };
  for (const [client, expected] of [
    [ended, '401 SESSION_ENDED'],
    [member, '403 NOT_ALLOWED'],
  ] as const) {
    const count = await hashesOf(async () => {
      assert.equal(outcomeOf(await client.post('/system/user-api', user, withKey())), expected);
      const update = { ...user, userId: admin.id };
      assert.equal(outcomeOf(await client.put('/system/user-api', update, withKey())), expected);
      const tenant = { username: 'new', password: PASSWORD, ...manyFields };
      assert.equal(outcomeOf(await client.post('/system/tenant-api', tenant, withKey())), expected);
    });
    assert.equal(count, 0);
  }
  const change = async () =>
    assert.equal(outcomeOf(await ended.put('/auth/password', password, withKey())), '401 SESSION_ENDED');
  assert.equal(await hashesOf(change), 0);
});

test('fields that the operation does not declare as passwords are not hashed', async () => {
  const deptId = await admin.createDepartment();
  const body = { deptId, deptName: 'a', password: PASSWORD, ...manyFields };
  const update = (key: string) => admin.put('/system/dept-api', body, withKey(key));
  const key = randomUUID();
  assert.equal(await hashesOf(async () => assert.equal((await update(key)).code, 200)), 0);
  // They still distinguish requests.
  const other = await admin.put('/system/dept-api', { ...body, password7: 'another' }, withKey(key));
  assert.equal(outcomeOf(other), '409 KEY_REUSED');
});

test('all passwords of a request with an Idempotency-Key are hashed together, once', async () => {
  const key = randomUUID();
  const body = { userName: 'hashed', password: PASSWORD, ...manyFields };
  const create = async () => assert.equal((await admin.post('/system/user-api', body, withKey(key))).code, 200);
  assert.equal(await hashesOf(create), 2, 'the fingerprint and the password of the new user');
  assert.equal(await hashesOf(create), 1, 'a repeated request only compares the fingerprint');
  const change = { oldPassword: PASSWORD, newPassword: 'a new password', ...manyFields };
  const changeKey = randomUUID();
  const changeOwn = async () =>
    assert.equal((await member.put('/auth/password', change, withKey(changeKey))).code, 200);
  assert.equal(await hashesOf(changeOwn), 2);
  const swapped = { oldPassword: 'a new password', newPassword: PASSWORD, ...manyFields };
  assert.equal(outcomeOf(await member.put('/auth/password', swapped, withKey(changeKey))), '409 KEY_REUSED');
});
