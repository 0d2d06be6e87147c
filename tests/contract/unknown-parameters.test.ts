import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS, expectError, expectOk, storedState, TENANTS } from '../support/expect.ts';
import { readOperations } from '../support/openapi.ts';
import { startService } from '../support/service.ts';

/** Query parameters that an operation does not have. A mistyped filter must not return everything. */

// Nothing else writes while the stored state is compared.
const service = await startService({}, { timing: { sealMs: 600_000, webhookPollMs: 600_000 } });
const admin = await service.createTenant();
const WEBHOOKS = '/system/webhook-api';

test('a mistyped filter is rejected with an error that names it and the filters that exist', async () => {
  const response = await admin.get(`${DEPTS}/list?deptname=x&pageSize=5&Status=0`);
  expectError(response, 400, 'UNKNOWN_PARAMETER', { parameters: ['deptname', 'Status'] });
  assert.ok(response.data.supported.includes('deptName') && response.data.supported.includes('pageSize'));
  assert.match(response.msg, /deptname.*deptName/);
  const english = await admin.get(`${DEPTS}/list?deptname=`, { headers: { 'accept-language': 'en' } });
  assert.match(english.msg, /^Unknown query parameters: deptname\. .*deptName/);
  const none = await admin.get(`${WEBHOOKS}/list?name=x`, { headers: { 'accept-language': 'en' } });
  expectError(none, 400, 'UNKNOWN_PARAMETER', { parameters: ['name'], operation: 'listWebhooks' });
  assert.match(none.msg, /listWebhooks accepts none/);
});

test('unknown parameters that look like SQL injection or prototype pollution are rejected', async () => {
  for (const query of [
    'orderByColumn=dept_name;drop',
    'params[dataScope]=or%201=1',
    '__proto__=1',
    'constructor=x',
    'no%00=1',
  ]) {
    expectError(await admin.get(`${DEPTS}/list?${query}`), 400, 'UNKNOWN_PARAMETER', {}, query);
  }
  const many = Array.from({ length: 100 }, (_, n) => `${'x'.repeat(500)}${n}=1`).join('&');
  const { data, text } = await admin.get(`${DEPTS}/list?${many}`);
  assert.deepEqual([data.reason, data.parameters.length], ['UNKNOWN_PARAMETER', 10]);
  assert.ok(text.length < 3_000, `${text.length} characters`);
});

test('every operation except the eight of RuoYi rejects unknown parameters, and writes nothing', async () => {
  const operations = await readOperations(service);
  const before = await storedState(service);
  let rejected = 0;
  const ignoring: string[] = [];
  for (const { method, path, operationId, requestBody } of operations) {
    const url = `${path.replaceAll(/\{\w+\}/g, '999999999')}?no=1`;
    const body = ['POST', 'PUT'].includes(method) ? {} : undefined;
    const form = { headers: { 'content-type': 'multipart/form-data; boundary=x' }, raw: '--x--\r\n' };
    const options = requestBody?.content['multipart/form-data'] ? form : { headers: { 'if-match': '"none"' } };
    const response = await admin.call(method, url, body, options);
    if (response.data?.reason === 'UNKNOWN_PARAMETER') rejected++;
    else ignoring.push(operationId);
  }
  // The two creations succeed: a body without fields is a valid one.
  const ofRuoYi = ['Department', 'Tenant'].flatMap((name) => [`create${name}`, `read${name}`, `update${name}`]);
  assert.deepEqual(ignoring.sort(), [...ofRuoYi, 'deleteDepartments', 'deleteTenant'].sort());
  assert.ok(rejected > 30, `${rejected} operations`);
  const after = await storedState(service);
  const changed = Object.keys(after).filter((name) => after[name] !== before[name]);
  assert.deepEqual(
    changed.filter((name) => !['departments', 'tenants', 'tenant_versions', 'changes'].includes(name)),
    [],
  );
});

test('reads, updates and deletions of the RuoYi interface ignore unknown parameters', async () => {
  const { root } = service;
  const child = await service.createTenant();
  const deptId = await root.createDepartment({ deptName: '总部' });
  expectOk(await root.put(`${DEPTS}?_t=1`, { deptId, deptName: '总部' }));
  assert.equal((await root.get(`${DEPTS}/${deptId}?_t=1&_t=2`)).code, 200);
  assert.equal((await root.get(`${TENANTS}/${child.id}?_t=1&tenantId=x`)).code, 200);
  expectOk(await root.delete(`${DEPTS}/${deptId}?_t=1`));
});

test('webhook operations reject tenantId, because they act in the tenant of the caller only', async () => {
  const { root } = service;
  const { tenantId } = await service.createTenant();
  const before = await storedState(service);
  for (const query of [`?tenantId=${tenantId}`, '?tenantId=000000', '?tenantId=x']) {
    for (const response of [
      await root.post(`${WEBHOOKS}${query}`, { url: 'https://example.com/' }),
      await root.get(`${WEBHOOKS}/list${query}`),
    ]) {
      expectError(response, 400, 'UNKNOWN_PARAMETER', { parameters: ['tenantId'] });
    }
  }
  assert.deepEqual(await storedState(service), before);
});

test('the caller is checked before the parameters', async () => {
  expectError(await service.anonymous.get(`${DEPTS}/list?deptname=x`), 401, 'NO_TOKEN');
});
