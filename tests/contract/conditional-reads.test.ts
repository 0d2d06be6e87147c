import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertDocumented, readOperations } from '../support/openapi.ts';
import { startService } from '../support/service.ts';

const service = await startService({ BANYAN_WEBHOOK_NETWORKS: 'loopback' });
const admin = await service.createTenant();
// The webhook is disabled: a delivery would change its ETag.
const webhookId = await admin.create('/system/webhook-api', { url: 'http://127.0.0.1:9/', status: '1' });
const external = { source: 'hr', externalId: '1' };
await admin.createDepartment(external);
await admin.createUser({ userName: 'external', ...external });
const paths: Record<string, string> = {
  readDepartment: `/system/dept-api/${await admin.createDepartment()}`,
  readDepartmentByExternalId: '/system/dept-api/external/hr/1',
  readUserByExternalId: '/system/user-api/external/hr/1',
  readTenant: `/system/tenant-api/${admin.id}`,
  readEntitlements: '/system/entitlement-api',
  readUser: `/system/user-api/${await admin.createUser({ userName: 'reader' })}`,
  readWebhook: `/system/webhook-api/${webhookId}`,
  readKey: `/system/key-api/${await admin.create('/system/key-api', { keyName: 'reader', permissions: ['dept:read'] })}`,
};
const operations = (await readOperations(service)).filter(({ responses }) => responses[200]?.headers?.ETag);
const getIf = (path: string, tag: string) => admin.get(path, { headers: { 'if-none-match': tag } });

test('every read that has an ETag returns 304 without a body for a matching If-None-Match', async () => {
  assert.deepEqual(operations.map(({ operationId }) => operationId).sort(), Object.keys(paths).sort());
  for (const { operationId, parameters = [], responses } of operations) {
    const path = paths[operationId] as string;
    assert.ok(responses[304], operationId);
    assert.ok(parameters.some(({ name }) => name === 'if-none-match'));
    const { etag = '' } = (await admin.get(path)).headers;
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const { status, text, headers } = await getIf(path, tag);
      assert.deepEqual([status, text, headers.etag], [304, '', etag], `${operationId} ${tag}`);
    }
    const other = await getIf(path, '"other"');
    assert.equal(other.status, 200);
  }
});

test('a read of the past returns 304 too', async () => {
  const path = `${paths.readDepartment}?asOf=${encodeURIComponent(new Date().toISOString())}`;
  const { etag = '' } = (await admin.get(path)).headers;
  assert.equal((await getIf(path, etag)).status, 304);
});

test('a changed record is returned in full', async () => {
  const path = paths.readDepartment as string;
  const { headers, data } = await admin.get(path);
  await admin.put('/system/dept-api', { ...data, deptName: '新名称' });
  const response = await getIf(path, String(headers.etag));
  assert.equal(response.data.deptName, '新名称');
  const operation = operations.find(({ operationId }) => operationId === 'readDepartment');
  assertDocumented(operation ?? assert.fail(), response);
});

test('If-None-Match: * returns 404 for records of another tenant', async () => {
  const other = await service.createTenant();
  // The entitlements are those of the caller.
  const { readEntitlements: _, ...records } = paths;
  for (const [operationId, path] of Object.entries(records))
    assert.equal((await other.get(path, { headers: { 'if-none-match': '*' } })).status, 404, operationId);
});

test('a delivery changes the ETag of a webhook, but does not prevent an update with the earlier ETag', async () => {
  const path = paths.readWebhook as string;
  const { etag = '' } = (await admin.get(path)).headers;
  await service.superuser`update banyan.webhooks set failures = failures + 1 where webhook_id = ${webhookId}`;
  assert.equal((await getIf(path, etag)).status, 200);
  const update = { id: webhookId, url: 'http://127.0.0.1:9/', name: '新' };
  const ifMatch = { headers: { 'if-match': etag } };
  assert.equal((await admin.put('/system/webhook-api', update, ifMatch)).code, 200);
  assert.equal((await admin.put('/system/webhook-api', update, ifMatch)).status, 412);
});
