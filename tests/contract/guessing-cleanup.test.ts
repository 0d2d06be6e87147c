import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PASSWORD, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** Counters of logins are deleted in the background; otherwise guesses of random names would fill the disk. */

const service = await startService({}, { timing: { loginCleanupMs: 20 } });
const { superuser } = service;

const logIn = (tenantId: string, username: string, from: string, password = 'wrong horse') =>
  service.anonymous.post('/auth/login', { tenantId, username, password }, { from });

/** The addresses with this prefix that have counters. */
const countedAddresses = async (prefix: string) => {
  const rows = await superuser<{ address: string }[]>`
    select distinct address from (
      select address from banyan.login_failures union all select address from banyan.login_addresses) counted
    where address like ${`${prefix}%`} order by 1`;
  return rows.map(({ address }) => address);
};

/** Moves all counters and sessions into the past, except for the sessions of 000000. */
async function age(interval: string) {
  await superuser`
    update banyan.login_failures set last_failure = last_failure - ${interval}::text::interval,
      trusted_until = trusted_until - ${interval}::text::interval, pending_until = now() - interval '1 day'`;
  await superuser`
    update banyan.login_addresses set window_start = window_start - ${interval}::text::interval,
      pending_until = now() - interval '1 day'`;
  await superuser`
    update banyan.sessions set expires = expires - ${interval}::text::interval where tenant_id <> '000000'`;
}

test('counters older than a day are deleted without further logins, except for addresses that logged in', async () => {
  const admin = await service.createTenant();
  for (const [n, code] of [admin.tenantId, admin.tenantId, '777777777777', '888888', ''].entries()) {
    const response = await logIn(code, `nobody${n}`, `127.0.4.${n + 1}`);
    assert.deepEqual([response.status, response.data.reason], [401, 'LOGIN_FAILED']);
  }
  assert.equal((await logIn(admin.tenantId, 'boss', '127.0.4.9', PASSWORD)).code, 200);
  assert.deepEqual(
    await countedAddresses('127.0.4.'),
    [1, 2, 3, 4, 5, 9].map((n) => `127.0.4.${n}`),
  );
  await age('2 days');
  await waitFor('the counters are deleted', async () => (await countedAddresses('127.0.4.')).length <= 1);
  assert.deepEqual(await countedAddresses('127.0.4.'), ['127.0.4.9']);
});

test('the counters and sessions of successful logins are deleted too, some time after the last one', async () => {
  const admin = await service.createTenant();
  assert.equal((await logIn(admin.tenantId, 'boss', '127.0.6.1', PASSWORD)).code, 200);
  const countSessions = async () =>
    (await superuser`select from banyan.sessions where tenant_id = ${admin.tenantId}`).length;
  assert.deepEqual([await countedAddresses('127.0.6.'), await countSessions()], [['127.0.6.1'], 2]);
  await age('100 days');
  await waitFor('everything is deleted', async () => {
    const [{ counters }] = await superuser<[{ counters: number }]>`
      select ((select count(*) from banyan.login_failures) + (select count(*) from banyan.login_addresses))::int
        as counters`;
    return counters === 0 && (await countSessions()) === 0;
  });
});

test('recent counters are kept', async () => {
  const admin = await service.createTenant();
  for (let n = 0; n < 5; n++) await logIn(admin.tenantId, 'boss', '127.0.5.1');
  // The cleanup that deletes this row has seen the counters.
  await superuser`insert into banyan.login_addresses (address, window_start) values ('old', now() - interval '2 days')`;
  await waitFor('a cleanup runs', async () => (await countedAddresses('old')).length === 0);
  const response = await logIn(admin.tenantId, 'boss', '127.0.5.1');
  assert.deepEqual([response.status, response.data.reason], [429, 'TOO_MANY_LOGINS']);
});

test('a failed login stores the user name only in the audit log, and only if an account has that name', async () => {
  const admin = await service.createTenant();
  const typed = 'MySecretPassword';
  await logIn(admin.tenantId, typed, '127.0.5.2');
  await logIn('123456', typed, '127.0.5.2');
  await logIn(typed, typed, '127.0.5.2');
  await logIn(admin.tenantId, 'BOSS', '127.0.5.3');
  const { data } = await service.root.get(`/system/change-api/list?resource=login&tenantId=${admin.tenantId}`);
  const failed = data.rows.filter(({ action }: { action: string }) => action === 'refused');
  assert.deepEqual(
    failed.slice(0, 2).map(({ by, after }: { by: string; after: { userName: string } }) => [by, after.userName]),
    [
      ['boss', 'boss'],
      ['unknown', 'unknown'],
    ],
  );
  const tables = await superuser<
    { name: string }[]
  >`select tablename as name from pg_tables where schemaname = 'banyan'`;
  for (const { name } of tables) {
    const found = await superuser`
      select from ${superuser(`banyan.${name}`)} t where t::text ilike ${`%${typed}%`}`;
    assert.equal(found.length, 0, name);
  }
  const names = await superuser`select from banyan.login_failures where user_key like '%boss%'`;
  assert.equal(names.length, 0);
});
