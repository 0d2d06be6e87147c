import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Database } from '../../db/connect.ts';
import { DEPTS, expectError, expectOk } from '../support/expect.ts';
import { basic, createKey, postForm } from '../support/oauth.ts';
import { Client, startService } from '../support/service.ts';
import { captureQueries, type Query } from '../support/statements.ts';

/** API keys that were refused: the user of a key that was disabled or deleted may go on sending requests. */

test('a request with a disabled key is rejected before the operation sends a statement, and its tenant does not count as active', async () => {
  const queries: Query[] = [];
  const active: string[] = [];
  const wrapDatabase = (db: Database) => {
    const { activeTenants } = db;
    const add = activeTenants.add.bind(activeTenants);
    activeTenants.add = (tenantId) => {
      active.push(tenantId);
      add(tenantId);
    };
    return captureQueries(queries)(db);
  };
  const service = await startService({}, { wrapDatabase });
  const admin = await service.createTenant();
  const dept = await admin.createDepartment();
  const { keyId, key } = await createKey(admin, { permissions: ['dept:read', 'dept:write', 'quota:use'] });
  const client = new Client(service.base, key, undefined, admin.tenantId);
  const setStatus = (status: string) =>
    admin.put('/system/key-api', { keyId, keyName: 'key', permissions: ['dept:read', 'dept:write'], status });
  expectOk(await setStatus('1'));
  const calls: (() => ReturnType<Client['get']>)[] = [
    () => client.get(`${DEPTS}/${dept}`),
    () => client.get(`${DEPTS}/list`),
    () => client.post(DEPTS, { deptName: 'x' }),
    () => client.post(DEPTS, { deptName: 'x' }, { headers: { 'idempotency-key': 'x' } }),
    () => client.post('/system/quota-api/consume', { quota: 'riskReport' }),
  ];
  // This process learns from the first request that the key is refused.
  expectError(await client.get(`${DEPTS}/list`), 403, 'KEY_DISABLED');
  active.length = 0;
  queries.length = 0;
  for (const call of calls) expectError(await call(), 403, 'KEY_DISABLED');
  const headers = basic(keyId, key);
  const token = await postForm(service.base, '/auth/token', { grant_type: 'client_credentials' }, headers);
  assert.equal(token.status, 401, token.text);
  const introspection = await postForm(service.base, '/auth/introspect', { token: 'any' }, headers);
  assert.equal(introspection.status, 401, introspection.text);
  assert.ok(!active.includes(admin.tenantId), 'the tenant does not count as active');
  const statements = queries.flatMap(({ string }) => string ?? []);
  assert.ok(!statements.some((text) => /read_departments|lock_quota_counters|insert into departments/.test(text)));

  // The first request after the key was enabled again is served.
  expectOk(await setStatus('0'));
  assert.equal((await client.get(`${DEPTS}/${dept}`)).status, 200);
  await client.createDepartment({ deptName: 'y' });
});
