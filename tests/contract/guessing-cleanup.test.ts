import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../support/service.ts';

/** Counters of failed logins are deleted after a day; otherwise guesses of random names would fill the disk. */

const service = await startService();
const admin = await service.createTenant();
const { superuser } = service;

const fail = (tenantId: string, username: string, from: string) =>
  service.anonymous.post('/auth/login', { tenantId, username, password: 'wrong horse' }, { from });

const countedAccounts = async () => {
  const rows = await superuser<{ key: string }[]>`
    select tenant_id || ' ' || user_key || ' ' || address as key from banyan.login_failures where address <> ''`;
  return rows.map(({ key }) => key.replace(admin.tenantId, 'T')).sort();
};
const countedAddresses = async () => {
  const rows = await superuser<{ address: string }[]>`select address from banyan.login_addresses order by 1`;
  return rows.map(({ address }) => address);
};

/** Moves all counted failures two days into the past. */
async function ageCounters() {
  await superuser`update banyan.login_failures set last_failure = last_failure - interval '2 days', pending_until = now() - interval '1 day'`;
  await superuser`
    update banyan.login_addresses set window_start = window_start - interval '2 days', pending_until = now() - interval '1 day'`;
}

test('a failed login deletes counters older than a day, for known tenants and for unknown codes', async () => {
  await superuser`delete from banyan.login_addresses`;
  for (const [n, code] of [admin.tenantId, admin.tenantId, '777777777777', '888888', ''].entries()) {
    const response = await fail(code, `nobody${n}`, `127.0.4.${n + 1}`);
    assert.deepEqual([response.status, response.data.reason], [401, 'LOGIN_FAILED']);
  }
  assert.deepEqual(
    await countedAccounts(),
    [
      'T boss 127.0.0.1',
      'T nobody0 127.0.4.1',
      'T nobody1 127.0.4.2',
      'none  nobody4 127.0.4.5',
      'none 777777777777 nobody2 127.0.4.3',
      'none 888888 nobody3 127.0.4.4',
      '000000 admin 127.0.0.1',
    ].sort(),
  );
  await ageCounters();
  await fail(admin.tenantId, 'somebody', '127.0.4.9');
  await fail('999999', 'somebody', '127.0.4.9');
  assert.deepEqual(await countedAccounts(), [
    '000000 admin 127.0.0.1',
    // An address that logged in before is kept.
    'T boss 127.0.0.1',
    'T somebody 127.0.4.9',
    'none 999999 somebody 127.0.4.9',
  ]);
  assert.deepEqual(await countedAddresses(), ['127.0.4.9']);
});

test('recent counters are kept', async () => {
  for (let n = 0; n < 5; n++) await fail(admin.tenantId, 'boss', '127.0.5.1');
  await fail(admin.tenantId, 'another', '127.0.5.2');
  const response = await fail(admin.tenantId, 'boss', '127.0.5.1');
  assert.deepEqual([response.status, response.data.reason], [429, 'TOO_MANY_LOGINS']);
});
