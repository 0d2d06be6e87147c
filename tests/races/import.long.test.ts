// Only with test:long: races/quotas.test.ts covers users of several tenants of a pool, also those that are created in bulk.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csv, importFile } from '../support/import.ts';
import { startService } from '../support/service.ts';

const service = await startService();

test('imports in several tenants of a pool of accounts never exceed it', async () => {
  const above = await service.createTenant();
  const tenants = await Promise.all([1, 2, 3, 4].map(() => service.createTenant({}, above)));
  const path = `/system/quota-api/accounts?tenantId=${above.tenantId}`;
  // The five administrators count; there is room for two of the four files.
  assert.equal((await service.root.put(path, { total: 12, pooled: true })).code, 200);
  const file = csv([['用户名'], ['one'], ['two'], ['three']]);
  const results = await Promise.all(tenants.map((tenant) => importFile(tenant, 'user', 'apply', file)));
  const done = results.filter(({ code }) => code === 200);
  assert.equal(done.length, 2, results.map(({ text }) => text).join('\n'));
  for (const { status, text } of results.filter(({ code }) => code !== 200)) {
    assert.ok([400, 409].includes(status), text);
    assert.ok(text.includes('QUOTA_EXHAUSTED'), text);
  }
  const totals = await Promise.all(
    tenants.map(async (tenant) => (await tenant.get('/system/user-api/list')).data.total as number),
  );
  assert.deepEqual(totals.sort(), [1, 1, 4, 4]);
});
