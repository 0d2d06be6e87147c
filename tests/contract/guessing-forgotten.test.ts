import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../support/service.ts';

/** What is counted about failed logins is forgotten in the end, or whoever tries names by chance would fill the disk. */

const service = await startService();
const boss = await service.createTenant();
const { superuser } = service;

const fail = (tenantId: string, username: string, from: string) =>
  service.anonymous.post('/auth/login', { tenantId, username, password: 'wrong horse' }, { from });

const accounts = async () => {
  const rows = await superuser<{ key: string }[]>`
    select tenant_id || ' ' || user_key || ' ' || address as key from banyan.login_failures where address <> ''`;
  return rows.map(({ key }) => key.replace(boss.tenantId, 'T')).sort();
};
const addresses = async () => {
  const rows = await superuser<{ address: string }[]>`select address from banyan.login_addresses order by 1`;
  return rows.map(({ address }) => address);
};

/** As if all of it had happened two days ago. */
async function age() {
  await superuser`update banyan.login_failures set seen = seen - interval '2 days', pending_until = now() - interval '1 day'`;
  await superuser`
    update banyan.login_addresses set since = since - interval '2 days', pending_until = now() - interval '1 day'`;
}

test('failures of a day ago are cleared away by the next one, of known tenants and of any other code', async () => {
  await superuser`delete from banyan.login_addresses`;
  for (const [n, code] of [boss.tenantId, boss.tenantId, '777777777777', '888888', ''].entries()) {
    const answer = await fail(code, `nobody${n}`, `127.0.4.${n + 1}`);
    assert.deepEqual([answer.status, answer.data.reason], [401, 'LOGIN_FAILED']);
  }
  assert.deepEqual(
    await accounts(),
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
  await age();
  await fail(boss.tenantId, 'somebody', '127.0.4.9');
  await fail('999999', 'somebody', '127.0.4.9');
  assert.deepEqual(await accounts(), [
    '000000 admin 127.0.0.1',
    // An address that logged in before stays known.
    'T boss 127.0.0.1',
    'T somebody 127.0.4.9',
    'none 999999 somebody 127.0.4.9',
  ]);
  assert.deepEqual(await addresses(), ['127.0.4.9']);
});

test('what still counts is kept', async () => {
  for (let n = 0; n < 5; n++) await fail(boss.tenantId, 'boss', '127.0.5.1');
  await fail(boss.tenantId, 'another', '127.0.5.2');
  const answer = await fail(boss.tenantId, 'boss', '127.0.5.1');
  assert.deepEqual([answer.status, answer.data.reason], [429, 'TOO_MANY_LOGINS']);
});
