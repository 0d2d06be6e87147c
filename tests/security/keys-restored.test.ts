import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Database } from '../../db/connect.ts';
import { DEPTS, expectError } from '../support/expect.ts';
import { createKey } from '../support/oauth.ts';
import { Client, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

let connectionsLost = () => 0;
const wrapDatabase = (db: Database): Database => {
  connectionsLost = () => db.connectionsLost();
  return db;
};

test('a key is looked up again after connections were lost: the database may have been restored from a backup', async () => {
  const service = await startService({}, { wrapDatabase });
  const { superuser } = service;
  const admin = await service.createTenant();
  const { keyId, key } = await createKey(admin);
  const client = new Client(service.base, key);
  for (let n = 0; n < 5; n++) assert.equal((await client.get(`${DEPTS}/list`)).status, 200);
  await superuser`
    update banyan.api_key_secrets set hash = sha256(hash) where tenant_id = ${admin.tenantId} and key_id = ${keyId}`;
  const before = connectionsLost();
  const closed = await superuser`
    select pg_terminate_backend(pid, 300000) from pg_stat_activity
    where datname = current_database() and usename = 'banyan_service_' || datid`;
  assert.ok(closed.length > 0);
  await waitFor('the service has lost its connections', () => connectionsLost() > before);
  const response = await waitFor('the database is available again', async () => {
    const each = await client.get(`${DEPTS}/list`);
    return each.status === 503 ? undefined : each;
  });
  expectError(response, 401, 'INVALID_KEY');
});
