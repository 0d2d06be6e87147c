import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { openDatabase } from '../../db/connect.ts';
import { startEmbedded } from '../../db/embedded/cluster.ts';
import { readConfig } from '../../server/config.ts';
import { after } from '../support/cleanup.ts';
import { NO_DEADLINES } from '../support/database.ts';
import { DEPTS, expectError, expectOk } from '../support/expect.ts';
import { connectTo, usedDataFolder } from '../support/process.ts';
import { type Service, startService } from '../support/service.ts';
import { waitFor, waitForEstablishedConnections } from '../support/wait.ts';

test('on a standby, readiness and writes fail with 503 DATABASE_AWAY, and reads succeed', async () => {
  const dataDir = await usedDataFolder();
  const server = await startEmbedded(dataDir, () => {});
  after(() => server.stop());
  const host = encodeURIComponent(server.socketDir);
  const databaseUrl = `postgres://banyan:${server.password}@localhost/banyan?host=${host}`;
  const { root: admin, anonymous, ...service } = await startService({ DATABASE_URL: databaseUrl });
  const id = await admin.createDepartment({ deptName: 'before' });
  assert.equal((await anonymous.get('/health/ready')).code, 200);

  // PostgreSQL starts as a standby that waits for a primary.
  const signal = path.join(dataDir, 'postgres/standby.signal');
  await server.stopImmediately();
  fs.writeFileSync(signal, '');
  fs.chmodSync(signal, 0o666);
  await server.restart();
  await waitFor('reads succeed again', async () => (await admin.get(`${DEPTS}/${id}`)).code === 200);
  expectError(await anonymous.get('/health/ready'), 503, 'DATABASE_AWAY');
  assert.equal((await anonymous.get('/health/live')).code, 200);
  expectError(await admin.post(DEPTS, {}), 503, 'DATABASE_AWAY');
  expectError(await admin.put(DEPTS, { deptId: id }), 503, 'DATABASE_AWAY');
  expectError(await admin.delete(`${DEPTS}/${id}`), 503, 'DATABASE_AWAY');
  // A start on a standby fails.
  const starting = openDatabase({ ...readConfig({ DATABASE_URL: databaseUrl }), timing: NO_DEADLINES });
  await assert.rejects(starting, /The server at DATABASE_URL is a standby and takes no writes\./);

  const superuser = connectTo(dataDir);
  await superuser`select pg_promote()`;
  await superuser.end();
  await waitFor('the service is ready again', async () => (await anonymous.get('/health/ready')).code === 200);
  expectOk(await admin.put(DEPTS, { deptId: id }));
  await service.close();
});

/** Changes the database, then ends all other connections and waits until they have ended. */
async function alterDatabase({ superuser }: Service, change: string): Promise<void> {
  await superuser.unsafe(`do $$ begin execute format('alter database %I ${change}', current_database()); end $$`);
  await waitForEstablishedConnections(superuser);
  await superuser`
    select pg_terminate_backend(pid, 300000) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`;
}

/** Makes transactions read-only by default. The setting applies to new connections. */
const makeReadOnly = (service: Service) => alterDatabase(service, 'set default_transaction_read_only = on');

/** Ends all connections of the service, and lets it open no more. */
const refuseConnections = (service: Service) => alterDatabase(service, 'connection limit 0');

test('a primary with default_transaction_read_only = on takes writes and is ready, because every write transaction is opened read write', async () => {
  const service = await startService(
    { BANYAN_TENANT_REQUESTS_PER_SECOND: '1000' },
    { timing: { sealMs: 50, loginCleanupMs: 50 } },
  );
  const admin = await service.createTenant();
  await makeReadOnly(service);
  await waitFor('there is a new connection', async () => (await service.anonymous.get('/health/ready')).code === 200);
  const id = await admin.createDepartment({ deptName: 'x' });
  expectOk(await admin.put(DEPTS, { deptId: id }));
  assert.ok((await service.logIn(admin.tenantId, 'boss')).token);
  await waitFor('the ledger is sealed', async () => {
    const unsealed = await service.superuser`select from banyan.unsealed_changes where tenant_id = ${admin.tenantId}`;
    return unsealed.length === 0;
  });
});

test('with BANYAN_ERROR_STATUS=200 health checks have real statuses, and other errors do not', async () => {
  const service = await startService({ BANYAN_ERROR_STATUS: '200' });
  const { status, code, data } = await service.anonymous.get(`${DEPTS}/list`);
  assert.deepEqual([status, code, data.reason], [200, 401, 'NO_TOKEN']);
  await refuseConnections(service);
  await waitFor('readiness fails', async () => (await service.anonymous.get('/health/ready')).code === 503);
  const ready = await service.anonymous.get('/health/ready');
  assert.deepEqual([ready.status, ready.code, ready.data.reason], [503, 503, 'DATABASE_AWAY']);
  assert.deepEqual(ready.headers['retry-after'], '2');
});
