import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hash, verify } from '@node-rs/argon2';
import { createPasswords } from '../../server/auth/passwords.ts';
import { CHEAP_HASH } from '../support/database.ts';
import { startService } from '../support/service.ts';

/**
 * The duration of a failed login must not reveal whether the account exists. Nearly all of it is spent in argon2, so this
 * test counts argon2 operations instead of measuring time: every guess must cause the same work.
 */

/** The argon2 calls, with their parameters, the lengths of salt and hash, and the password. */
let work: string[] = [];
const costOf = (stored: string) =>
  stored
    .split('$')
    .map((part, n) => (n < 4 ? part : `${part.length} characters`))
    .join('$');
const countingArgon2 = {
  hash: (...[password, options]: Parameters<typeof hash>) => {
    work.push(`hash ${password}`);
    return hash(password, options);
  },
  verify: (...[stored, password]: Parameters<typeof verify>) => {
    work.push(`verify ${password} against ${costOf(String(stored))}`);
    return verify(stored, password);
  },
};

const service = await startService();
Object.assign(service.app.passwords, await createPasswords(CHEAP_HASH, countingArgon2));
const admin = await service.createTenant();
const disabled = await service.createTenant();
const deletedUser = await admin.createUser({ userName: 'deleted' });
await admin.createUser({ userName: 'disabled', status: '1' });
await admin.delete(`/system/user-api/${deletedUser}`);
await service.root.put('/system/tenant-api', { id: disabled.id, status: '1' });

const guesses = {
  'wrong password': { tenantId: admin.tenantId, username: 'boss' },
  'unknown user': { tenantId: admin.tenantId, username: 'nobody' },
  'deleted user': { tenantId: admin.tenantId, username: 'deleted' },
  'disabled user': { tenantId: admin.tenantId, username: 'disabled' },
  'unknown tenant': { tenantId: '777777777777', username: 'boss' },
  'disabled tenant': { tenantId: disabled.tenantId, username: 'boss' },
};

for (const [what, guess] of Object.entries(guesses)) {
  test(`a failed login verifies exactly one password: ${what}`, async () => {
    work = [];
    const response = await service.anonymous.post('/auth/login', { ...guess, password: 'wrong horse' });
    assert.deepEqual([response.status, response.data.reason], [401, 'LOGIN_FAILED']);
    const { memoryCost, timeCost, parallelism } = CHEAP_HASH;
    const parameters = `m=${memoryCost},t=${timeCost},p=${parallelism}`;
    assert.deepEqual(work, [`verify wrong horse against $argon2id$v=19$${parameters}$22 characters$43 characters`]);
  });
}
